package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/dist"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/task"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/nets"
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
func tasks(reference func(float64) quad.Reference) []*task.Task {
	var spread task.Spread
	param.Default(&spread)
	c := task.Cost{Position: 1, Height: 0.3, Velocity: 0.1, Rates: 0.15, Acceleration: 0.1, Attitude: 0.4, Heading: 0.2,
		Action: 0.5, Change: 0.15, Collision: 1, Delta: 1}
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

// TestGradient proves the gradient of a whole episode, in every parameter of the
// policy, by central differences. Environments that collide are among them, and
// features that come into view and leave it.
func TestGradient(t *testing.T) {
	for name, world := range map[string]func(rng *rand.Rand) World[float64]{
		"nominal": func(*rand.Rand) World[float64] {
			n := Nominal{Dt: 0.02, MinLag: 0.02, MaxLag: 0.05, MaxDelay: 2, Gain: 0.1, Wind: 2}
			return &NominalWorld[float64]{n}
		},
		"learned": func(rng *rand.Rand) World[float64] {
			return &Learned[float64]{Model: fitted[float64](t, rng), Dt: 0.02, Through: true, Wind: 1}
		},
		"features": func(*rand.Rand) World[float64] {
			n := Nominal{Dt: 0.02, MinLag: 0.02, MaxLag: 0.05, MaxDelay: 2, Gain: 0.1, Wind: 2}
			return &NominalWorld[float64]{n}
		},
	} {
		rng := rand.New(rand.NewPCG(3, 3))
		w := world(rng)
		o := policy.Observation{Looks: 3, Ahead: 0.3, Past: 2}
		if name == "features" {
			o.Camera = camera()
			o.Camera.Delay, o.Camera.Dropout, o.Camera.Width = 2, 0.2, 1.1
		}
		p, err := policy.New[float64](o, limits(), 2, []int{6, 5})
		if err != nil {
			t.Fatal(err)
		}
		hover := p.Hover()
		p.Net.Init(rng, hover[:])
		for i := range p.Net.Params {
			p.Net.Params[i] += 0.1 * rng.NormFloat64()
		}
		for i := range p.Norm.Scale {
			p.Norm.Scale[i], p.Norm.Mean[i] = 0.5+rng.Float64(), 0.1*rng.NormFloat64()
		}
		const B, H = 12, 12
		e := epoch{H: H, gamma: 0.97, scale: 0.7}
		tl := newTile(p, w, tasks(circle), 0.02, B, H)
		if name == "learned" {
			tl.randomisation = randomisation{jitter: 0.2, change: 0.5}
		}
		loss := func() float64 {
			p.Net.Refresh()
			tl.begin(B, H, rand.New(rand.NewPCG(9, 9)), func(rng *rand.Rand, z []float64) {
				for i := range z {
					z[i] = rng.NormFloat64()
				}
			})
			tl.forward(e)
			sum, cost, off := 0., make([]float64, B), make([]float64, B)
			for h := range H {
				tr := tl.transition(h)
				quadrotor.Costs(&tr, tl.weigh, cost, off)
				for b := range B {
					if wgt := tl.alive[h*B+b]; wgt != 0 && tl.alive[(h+1)*B+b] != 0 {
						sum += wgt * e.scale * cost[b]
					}
				}
			}
			return sum
		}
		loss()
		tl.backward(e)
		grad := slices.Clone(tl.grad)
		collided := 0
		for b := range B {
			if tl.alive[H*B+b] == 0 {
				collided++
			}
		}
		if collided == 0 || collided == B {
			t.Errorf("%s: %d of %d environments collided: the test wants some", name, collided, B)
		}
		if flips := flips(tl.cameraModel, B, H); name == "features" && flips < 5 {
			t.Errorf("%d features come into view or leave it: the test wants some", flips)
		}
		const eps = 1e-5
		for i, keep := range p.Net.Params {
			p.Net.Params[i] = keep + eps
			up := loss()
			p.Net.Params[i] = keep - eps
			down := loss()
			p.Net.Params[i] = keep
			if want := (up - down) / (2 * eps); math.Abs(grad[i]-want) > 1e-5*(1+math.Abs(want)) {
				t.Fatalf("%s: parameter %d: gradient %.8g, central difference %.8g", name, i, grad[i], want)
			}
		}
	}
}

// TestReduced holds the gradient in bfloat16 against that of float32, of a policy that flies, over the same episodes
// through a learned residual: it is off by far less than the gradients of other episodes are.
func TestReduced(t *testing.T) {
	if !kernel.Reduces() {
		t.Skip("SKIPPED: no products in bfloat16 here: the kernels are " + kernel.Name())
	}
	m := fitted[float32](t, rand.New(rand.NewPCG(3, 3)))
	gradient := func(from *policy.Policy[float32], epochs int, seed uint64, reduced bool) (*policy.Policy[float32],
		[]float32) {
		c := small(t)
		c.Reduced = reduced
		opt := Options{Seed: seed, Tasks: tasks(circle), Limits: limits(), From: from, Ranks: dist.Solo{}}
		tr, err := newTrainer(&c, &Learned[float32]{Model: m, Dt: 0.02, Through: true}, 0.02, &opt)
		if err != nil {
			t.Fatal(err)
		}
		for range epochs {
			if err := tr.epoch(); err != nil {
				t.Fatal(err)
			}
		}
		return tr.policy, tr.grad
	}
	off := func(a, b []float32) float64 {
		d := slices.Clone(a)
		kernel.Axpy(-1, b, d)
		return math.Sqrt(kernel.SquaredNorm(d) / kernel.SquaredNorm(b))
	}
	flies, _ := gradient(nil, 30, 1, false)
	_, plain := gradient(flies, 1, 2, false)
	_, other := gradient(flies, 1, 3, false)
	_, reduced := gradient(flies, 1, 2, true)
	t.Logf("in bfloat16 the gradient is off by %.2g of its length, that of other episodes by %.2g", off(reduced, plain),
		off(other, plain))
	if off(reduced, plain) > 0.03 || off(reduced, plain) > 0.1*off(other, plain) {
		t.Error("expected less than 0.03, and than a tenth of that of others")
	}
	if kernel.Reduces() == slices.Equal(plain, reduced) {
		t.Errorf("the kernels reduce: %v, and the gradients are the same: %v", kernel.Reduces(),
			slices.Equal(plain, reduced))
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

func nominal() *NominalWorld[float32] {
	w := &NominalWorld[float32]{}
	param.Default(&w.Nominal)
	return w
}

// TestSameForAnyNumberOfWorkers: the same bytes, and a resumed training too.
func TestSameForAnyNumberOfWorkers(t *testing.T) {
	run := func(workers int) []float32 {
		c := small(t)
		c.Workers, c.Epochs = workers, 3
		c.Observation.Camera = camera()
		c.Pretrain.Epochs, c.Pretrain.Teacher = 2, 2
		r, err := Run(context.Background(), c, nominal(), 0.02,
			Options{Seed: 5, Tasks: tasks(circle), Limits: limits()})
		if err != nil {
			t.Fatal(err)
		}
		return r.Policy.Net.Params
	}
	if one := run(1); !slices.Equal(one, run(3)) {
		t.Error("one worker and three make different policies")
	}
}

// TestKeepsThePolicyThatFlies: trained without lag and with hardly a price on
// changes of the command, policies end up shaking on an actuator that lags. The best in
// flight is kept, not the last.
func TestKeepsThePolicyThatFlies(t *testing.T) {
	free := nominal()
	free.Nominal.MaxLag, free.Nominal.MinLag, free.Nominal.MaxDelay = 0, 0, 0
	lagging := nominal()
	lagging.Nominal.MinLag, lagging.Nominal.MaxLag, lagging.Nominal.MaxDelay = 0.04, 0.06, 1
	k := tasks(stay)
	k[0].Cost = task.Cost{Position: 2, Velocity: 0.5, Change: 0.005, Collision: 1, Delta: 1}
	k[0].Radius = 4
	trials := &Trials{World: lagging, Tasks: k, Dt: 0.02, Flights: 8, Steps: 200, Seed: 1}
	c := small(t)
	c.Epochs, c.Flights, c.Horizon, c.Rate = 150, 15, 40, 0.01
	r, err := Run(context.Background(), c, free, 0.02, Options{Seed: 1, Tasks: k, Limits: limits(), Fly: trials.Fly})
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

// TestLearnsToHover is the whole training, small: from nothing to a policy that
// stays where it is told.
func TestLearnsToHover(t *testing.T) {
	k := tasks(stay)
	k[0].Cost, k[0].Radius = task.Cost{Position: 5, Velocity: 0.1, Rates: 0.01, Change: 0.5, Collision: 1, Delta: 1}, 4
	c := small(t)
	c.Epochs, c.Flights, c.Horizon = 80, 4, 40
	trials := &Trials{World: nominal(), Tasks: k, Dt: 0.02, Flights: 8, Steps: 200, Seed: 1}
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

// TestResume: interrupted after some epochs and taken up again, a training ends
// with the same bytes.
func TestResume(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.checkpoint")
	c := small(t)
	c.Epochs = 6
	opt := Options{Seed: 5, Tasks: tasks(circle), Limits: limits()}
	whole, err := Run(context.Background(), c, nominal(), 0.02, opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	opt.Checkpoint = path
	opt.Progress = func(p Progress) {
		if p.Epoch == 3 {
			cancel()
		}
	}
	if _, err := Run(ctx, c, nominal(), 0.02, opt); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	opt.Progress = nil
	r, err := Run(context.Background(), c, nominal(), 0.02, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Policy.Net.Params, whole.Policy.Net.Params) || len(r.Curve.Figures) != 6 {
		t.Error("a resumed training makes another policy")
	}
	opt.Seed = 6
	if _, err := Run(context.Background(), c, nominal(), 0.02, opt); err == nil ||
		!strings.Contains(err.Error(), "another configuration") {
		t.Errorf("checkpoint of another seed: %v", err)
	}
	opt.Seed, opt.Key = 5, "another world"
	if _, err := Run(context.Background(), c, nominal(), 0.02, opt); err == nil ||
		!strings.Contains(err.Error(), "another configuration") {
		t.Errorf("checkpoint of another key: %v", err)
	}
}

// TestDivergence: numbers that are not finite end the training in words.
func TestDivergence(t *testing.T) {
	c := small(t)
	w := nominal()
	w.Nominal.Wind = math.NaN()
	k := tasks(stay)
	r, err := Run(context.Background(), c, w, 0.02, Options{Seed: 5, Tasks: k, Limits: limits()})
	if err == nil || !strings.Contains(err.Error(), "term position is not finite in epoch 1") {
		t.Errorf("error %v", err)
	}
	if r == nil || slices.ContainsFunc(r.Policy.Net.Params, func(x float32) bool { return x-x != 0 }) {
		t.Error("the last good policy is lost")
	}
}

// overflowing is a world in which the way back of some tiles has no finite numbers.
type overflowing struct {
	World[float32]
	all bool
}

func (w overflowing) tile(maxB, maxH int) worldTile[float32] {
	return overflowingTile{w.World.tile(maxB, maxH), w.all}
}
func (w overflowing) reduced() World[float32] { return w }

type overflowingTile struct {
	worldTile[float32]
	all bool
}

func (t overflowingTile) begin(B, H int, z latents[float32], rng *rand.Rand) transitions[float32] {
	s := t.worldTile.begin(B, H, z, rng)
	if rng.IntN(12) == 0 || t.all {
		return overflowingSteps{s}
	}
	return s
}

type overflowingSteps struct{ transitions[float32] }

func (s overflowingSteps) Backward(h int, dnext, ds, da []float32) {
	s.transitions.Backward(h, dnext, ds, da)
	ds[0] = float32(math.Inf(1))
}

// TestTrainingGoesOnWithoutSkippedTiles: the training goes on without the tiles whose gradients overflow, and ends in
// words where all do.
func TestTrainingGoesOnWithoutSkippedTiles(t *testing.T) {
	c := small(t)
	c.Envs = 160
	r, err := Run(context.Background(), c, overflowing{nominal(), false}, 0.02,
		Options{Seed: 5, Tasks: tasks(stay), Limits: limits()})
	if err != nil {
		t.Fatal(err)
	}
	if first, last := r.Curve.Figures[0], r.Curve.Figures[c.Epochs-1]; last.Cost > 0.7*first.Cost {
		t.Errorf("cost %v → %v", first.Cost, last.Cost)
	}
	if !slices.ContainsFunc(r.Curve.Figures, func(f Figures) bool { return f.Skipped > 0 }) {
		t.Error("no tile was left out")
	}
	_, err = Run(context.Background(), c, overflowing{nominal(), true}, 0.02,
		Options{Seed: 5, Tasks: tasks(stay), Limits: limits()})
	if err == nil || !strings.Contains(err.Error(), "the gradient is not finite in epoch 1 ") {
		t.Errorf("error %v", err)
	}
}

// TestChange: in some episodes the condition changes; the model is under the new
// one at once, the policy's latent follows within the encoder's window.
func TestChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	w := &Learned[float64]{Model: fitted[float64](t, rng), Dt: 0.02}
	p, err := policy.New[float64](policy.Observation{Looks: 1, Past: 1}, limits(), 2, []int{4})
	if err != nil {
		t.Fatal(err)
	}
	const B, H = 8, 60
	tl := newTile(p, w, tasks(stay), 0.02, B, H)
	tl.randomisation.change = 0.5
	tl.begin(B, H, rng, func(rng *rand.Rand, z []float64) {
		for j := range z {
			z[j] = rng.NormFloat64()
		}
	})
	if tl.change < H/4 || tl.change >= 3*H/4 {
		t.Fatalf("the change comes at step %d of %d", tl.change, H)
	}
	changed := 0
	for b := range B {
		row := make([]float64, B*p.Net.Inputs)
		at := func(h int) float64 { tl.seen(h, row); return row[(b+1)*p.Net.Inputs-1] }
		before, after := tl.z[2*b+1], tl.then[2*b+1]
		if before != after {
			changed++
		}
		for h, want := range map[int]float64{0: before, tl.change: before,
			tl.change + recognised/2: (before + after) / 2, tl.change + recognised: after} {
			if math.Abs(at(h)-want) > 1e-12 {
				t.Errorf("robot %d sees %g at step %d, want %g", b, at(h), h, want)
			}
		}
	}
	if changed == 0 || changed == B {
		t.Errorf("%d of %d conditions changed", changed, B)
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
	first, err := Run(context.Background(), c, nominal(), 0.02, Options{Seed: 1, Tasks: tasks(stay), Limits: limits()})
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range []float64{0, 0.5} {
		c.Epochs, c.Change = 2, change
		if _, err := Run(context.Background(), c, &Learned[float32]{Model: m, Dt: 0.02}, 0.02,
			Options{Seed: 1, Tasks: tasks(stay), Limits: limits(), From: first.Policy}); err != nil {
			t.Error(err)
		}
	}
}
