package policy

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// turn is a figure-eight of a period, s.
func turn(period, t float64) quad.Reference {
	w := 2 * math.Pi / period
	s1, c1 := math.Sincos(w * t)
	s2, c2 := math.Sincos(2 * w * t)
	return quad.Reference{P: so3.Vec3{X: 1.5 * s1, Y: 0.5 * s2, Z: 1},
		V: so3.Vec3{X: 1.5 * w * c1, Y: w * c2}, A: so3.Vec3{X: -1.5 * w * w * s1, Y: -2 * w * w * s2}}
}

// errs is by what a robot misses its reference: it lags, is pulled aside where it goes fast, and cuts corners.
func errs(r *quad.Reference) so3.Vec3 {
	return r.V.Scale(0.006).Add(so3.Vec3{Y: 0.004 * r.V.X, Z: 0.002 * r.V.Dot(r.V)}).Add(r.A.Scale(-0.002))
}

// along follows turns for a while, and returns the mean error of the last of them, m.
func along(k *FeedForward, w *weights, period, seconds float64, miss func(*quad.Reference) so3.Vec3) (mean float64) {
	const dt = 0.02
	n := 0
	for t := 0.0; t < seconds; t += dt {
		r := turn(period, t)
		x := basisOf(&r)
		err := miss(&r).Sub(w.sum(&x)) // the robot is where its moved reference is, but for that
		if k.step(w, &r, err, dt); t > seconds-period {
			mean, n = mean+err.Norm(), n+1
		}
	}
	return mean / float64(n)
}

func someFeedForward() *FeedForward {
	k := new(FeedForward)
	param.Default(k)
	return k
}

func TestFeedForwardTakesErrorsOfAPathAway(t *testing.T) {
	k, none := someFeedForward(), new(weights)
	before := along(&FeedForward{Time: 1e9, Error: 1, Limit: 1}, none, 5, 10, errs)
	var w weights
	after := along(k, &w, 5, 20*k.Time, errs)
	if after > 0.1*before {
		t.Errorf("%.4f of %.4f m are left", after, before)
	}
	t.Run("and of a slower one", func(t *testing.T) {
		before := along(&FeedForward{Time: 1e9, Error: 1, Limit: 1}, none, 7, 10, errs)
		if other := along(&FeedForward{Time: 1e9, Error: 1, Limit: 1}, &w, 7, 10, errs); other > 0.4*before {
			t.Errorf("%.4f of %.4f m are left at once", other, before)
		}
	})
}

// By default a path is learned within four turns of it, of 5 s each.
func TestFeedForwardIsQuick(t *testing.T) {
	before := along(&FeedForward{Time: 1e9, Error: 1, Limit: 1}, new(weights), 5, 10, errs)
	if after := along(someFeedForward(), new(weights), 5, 20, errs); after > 0.1*before {
		t.Errorf("%.5f of %.5f m are left", after, before)
	}
}

// Where the world is turned, weights move the reference by the same, turned.
func TestFeedForwardKnowsNoDirection(t *testing.T) {
	k, rng := someFeedForward(), rand.New(rand.NewPCG(1, 2))
	q := so3.Quat{W: 0.3, X: -0.5, Y: 0.2, Z: 0.7}.Normalize()
	vec := func() so3.Vec3 { return so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()} }
	var w, turned weights
	for range 100 {
		r, err := quad.Reference{V: vec(), A: vec().Scale(3)}, vec().Scale(0.02)
		s := quad.Reference{V: q.Rotate(r.V), A: q.Rotate(r.A)}
		x, y := basisOf(&r), basisOf(&s)
		if d := q.Rotate(w.sum(&x)).Sub(turned.sum(&y)).Norm(); d > 1e-12 {
			t.Fatalf("off by %g m", d)
		}
		k.step(&w, &r, err, 0.02)
		k.step(&turned, &s, q.Rotate(err), 0.02)
	}
}

func TestFeedForwardIsBounded(t *testing.T) {
	far := so3.Vec3{X: 30, Y: -40}
	for name, err := range map[string]so3.Vec3{"far off": far, "not finite": {X: math.NaN()},
		"infinite": {Z: math.Inf(-1)}} {
		t.Run(name, func(t *testing.T) {
			k, c, s := someFeedForward(), new(correction), new(Steady)
			s.FeedForward = *k
			for i := range 50_000 {
				r := turn(5, 0.02*float64(i))
				if s.step(c, &r, err, 0.02); !(c.at(&r).Norm() <= k.Limit+1e-12) {
					t.Fatalf("after %d ticks the reference is moved by %g m", i+1, c.at(&r).Norm())
				}
			}
		})
	}
	for _, time := range []float64{0.001, 1e-310} {
		t.Run(fmt.Sprintf("in %g s", time), func(t *testing.T) {
			c, s := new(correction), new(Steady)
			param.Default(s)
			s.FeedForward.Time, s.Integral.Time = time, time
			for i := range 1000 {
				r := turn(5, 0.02*float64(i))
				s.step(c, &r, errs(&r).Sub(c.at(&r)), 0.02)
				if !(c.at(&r).Norm() <= s.FeedForward.Limit+s.Integral.Limit+1e-12) {
					t.Fatalf("after %d ticks the reference is moved by %g m", i+1, c.at(&r).Norm())
				}
			}
		})
	}
	t.Run("a reference that is not finite", func(t *testing.T) {
		k, w := someFeedForward(), new(weights)
		for _, r := range []quad.Reference{{V: so3.Vec3{X: math.NaN()}}, {A: so3.Vec3{Z: math.Inf(1)}},
			{V: so3.Vec3{X: 1e200}}} {
			if k.step(w, &r, so3.Vec3{X: 0.01}, 0.02); *w != (weights{}) {
				t.Errorf("%v moves weights", r)
			}
		}
	})
}

func TestFeedForwardIsNothingInHover(t *testing.T) {
	f, k := steadyRunner(t, 0)
	k.Integral.Time = 0
	fly(f, 0, 30, func(so3.Vec3) so3.Vec3 { return so3.Vec3{X: 0.03} })
	if f.learned != (correction{limit: k.FeedForward.Limit}) {
		t.Errorf("hover moves weights: %v", f.learned)
	}
}

// Gusts teach nothing that is true. What they teach in slow flight moves the reference of a fast one by little.
func TestGustsOfSlowFlightMoveAFastOneByLittle(t *testing.T) {
	const dt, memory, gust = 0.02, 1.0, 0.02 // s, s, m on each axis
	k, rng := someFeedForward(), rand.New(rand.NewPCG(3, 4))
	var w weights
	var err so3.Vec3
	var sum, n float64
	for i := range 30_000 {
		keep := math.Exp(-dt / memory)
		draw := so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
		err = err.Scale(keep).Add(draw.Scale(gust * math.Sqrt(1-keep*keep)))
		r := turn(12, dt*float64(i))
		x := basisOf(&r)
		k.step(&w, &r, err.Sub(w.sum(&x)), dt)
		fast := turn(3.6, dt*float64(i))
		x = basisOf(&fast)
		moved := w.sum(&x).Shorten(k.Limit)
		sum, n = sum+moved.Dot(moved), n+1
	}
	if rms := math.Sqrt(sum / n); rms > 3*gust {
		t.Errorf("gusts of %.3f m move the reference by %.3f m", gust, rms)
	}
}
