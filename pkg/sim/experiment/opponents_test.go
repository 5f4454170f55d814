package experiment

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/policy"
	"vnd/pkg/sim"
	"vnd/pkg/sim/baseline"
	"vnd/pkg/sim/baseline/nmpc"
	"vnd/pkg/sim/baseline/raptor"
)

// identified is the default world's robot as its flights show it.
var identified = baseline.Airframe{Actuator: lagging, Drag: 0.275}

// onset is the mean error of a method over 6 s from where a wind sets in, over the tasks, m.
func (c *Campaign) onset(t *testing.T, m Method, windX, windY float64) (mean float64) {
	t.Helper()
	w := sim.Default()
	w.Conditions = sim.Conditions{Name: []string{"calm", "wind"}, WindX: []float64{0, windX},
		WindY: []float64{0, windY}}
	w, err := w.Scheduled([]sim.Switch{{Start: 0, Condition: "calm"}, {Start: 10, Condition: "wind"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range c.Tasks {
		trace, err := c.Fly(m, Scenario{w, "onset", "", 0}, d, c.Seed, 16)
		if err != nil {
			t.Fatal(err)
		}
		f := trace.Measure(10)
		if f.Crash != "" {
			return math.Inf(1)
		}
		mean += f.Mean / float64(len(c.Tasks))
	}
	return mean
}

// opponents draw a method with settings from the ranges of the search.
var opponents = map[string]func(c *Campaign, rng *rand.Rand) (Method, any){
	"L1": func(c *Campaign, rng *rand.Rand) (Method, any) {
		cfg := baseline.L1Config{Gains: drawnGains(rng), Cutoff: between(rng, 1, 40)}
		return c.l1(identified, cfg), cfg
	},
	"INDI": func(c *Campaign, rng *rand.Rand) (Method, any) {
		cfg := baseline.INDIConfig{Gains: drawnGains(rng), Cutoff: between(rng, 2, 80)}
		return c.indi(identified, cfg), cfg
	},
	"NMPC": func(c *Campaign, rng *rand.Rand) (Method, any) {
		cfg := baseline.NMPCConfig{Weights: drawnWeights(rng)}
		return c.nmpc(identified, cfg), cfg
	},
	"L1-NMPC": func(c *Campaign, rng *rand.Rand) (Method, any) {
		cfg := baseline.NMPCConfig{Weights: drawnWeights(rng), Cutoff: between(rng, 1, 40)}
		return c.nmpc(identified, cfg), cfg
	},
	"Neural-Fly": func(c *Campaign, rng *rand.Rand) (Method, any) {
		cfg := baseline.NeuralFlyConfig{Gains: drawnGains(rng), Forgetting: between(rng, 0.001, 1),
			Process: between(rng, 0.001, 1), Noise: between(rng, 0.1, 10), Tracking: between(rng, 0.01, 10)}
		return c.neuralFly(identified, searchedBasis(c), cfg), cfg
	},
	"DATT": func(c *Campaign, rng *rand.Rand) (Method, any) {
		cutoff := between(rng, 1, 40)
		return c.datt(searchedDATT(c), identified, cutoff), cutoff
	},
	"RMA": func(c *Campaign, rng *rand.Rand) (Method, any) {
		p, cutoff := searchedDATT(c), between(rng, 1, 40)
		return c.rma(p, searchedAdapter(c), identified, cutoff), cutoff
	},
	"RAPTOR": func(c *Campaign, rng *rand.Rand) (Method, any) {
		cfg := raptor.Config{Position: between(rng, 0.1, 3), Velocity: between(rng, 0.3, 10), Lead: 0.1 * rng.Float64(),
			Lift: between(rng, 1.5, 7.4)}
		return c.raptor(cfg, searchedRAPTOR), cfg
	},
}

// searched makes what a search needs once, of flights of the geometric law in the 17 winds.
func searched[T any](learn func(s *study) (T, error)) func(c *Campaign) T {
	var made *T
	return func(c *Campaign) T {
		if made == nil {
			scenarios, err := Scenarios(filepath.Join("..", "..", "..", "params", "worlds", "winds17.yaml"))
			if err != nil {
				panic(err)
			}
			s := &study{Campaign: c, ctx: context.Background(), plan: &Plan{Scenarios: scenarios, Seconds: 20}}
			var x T
			if err = s.identifyingFlights(); err == nil {
				x, err = learn(s)
			}
			if err != nil {
				panic(err)
			}
			made = &x
		}
		return *made
	}
}

var (
	searchedRAPTOR  = raptor.Pool()
	searchedBasis   = searched(func(s *study) (*baseline.Basis, error) { return s.learnBasis(identified) })
	searchedAdapter = searched(func(s *study) (*baseline.Adapter, error) {
		return s.adapter(searchedDATT(s.Campaign), identified, adapterFlights, adapterUpdates)
	})
	searchedDATT = searched(func(s *study) (*informedPolicy, error) {
		b, err := s.BasePolicy(s.ctx, nil)
		if err != nil {
			return nil, err
		}
		from, err := policy.FromBundle(b)
		if err != nil {
			return nil, err
		}
		return s.trainInformed(s.ctx, s.trainer(3), from, s.segments(s.plan.calm()), s.plan.Winds())
	})
)

func drawnWeights(rng *rand.Rand) nmpc.Weights {
	return nmpc.Weights{Position: 1, Velocity: between(rng, 0.003, 0.3), Tilt: between(rng, 3e-4, 0.1), Heading: 0.05,
		Rates: between(rng, 1e-5, 1e-2), Thrust: between(rng, 1e-5, 1e-2), Turn: between(rng, 1e-5, 1e-2)}
}

func drawnGains(rng *rand.Rand) guard.Gains {
	position := between(rng, 4, 40)
	return gains(position, math.Sqrt(position)*(1+1.5*rng.Float64()), between(rng, 6, 21), 0)
}

// between draws from a range, its logarithm evenly.
func between(rng *rand.Rand, lo, hi float64) float64 { return lo * math.Pow(hi/lo, rng.Float64()) }

// TestTuneOpponents prints what the searches found: VND_TUNE=1 go test -run TestTuneOpponents -v ./pkg/sim/experiment.
// Each opponent has 120 draws, flown in calm, in a wind that stays, and as that sets in.
func TestTuneOpponents(t *testing.T) {
	if os.Getenv("VND_TUNE") == "" {
		t.Skip("VND_TUNE is not set")
	}
	const draws = 120
	c := bothTasks(t, 11)
	for name, draw := range opponents {
		t.Run(name, func(t *testing.T) {
			rng, least := rand.New(rand.NewPCG(1, 2)), math.Inf(1)
			for k := range draws {
				m, setting := draw(c, rng)
				hover, track := c.flown(t, m, 1.6, -1.2)
				if 4*hover+track >= least {
					continue
				}
				onset := c.onset(t, m, 1.6, -1.2)
				if cost := 4*hover + track + onset/4; cost < least {
					least = cost
					t.Logf("draw %d: hover %.4f m, track %.4f m, as the wind sets in %.4f m: %+v", k, hover, track,
						onset, setting)
				}
			}
		})
	}
}

// With the settings that were found, opponents fly as a wind sets in that was not searched as they did in the search.
func TestTunedOpponents(t *testing.T) {
	c := bothTasks(t, 3)
	for name, opponent := range map[string]struct {
		method Method
		most   float64 // m
	}{
		"L1": {c.L1Geometric(identified), 0.015}, "INDI": {c.INDI(identified), 0.015},
		"L1-NMPC": {c.NMPC(identified, true), 0.009},
	} {
		t.Run(name, func(t *testing.T) {
			if e := c.onset(t, opponent.method, -2, 1); e > opponent.most {
				t.Errorf("errs by %.4f m, want at most %g", e, opponent.most)
			}
		})
	}
}

// TestSimulatorsFlyRAPTOR has it hover, where it is installed.
func TestSimulatorsFlyRAPTOR(t *testing.T) {
	c := bothTasks(t, 3)
	m, err := c.RAPTOR()
	if errors.Is(err, errLeftOut) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if hover, _ := c.flown(t, m, 0, 0); hover > 0.2 {
		t.Errorf("hovers %.3f m off", hover)
	}
}

// A method that is not installed is named, and others are measured.
func TestStudyLeavesOutWhatIsNotInstalled(t *testing.T) {
	t.Setenv("VND_SIMULATORS", t.TempDir())
	c := bothTasks(t, 3)
	scenarios := []Scenario{{World: sim.Default()}}
	p := &Plan{Scenarios: scenarios, Seconds: 8, Methods: []string{MethodLaw, MethodRAPTOR}, Report: func(string) {},
		Table: &Table{Air: []Air{{"calm", scenarios}}, References: []Reference{{"hover", c.Tasks[0].Path}}, Seconds: 1}}
	s, err := c.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Methods) != 1 || len(s.LeftOut) != 1 || !strings.Contains(s.LeftOut[0], "make simulators installs it") {
		t.Errorf("measured %+v, left out %q", s.Methods, s.LeftOut)
	}
	p.Methods = p.Methods[1:]
	if _, err := c.Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), "make simulators installs it") {
		t.Errorf("nobody is measured: %v", err)
	}
}

// TestSweepRefit prints how re-fits by window, period and budget fly the figure-eight: in calm, whose first policy they
// should leave as it is, as a wind sets in, and in it. VND_TUNE=1 go test -run TestSweepRefit -v ./pkg/sim/experiment.
func TestSweepRefit(t *testing.T) {
	if os.Getenv("VND_TUNE") == "" {
		t.Skip("VND_TUNE is not set")
	}
	const sets, ends = 16, 36 // s: the wind, the flight
	c := bothTasks(t, 11)
	b, err := c.BasePolicy(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	from, err := policy.FromBundle(b)
	if err != nil {
		t.Fatal(err)
	}
	w := sim.Default()
	w.Conditions = sim.Conditions{Name: []string{"calm", "wind"}, WindX: []float64{0, 1.6}, WindY: []float64{0, -1.2}}
	w, err = w.Scheduled([]sim.Switch{{Start: 0, Condition: "calm"}, {Start: sets, Condition: "wind"}}, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, when := range []baseline.RefitConfig{{Seconds: 10, Every: 5, Budget: 2}, {Seconds: 5, Every: 2, Budget: 2},
		{Seconds: 10, Every: 2, Budget: 2}, {Seconds: 2, Every: 2, Budget: 2}, {Seconds: 20, Every: 5, Budget: 2},
		{Seconds: 5, Every: 5, Budget: 5}, {Seconds: 5, Every: 1, Budget: 1}, {Seconds: 10, Every: 10, Budget: 5},
		{Seconds: 10, Every: 1, Budget: 1}, {Seconds: 10, Every: 5, Budget: 5}, {Seconds: 1, Every: 2, Budget: 2},
		{Seconds: 20, Every: 10, Budget: 5}} {
		m, err := c.refit(t.Context(), from, when)
		if err != nil {
			t.Fatal(err)
		}
		trace, err := c.Fly(m, Scenario{w, "sweep", "", 0}, c.Tasks[1], c.Seed, ends)
		if err != nil {
			t.Fatal(err)
		}
		var sum, n [3]float64
		for i := range trace.Rows {
			r := &trace.Rows[i]
			for k, span := range [][2]float64{{sets - 8, sets}, {sets, sets + 10}, {ends - 8, ends}} {
				if r.T >= span[0] && r.T < span[1] {
					sum[k], n[k] = sum[k]+r.Error(), n[k]+1
				}
			}
		}
		t.Logf("window %g s, every %g s, budget %g s: calm %.4f m, as the wind sets in %.4f m, in it %.4f m %s",
			when.Seconds, when.Every, when.Budget, sum[0]/n[0], sum[1]/n[1], sum[2]/n[2], trace.Crash)
	}
}
