package continual

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/fit/quadfit"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// TestRoundFollowsAnotherActuator: where the motors become slower in mid-campaign, the next round's model is behind
// their actuator and predicts about as well as one that was learned anew. A round on further flights of the same motors
// keeps the actuator. The bundle of before still flies.
func TestRoundFollowsAnotherActuator(t *testing.T) {
	if kernel.Name() == "go" || testing.Short() {
		t.Skip("takes minutes without the C kernels, each of which is held against its reference")
	}
	cfg, start, rng := small(), base(t), rand.New(rand.NewPCG(1, 1))
	cfg.Policy.Epochs, cfg.FineTune.Epochs, cfg.Gate.Shadow.Flights, cfg.Gate.Tolerance = 3, 3, 4, 10
	learner := func() *Learner {
		l, err := New(cfg, start, Options{Tasks: tasks(t), Task: "hover", Seed: 1,
			Vehicle: quadgate.Vehicle{Robot: quadrotor.Name, Limits: limits()}})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	flown := func() (out []quad.Flight) {
		for _, w := range winds {
			rows, _ := fly(controller(t, start), w, 12, rng)
			out = append(out, quad.Flight{Name: "f", Segments: [][]quad.Row{rows[:300], rows[300:]}})
		}
		return out
	}
	round := func(l *Learner, flights []quad.Flight) *fit.Fit {
		l.Collect(flights...)
		if _, err := l.Round(t.Context()); err != nil {
			t.Fatal(err)
		}
		return l.model
	}
	l := learner()
	first := round(l, flown())
	before := l.Current()
	second := round(l, flown())
	if quadfit.Robot(second).Actuator != quadfit.Robot(first).Actuator {
		t.Errorf("the same motors: %+v, before %+v", quadfit.Robot(second).Actuator, quadfit.Robot(first).Actuator)
	}
	was := actuator
	defer func() { actuator = was }()
	actuator.ThrustLag, actuator.RateLag = 2*was.ThrustLag, 2*was.RateLag
	slow, unseen := flown(), flown()
	followed, anew := round(l, slow), round(learner(), slow)
	a := quadfit.Robot(followed).Actuator
	late := func(a quadrotor.Actuator) float64 { return a.RateDelay*dt + a.RateLag }
	if more := late(a) - late(quadfit.Robot(first).Actuator); math.Abs(more-was.RateLag) > 0.4*was.RateLag {
		t.Errorf("rates come later by %.3f s, expected %.3f: %+v", more, was.RateLag, a)
	}
	stale, after, b := strays(t, second, unseen), strays(t, followed, unseen), strays(t, anew, unseen)
	t.Logf("predictions are off by %.4f m/s before that round, by %.4f after it, by %.4f learned anew", stale, after, b)
	if after > 1.4*b || after > 0.7*stale {
		t.Errorf("predictions are off by %.4f m/s, by %.4f before, by %.4f learned anew", after, stale, b)
	}
	if _, err := policy.NewClosedLoopRunner(before, at); err != nil {
		t.Errorf("the bundle of before: %v", err)
	}
}

// strays is the mean error of a model's velocities after half a second.
func strays(t *testing.T, f *fit.Fit, flights []quad.Flight) (mean float64) {
	t.Helper()
	const steps, past = 25, 20
	p := vnd.NewPredictor(f.Model, quadfit.Robot(f))
	n := 0.
	for _, one := range flights {
		for _, rows := range one.Segments {
			for k := 2 * past; k+steps < len(rows); k += past {
				out := [][]quad.State{make([]quad.State, steps)}
				var future []quad.Command
				for _, r := range rows[k:][:steps] {
					future = append(future, r.Command)
				}
				if err := p.Predict([][]quad.Row{rows[k-past : k+1]}, [][]quad.Command{future}, out); err != nil {
					t.Fatal(err)
				}
				mean, n = mean+out[0][steps-1].V.Sub(rows[k+steps].State.V).Norm(), n+1
			}
		}
	}
	return mean / n
}
