package experiment

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/reference"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/sim"
	"vnd/pkg/sim/baseline"
)

// lagging is an actuator as a fit identifies it in the default world.
var lagging = quadrotor.Actuator{ThrustGain: 0.976, ThrustDelay: 2.7, ThrustLag: 0.001, RateGain: 1.006,
	RateDelay: 2.395, RateLag: 0.014}

// flown are the mean errors of a method in calm and in a wind, m: hover, then the figure-eight.
func (c *Campaign) flown(t *testing.T, m Method, windX, windY float64) (hover, track float64) {
	t.Helper()
	w := sim.Default()
	w.Conditions = sim.Conditions{Name: []string{"calm", "wind"}, WindX: []float64{0, windX},
		WindY: []float64{0, windY}}
	for _, name := range w.Names() {
		one, err := w.Only(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range c.Tasks {
			trace, err := c.Fly(m, Scenario{one, "search", name, 0}, d, c.Seed, 30)
			if err != nil {
				t.Fatal(err)
			}
			f := trace.Measure(18)
			if f.Crash != "" {
				f.Mean = math.Inf(1)
			}
			if d.Name == "hover" {
				hover = max(hover, f.Mean)
			} else {
				track = max(track, f.Mean)
			}
		}
	}
	return hover, track
}

func bothTasks(t *testing.T, seed uint64) *Campaign {
	t.Helper()
	c := &Campaign{Seed: seed}
	param.Default(&c.Config)
	param.Default(&c.Limits)
	for _, name := range []string{"hover", "track"} {
		path, err := reference.OfTask(name)
		if err == nil {
			err = c.AddTask(name, path)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return c
}

func TestTunedLawsFlyBetterThanTheGuards(t *testing.T) {
	c := bothTasks(t, 3)
	var own baseline.RecentMeanConfig
	param.Default(&own.Gains)
	own.Window = 0.4
	for name, pair := range map[string][2]Method{
		"law":         {c.Law(), c.law(own.Gains)},
		"recent mean": {c.RecentMean(lagging), c.recentMean(lagging, own)},
	} {
		t.Run(name, func(t *testing.T) {
			hover, track := c.flown(t, pair[0], -2, 1)
			_, guards := c.flown(t, pair[1], -2, 1)
			if hover > 0.002 || track > guards/2 {
				t.Errorf("hover %.4f m, figure-eight %.4f m; with the guard's gains %.4f m", hover, track, guards)
			}
		})
	}
}

// TestTuneLaws prints what the search found: VND_TUNE=1 go test -run TestTuneLaws -v ./pkg/sim/experiment.
func TestTuneLaws(t *testing.T) {
	if os.Getenv("VND_TUNE") == "" {
		t.Skip("VND_TUNE is not set")
	}
	const draws = 120
	c := bothTasks(t, 11)
	rng := rand.New(rand.NewPCG(1, 2))
	least := map[string]float64{}
	for range draws {
		position := 4 * math.Pow(10, rng.Float64())
		velocity := math.Sqrt(position) * (1 + 1.5*rng.Float64())
		g := gains(position, velocity, 6*math.Pow(3.5, rng.Float64()), .03+.12*rng.Float64())
		window := .1 + .5*rng.Float64()
		r := baseline.RecentMeanConfig{Gains: g, Window: window}
		for _, m := range []Method{c.law(g), c.recentMean(lagging, r)} {
			hover, track := c.flown(t, m, 1.6, -1.2)
			cost := 4*hover + track
			if best, found := least[m.Name]; !found || cost < best {
				least[m.Name] = cost
				t.Logf("%s: kp %.1f, kv %.1f, tilt %.1f, lead %.3f, window %.2f: hover %.4f m, track %.4f m",
					m.Name, g.Position, g.Velocity, g.Tilt, g.Lead, window, hover, track)
			}
		}
	}
}
