package estimator

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

func mustNew(t testing.TB, p Params) *Estimator {
	e, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func level(t float64, p so3.Vec3) Pose { return Pose{T: t, P: p, Q: so3.Identity()} }

func TestDefaultsAreSound(t *testing.T) {
	if err := param.Check(&Params{}); err != nil {
		t.Error(err)
	}
	mustNew(t, DefaultParams())
}

func TestNewRefuses(t *testing.T) {
	for _, p := range []Params{
		{}, {0.1, 0, 30}, {0.1, 4, 30}, {math.NaN(), 2, 30}, {2, 2, 30}, {0.1, 2, 0}, {0.1, 2, math.Inf(1)},
	} {
		if _, err := New(p); err == nil {
			t.Errorf("%+v was taken", p)
		}
	}
}

// TestGoldenSavitzkyGolay compares the weight that each pose has in the velocity with
// scipy.signal.savgol_coeffs(n, order, deriv=1, delta=dt, pos=n-1, use="dot"), scipy 1.17.1.
func TestGoldenSavitzkyGolay(t *testing.T) {
	golden := []struct {
		order   int
		dt      float64
		weights []float64 // oldest first, 1/s
	}{
		{1, 0.02, []float64{-7.14285714286, -4.28571428571, -1.42857142857, 1.42857142857, 4.28571428571,
			7.14285714286}},
		{2, 0.02, []float64{15.1785714286, -8.75, -19.2857142857, -16.4285714286, -0.178571428571, 29.4642857143}},
		{2, 0.01, []float64{12.9370629371, 3.35664335664, -3.89277389277, -8.81118881119, -11.3986013986, -11.655011655,
			-9.58041958042, -5.17482517483, 1.56177156177, 10.6293706294, 22.027972028}},
		{3, 0.01, []float64{-25.0841750842, 22.3905723906, 29.3530543531, 11.038961039, -17.316017316, -40.4761904762,
			-43.2058682059, -10.2693602694, 73.569023569}},
	}
	for _, g := range golden {
		for i, want := range g.weights {
			e := mustNew(t, Params{Window: float64(len(g.weights)-1)*g.dt + 1e-6, Order: g.order, MaxSpeed: 1000})
			var s quad.State
			for k := range g.weights {
				impulse := 0.0
				if k == i {
					impulse = 1
				}
				s, _ = e.Add(level(7+float64(k)*g.dt, so3.Vec3{Y: impulse}))
			}
			if math.Abs(s.V.Y-want) > 1e-8 {
				t.Errorf("%d poses, order %d: weight %d is %.10g, scipy says %.10g", len(g.weights), g.order, i, s.V.Y,
					want)
			}
		}
	}
}

// eight is a figure-eight of 2 × 1 m and 4 s: up to 4.5 m/s, 10 m/s², 32 m/s³ (23 m/s³ rms).
func eight(t float64) (p, v so3.Vec3) {
	w := 2 * math.Pi / 4
	p = so3.Vec3{X: 2 * math.Sin(w*t), Y: math.Sin(2 * w * t), Z: 1 + 0.3*math.Sin(w*t)}
	v = so3.Vec3{X: 2 * w * math.Cos(w*t), Y: 2 * w * math.Cos(2*w*t), Z: 0.3 * w * math.Cos(w*t)}
	return p, v
}

// rmsOnEight flies the eight for 20 s with noise of standard deviation sigma per axis, m, and stamps that jitter.
func rmsOnEight(t *testing.T, p Params, rate, sigma float64) float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	e := mustNew(t, p)
	sum, n := 0.0, 0
	for k := range int(20 * rate) {
		at := (float64(k) + 0.2*(rng.Float64()-0.5)) / rate
		truth, v := eight(at)
		noise := so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(sigma)
		s, outcome := e.Add(level(at, truth.Add(noise)))
		if outcome == Dropped || outcome == Warming && at > p.Window/2+1/rate || outcome == Ready &&
			at < p.Window/2-1/rate {
			t.Fatalf("pose at %.4f s: outcome %d", at, outcome)
		}
		if outcome == Ready {
			d := s.V.Sub(v)
			sum, n = sum+d.Dot(d), n+1
		}
	}
	return math.Sqrt(sum / float64(n))
}

// TestEight states the rms error of the velocity, all three axes together. Without noise what is left is the bias.
func TestEight(t *testing.T) {
	quick := Params{Window: 0.08, Order: 2, MaxSpeed: 30}
	for _, c := range []struct {
		params      Params
		rate, sigma float64
		rms         float64 // m/s
	}{
		{DefaultParams(), 50, 0, 0.021},
		{DefaultParams(), 50, 0.0003, 0.030},
		{DefaultParams(), 50, 0.001, 0.077},
		{DefaultParams(), 100, 0.0003, 0.030},
		{quick, 100, 0, 0.012},
		{quick, 100, 0.0003, 0.030},
		{quick, 200, 0.0003, 0.024},
		{quick, 1000, 0.0003, 0.017},
	} {
		rms := rmsOnEight(t, c.params, c.rate, c.sigma)
		t.Logf("window %g s, %4g Hz, noise %.1f mm: %.1f mm/s rms", c.params.Window, c.rate, 1e3*c.sigma, 1e3*rms)
		if rms > 1.1*c.rms || rms < 0.9*c.rms {
			t.Errorf("window %g s, %g Hz, noise %g m: %.4f m/s rms, stated %.4f", c.params.Window, c.rate, c.sigma, rms,
				c.rms)
		}
	}
}

// anyStamps draws stamps 1 to 20 ms apart, starting anywhere.
func anyStamps(rt *rapid.T, n int) []float64 {
	stamps := []float64{rapid.Float64Range(-100, 1e4).Draw(rt, "start")}
	for range n - 1 {
		stamps = append(stamps, stamps[len(stamps)-1]+rapid.Float64Range(0.001, 0.02).Draw(rt, "spacing"))
	}
	return stamps
}

func anyVec(rt *rapid.T, label string, size float64) so3.Vec3 {
	r := rapid.Float64Range(-size, size)
	return so3.Vec3{X: r.Draw(rt, label), Y: r.Draw(rt, label), Z: r.Draw(rt, label)}
}

// A polynomial of the fit's degree is reproduced, at every pose and looking back, whatever the stamps.
func TestPolynomialsAreExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := Params{Window: rapid.Float64Range(0.05, 0.2).Draw(rt, "window"),
			Order: rapid.IntRange(1, 3).Draw(rt, "order"), MaxSpeed: 1000}
		e := mustNew(t, p)
		var c [maxOrder + 1]so3.Vec3
		for k := range p.Order + 1 {
			c[k] = anyVec(rt, "coefficient", 5)
		}
		stamps := anyStamps(rt, 40)
		slope := func(at float64) so3.Vec3 {
			x := at - stamps[0]
			return c[1].Add(c[2].Scale(2 * x)).Add(c[3].Scale(3 * x * x))
		}
		for _, at := range stamps {
			x := at - stamps[0]
			s, outcome := e.Add(level(at, c[0].Add(c[1].Scale(x)).Add(c[2].Scale(x*x)).Add(c[3].Scale(x*x*x))))
			if outcome == Dropped {
				rt.Fatalf("pose at %g s dropped", at)
			}
			if outcome == Ready && s.V.Sub(slope(at)).Norm() > 1e-5 {
				rt.Fatalf("at %g s: velocity %v, expected %v", at, s.V, slope(at))
			}
			if back := at - rapid.Float64Range(0, p.Window/2).Draw(rt, "back"); outcome == Ready &&
				e.VelocityAt(back).Sub(slope(back)).Norm() > 1e-5 {
				rt.Fatalf("looking back to %g s: %v, expected %v", back, e.VelocityAt(back), slope(back))
			}
		}
	})
}

// The estimate turns and moves with the world, and does not care when it is.
func TestSymmetries(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		plain, moved := mustNew(t, DefaultParams()), mustNew(t, DefaultParams())
		turn, shift := so3.Exp(anyVec(rt, "turn", 2)), anyVec(rt, "shift", 10)
		later := float64(rapid.IntRange(0, 1000).Draw(rt, "later"))
		p := so3.Vec3{}
		for _, at := range anyStamps(rt, 20) {
			p = p.Add(anyVec(rt, "step", 0.05))
			a, outcomeA := plain.Add(level(at, p))
			b, outcomeB := moved.Add(Pose{T: at + later, P: turn.Rotate(p).Add(shift), Q: turn})
			if gap := turn.Rotate(a.V).Sub(b.V).Norm(); outcomeA != outcomeB || gap > 1e-5 {
				rt.Fatalf("outcomes %d and %d, velocities %g m/s apart", outcomeA, outcomeB, gap)
			}
		}
	})
}

// Nothing that comes later changes a state: states are the same with and without a tail.
func TestCausal(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		stamps := anyStamps(rt, 30)
		cut := rapid.IntRange(1, 29).Draw(rt, "cut")
		a, b := mustNew(t, DefaultParams()), mustNew(t, DefaultParams())
		var last, lastB quad.State
		for i, at := range stamps {
			pose := level(at, anyVec(rt, "p", 0.1))
			if i < cut {
				last, _ = a.Add(pose)
			}
			if s, _ := b.Add(pose); i == cut-1 {
				lastB = s
			}
		}
		if last != lastB {
			rt.Fatalf("state %d: %v, and %v with later poses", cut-1, last, lastB)
		}
	})
}

// Any stream at all: no panic, states are finite, every pose is counted once.
func TestAnyStream(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := mustNew(t, DefaultParams())
		number := rapid.OneOf(rapid.Float64Range(-1, 1), rapid.Float64())
		dropped, good := 0, 0
		n := rapid.IntRange(0, 60).Draw(rt, "poses")
		at := 0.0
		for range n {
			at += rapid.SampledFrom([]float64{0.01, 0.02, 0, 1e-9, -0.03, 0.5, -1e9, math.NaN(), math.Inf(1)}).Draw(rt,
				"dt")
			if math.IsNaN(at) || math.IsInf(at, 0) {
				e.Add(level(at, so3.Vec3{}))
				dropped++
				at = 0
				continue
			}
			pose := Pose{T: at, P: so3.Vec3{X: number.Draw(rt, "x"), Y: 1, Z: 2},
				Q: so3.Quat{W: rapid.SampledFrom([]float64{1, -1, 1.005, 0.9, math.NaN()}).Draw(rt, "qw")}}
			s, outcome := e.Add(pose)
			if outcome == Dropped {
				dropped++
				continue
			}
			good++
			if math.IsNaN(s.V.Norm()) || math.Abs(s.Q.Norm()-1) > 1e-12 || s.P != pose.P {
				rt.Fatalf("state %+v of pose %+v", s, pose)
			}
		}
		c := e.Counts()
		if c.Invalid+c.Duplicates+c.Late != dropped || c.Restarts() > good {
			rt.Fatalf("%d dropped, %d good, but counts %+v", dropped, good, c)
		}
	})
}
