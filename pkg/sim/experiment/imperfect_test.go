package experiment

import (
	"cmp"
	"context"
	"os"
	"strconv"
	"strings"
	"testing"

	"vnd/pkg/learning/continual"
	"vnd/pkg/sim"
	"vnd/pkg/vnd/bundle"
)

// imperfect are what may be wrong with the state that is learned from.
var imperfect = map[string]func(m *sim.Mocap){
	"clean": func(*sim.Mocap) {},
	"noise": noisy,
	"delay": func(m *sim.Mocap) { m.Latency = 0.06 },
	"jumps": jumping,
	"holes": holed,
	"vio": func(m *sim.Mocap) {
		m.Rate, m.Position, m.Attitude, m.Latency, m.Jitter = 100, 0.003, 0.01, 0.02, 0.005
		m.Odometry = sim.Odometry{Drift: 0.005, YawDrift: 0.002, Scale: 0.01, Closures: 15, Least: 0.05, Most: 0.1}
	},
	"all": func(m *sim.Mocap) {
		noisy(m)
		jumping(m)
		holed(m)
		m.Latency, m.Jitter = 0.06, 0.003
	},
}

func noisy(m *sim.Mocap) { m.Position, m.Attitude = 10*m.Position, 10*m.Attitude }

func jumping(m *sim.Mocap) {
	m.Jump = sim.Jump{Every: 5, Length: 0.05, Distance: 0.05, Angle: 0.05}
}

func holed(m *sim.Mocap) {
	m.Lost, m.Dropout = 0.2, sim.Outage{Every: 10, Length: 0.1}
}

// inState are the winds under a fault of the state.
func inState(t testing.TB, spoil func(m *sim.Mocap)) []Scenario {
	all := winds(t)
	for i := range all {
		spoil(&all[i].World.Mocap)
	}
	return all
}

// trueErrors is the mean true error of a bundle in some scenarios, in the first task, m.
func trueErrors(t testing.TB, c *Campaign, b *bundle.Bundle, in []Scenario) (e float64) {
	t.Helper()
	for i, f := range in {
		trace, err := c.Fly(Flies("", b), f, c.Tasks[0], uint64(i), 10)
		if err != nil {
			t.Fatal(err)
		}
		if trace.Crash != "" {
			return 10
		}
		e += trace.Measure(4).Mean / float64(len(in))
	}
	return e
}

// TestImperfectState learns from flights in which the robot knew its state badly, with and without smoothing, and
// measures true errors: in that state, and in a clean one. VND_IMPERFECT names settings, VND_SMOOTHING ways of
// smoothing, VND_SEEDS and VND_ROUNDS how many of each.
func TestImperfectState(t *testing.T) {
	settings := strings.Fields(os.Getenv("VND_IMPERFECT"))
	if len(settings) == 0 {
		t.Skip("takes minutes: VND_IMPERFECT=\"clean noise delay jumps holes vio all\"")
	}
	number := func(name string, standard int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return n
		}
		return standard
	}
	base, err := start()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(number("VND_SEEDS", 1)) {
		for _, name := range settings {
			for _, smoothing := range strings.Fields(cmp.Or(os.Getenv("VND_SMOOTHING"), "off weighted")) {
				c := hovering(t, seed+1)
				c.Fit.Smoothing = smoothing
				t.Logf("seed %d, %s, smoothing %s", seed+1, name, smoothing)
				learnIn(t, c, base, inState(t, imperfect[name]), number("VND_ROUNDS", 2))
			}
		}
	}
}

// learnIn learns in some scenarios; a policy that is promoted must not fly worse there than the one before.
func learnIn(t *testing.T, c *Campaign, base *bundle.Bundle, in []Scenario, rounds int) {
	clean, last := winds(t), trueErrors(t, c, base, in)
	t.Logf("  before %.4f m, in clean state %.4f m", last, trueErrors(t, c, base, clean))
	r := &Rounds{Scenarios: in, Rounds: rounds, Seconds: 12}
	r.Flown = func(int, *bundle.Bundle, []Recorded) error { return nil }
	r.Learned = func(r *continual.Round) error {
		now, bare := trueErrors(t, c, r.Candidate, in), trueErrors(t, c, r.Candidate, clean)
		t.Logf("  round %d: promoted %v %v, %.4f m, in clean state %.4f m", r.Number, r.Verdict.Pass,
			r.Verdict.Reasons(), now, bare)
		if !r.Verdict.Pass {
			return nil
		}
		if now > last+c.Gate.Tolerance {
			t.Errorf("  the promoted policy errs by %.4f m, the one before by %.4f m", now, last)
		}
		last = now
		return nil
	}
	if _, err := c.Learn(context.Background(), base, r); err != nil {
		t.Logf("  %v", err)
	}
}
