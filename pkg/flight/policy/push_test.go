package policy

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

func policyOf(t testing.TB) (*Policy[float32], error) {
	t.Helper()
	b, err := bundle.Read(filepath.Join("..", "control", "testdata", "a.vnd"))
	if err != nil {
		return nil, err
	}
	return FromBundle(b)
}

// hoverer is a small policy that was trained to hover, with a model of the robot that it was trained on.
func hoverer(t testing.TB) *LoadedBundle {
	t.Helper()
	b, err := bundle.Read(filepath.Join("..", "control", "testdata", "a.vnd"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := Load(b)
	if err != nil {
		t.Fatal(err)
	}
	if l.Policy, err = l.Policy.WithMeasured(1, 0); err != nil {
		t.Fatal(err)
	}
	param.Default(&l.Policy.Push)
	l.Robot = quadrotor.Robot{Dt: l.Dt, Prior: true, Actuator: quadrotor.Actuator{ThrustGain: 1, RateGain: 1,
		ThrustDelay: 0.5, ThrustLag: 0.03, RateDelay: 0.5, RateLag: 0.03}}
	l.Model.System = l.Robot.System()
	clear(l.Model.Output)
	return l
}

// pushed is a quadrotor with a push.
type pushed struct {
	system  *quadrotor.Quadrotor[float64]
	s, next []float64
	dt      float64
}

func newPushed(l *LoadedBundle) *pushed {
	q := quadrotor.NewQuadrotor[float64](l.Dt, l.Robot.Actuator).InWorld()
	s := robot.Settled(q)
	return &pushed{q, s, make([]float64, len(s)), l.Dt}
}

func (w *pushed) state() quad.State { return quadrotor.State(w.s) }

func (w *pushed) step(c *quad.Command, push so3.Vec3) {
	var a [nA]float64
	d := make([]float64, w.system.Dims().Tangent)
	quadrotor.Action(c, a[:])
	for _, sp := range w.system.TangentSpans() {
		if sp.Name == "velocity" {
			copy(d[sp.Lo:], []float64{w.dt * push.X, w.dt * push.Y, w.dt * push.Z})
		}
	}
	w.system.Step(1, w.s, a[:], d, w.next)
	w.s, w.next = w.next, w.s
}

// flyPushed hovers for some seconds, and calls see after each tick.
func flyPushed(f *Runner, w *pushed, seconds float64, push func(t float64) so3.Vec3, see func(t float64)) {
	for k := range int(seconds / w.dt) {
		t := float64(k) * w.dt
		s := w.state()
		c := f.Command(t, &s)
		see(t)
		w.step(&c, push(t))
	}
}

func ground(float64) quad.Reference { return quad.Reference{} }

func TestSensorReportsThePush(t *testing.T) {
	l := hoverer(t)
	f, w := NewRunnerOf(l.NewBuffers(), l.Dt, ground), newPushed(l)
	push := so3.Vec3{X: 1, Y: -0.5, Z: 0.7}
	flyPushed(f, w, 4, func(float64) so3.Vec3 { return push }, func(at float64) {
		if off := f.push.Sub(push).Norm(); at > 1 && off > 0.02*push.Norm() {
			t.Fatalf("at %.2f s the push is %v, expected %v", at, f.push, push)
		}
		if at > 1 {
			x := f.Inputs()[f.policy.Observation.Size()-pushes:]
			for j, want := range []float64{f.push.X, f.push.Y, f.push.Z} {
				if math.Abs(float64(x[j])-want) > 1e-6 {
					t.Fatalf("at %.2f s the policy sees %v, expected %v", at, x[:pushes], f.push)
				}
			}
		}
	})
}

// A policy that begins to see pushes flies as it did.
func TestNewInputsAreNotHeeded(t *testing.T) {
	l := hoverer(t)
	before, err := policyOf(t)
	if err != nil {
		t.Fatal(err)
	}
	f, g := NewRunnerOf(l.NewBuffers(), l.Dt, ground), NewRunner(before, l.Dt, ground)
	z := make([]float32, before.Latent)
	for j := range z {
		z[j] = float32(j) - 1.5
	}
	f.SetLatent(z)
	g.SetLatent(z)
	w := newPushed(l)
	for k := range 100 {
		at, s := float64(k)*l.Dt, w.state()
		c, d := f.Command(at, &s), g.Command(at, &s)
		if off := c.Rates.Sub(d.Rates).Norm() + math.Abs(c.Thrust-d.Thrust); off > 1e-4 {
			t.Fatalf("tick %d: %v, expected %v", k, c, d)
		}
		w.step(&c, so3.Vec3{X: 1})
	}
	if f.push == (so3.Vec3{}) {
		t.Error("no push was measured")
	}
}

func TestPushIsBounded(t *testing.T) {
	nan := math.NaN()
	for name, spoil := range map[string]func(k int, s *quad.State){
		"velocity that jumps":         func(k int, s *quad.State) { s.V.X = 100 * float64(k%2) },
		"velocity that is no number":  func(k int, s *quad.State) { s.V.Z = nan },
		"velocity without bounds":     func(k int, s *quad.State) { s.V.Y = math.Inf(1) },
		"attitude that is no number":  func(k int, s *quad.State) { s.Q.X = nan },
		"velocity that stands still":  func(k int, s *quad.State) { s.V = so3.Vec3{X: 3} },
		"one row that is no number":   func(k int, s *quad.State) { s.V.X = map[bool]float64{true: nan}[k == 60] },
		"one velocity that is absurd": func(k int, s *quad.State) { s.V.X = map[bool]float64{true: 1e300}[k == 60] },
	} {
		t.Run(name, func(t *testing.T) {
			l := hoverer(t)
			f := NewRunnerOf(l.NewBuffers(), l.Dt, ground)
			for k := range 200 {
				s := quad.State{Q: so3.Identity()}
				spoil(k, &s)
				if c := f.Command(float64(k)*l.Dt, &s); !c.Finite() {
					f.ResetActions() // the guard flies
				}
				if m := f.push; !m.Finite() || m.Norm() > mostPush*f.policy.Observation.Push+1e-9 {
					t.Fatalf("tick %d: a push of %v", k, m)
				}
			}
			for k := 200; k < 205+feltAfter; k++ { // and it is over soon
				f.Command(float64(k)*l.Dt, &quad.State{Q: so3.Identity()})
			}
			if f.sensor.rows <= feltAfter {
				t.Errorf("no push is felt after %d good rows", f.sensor.rows)
			}
		})
	}
}

// After a gap, under the guard and before the actuator is known nothing is felt.
func TestPushIsUnknown(t *testing.T) {
	push := func(float64) so3.Vec3 { return so3.Vec3{X: 1} }
	l := hoverer(t)
	f, w := NewRunnerOf(l.NewBuffers(), l.Dt, ground), newPushed(l)
	flyPushed(f, w, 1, push, func(at float64) {
		if felt := f.push != (so3.Vec3{}); felt && at < float64(feltAfter)*l.Dt {
			t.Fatalf("at %.2f s the push is %v", at, f.push)
		}
	})
	before := f.push
	if before.Norm() < 0.5 {
		t.Fatalf("the push is %v", before)
	}
	s := w.state()
	s.V.X += 3
	for k := range feltAfter - 1 {
		if f.Command(7+float64(k)*l.Dt, &s); f.push != before {
			t.Fatalf("%d rows after a gap the push is %v, expected %v", k, f.push, before)
		}
	}
	if f.ResetActions(); f.push != (so3.Vec3{}) {
		t.Errorf("the push is %v while somebody else flies", f.push)
	}
}

func TestSwapKeepsThePush(t *testing.T) {
	l := hoverer(t)
	f, w := NewRunnerOf(l.NewBuffers(), l.Dt, ground), newPushed(l)
	push := func(float64) so3.Vec3 { return so3.Vec3{X: 1} }
	flyPushed(f, w, 2, push, func(float64) {})
	before := f.push
	for name, to := range map[string]*Buffers{
		"with a model": hoverer(t).NewBuffers(),
		"without one":  NewBuffers(l.Policy),
	} {
		f.push = before
		if f.Swap(to, l.Dt); f.push != before {
			t.Errorf("%s: a swap changes the push by %v at once", name, f.push.Sub(before))
		}
		for k := range 5 {
			was := f.push
			s := w.state()
			c := f.Command(2+float64(k)*l.Dt, &s)
			if by := f.push.Sub(was).Norm(); by > 0.25*before.Norm() {
				t.Errorf("%s: row %d changes the push by %.4f m/s² at once", name, k, by)
			}
			w.step(&c, push(0))
		}
	}
}

// A policy that flies again after one without a model begins anew: what it felt when it flew before is nothing now.
func TestPushBeginsAnewAfterAPolicyWithoutAModel(t *testing.T) {
	moved := func(again func(*Buffers) *Buffers) so3.Vec3 {
		l := hoverer(t)
		first, without := l.NewBuffers(), NewBuffers(l.Policy)
		f, w := NewRunnerOf(first, l.Dt, ground), newPushed(l)
		for k := range 100 {
			switch k {
			case 50:
				f.Swap(without, l.Dt)
			case 55:
				f.Swap(again(first), l.Dt)
			}
			s := w.state()
			c := f.Command(float64(k)*l.Dt, &s)
			w.step(&c, so3.Vec3{X: math.Sin(float64(k)), Z: 3})
		}
		return f.push
	}
	fresh := moved(func(*Buffers) *Buffers { return hoverer(t).NewBuffers() })
	if used := moved(func(first *Buffers) *Buffers { return first }); used != fresh || used == (so3.Vec3{}) {
		t.Errorf("the push is %v, of a policy made ready anew %v", used, fresh)
	}
}

// noisyHover hovers by an estimator's states of noisy poses, at last under a push that sets in. It returns the noise of
// what a policy sees of pushes before, root mean square in m/s², and how late it sees that one, s.
func noisyHover(t *testing.T, k Push) (noise, late float64) {
	l := hoverer(t)
	l.Policy.Push = k
	f, w, rng := NewRunnerOf(l.NewBuffers(), l.Dt, ground), newPushed(l), rand.New(rand.NewPCG(1, 7))
	est, err := estimator.New(estimator.DefaultParams())
	if err != nil {
		t.Fatal(err)
	}
	const poses, rows, settle, still, strength, sigma = 4, 1600, 300, 1500, 0.8, 3e-4
	before, n := w.state(), 0.
	for i := range rows {
		now, s := w.state(), quad.State{}
		for j := 1; j <= poses; j++ {
			share := float64(j) / poses
			off := so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(sigma)
			p := before.P.Add(now.P.Sub(before.P).Scale(share)).Add(off)
			s, _ = est.Add(estimator.Pose{T: (float64(i) + share) * l.Dt, P: p, Q: now.Q})
		}
		before = now
		c, push := f.Command(float64(i)*l.Dt, &s), so3.Vec3{}
		seen := f.swing.of(&f.policy.Push, f.push, f.Hidden())
		switch {
		case i >= still:
			push.X = strength
			late += (1 - seen.X/strength) * l.Dt
		case i >= settle:
			noise, n = noise+seen.Dot(seen), n+1
		}
		w.step(&c, push)
	}
	return math.Sqrt(noise / n), late
}

// TestPushIsQuiet: of the noise that an estimator's velocities have, the mean of the newest pushes passes much less
// than a filter that is as late. Where there is nothing else, less still is seen. A wind that sets in comes no later.
func TestPushIsQuiet(t *testing.T) {
	var k Push
	param.Default(&k)
	noise, late := noisyHover(t, Push{Rate: k.Bandwidth()})
	mean, meanLate := noisyHover(t, Push{Rate: k.Rate, Mean: k.Mean})
	calm, calmLate := noisyHover(t, k)
	if !(mean < 0.65*noise && calm < 0.4*mean) {
		t.Errorf("%.3f m/s² of noise, as a mean %.3f, and %.3f where it is all", noise, mean, calm)
	}
	if math.Abs(meanLate-late) > 0.02 || math.Abs(calmLate-meanLate) > 0.02 {
		t.Errorf("%.3f s late, as a mean %.3f s, and %.3f s after nothing but noise", late, meanLate, calmLate)
	}
}

// TestPushByTheTruth: by true states a push is measured exactly in its first row, whatever the states to fly on are.
func TestPushByTheTruth(t *testing.T) {
	l := hoverer(t)
	l.Policy.Push = Push{Rate: 1e4}
	f, w, rng := NewRunnerOf(l.NewBuffers(), l.Dt, ground), newPushed(l), rand.New(rand.NewPCG(1, 7))
	push := so3.Vec3{}
	for k := range 300 {
		s := w.state()
		f.SetTruth(float64(k)*l.Dt, &s)
		s.V = s.V.Add(so3.Vec3{X: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(0.05))
		c := f.Command((float64(k)+0.2*rng.Float64())*l.Dt, &s)
		if off := f.push.Sub(push).Norm(); k > 2*feltAfter && off > 0.01 {
			t.Fatalf("row %d: the push is %v, expected %v", k, f.push, push)
		}
		if push = (so3.Vec3{}); k > 150 {
			push = so3.Vec3{X: 1, Y: -2, Z: 0.5}
		}
		w.step(&c, push)
	}
}

// TestPushOfBeforeAGap: what was measured before a gap is no part of a mean after it.
func TestPushOfBeforeAGap(t *testing.T) {
	l := hoverer(t)
	f, w := NewRunnerOf(l.NewBuffers(), l.Dt, ground), newPushed(l)
	flyPushed(f, w, 2, func(float64) so3.Vec3 { return so3.Vec3{X: 1} }, func(float64) {})
	f.push = so3.Vec3{}
	w = newPushed(l)
	for k := range feltAfter + 20 {
		s := w.state()
		c := f.Command(2.2+float64(k)*l.Dt, &s)
		if math.Abs(f.push.X) > 0.1 {
			t.Fatalf("%d rows after a gap, without a push, it is %.2f m/s²", k, f.push.X)
		}
		w.step(&c, so3.Vec3{})
	}
}

func TestWithoutAModelNoPushIsFelt(t *testing.T) {
	l := hoverer(t)
	for name, b := range map[string]*Buffers{
		"no model":  func() *Buffers { return (&LoadedBundle{Dt: l.Dt, Policy: l.Policy}).NewBuffers() }(),
		"none seen": func() *Buffers { l.Policy.Observation.Push = 0; return l.NewBuffers() }(),
	} {
		if b.sensor != nil {
			t.Errorf("%s: a push is felt", name)
		}
	}
}

func TestPushAndLagAllocateNothing(t *testing.T) {
	l := hoverer(t)
	var err error
	if l.Policy, err = l.Policy.WithMeasured(1, 0.04); err != nil {
		t.Fatal(err)
	}
	f := NewRunnerOf(l.NewBuffers(), l.Dt, ground)
	s, k := quad.State{Q: so3.Identity()}, 0
	if n := testing.AllocsPerRun(100, func() { f.Command(float64(k)*l.Dt, &s); k++ }); n > 0 {
		t.Errorf("%g allocations per tick", n)
	}
}
