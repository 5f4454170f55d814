package quadtrain

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// circle is a reference that every test here can follow.
func circle(t float64) quad.Reference {
	const w = 1.5
	s, c := math.Sincos(w * t)
	return quad.Reference{P: so3.Vec3{X: s, Y: -c, Z: 1}, V: so3.Vec3{X: w * c, Y: w * s},
		A: so3.Vec3{X: -w * w * s, Y: w * w * c}, Yaw: 0.2}
}

func stay(t float64) quad.Reference { return quad.Reference{P: so3.Vec3{Z: 1}} }

// tasks returns a task that has every term of the cost.
func tasksAlong(reference func(float64) quad.Reference) []*task.Task {
	var spread task.Spread
	param.Default(&spread)
	c := task.Cost{Position: 1, Height: 0.3, Velocity: 0.1, Rates: 0.15, Acceleration: 0.1, Attitude: 0.4, Heading: 0.2,
		Action: 0.5, CommandChange: 0.15, Collision: 1, Delta: 1}
	return []*task.Task{{Name: "test", Cost: c, Radius: 1.0, Draw: func(rng *rand.Rand) task.Episode {
		return spread.Start(reference, rng)
	}}}
}

func limits() (l quad.Limits) {
	param.Default(&l)
	return l
}

// fitted is a small model with random weights and latents of two.
func fitted[F kernel.Float](t *testing.T, rng *rand.Rand) *vnd.Model[F] {
	t.Helper()
	sys := quadrotor.NewQuadrotor[F](0.02, quadrotor.Actuator{ThrustGain: 0.95, RateGain: 1.02, ThrustLag: 0.04,
		RateLag: 0.03, ThrustDelay: 0.5, RateDelay: 1})
	return drawn[F](t, sys, rng)
}

// drawn is a small model of a system with random weights.
func drawn[F kernel.Float](t *testing.T, sys robot.System[F], rng *rand.Rand) *vnd.Model[F] {
	t.Helper()
	m, err := vnd.New[F](sys, nets.Config{Context: 4, Latent: 2, Encoder: nets.EncoderGRU, EncoderDense: 4,
		EncoderHidden: 4,
		Hidden:        8, Blocks: 2, Film: true, Members: 2})
	if err != nil {
		t.Fatal(err)
	}
	m.Net.Init(rng)
	for i := range m.Net.Params {
		m.Net.Params[i] += F(0.3 * rng.NormFloat64())
	}
	for i := range m.Output {
		m.Output[i] = 0.02
	}
	return m
}

// seen is a task that keeps its newest episodes.
type seen struct {
	robot.Task[float64]
	last *episodes[float64]
}

func (s *seen) NewEpisodes(dt float64, maxB, maxH int) robot.Episodes[float64] {
	s.last = s.Task.NewEpisodes(dt, maxB, maxH).(*episodes[float64])
	return s.last
}

// TestGradient proves the gradient of a whole episode, in every parameter of the
// policy, by central differences. Environments that collide are among them, and
// features that come into view and leave it.
func TestGradient(t *testing.T) {
	n := Nominal{Dt: 0.02, MinLag: 0.02, MaxLag: 0.05, MaxDelay: 2, Gain: 0.1, Wind: 2}
	around := Margins{Gain: 0.2, Delay: 0.6, Overshoot: 0.3, Frequency: 12, Share: 1}
	for name, world := range map[string]func(rng *rand.Rand) train.World[float64]{
		"nominal": func(*rand.Rand) train.World[float64] {
			r := n
			r.Margins = around
			return NominalWorld[float64](r)
		},
		"learned": func(rng *rand.Rand) train.World[float64] {
			return Learned(fitted[float64](t, rng), 0.02, true, Pushes{Hidden: 1}, around)
		},
		"pushes and lags": func(rng *rand.Rand) train.World[float64] {
			return Learned(fitted[float64](t, rng), 0.02, true, Pushes{Measured: 1, Rate: 8, Lag: 0.04}, around)
		},
		"features":   func(*rand.Rand) train.World[float64] { return NominalWorld[float64](n) },
		"state free": func(*rand.Rand) train.World[float64] { return NominalWorld[float64](n) },
	} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 3))
			c := &train.Check[float64]{World: world(rng), Dt: 0.02, B: 12, H: 12, Seed: 9, Gamma: 0.97}
			o := policy.Observation{PreviewPoints: 3, PreviewTime: 0.3, PastActions: 2}
			switch name {
			case "features", "state free":
				o.Camera = camera()
				o.Camera.StateFree = name == "state free"
				o.Camera.Delay, o.Camera.Dropout, o.Camera.Width = 2, 0.2, 1.1
			case "learned":
				c.Jitter, c.SwitchShare = 0.2, 0.5
			case "pushes and lags":
				o.Push, o.Lag, c.SwitchShare = 1, 0.04, 0.5
			}
			p := somePolicy(t, o, rng)
			task := &seen{Task: tasksOf(tasksAlong(circle), p)}
			c.Actor, c.Task = &p.Actor, task
			_, grad, collided := c.Gradient()
			if collided == 0 || collided == c.B {
				t.Errorf("%d of %d environments collided: the test wants some", collided, c.B)
			}
			if flips := flips(task.last.camera, c.B, c.H); name == "features" && flips < 5 {
				t.Errorf("%d features come into view or leave it: the test wants some", flips)
			}
			const eps = 1e-5
			for i, keep := range p.Net.Params {
				p.Net.Params[i] = keep + eps
				up, _, _ := c.Gradient()
				p.Net.Params[i] = keep - eps
				down, _, _ := c.Gradient()
				p.Net.Params[i] = keep
				if want := (up - down) / (2 * eps); math.Abs(grad[i]-want) > 1e-6*(1+math.Abs(want)) {
					t.Fatalf("parameter %d: gradient %.8g, central difference %.8g", i, grad[i], want)
				}
			}
		})
	}
}

// somePolicy sees a latent of two and has random weights and normalisers.
func somePolicy(t *testing.T, o policy.Observation, rng *rand.Rand) *policy.Policy[float64] {
	t.Helper()
	p, err := policy.New[float64](o, limits(), 2, []int{6, 5})
	if err != nil {
		t.Fatal(err)
	}
	scatter(p, rng)
	return p
}

// scatter gives a policy random weights and normalisers.
func scatter(p *policy.Policy[float64], rng *rand.Rand) {
	hover := p.Hover()
	p.Net.Init(rng, hover[:])
	for i := range p.Net.Params {
		p.Net.Params[i] += 0.1 * rng.NormFloat64()
	}
	for i := range p.Norm.Scale {
		p.Norm.Scale[i], p.Norm.Mean[i] = 0.5+rng.Float64(), 0.1*rng.NormFloat64()
	}
}

// TestBFloat16 holds the gradient in bfloat16 against that of float32, of a policy that flies, over the same episodes
// through a learned residual: it is off by far less than the gradients of other episodes are.
func TestBFloat16(t *testing.T) {
	if !kernel.HasBFloat16() {
		t.Skip("SKIPPED: no products in bfloat16 here: the kernels are " + kernel.Name())
	}
	cfg := small(t)
	cfg.BFloat16, cfg.Flights = false, 0
	k, m := tasksAlong(circle), fitted[float32](t, rand.New(rand.NewPCG(3, 3)))
	w := Learned(m, 0.02, true, Pushes{}, Margins{})
	r, err := Run(context.Background(), cfg, w, 0.02, Options{Seed: 1, Tasks: k, Limits: limits()})
	if err != nil {
		t.Fatal(err)
	}
	gradient := func(seed uint64, reduced bool) []float32 {
		c := &train.Check[float32]{Actor: &r.Policy.Actor, World: w, Task: tasksOf(k, r.Policy), Dt: 0.02, B: cfg.Envs,
			H: cfg.Horizon, Seed: seed, Gamma: cfg.Discount, SwitchShare: cfg.SwitchShare, BFloat16: reduced}
		_, grad, _ := c.Gradient()
		return grad
	}
	off := func(a, b []float32) float64 {
		d := slices.Clone(a)
		kernel.Axpy(-1, b, d)
		return math.Sqrt(kernel.SquaredNorm(d) / kernel.SquaredNorm(b))
	}
	plain, other, reduced := gradient(2, false), gradient(3, false), gradient(2, true)
	t.Logf("in bfloat16 the gradient is off by %.2g of its length, that of other episodes by %.2g", off(reduced, plain),
		off(other, plain))
	if off(reduced, plain) > 0.03 || off(reduced, plain) > 0.1*off(other, plain) {
		t.Error("expected less than 0.03, and than a tenth of that of others")
	}
	if slices.Equal(plain, reduced) {
		t.Error("the gradients are the same: the kernels do not reduce")
	}
}

// camera sees three points from the target.
func camera() (c policy.Camera) {
	param.Default(&c)
	c.Points = []float64{2, 0.9, 0.3, 2, -0.9, 0.3, 3, 0, -0.4}
	return c
}

// flips counts the features that come into view or leave it by the robots' motion.
func flips(s *cameraModel[float64], B, H int) (n int) {
	for i := 2; i < (H-1)*B*s.row; i += 3 {
		next := i + B*s.row
		if s.faults[i] == 1 && s.faults[next] == 1 && s.seen[i] != s.seen[next] {
			n++
		}
	}
	return n
}

func small(t testing.TB) Config {
	t.Helper()
	var c Config
	if err := param.Check(&c); err != nil {
		t.Fatal(err)
	}
	param.Default(&c)
	c.Hidden, c.Envs, c.Horizon, c.Epochs = 32, 70, 30, 30
	return c
}

func defaults() (n Nominal) {
	param.Default(&n)
	n.MaxLag, n.MaxDelay, n.Margins = 0.06, 1, Margins{} // trainings of a few seconds have no time for margins
	return n
}

func nominal() train.World[float32] { return NominalWorld[float32](defaults()) }

// trials are n trial flights of four seconds.
func trials(w train.World[float32], k []*task.Task, n int) *Trials {
	t := NewTrials(w, k, 0.02, 1)
	t.Flights, t.Steps = n, 200
	return t
}

// TestSameForAnyNumberOfWorkers: the same bytes, and a resumed training too.
func TestSameForAnyNumberOfWorkers(t *testing.T) {
	run := func(workers int) []float32 {
		c := small(t)
		c.Workers, c.Epochs = workers, 3
		c.Observation.Camera = camera()
		c.Pretrain.Epochs, c.Pretrain.Teacher = 2, 2
		r, err := Run(context.Background(), c, nominal(), 0.02,
			Options{Seed: 5, Tasks: tasksAlong(circle), Limits: limits()})
		if err != nil {
			t.Fatal(err)
		}
		return r.Policy.Net.Params
	}
	if one := run(1); !slices.Equal(one, run(3)) {
		t.Error("one worker and three make different policies")
	}
}

// TestKeepsThePolicyThatFlies: trained without lag and with hardly a price on changes of the command, policies end up
// shaking on an actuator that lags. The best in flight is kept, not the last.
func TestKeepsThePolicyThatFlies(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	free, lagging := defaults(), defaults()
	free.MaxLag, free.MinLag, free.MaxDelay = 0, 0, 0
	lagging.MinLag, lagging.MaxLag, lagging.MaxDelay = 0.04, 0.06, 1
	k := tasksAlong(stay)
	k[0].Cost = task.Cost{Position: 2, Velocity: 0.5, CommandChange: 0.005, Collision: 1, Delta: 1}
	k[0].Radius = 4
	trials := trials(NominalWorld[float32](lagging), k, 8)
	c := small(t)
	c.Epochs, c.Flights, c.Horizon, c.Rate = 150, 15, 40, 0.01
	r, err := Run(context.Background(), c, NominalWorld[float32](free), 0.02,
		Options{Seed: 1, Tasks: k, Limits: limits(), Fly: trials.Fly})
	if err != nil {
		t.Fatal(err)
	}
	flown := r.Curve.Flown
	last := flown[len(flown)-1].Score
	if r.Best.Score > 0.25 || last < 3*r.Best.Score {
		t.Errorf("the last policy errs by %.3f m and the best by %.3f: the failure that this test is for is not there",
			last, r.Best.Score)
	}
	if kept, _ := trials.Fly(r.Policy); kept != r.Best.Score {
		t.Errorf("kept the policy that errs by %g, the best errs by %g", kept, r.Best.Score)
	}
}

// TestLearnsToHover is the whole training, small: from nothing to a policy that stays where it is told.
func TestLearnsToHover(t *testing.T) {
	k := tasksAlong(stay)
	k[0].Cost, k[0].Radius = task.Cost{Position: 5, Velocity: 0.1, Rates: 0.01, CommandChange: 0.5, Collision: 1,
		Delta: 1}, 4
	c := small(t)
	c.Epochs, c.Flights, c.Horizon = 80, 4, 40
	trials := trials(nominal(), k, 8)
	r, err := Run(context.Background(), c, nominal(), 0.02,
		Options{Seed: 1, Tasks: k, Limits: limits(), Fly: trials.Fly})
	if err != nil {
		t.Fatal(err)
	}
	first := r.Curve.Figures[0].Error
	if r.Best.Score > 0.12 || r.Best.Score > 0.5*first {
		t.Errorf("errs by %.3f m in flight, with the way back from the start; %.3f before the training", r.Best.Score,
			first)
	}
}

// TestDivergence: numbers that are not finite end the training in words.
func TestDivergence(t *testing.T) {
	c := small(t)
	n := defaults()
	n.Wind = math.NaN()
	k := tasksAlong(stay)
	r, err := Run(context.Background(), c, NominalWorld[float32](n), 0.02, Options{Seed: 5, Tasks: k, Limits: limits()})
	if err == nil || !strings.Contains(err.Error(), "term position is not finite in epoch 1") {
		t.Errorf("error %v", err)
	}
	if r == nil || slices.ContainsFunc(r.Policy.Net.Params, func(x float32) bool { return x*0 != 0 }) {
		t.Error("the last good policy is lost")
	}
}

// TestModelWithoutLatent: a policy that has space for a latent trains in a model
// that has none, and sees the prior mean.
func TestModelWithoutLatent(t *testing.T) {
	sys := quadrotor.NewQuadrotor[float32](0.02, quadrotor.NominalActuator())
	m, err := vnd.New[float32](sys, nets.Config{Context: 4, Hidden: 8, Blocks: 1, Members: 1})
	if err != nil {
		t.Fatal(err)
	}
	c := small(t)
	first, err := Run(context.Background(), c, nominal(), 0.02,
		Options{Seed: 1, Tasks: tasksAlong(stay), Limits: limits()})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []float64{0, 0.5} {
		c.Epochs, c.SwitchShare = 2, change
		if _, err := Run(context.Background(), c, Learned(m, 0.02, false, Pushes{}, Margins{}), 0.02,
			Options{Seed: 1, Tasks: tasksAlong(stay), Limits: limits(), From: first.Policy}); err != nil {
			t.Error(err)
		}
	}
}
