package train

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot"
	"vnd/pkg/robot/pendulum"
	"vnd/pkg/vnd"
)

var nominal = pendulum.Robot{Dt: 0.05, Mass: 1, Drag: 0.2}

// holding is the task of these tests; its episodes end beyond a radius, rad.
func holding[F kernel.Float](radius float64) *pendulum.Hold[F] {
	return &pendulum.Hold[F]{Angles: 1, Spread: 0.5, Rate: 0.05, Change: 0.01, Actions: 2,
		Bounds: robot.Bounds{Radius: radius, Collision: 1}}
}

// prior is a world of pendulums of other masses, each pushed by a torque of its own.
func prior[F kernel.Float]() *Prior[F] {
	return &Prior[F]{Nominal: pendulum.New[F](nominal),
		Draw: func(rng *rand.Rand) robot.System[F] {
			r := nominal
			r.Mass = 0.8 + 0.4*rng.Float64()
			return pendulum.New[F](r)
		},
		Push: func(rng *rand.Rand, w []F) { w[1] = F(0.01 * rng.NormFloat64()) }}
}

// learned is a model with random weights and latents of two.
func learned[F kernel.Float](t *testing.T, rng *rand.Rand) *Learned[F] {
	t.Helper()
	m, err := vnd.New[F](pendulum.New[F](nominal), nets.Config{Context: 4, Latent: 2, Encoder: nets.EncoderGRU,
		EncoderDense: 4, EncoderHidden: 4, Hidden: 8, Blocks: 2, Film: true, Members: 2})
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
	return &Learned[F]{Model: m, Through: true,
		Push: func(rng *rand.Rand, s []F) { s[1] = F(0.01 * rng.NormFloat64()) }}
}

// untrained is a policy of a task with a latent.
func untrained[F kernel.Float](t *testing.T, k robot.Task[F], latent int, hidden ...int) *vnd.Actor[F] {
	t.Helper()
	p, err := vnd.NewActor(k.Size(), latent, []F{0}, []F{12}, hidden)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// scattered is a policy with random weights and normalisers.
func scattered[F kernel.Float](t *testing.T, k robot.Task[F], latent int, rng *rand.Rand) *vnd.Actor[F] {
	t.Helper()
	p := untrained(t, k, latent, 6, 5)
	p.Net.Init(rng, []F{0})
	for i := range p.Net.Params {
		p.Net.Params[i] += F(0.1 * rng.NormFloat64())
	}
	for i := range p.Norm.Scale {
		p.Norm.Scale[i], p.Norm.Mean[i] = F(0.5+rng.Float64()), F(0.1*rng.NormFloat64())
	}
	return p
}

func small(t testing.TB) Config {
	t.Helper()
	var c Config
	if err := param.Check(&c); err != nil {
		t.Fatal(err)
	}
	param.Default(&c)
	c.Hidden, c.Envs, c.Horizon, c.Epochs, c.Flights = 32, 70, 30, 30, 0
	return c
}

// TestGradientMatchesCentralDifferences proves the gradient of a whole episode in every world. Some episodes end in a
// collision.
func TestGradientMatchesCentralDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	through := learned[float64](t, rng)
	slow := func(_ *rand.Rand, each []Response) { each[0] = Response{0.8, 0.6, 12, 0.4} }
	for name, w := range map[string]World[float64]{"prior": prior[float64](), "learned": through,
		"responding": &Responding[float64]{World: prior[float64](), Dt: nominal.Dt, Draw: slow},
		"informed": &Informed[float64]{World: prior[float64](), Size: 2,
			Push: func(z, s []float64) { s[1] = 0.01 * z[1] }},
	} {
		t.Run(name, func(t *testing.T) {
			k := holding[float64](0.9)
			c := &Check[float64]{World: w, Task: k, Dt: nominal.Dt, B: 12, H: 12, Seed: 9, Gamma: 0.97}
			if w.Latent() > 0 {
				c.Jitter, c.SwitchShare = 0.2, 0.5
			}
			c.Actor = scattered[float64](t, k, 2, rand.New(rand.NewPCG(3, 3)))
			_, grad, collided := c.Gradient()
			if collided == 0 || collided == c.B {
				t.Errorf("%d of %d episodes collided: the test wants some", collided, c.B)
			}
			const eps = 1e-5
			params := c.Actor.Net.Params
			for i, keep := range params {
				params[i] = keep + eps
				up, _, _ := c.Gradient()
				params[i] = keep - eps
				down, _, _ := c.Gradient()
				params[i] = keep
				if want := (up - down) / (2 * eps); math.Abs(grad[i]-want) > 1e-6*(1+math.Abs(want)) {
					t.Fatalf("parameter %d: gradient %.8g, central difference %.8g", i, grad[i], want)
				}
			}
		})
	}
}

// TestInformedPushes: beside the other world's step there is the disturbance of z, before and after a change.
func TestInformedPushes(t *testing.T) {
	const B = 3
	inner := &Prior[float64]{Nominal: pendulum.New[float64](nominal)}
	pushed := &Informed[float64]{World: inner, Size: 1, Push: func(z, s []float64) { s[0], s[1] = z[0], 2*z[0] }}
	rng := rand.New(rand.NewPCG(1, 1))
	given := latents[float64]{first: []float64{1, 2, 3}, second: []float64{4, 5, 6}, at: 1}
	s, a := []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.6}, []float64{1, 2, 3}
	for h, z := range [][]float64{given.first, given.second} {
		calm, next := make([]float64, 2*B), make([]float64, 2*B)
		inner.tile(B, 2).begin(B, 2, latents[float64]{}, rng).Step(h, s, a, calm)
		pushed.tile(B, 2).begin(B, 2, given, rng).Step(h, s, a, next)
		for i := range next {
			if got, want := next[i]-calm[i], z[i/2]*float64(1+i%2); math.Abs(got-want) > 1e-12 {
				t.Errorf("step %d, number %d moves by %g, want %g", h, i, got, want)
			}
		}
	}
}

// half is a task whose policy does not see the rate.
type half struct{ *pendulum.Hold[float64] }

func (k half) NewEpisodes(dt float64, maxB, maxH int) robot.Episodes[float64] {
	return halfEpisodes{k.Hold.NewEpisodes(dt, maxB, maxH)}
}

type halfEpisodes struct{ robot.Episodes[float64] }

func (e halfEpisodes) Observe(h int, s, past, x []float64, width int) {
	e.Episodes.Observe(h, s, past, x, width)
	for i := 2; i < len(x); i += width {
		x[i] = 0
	}
}

// TestImitationGradient proves the gradient of the imitation by central differences.
func TestImitationGradient(t *testing.T) {
	const B, H = 3, 5
	rng := rand.New(rand.NewPCG(3, 3))
	some := func(k robot.Task[float64]) *tile[float64] {
		return newTile(scattered(t, k, 1, rng), prior[float64](), k, nominal.Dt, B, H)
	}
	teacher, pupil := some(holding[float64](3)), some(half{holding[float64](3)})
	for _, tl := range []*tile[float64]{teacher, pupil} {
		tl.begin(B, H, rand.New(rand.NewPCG(9, 9)), func(rng *rand.Rand, z []float64) { z[0] = rng.NormFloat64() })
	}
	e := epoch{H: H, gamma: 1, scale: 0.7}
	pupil.forward(e)
	pupil.alive[3*B+1] = 0 // its step 3 is no example
	// loss is that of the pupil's actions where it has been, by another way.
	loss := func() (sum float64) {
		u, want := make([]float64, B), make([]float64, B)
		pupil.p.Net.Refresh()
		for h := range H {
			pupil.p.Net.Forward(pupil.tape, h, B, pupil.observe(h), u)
			teacher.p.Net.Forward(teacher.tape, h, B, teacher.observe(h), want)
			for i := range u {
				if h != 3 || i != 1 {
					sum += (u[i] - want[i]) * (u[i] - want[i]) / 2
				}
			}
		}
		return sum
	}
	got := pupil.imitate(teacher, e)
	if want := loss(); math.Abs(got-want) > 1e-12*want {
		t.Errorf("loss %g, want %g", got, want)
	}
	if !slices.Equal(pupil.z, teacher.z) {
		t.Error("teacher and pupil are under different latents")
	}
	params := pupil.p.Net.Params
	const eps = 1e-5
	for i, keep := range params {
		params[i] = keep + eps
		up := loss()
		params[i] = keep - eps
		down := loss()
		params[i] = keep
		if want := e.scale * (up - down) / (2 * eps); math.Abs(pupil.grad[i]-want) > 1e-7*(1+math.Abs(want)) {
			t.Fatalf("parameter %d: gradient %.8g, central difference %.8g", i, pupil.grad[i], want)
		}
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
	run := func(all bool) (*Result, error) {
		k := holding[float32](4)
		return Run(context.Background(), c, overflowing{prior[float32](), all}, nominal.Dt,
			Options{Seed: 5, Task: k, Actor: untrained[float32](t, k, 0, 32, 32), New: true})
	}
	r, err := run(false)
	if err != nil {
		t.Fatal(err)
	}
	if first, last := r.Curve.Figures[0], r.Curve.Figures[c.Epochs-1]; last.Cost > 0.7*first.Cost {
		t.Errorf("cost %v → %v", first.Cost, last.Cost)
	}
	if !slices.ContainsFunc(r.Curve.Figures, func(f Figures) bool { return f.Skipped > 0 }) {
		t.Error("no tile was left out")
	}
	_, err = run(true)
	if err == nil || !strings.Contains(err.Error(), "the gradient is not finite in epoch 1 ") {
		t.Errorf("error %v", err)
	}
}

// TestChange: in some episodes the condition changes; the model is under the new
// one at once, the policy's latent follows within the encoder's window.
func TestChange(t *testing.T) {
	const B, H = 8, 60
	rng, k := rand.New(rand.NewPCG(3, 3)), holding[float64](4)
	p := scattered[float64](t, k, 2, rng)
	tl := newTile[float64](p, learned[float64](t, rng), k, nominal.Dt, B, H)
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

// TestPolicyThatDoesNotFitIsRefused: in sizes of its task, its robot or the model's latent.
func TestPolicyThatDoesNotFitIsRefused(t *testing.T) {
	k := holding[float32](4)
	other := *k
	other.Actions++
	for name, p := range map[string]*vnd.Actor[float32]{
		"task shows 7":       untrained[float32](t, &other, 2, 4),
		"sees a latent of 3": untrained[float32](t, k, 3, 4),
	} {
		_, err := Run(context.Background(), small(t), learned[float32](t, rand.New(rand.NewPCG(1, 1))), nominal.Dt,
			Options{Task: k, Actor: p, New: true})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("got %v, want %q", err, name)
		}
	}
}

// TestMeasuredDisturbanceFollowsLate: as a condition changes, one robot of two is disturbed otherwise at once, and its
// policy sees so late.
func TestMeasuredDisturbanceFollowsLate(t *testing.T) {
	const B, H, at = 40, 60, 20
	w := learned[float64](t, rand.New(rand.NewPCG(1, 1)))
	w.Measured = MeasuredDisturbance[float64]{Size: 1, Share: 0.2, Draw: func(rng *rand.Rand, x, m []float64) {
		x[0] = rng.NormFloat64()
		m[1] = x[0]
	}}
	k := w.tile(B, H).(*learnedTile[float64])
	z := make([]float64, 2*B)
	k.begin(B, H, latents[float64]{z, z, at}, rand.New(rand.NewPCG(2, 2)))
	acts := func(h, b int) float64 { // on a robot, in step h
		if h < at {
			return k.push.of(b)[1]
		}
		return k.then.of(b)[1]
	}
	changed := 0
	for b := range B {
		if acts(0, b) != acts(H-1, b) {
			changed++
		}
	}
	if changed < B/4 || changed > 3*B/4 {
		t.Errorf("%d of %d robots are disturbed otherwise after the change", changed, B)
	}
	var off float64
	for h := range H {
		for b, x := range k.measured(h) {
			switch d := math.Abs(x - acts(h, b)); {
			case h < at && d > 0:
				t.Fatalf("step %d, robot %d sees %g, want %g", h, b, x, acts(h, b))
			case h == at:
				off = max(off, d)
			case h == H-1 && d > 0.01:
				t.Errorf("long after the change robot %d sees %g, want %g", b, x, acts(h, b))
			}
		}
	}
	if off < 1 {
		t.Errorf("the change is seen at once: off by %g", off)
	}
}

// TestLostRobotsRest: a robot that is lost stays at rest, where its world is finite: what becomes of it has no
// gradient, and nothing times infinity would be no number.
func TestLostRobotsRest(t *testing.T) {
	const B, H = 4, 6
	k := holding[float64](0.01)
	tl := newTile(untrained(t, k, 0, 4), prior[float64](), k, nominal.Dt, B, H)
	tl.begin(B, H, rand.New(rand.NewPCG(1, 1)), func(*rand.Rand, []float64) {})
	if f := tl.forward(epoch{H: H, gamma: 1}); f.Collided != B {
		t.Fatalf("%g of %d are lost", f.Collided, B)
	}
	S := tl.dims.State
	for i := range H * B {
		if s := tl.states[(B+i)*S:][:S]; tl.alive[B+i] == 0 && !slices.Equal(s, tl.rest) {
			t.Errorf("step %d: a lost robot is at %v, expected %v", i/B+1, s, tl.rest)
		}
	}
}
