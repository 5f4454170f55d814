package policy

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/vnd/bundle"
)

func steadyRunner(t testing.TB, latent int) (*Runner, *Steady) {
	t.Helper()
	p := somePolicy(t, latent)
	param.Default(&p.Steady)
	return NewRunner(p, 0.02, func(float64) quad.Reference { return quad.Reference{P: so3.Vec3{Z: 1}} }), &p.Steady
}

// fly has a runner answer a position error for a while, and returns by how much its reference is then moved.
func fly(f *Runner, from, seconds float64, err func(moved so3.Vec3) so3.Vec3) so3.Vec3 {
	for k := range int(seconds / 0.02) {
		s := quad.State{P: so3.Vec3{Z: 1}.Sub(err(f.learned.steady)), Q: so3.Identity()}
		f.Command(from+float64(k)*0.02, &s)
	}
	return f.learned.steady
}

func TestIntegralTakesASteadyErrorAway(t *testing.T) {
	f, k := steadyRunner(t, 0)
	off := so3.Vec3{X: 0.02, Y: -0.01, Z: 0.005}
	left := func(moved so3.Vec3) so3.Vec3 { return off.Sub(moved) } // a robot that follows its reference but for that
	if e := off.Sub(fly(f, 0, k.Integral.Time, left)); e.Norm() > 0.4*off.Norm() || e.Norm() < 0.3*off.Norm() {
		t.Errorf("%g of %g m are left after the integral time", e.Norm(), off.Norm())
	}
	if e := off.Sub(fly(f, k.Integral.Time, 5*k.Integral.Time, left)); e.Norm() > 0.01*off.Norm() {
		t.Errorf("%g of %g m are left after a long time", e.Norm(), off.Norm())
	}
	if f.Reset(); f.learned != (correction{}) {
		t.Errorf("the reference is moved by %v after a reset", f.learned)
	}
}

func TestIntegralIsBounded(t *testing.T) {
	far := func(so3.Vec3) so3.Vec3 { return so3.Vec3{X: 30, Y: 40} }
	for name, c := range map[string]struct {
		seconds float64
		err     func(so3.Vec3) so3.Vec3
		most    func(k *Integral) float64 // m
	}{
		"a pose that stands still":   {1000, far, func(k *Integral) float64 { return k.Limit }},
		"a second far off":           {1, far, func(k *Integral) float64 { return k.Error / k.Time }},
		"a pose that is not finite":  {10, func(so3.Vec3) so3.Vec3 { return so3.Vec3{X: math.NaN()} }, none},
		"a pose that is not bounded": {10, func(so3.Vec3) so3.Vec3 { return so3.Vec3{X: math.Inf(1)} }, none},
	} {
		t.Run(name, func(t *testing.T) {
			f, k := steadyRunner(t, 0)
			if m, most := fly(f, 0, c.seconds, c.err), c.most(&k.Integral); !(m.Norm() <= most+1e-9) {
				t.Errorf("the reference is moved by %g m, expected at most %g", m.Norm(), most)
			}
		})
	}
	t.Run("a gap", func(t *testing.T) {
		f, k := steadyRunner(t, 0)
		fly(f, 0, 0.04, far)
		if m := fly(f, 1000, 0.02, far); m.Norm() > 3*longestTick*k.Integral.Error/k.Integral.Time {
			t.Errorf("the reference is moved by %g m", m.Norm())
		}
	})
}

func none(*Integral) float64 { return 0 }

func TestIntegralRestsWhereSomebodyElseFlies(t *testing.T) {
	f, _ := steadyRunner(t, 0)
	near := func(so3.Vec3) so3.Vec3 { return so3.Vec3{X: 0.02} }
	before := fly(f, 0, 1, near)
	f.HoldCorrection(true)
	if m := fly(f, 1, 1, near); m != before {
		t.Errorf("held, the reference moved from %v to %v", before, m)
	}
	f.HoldCorrection(false)
	if m := fly(f, 2, 1, near); m.X <= before.X {
		t.Error("the integral does not go on")
	}
	was := f.learned
	f.SetPolicy(f.policy)
	if f.learned != (correction{}) || f.fading != was {
		t.Errorf("after a swap the correction is %v, and %v of %v fades", f.learned, f.fading, was)
	}
	if fly(f, 3, 2, near); f.fading.steady.Norm() > 0.03*was.steady.Norm() {
		t.Errorf("after 2 s %v of %v is left", f.fading, was)
	}
	if f.ResetCorrection(); f.fading != (correction{}) {
		t.Errorf("after a reset %v fades", f.fading)
	}
}

func TestReferenceMovesByTheIntegral(t *testing.T) {
	f, _ := steadyRunner(t, 0)
	s := quad.State{P: so3.Vec3{Z: 0.98}, Q: so3.Identity()}
	f.Command(0, &s)
	f.learned.steady = so3.Vec3{X: 0.1}
	f.Command(0, &s)
	if math.Abs(float64(f.ref[0])-0.1) > 1e-6 || math.Abs(float64(f.ref[2])-0.02) > 1e-6 {
		t.Errorf("the policy sees its reference at %v", f.ref[:3])
	}
}

func TestLatentMeanCalmsNoiseAndFollowsChanges(t *testing.T) {
	const Z = 12
	f, k := steadyRunner(t, Z)
	rng, z := rand.New(rand.NewPCG(1, 1)), make([]float32, Z)
	norm := func(to float32) (d float64) {
		for _, x := range f.z {
			d += float64((x - to) * (x - to))
		}
		return math.Sqrt(d)
	}
	set := func(at float32) {
		for j := range z {
			z[j] = at + float32(0.15*rng.NormFloat64()) // 0.5 in all
		}
		f.SetLatent(z)
	}
	for range 200 {
		set(0)
	}
	if d := norm(0); d > 0.15 {
		t.Errorf("noise of 0.5 leaves %.2f", d)
	}
	for range 2 * leastMean {
		set(0.5)
	}
	if d := norm(0.5); d > 0.5 {
		t.Errorf("%.2f off soon after a change of 1.7", d)
	}
	for range k.LatentMean.Rows {
		set(0.5)
	}
	f.SetLatent(z)
	n := f.mean.rows
	if f.SetLatent(z); f.mean.rows != n {
		t.Error("a latent that stays counts twice")
	}
	if f.SetLatent(nil); norm(0) != 0 {
		t.Error("no latent is not the prior mean")
	}
}

// TestLatentMeanOfASwing: latents that swing beside a push that does have a mean in hover. Along a path they are as
// they come.
func TestLatentMeanOfASwing(t *testing.T) {
	const Z, swing = 12, 0.6 // 2.1 in all
	for name, c := range map[string]struct {
		speed       float64 // m/s
		least, most float64
	}{"hover": {0, 0, 0.2}, "along a path": {1, 0.5, 1.01}} {
		f, k := steadyRunner(t, Z)
		k.Push = Push{Rate: 18, Swing: 0.5}
		f.ahead[0].V.X = c.speed
		z, farthest := make([]float32, Z), 0.0
		for i := range 1500 {
			x := math.Sin(2 * math.Pi * 0.7 * 0.02 * float64(i))
			f.swing.add(&k.Push, so3.Vec3{X: x}, 0.02, true, 0)
			for j := range z {
				z[j] = float32(swing * x)
			}
			if f.SetLatent(z); i > 800 {
				farthest = max(farthest, math.Abs(float64(f.z[0]))/swing)
			}
		}
		if farthest < c.least || farthest > c.most {
			t.Errorf("%s: %.2f of the swing is seen, expected %.2f to %.2f", name, farthest, c.least, c.most)
		}
	}
}

// Bundles of before have nothing of Steady: they fly as they did.
func TestBundleOfBeforeFliesWithoutSteady(t *testing.T) {
	p := somePolicy(t, 3)
	b := &bundle.Bundle{Robot: "quadrotor", Dt: 0.02}
	if err := Put(b, p, "hover"); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(b.Config)
	if err != nil || strings.Contains(string(text), "integral") || strings.Contains(string(text), "latent_mean") {
		t.Errorf("a policy without them has them in its bundle: %s, %v", text, err)
	}
	f := NewRunner(p, 0.02, func(float64) quad.Reference { return quad.Reference{} })
	if m := fly(f, 0, 10, func(so3.Vec3) so3.Vec3 { return so3.Vec3{X: 1} }); m != (so3.Vec3{}) {
		t.Errorf("the reference is moved by %v", m)
	}
	for _, z := range [][]float32{{1, 2, 3}, {1, 2, 3.1}, {0, 0, 0}} {
		if f.SetLatent(z); [3]float32(f.z) != [3]float32(z) {
			t.Errorf("the policy sees %v, set were %v", f.z, z)
		}
	}
	param.Default(&p.Steady)
	for name, c := range map[string]struct {
		set  func(s *Steady)
		read bool
	}{
		"defaults":              {func(*Steady) {}, true},
		"a negative time":       {func(s *Steady) { s.Integral.Time = -1 }, false},
		"negative rows":         {func(s *Steady) { s.LatentMean.Rows = -1 }, false},
		"a negative distance":   {func(s *Steady) { s.LatentMean.Reset = -1 }, false},
		"a limit below nothing": {func(s *Steady) { s.Integral.Limit = -0.1 }, false},
		"a far limit":           {func(s *Steady) { s.FeedForward.Limit = 1.1 }, false},
		"no error that counts":  {func(s *Steady) { s.FeedForward.Error = -1 }, false},
	} {
		t.Run(name, func(t *testing.T) {
			q := *p
			c.set(&q.Steady)
			if err := Put(b, &q, "hover"); err != nil {
				t.Fatal(err)
			}
			back, err := FromBundle(b)
			if (err == nil) != c.read || c.read && back.Steady != q.Steady {
				t.Errorf("read: %v", err)
			}
		})
	}
}

func TestTickWithIntegralAndLatentMeanAllocatesNothing(t *testing.T) {
	f, _ := steadyRunner(t, 12)
	z, k := make([]float32, 12), 0
	s := quad.State{P: so3.Vec3{X: 0.01, Z: 1}, Q: so3.Identity()}
	if n := testing.AllocsPerRun(100, func() {
		k++
		z[0] = float32(k % 7)
		f.SetLatent(z)
		f.Command(float64(k)*0.02, &s)
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

// A swap moves the reference by nothing at once, whatever the new policy is.
func TestReferenceIsSteadyAtASwap(t *testing.T) {
	for name, change := range map[string]func(p *Policy[float32]){
		"the same":             func(*Policy[float32]) {},
		"other limits":         func(p *Policy[float32]) { p.Limits.MaxThrust++ },
		"no steady":            func(p *Policy[float32]) { p.Steady = Steady{} },
		"no error that counts": func(p *Policy[float32]) { p.FeedForward.Error = 0 },
		"less far":             func(p *Policy[float32]) { p.FeedForward.Limit, p.Integral.Limit = 0.01, 0.01 },
	} {
		t.Run(name, func(t *testing.T) {
			p := somePolicy(t, 0)
			param.Default(&p.Steady)
			f, k := NewRunner(p, 0.02, func(t float64) quad.Reference { return turn(4, t) }), 0
			missed := func(by so3.Vec3) so3.Vec3 {
				r := turn(4, 0.02*float64(k))
				s := quad.State{P: r.P.Sub(by), V: r.V, Q: so3.Identity()}
				f.Command(0.02*float64(k), &s)
				k++
				return f.moved.at(&f.ahead[0])
			}
			var before so3.Vec3
			for range 500 {
				before = missed(so3.Vec3{X: 0.02, Y: 0.02})
			}
			q := *p
			change(&q)
			f.SetPolicy(&q)
			if step := missed(so3.Vec3{}).Sub(before).Norm(); !(step < 0.05*before.Norm()) {
				t.Errorf("the reference moves by %.3f of %.3f m", step, before.Norm())
			}
			for range 500 {
				missed(so3.Vec3{X: 0.03})
			}
			quick, most := quad.Reference{V: so3.Vec3{X: 9, Y: 9}}, q.Integral.Limit+q.FeedForward.Limit+1e-6
			if m := f.moved.at(&quick).Norm(); !(m <= most) {
				t.Errorf("10 s after it a quick reference is moved by %.3f m, expected at most %.3f", m, most)
			}
		})
	}
}
