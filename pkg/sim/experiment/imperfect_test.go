package experiment

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

	"vnd/pkg/core/param"
	"vnd/pkg/learning/continual"
	"vnd/pkg/sim"
	"vnd/pkg/vnd/bundle"
)

// imperfect are what may be wrong with the state that is learned from.
var imperfect = map[string]func(w *sim.World){
	"clean":   func(*sim.World) {},
	"noise":   func(w *sim.World) { noisy(&w.Mocap) },
	"delay":   func(w *sim.World) { w.Mocap.Latency = 0.06 },
	"jumps":   func(w *sim.World) { jumping(&w.Mocap) },
	"holes":   func(w *sim.World) { holed(&w.Mocap) },
	"vio":     func(w *sim.World) { visual(&w.Mocap) },
	"vio+imu": func(w *sim.World) { visual(&w.Mocap); w.Imu.Rate = 250 },
	"all": func(w *sim.World) {
		m := &w.Mocap
		noisy(m)
		jumping(m)
		holed(m)
		m.Latency, m.Jitter = 0.06, 0.003
	},
}

func visual(m *sim.Mocap) {
	m.Rate, m.Position, m.Attitude, m.Latency, m.Jitter = 100, 0.003, 0.01, 0.02, 0.005
	m.Odometry = sim.Odometry{Drift: 0.005, YawDrift: 0.002, Scale: 0.01, Closures: 15, Least: 0.05, Most: 0.1}
}

func noisy(m *sim.Mocap) { m.Position, m.Attitude = 10*m.Position, 10*m.Attitude }

func jumping(m *sim.Mocap) {
	m.Jump = sim.Jump{Every: 5, Length: 0.05, Distance: 0.05, Angle: 0.05}
}

func holed(m *sim.Mocap) {
	m.Lost, m.Dropout = 0.2, sim.Outage{Every: 10, Length: 0.1}
}

// in are scenarios under a fault of the state.
func in(scenarios []Scenario, fault string) []Scenario {
	all := slices.Clone(scenarios)
	for i := range all {
		imperfect[fault](&all[i].World)
	}
	return all
}

// changing are winds, a payload, a battery that sags and a weak rotor.
func changing(t testing.TB) (out []Scenario) {
	for _, world := range []string{"winds17", "payload", "sag", "weak_rotor"} {
		all, err := Scenarios("../../../params/worlds/" + world + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, all...)
	}
	return out
}

// trueErrors is the mean true error of a bundle in some scenarios, in the first task, m.
func trueErrors(t testing.TB, c *Campaign, b *bundle.Bundle, in []Scenario) float64 {
	t.Helper()
	const crashed = 10 // m
	errors := make([]float64, len(in))
	err := each(t.Context(), len(in), func(i int) error {
		trace, err := c.Fly(Flies("", b), in[i], c.Tasks[0], c.Seed<<8+uint64(i), 10)
		if err != nil {
			return err
		}
		if errors[i] = trace.Measure(4).Mean; trace.Crash != "" {
			errors[i] = crashed
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if slices.Max(errors) == crashed {
		return crashed
	}
	return stat.Mean(errors, nil)
}

// imperfectRun is a campaign that learned in one state, in one way of smoothing. Errors are of the true position, m.
type imperfectRun struct {
	Fault, Smoothing string
	Seed             uint64
	Scenarios        int
	Full             bool      `json:",omitempty"` // with the budgets that a learner has by default
	Before           float64   // in the state that it learns from
	BeforeClean      float64   // in a clean one
	After, Clean     []float64 // the same of what flies after each round
	Promoted, Worse  int       // rounds; of them, those whose policy errs more than the one before, in its own state
	Refused          []string
	// In is, of a clean state, what its last policy errs by in each of the others: nobody who learns there knows more.
	In map[string]float64 `json:",omitempty"`
}

func (r *imperfectRun) is(o *imperfectRun) bool {
	return r.Fault == o.Fault && r.Smoothing == o.Smoothing && r.Seed == o.Seed && r.Scenarios == o.Scenarios &&
		r.Full == o.Full && len(r.After) == len(o.After)
}

// TestImperfectState learns from flights in which the robot knew its state badly, with and without smoothing, and
// measures true errors: in that state, and in a clean one. VND_IMPERFECT names settings, VND_SMOOTHING ways of
// smoothing, VND_SEEDS and VND_ROUNDS how many of each. VND_CHANGING=1 takes 17 winds, payload, sag and a weak rotor in
// place of five winds, VND_FULL=1 the budgets and nets that a learner has by default.
// Runs are kept in the file VND_OUT and not made again; none begins after VND_MINUTES.
func TestImperfectState(t *testing.T) {
	faults := strings.Fields(os.Getenv("VND_IMPERFECT"))
	if len(faults) == 0 {
		t.Skip("takes minutes: VND_IMPERFECT=\"clean noise delay jumps holes vio all\"")
	}
	scenarios := winds(t)
	if os.Getenv("VND_CHANGING") != "" {
		scenarios = changing(t)
	}
	file := cmp.Or(os.Getenv("VND_OUT"), filepath.Join(t.TempDir(), "runs.jsonl"))
	runs, bases := readRuns(t, file), map[uint64]*bundle.Bundle{}
	end := time.Now().Add(time.Duration(number("VND_MINUTES", 600)) * time.Minute)
	for seed := range uint64(number("VND_SEEDS", 1)) {
		for _, fault := range faults {
			for _, smoothing := range strings.Fields(cmp.Or(os.Getenv("VND_SMOOTHING"), "off weighted")) {
				r := imperfectRun{Fault: fault, Smoothing: smoothing, Seed: seed + 1, Scenarios: len(scenarios),
					Full: os.Getenv("VND_FULL") != "", After: make([]float64, number("VND_ROUNDS", 2))}
				if slices.ContainsFunc(runs, r.is) || time.Now().After(end) {
					continue
				}
				r.learn(t, scenarios, bases)
				runs = append(runs, &r)
				keepRun(t, file, &r)
			}
		}
	}
	t.Log("\n" + imperfectTable(runs))
}

// number is that of an environment variable.
func number(name string, standard int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return standard
}

// learn runs the campaign from its seed's policy on, which bases keeps. A policy that is promoted must not fly worse
// there than the one before.
func (r *imperfectRun) learn(t *testing.T, scenarios []Scenario, bases map[uint64]*bundle.Bundle) {
	c := hovering(t, r.Seed)
	if r.Full {
		param.Default(&c.Config)
	}
	c.Fit.Smoothing, c.Fit.Train.Minutes = r.Smoothing, 1e5 // whatever else the machine does
	c.Filter = os.Getenv("VND_FILTERED") != ""
	t.Logf("seed %d, %s, smoothing %s", r.Seed, r.Fault, r.Smoothing)
	flies := bases[r.Seed]
	if flies == nil {
		var err error
		if flies, err = c.BasePolicy(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		bases[r.Seed] = flies
	}
	own, rounds := in(scenarios, r.Fault), len(r.After)
	r.Before, r.BeforeClean, r.After = trueErrors(t, c, flies, own), trueErrors(t, c, flies, scenarios), nil
	now, clean := r.Before, r.BeforeClean
	note := func() { r.After, r.Clean = append(r.After, now), append(r.Clean, clean) }
	turns := &Rounds{Scenarios: own, Rounds: rounds, Seconds: 12}
	turns.Flown = func(int, *bundle.Bundle, []Recorded) error { return nil }
	turns.Learned = func(round *continual.Round) error {
		if !round.Verdict.Pass {
			r.Refused = append(r.Refused, strings.Join(round.Verdict.Reasons(), "; "))
			note()
			return nil
		}
		last := now
		flies = round.Candidate
		now, clean = trueErrors(t, c, flies, own), trueErrors(t, c, flies, scenarios)
		if r.Promoted++; now > last+c.Gate.Tolerance {
			r.Worse++
			t.Errorf("  round %d: the promoted policy errs by %.4f m, the one before by %.4f", round.Number, now, last)
		}
		note()
		return nil
	}
	if _, err := c.Learn(t.Context(), flies, turns); err != nil {
		r.Refused = append(r.Refused, err.Error())
	}
	for len(r.After) < rounds { // the learner goes on from what flies
		note()
	}
	if r.Fault == "clean" {
		r.In = map[string]float64{}
		for fault := range imperfect {
			r.In[fault] = trueErrors(t, c, flies, in(scenarios, fault))
		}
	}
	t.Logf("  %.4f m, then %.4f; in clean state %.4f m, then %.4f; refused %v", r.Before, r.After, r.BeforeClean,
		r.Clean, r.Refused)
}
