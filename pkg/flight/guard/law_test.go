package guard

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

func newLaw(t testing.TB) *Law {
	t.Helper()
	l, err := NewLaw(defaultGains(), defaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func defaultGains() (g Gains) {
	param.Default(&g)
	return g
}

func defaultLimits() (l quad.Limits) {
	param.Default(&l)
	return l
}

// body is a rigid body with lags in thrust and rates, drag and a steady wind, in explicit steps of 1 ms with rotation
// matrices: nothing of it is shared with the law.
type body struct {
	weaker float64 // share of the thrust that is not there
	p, v   [3]float64
	r      [3][3]float64 // R_WB
	thrust float64
	rates  [3]float64
	wind   [3]float64 // acceleration, m/s²
	extra  [3]float64 // body rates beside those commanded, rad/s, as of a cut propeller
}

const (
	thrustLag = 0.03
	rateLag   = 0.04
	drag      = 0.25
	axialDrag = 0.15 // along the rotors' axes
)

func newBody(p, v so3.Vec3, q so3.Quat) *body {
	return &body{p: [3]float64{p.X, p.Y, p.Z}, v: [3]float64{v.X, v.Y, v.Z}, r: q.Mat3(), thrust: 9.81}
}

func (b *body) step(c quad.Command) {
	const h = 0.001
	speed := math.Sqrt(b.thrust) // of the rotors, in units of its own: it is what lags
	speed += h / thrustLag * (math.Sqrt(c.Thrust) - speed)
	b.thrust = speed * speed
	for i, want := range [3]float64{c.Rates.X, c.Rates.Y, c.Rates.Z} {
		b.rates[i] += h / rateLag * (want + b.extra[i] - b.rates[i])
	}
	var a [3]float64
	along := b.v[0]*b.r[0][2] + b.v[1]*b.r[1][2] + b.v[2]*b.r[2][2]
	for i := range 3 {
		a[i] = ((1-b.weaker)*b.thrust+(drag-axialDrag)*along)*b.r[i][2] - drag*b.v[i] + b.wind[i]
	}
	a[2] -= 9.81
	for i := range 3 {
		b.v[i] += h * a[i]
		b.p[i] += h * b.v[i]
	}
	b.rotate(h)
}

// rotate applies R ← R·exp(h[ω]×) by Rodrigues' formula.
func (b *body) rotate(h float64) {
	w := b.rates
	n := math.Sqrt(w[0]*w[0] + w[1]*w[1] + w[2]*w[2])
	if n < 1e-12 {
		return
	}
	k := [3]float64{w[0] / n, w[1] / n, w[2] / n}
	sin, cos := math.Sincos(n * h)
	var e, out [3][3]float64
	cross := [3][3]float64{{0, -k[2], k[1]}, {k[2], 0, -k[0]}, {-k[1], k[0], 0}}
	for i := range 3 {
		for j := range 3 {
			e[i][j] = sin*cross[i][j] + (1-cos)*k[i]*k[j]
		}
		e[i][i] += cos
	}
	for i := range 3 {
		for j := range 3 {
			for m := range 3 {
				out[i][j] += b.r[i][m] * e[m][j]
			}
		}
	}
	b.r = out
}

func (b *body) state() quad.State {
	return quad.State{P: vec(b.p), V: vec(b.v), Q: so3.FromMat3(b.r)}
}

func vec(x [3]float64) so3.Vec3 { return so3.Vec3{X: x[0], Y: x[1], Z: x[2]} }

// fly runs a closed loop at 50 Hz with the command one tick late, and hands each state to see.
func fly(b *body, c quad.Controller, seconds float64, see func(t float64, s *quad.State)) {
	held := quad.Command{Thrust: quad.Gravity}
	for k := range int(seconds * 50) {
		t := float64(k) * 0.02
		s := b.state()
		see(t, &s)
		next := c.Command(t, &s)
		for range 20 {
			b.step(held)
		}
		held = next
	}
}

type still struct{ r quad.Reference }

func (s still) At(float64) quad.Reference { return s.r }

// eight is a figure-eight of 3 × 1 m with a peak speed of 2.3 m/s.
type eight struct{}

func (eight) At(t float64) quad.Reference {
	const w = 2.3 / 1.802775637731995
	s, c := math.Sincos(w * t)
	s2, c2 := math.Sincos(2 * w * t)
	return quad.Reference{
		P: so3.Vec3{X: 1.5 * s, Y: 0.5 * s2, Z: 1},
		V: so3.Vec3{X: 1.5 * w * c, Y: w * c2},
		A: so3.Vec3{X: -1.5 * w * w * s, Y: -2 * w * w * s2},
	}
}

// From any tilt up to 60° and any yaw, thrown and turning, the robot comes to rest at the point, in wind.
func TestHoversFromTumbling(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 40 {
		r := quad.Reference{P: so3.Vec3{X: 1, Y: -0.5, Z: 2}, Yaw: rng.Float64()*6 - 3}
		axis := rng.Float64() * 2 * math.Pi
		tilt := so3.Vec3{X: math.Cos(axis), Y: math.Sin(axis)}.Scale(math.Pi / 3)
		q := so3.Exp(tilt).Mul(so3.Exp(so3.Vec3{Z: rng.Float64()*6 - 3}))
		b := newBody(so3.Vec3{Z: 2}, so3.Vec3{X: 2*rng.Float64() - 1, Y: 2*rng.Float64() - 1, Z: rng.Float64() - 0.5},
			q)
		b.rates = [3]float64{6*rng.Float64() - 3, 6*rng.Float64() - 3, 2*rng.Float64() - 1}
		b.wind = [3]float64{2 * rng.Float64(), -rng.Float64(), 0.3}
		lowest, last := 2.0, quad.State{}
		fly(b, PathFollower{newLaw(t), still{r}}, 10,
			func(_ float64, s *quad.State) { lowest, last = min(lowest, s.P.Z), *s })
		if lowest < 1 {
			t.Errorf("fell to %.2f m from 2 m", lowest)
		}
		if e := last.P.Sub(r.P).Norm(); e > 0.03 || last.V.Norm() > 0.05 {
			t.Errorf("after 10 s %.3f m away at %.3f m/s", e, last.V.Norm())
		}
		if e := math.Abs(math.Remainder(last.Q.Yaw()-r.Yaw, 2*math.Pi)); e > 0.02 {
			t.Errorf("after 10 s the yaw is %.3f rad off", e)
		}
	}
}

// Upside down is no place from which a direction would be undefined.
func TestRightsItself(t *testing.T) {
	for _, q := range []so3.Quat{{X: 1}, {Y: 1}, so3.Exp(so3.Vec3{X: math.Pi - 1e-10})} {
		b := newBody(so3.Vec3{Z: 20}, so3.Vec3{}, q)
		var last quad.State
		fly(b, PathFollower{newLaw(t), still{quad.Reference{P: so3.Vec3{Z: 15}}}}, 12,
			func(_ float64, s *quad.State) { last = *s })
		if e := last.P.Sub(so3.Vec3{Z: 15}).Norm(); e > 0.05 {
			t.Errorf("from %v: %.3f m away after 12 s", q, e)
		}
	}
}

func TestTracksFigureEight(t *testing.T) {
	for _, c := range []struct {
		wind [3]float64
		most float64
	}{{most: 0.04}, {wind: [3]float64{0, 3, 0}, most: 0.05}} {
		b := newBody(eight{}.At(0).P, eight{}.At(0).V, so3.Identity())
		b.wind = c.wind
		var sum float64
		var n int
		fly(b, PathFollower{newLaw(t), eight{}}, 20, func(at float64, s *quad.State) {
			if at >= 5 {
				sum, n = sum+s.P.Sub(eight{}.At(at).P).Norm(), n+1
			}
		})
		t.Logf("wind %v: mean error %.4f m", c.wind, sum/float64(n))
		if !(sum/float64(n) <= c.most) {
			t.Errorf("wind %v: mean error %.3f m, want at most %.2f", c.wind, sum/float64(n), c.most)
		}
	}
}

// anyNumber draws what may stand in memory, not only what is likely.
func anyNumber() *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Float64(), rapid.Float64Range(-5, 5),
		rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64,
			5e-324}))
}

func anyVec(rt *rapid.T, label string) so3.Vec3 {
	g := anyNumber()
	return so3.Vec3{X: g.Draw(rt, label), Y: g.Draw(rt, label), Z: g.Draw(rt, label)}
}

func anyState(rt *rapid.T) quad.State {
	g := anyNumber()
	return quad.State{P: anyVec(rt, "p"), V: anyVec(rt, "v"),
		Q: so3.Quat{W: g.Draw(rt, "q"), X: g.Draw(rt, "q"), Y: g.Draw(rt, "q"), Z: g.Draw(rt, "q")}}
}

// within says whether a command is one that the airframe may be told.
func within(l quad.Limits, c quad.Command) bool {
	in := func(x, lo, hi float64) bool { return x >= lo && x <= hi }
	return in(c.Thrust, l.MinThrust, l.MaxThrust) && in(c.Rates.X, -l.MaxTiltRate, l.MaxTiltRate) &&
		in(c.Rates.Y, -l.MaxTiltRate, l.MaxTiltRate) && in(c.Rates.Z, -l.MaxYawRate, l.MaxYawRate)
}

func TestLawIsFiniteWhateverItIsGiven(t *testing.T) {
	limits := defaultLimits()
	rapid.Check(t, func(rt *rapid.T) {
		l := newLaw(t)
		for range 20 {
			s := anyState(rt)
			r := quad.Reference{P: anyVec(rt, "P"), V: anyVec(rt, "V"), A: anyVec(rt, "A"),
				Yaw: anyNumber().Draw(rt, "yaw"), YawRate: anyNumber().Draw(rt, "yaw rate")}
			if c := l.Track(anyNumber().Draw(rt, "t"), &s, &r); !within(limits, c) {
				rt.Fatalf("%+v and %+v gave %+v", s, r, c)
			}
		}
		// and it flies on afterwards
		s, r := quad.State{Q: so3.Identity()}, quad.Reference{}
		if c := l.Track(0, &s, &r); !within(limits, c) ||
			math.Abs(c.Thrust-quad.Gravity) > defaultGains().MaxIntegral {
			rt.Fatalf("hovering after all that: %+v", c)
		}
	})
}

// At the reference the law asks for what keeps it there: thrust of hovering, or the attitude that its acceleration
// takes.
func TestLawAtRest(t *testing.T) {
	s := quad.State{P: so3.Vec3{X: 1}, Q: so3.FromEuler(0, 0, 0.7)}
	r := quad.Reference{P: s.P, Yaw: 0.7}
	c := newLaw(t).Track(0, &s, &r)
	if math.Abs(c.Thrust-quad.Gravity) > 1e-12 || c.Rates.Norm() > 1e-12 {
		t.Errorf("at rest: %+v", c)
	}
	r.A = so3.Vec3{X: quad.Gravity / 2} // to be had at pitch atan(½)
	s.Q = so3.FromEuler(0, math.Atan(0.5), 0)
	r.Yaw = 0
	c = newLaw(t).Track(0, &s, &r)
	if math.Abs(c.Thrust-quad.Gravity*math.Sqrt(1.25)) > 1e-12 || c.Rates.Norm() > 1e-12 {
		t.Errorf("at rest in an acceleration: %+v", c)
	}
}

func TestLawAllocatesNothing(t *testing.T) {
	f := PathFollower{newLaw(t), eight{}}
	s := quad.State{Q: so3.Identity()}
	if n := testing.AllocsPerRun(100, func() { f.Command(1, &s) }); n != 0 {
		t.Errorf("%v allocations per tick", n)
	}
}

func TestParameters(t *testing.T) {
	var g Gains
	if err := param.Check(&g); err != nil {
		t.Error(err)
	}
	if _, err := NewLaw(defaultGains(), quad.Limits{MaxThrust: 9}); err == nil {
		t.Error("limits under which nothing hovers were taken")
	}
}

func BenchmarkLaw(b *testing.B) {
	f := PathFollower{newLaw(b), eight{}}
	s := quad.State{P: so3.Vec3{X: 0.1}, Q: so3.FromEuler(0.1, 0.2, 0.3)}
	for i := 0; b.Loop(); i++ {
		f.Command(float64(i)*0.02, &s)
	}
}

// The integral stands still while the law asks for more than it may, and grows where it does not.
func TestIntegralStopsAtALimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		off   float64 // m
		speed float64 // m/s, away from the reference
		grows bool
	}{{"near", 0.1, 0, true}, {"far and fast", 1, 5, false}} {
		t.Run(c.name, func(t *testing.T) {
			l := newLaw(t)
			l.gains.Integral = 1
			s := quad.State{P: so3.Vec3{X: -c.off, Z: 1}, V: so3.Vec3{X: -c.speed}, Q: so3.Identity()}
			for k := range 100 {
				l.Track(0.01*float64(k), &s, &quad.Reference{P: so3.Vec3{Z: 1}})
			}
			if grew := l.integral.Norm() > 0.01; grew != c.grows {
				t.Errorf("integral %v m/s²", l.integral)
			}
		})
	}
}

// After a moment without true states a robot brakes gently; at the fence, or after a fault of the policy, as hard as
// the law may.
func TestBrakesGentlyFarFromTheFence(t *testing.T) {
	for _, c := range []struct {
		name   string
		cause  Cause
		at     so3.Vec3
		gentle bool
	}{
		{"far from the fence", Jump, so3.Vec3{Z: 1}, true}, {"at the fence", Jump, so3.Vec3{X: 3.4, Z: 1}, false},
		{"a fault of the policy", Speed, so3.Vec3{Z: 1}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGuard(t)
			g.mode, g.cause = Holding, c.cause
			most := g.mostTilt(g.gently(&quad.State{P: c.at, V: so3.Vec3{X: 2}, Q: so3.Identity()}))
			if gentle := most < g.config.BlindMaxTilt; gentle != c.gentle {
				t.Errorf("tilts by %.2f rad at most", most)
			}
		})
	}
}
