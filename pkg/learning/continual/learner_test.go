package continual

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

const dt = 0.02

func at(float64) quad.Reference { return quad.Reference{P: so3.Vec3{Z: 1}} }

// windy is the robot in a wind that pushes it, with some lag.
func fly(c quad.Controller, wind so3.Vec3, seconds float64, rng *rand.Rand) (rows []quad.Row, meanError float64) {
	return flyIn(c, func() so3.Vec3 { return wind }, seconds, rng)
}

var actuator = quadrotor.Actuator{ThrustGain: 0.97, RateGain: 1, ThrustLag: 0.03, RateLag: 0.04}

// flyIn flies in a wind that is asked for at each step.
func flyIn(c quad.Controller, wind func() so3.Vec3, seconds float64,
	rng *rand.Rand) (rows []quad.Row, meanError float64) {
	sys := quadrotor.NewQuadrotor[float32](dt, actuator)
	s, next := make([]float32, sys.Dims().State), make([]float32, sys.Dims().State)
	d, a := make([]float32, 9), make([]float32, 4)
	begin := quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}
	quadrotor.Measured(&begin, s)
	for _, i := range []int{10, 14, 18, 22, 26} {
		s[i] = quad.Gravity
	}
	n := int(seconds / dt)
	for k := range n {
		st := quadrotor.State[float32](s)
		st.Q = st.Q.Normalize()
		cmd := c.Command(float64(k)*dt, &st)
		cmd.Rates = cmd.Rates.Add(so3.Vec3{X: 0.3 * rng.NormFloat64(), Y: 0.3 * rng.NormFloat64()})
		step := quad.Row{T: float64(k) * dt, State: st, Command: cmd}
		rows = append(rows, step)
		if o, ok := c.(interface{ Observe(quad.Row) }); ok {
			o.Observe(step)
		}
		quadrotor.Action(&cmd, a)
		clear(d)
		w := wind()
		push := []float32{0, 0, 0, float32(w.X * dt), float32(w.Y * dt), float32(w.Z * dt), 0, 0, 0}
		sys.ToBody(1, s, push, d)
		sys.Step(1, s, a, d, next)
		copy(s, next)
		if k > n/2 {
			meanError += st.P.Sub(at(0).P).Norm() / float64(n-n/2-1)
		}
	}
	return rows, meanError
}

func TestConfig(t *testing.T) {
	if err := param.Check(new(Config)); err != nil {
		t.Error(err)
	}
}

func small() Config {
	var c Config
	param.Default(&c)
	c.Fit.Train.Updates, c.Fit.Train.Batch, c.Fit.Loss.Steps = 150, 32, 10
	c.Fit.WarmStart.Updates = 50
	c.Policy.Hidden, c.Policy.Epochs, c.Policy.Envs, c.Policy.Horizon = 32, 60, 32, 50
	c.FineTune.Epochs = 20
	c.Gate.Shadow.Flights = 24
	return c
}

// tiny learns next to nothing, at once, and lets all pass.
func tiny() Config {
	c := small()
	m := &c.Fit.Model
	m.EncoderDense, m.EncoderHidden, m.Hidden, m.Blocks, m.DecoderHidden = 8, 8, 16, 1, 8
	c.Fit.Train.Updates, c.Fit.WarmStart.Updates, c.Fit.Loss.Steps = 8, 4, 5
	c.Policy.Epochs, c.FineTune.Epochs, c.Policy.Flights = 3, 2, 1
	c.Policy.Horizon, c.Policy.Envs, c.Stride = 15, 16, 100
	c.Gate.Shadow.Flights, c.Gate.Shadow.Seconds, c.Gate.Tolerance = 4, 0.5, 10
	return c
}

func tasks(t testing.TB) []*task.Task {
	t.Helper()
	cost, err := task.CostOf(task.StiffCost, task.Hover)
	if err != nil {
		t.Fatal(err)
	}
	var spread task.Spread
	param.Default(&spread)
	k, err := task.New(task.Hover, cost, spread, nil)
	if err != nil {
		t.Fatal(err)
	}
	return []*task.Task{k}
}

func limits() (l quad.Limits) {
	param.Default(&l)
	return l
}

// base is a policy of the nominal simulator.
func base(t testing.TB) *bundle.Bundle {
	t.Helper()
	var n quadtrain.Nominal
	param.Default(&n)
	r, err := quadtrain.Run(context.Background(), small().Policy, quadtrain.NominalWorld[float32](n), dt,
		quadtrain.Options{Seed: 1, Tasks: tasks(t), Limits: limits()})
	if err != nil {
		t.Fatal(err)
	}
	b := &bundle.Bundle{Robot: quadrotor.Name, Dt: dt}
	if err := policy.Put(b, r.Policy, "hover"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Encode(); err != nil {
		t.Fatal(err)
	}
	return b
}

func controller(t testing.TB, b *bundle.Bundle) quad.Controller {
	t.Helper()
	f, err := policy.NewClosedLoopRunner(b, at)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

var winds = []so3.Vec3{{}, {X: 2}, {X: -2}, {Y: 2}, {Y: -2}}

// TestRoundsImprove: after a round the policy errs less in every wind, under its
// live encoder; a second round goes on from the first one's model.
func TestRoundsImprove(t *testing.T) {
	if kernel.Name() == "go" {
		t.Skip("takes minutes without the C kernels, each of which is held against its reference")
	}
	start := base(t)
	var phases []Phase
	l, err := New(small(), start, Options{Tasks: tasks(t), Task: "hover",
		Vehicle: quadgate.Vehicle{Robot: quadrotor.Name, Limits: limits()}, Seed: 1,
		Status: func(s Status) {
			if n := len(phases); n == 0 || phases[n-1] != s.Phase {
				phases = append(phases, s.Phase)
			}
		}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Round(context.Background()); !errors.Is(err, ErrTooLittle) {
		t.Errorf("a round on nothing: error %v", err)
	}
	rng, before, after := rand.New(rand.NewPCG(1, 1)), 0., 0.
	for _, w := range winds {
		rows, e := fly(controller(t, start), w, 12, rng)
		before += e / float64(len(winds))
		l.Collect(quad.Flight{Name: "f", Segments: [][]quad.Row{rows}})
	}
	r, err := l.Round(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !r.Verdict.Pass {
		t.Fatalf("refused: %v", r.Verdict.Reasons())
	}
	if l.Current() != r.Candidate || r.Candidate.Parent != start.ID || r.Candidate.DataDigest == "" {
		t.Error("the candidate that passed is not the current bundle, or does not say whence it comes")
	}
	for _, w := range winds {
		_, e := fly(controller(t, l.Current()), w, 12, rng)
		after += e / float64(len(winds))
	}
	if after > 0.5*before {
		t.Errorf("error %.3f m before the round, %.3f m after it", before, after)
	}
	if want := []Phase{Fitting, Encoding, Improving, Gating, Idle}; len(phases) != len(want) {
		t.Errorf("phases %v, want %v", phases, want)
	}
	second, err := l.Round(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if second.Fit.Dynamics > 1.2*r.Fit.Dynamics {
		t.Errorf("loss %.3g after the second fit, %.3g after the first", second.Fit.Dynamics, r.Fit.Dynamics)
	}
	if c := second.Curve.Figures; len(c) != 20 || !(c[len(c)-1].Cost < 1.3*c[0].Cost) {
		t.Errorf("a policy that was improved before: %d epochs, the cost goes from %.3g to %.3g", len(c), c[0].Cost,
			c[len(c)-1].Cost)
	}
	if l.Return(start); l.Current() != start {
		t.Error("no way back to an earlier bundle")
	}
}

// TestInterrupted: a round that is cut short, in whichever phase, leaves all as it was: the round that follows comes
// to what it would have come to without.
func TestInterrupted(t *testing.T) {
	start := base(t)
	rows, _ := fly(controller(t, start), so3.Vec3{X: 1}, 25, rand.New(rand.NewPCG(1, 1)))
	cfg := tiny()
	var at Phase
	var stop context.CancelFunc
	learner := func() *Learner {
		l, err := New(cfg, start, Options{Tasks: tasks(t), Task: "hover",
			Vehicle: quadgate.Vehicle{Robot: quadrotor.Name, Limits: limits()},
			Status: func(s Status) {
				if s.Phase == at {
					stop()
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		l.Collect(quad.Flight{Name: "f", Segments: [][]quad.Row{rows}})
		return l
	}
	round := func(l *Learner, cut Phase) (*Round, error) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		at, stop = cut, cancel
		return l.Round(ctx)
	}
	calm, cut := learner(), learner()
	for n := range 2 { // the first model, and one that goes on from it
		want, err := round(calm, "")
		if err != nil {
			t.Fatal(err)
		}
		before, current := cut.model, cut.Current()
		for _, phase := range []Phase{Fitting, Encoding, Improving, Gating} {
			if r, err := round(cut, phase); !errors.Is(err, context.Canceled) || r != nil || cut.Current() != current ||
				cut.model != before || cut.rounds != n {
				t.Fatalf("round %d, cut short in %s: %v; current %s, %d rounds", n+1, phase, err, cut.Current().ID,
					cut.rounds)
			}
		}
		got, err := round(cut, "")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Bank, want.Bank) ||
			!slices.EqualFunc(got.Candidate.Tensors, want.Candidate.Tensors, sameTensor) ||
			got.Verdict.Pass != want.Verdict.Pass {
			t.Errorf("round %d comes to something else after those that were cut short", n+1)
		}
	}
}

// TestFailed: of a round that fails nothing stays either.
func TestFailed(t *testing.T) {
	start := base(t)
	cfg := tiny()
	cfg.Policy.Rate = 1e-7
	l, err := New(cfg, start, Options{Tasks: tasks(t), Task: "hover", Judge: broken{},
		Vehicle: quadgate.Vehicle{Robot: quadrotor.Name, Limits: limits()}})
	if err != nil {
		t.Fatal(err)
	}
	rows, _ := fly(controller(t, start), so3.Vec3{}, 25, rand.New(rand.NewPCG(1, 1)))
	l.Collect(quad.Flight{Name: "f", Segments: [][]quad.Row{rows}})
	if r, err := l.Round(context.Background()); !errors.Is(err, errBroken) || r != nil || l.model != nil ||
		l.rounds != 0 || l.Current() != start {
		t.Errorf("error %v, %d rounds", err, l.rounds)
	}
}

// TestOtherSizes: a model of other sizes than the configuration has is not gone on from, where each round would fail. A
// policy with another latent is refused.
func TestOtherSizes(t *testing.T) {
	start := base(t)
	rows, _ := fly(controller(t, start), so3.Vec3{X: 1}, 25, rand.New(rand.NewPCG(1, 1)))
	learner := func(c Config, b *bundle.Bundle) (*Learner, error) {
		l, err := New(c, b, Options{Tasks: tasks(t), Task: "hover",
			Vehicle: quadgate.Vehicle{Robot: quadrotor.Name, Limits: limits()}})
		if err == nil {
			l.Collect(quad.Flight{Name: "f", Segments: [][]quad.Row{rows}})
		}
		return l, err
	}
	c := tiny()
	l, err := learner(c, start)
	if err != nil {
		t.Fatal(err)
	}
	first, err := l.Round(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, hidden := range []int{c.Fit.Model.Hidden, 24} {
		c.Fit.Model.Hidden = hidden
		if l, err = learner(c, first.Candidate); err != nil || (l.model != nil) != (hidden == 16) {
			t.Fatalf("hidden %d: %v", hidden, err)
		}
	}
	if _, err := l.Round(t.Context()); err != nil {
		t.Errorf("with other sizes: %v", err)
	}
	c.Fit.Model.Latent = 5
	if _, err := learner(c, first.Candidate); err == nil || !strings.Contains(err.Error(), "fit.model.latent is 5") {
		t.Errorf("another latent: %v", err)
	}
}

var errBroken = errors.New("the simulator is broken")

// broken is a judge that cannot fly.
type broken struct{}

func (broken) Fly(context.Context, *bundle.Bundle, gate.Trial) (*gate.Flight, error) {
	return nil, errBroken
}

func sameTensor(a, b bundle.Tensor) bool { return a.Name == b.Name && slices.Equal(a.Data, b.Data) }
