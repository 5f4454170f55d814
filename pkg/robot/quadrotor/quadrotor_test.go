package quadrotor

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// randomState has a unit attitude and a filled actuator part.
func randomState(rng *rand.Rand) []float64 {
	s := make([]float64, nS)
	for i := range s {
		s[i] = rng.NormFloat64()
	}
	n := math.Sqrt(s[3]*s[3] + s[4]*s[4] + s[5]*s[5] + s[6]*s[6])
	for i := iQ; i < iV; i++ {
		s[i] /= n
	}
	s[iT] = 9 + s[iT]
	return s
}

func randn(rng *rand.Rand, n int, scale float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = scale * rng.NormFloat64()
	}
	return x
}

func dot(a, b []float64) (s float64) {
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

// numeric is the central difference of f with respect to every entry of x.
func numeric(x []float64, f func() float64) []float64 {
	const h = 1e-6
	g := make([]float64, len(x))
	for i := range x {
		old := x[i]
		x[i] = old + h
		hi := f()
		x[i] = old - h
		lo := f()
		x[i] = old
		g[i] = (hi - lo) / (2 * h)
	}
	return g
}

func near(t *testing.T, name string, got, want []float64, tol float64) {
	t.Helper()
	for i := range want {
		if math.IsNaN(got[i]) || math.Abs(got[i]-want[i]) > tol*(1+math.Abs(want[i])) {
			t.Fatalf("%s[%d] = %g, finite differences say %g", name, i, got[i], want[i])
		}
	}
}

func systems() map[string]*Quadrotor[float64] {
	lag := Actuator{ThrustGain: .9, ThrustDelay: .4, ThrustLag: .15, RateGain: 1.1, RateDelay: 1.3, RateLag: .03,
		YawLag: .1}
	far := Actuator{ThrustGain: .9, ThrustDelay: MaxDelay, ThrustLag: .1, RateGain: 1, RateDelay: 5.75, RateLag: 0}
	return map[string]*Quadrotor[float64]{
		"nominal": NewQuadrotor[float64](.02, NominalActuator()), "lag": NewQuadrotor[float64](.02, lag),
		"far": NewQuadrotor[float64](.02, far), "without prior": NewQuadrotor[float64](.02, lag).WithoutPrior(),
		"in world":           NewQuadrotor[float64](.02, lag).InWorld(),
		"in world, no prior": NewQuadrotor[float64](.02, far).InWorld().WithoutPrior(),
	}
}

func TestStepVJPAgainstFiniteDifferences(t *testing.T) {
	for name, m := range systems() {
		for _, turn := range []float64{0, 1e-9, 1e-3, .3, 2} { // size of the attitude correction, rad
			rng := rand.New(rand.NewPCG(1, 2))
			s, a, d := randomState(rng), randn(rng, nA, 2), randn(rng, nU, turn)
			g, next := randn(rng, nS, 1), make([]float64, nS)
			f := func() float64 { m.Step(1, s, a, d, next); return dot(g, next) }
			ds, da, dd := make([]float64, nS), make([]float64, nA), make([]float64, nU)
			m.StepVJP(1, s, a, d, g, ds, da, dd)
			near(t, name+" ds", ds, numeric(s, f), 1e-7)
			near(t, name+" da", da, numeric(a, f), 1e-7)
			near(t, name+" dd", dd, numeric(d, f), 1e-7)
		}
	}
}

func TestInputsVJPAgainstFiniteDifferences(t *testing.T) {
	for name, m := range systems() {
		rng := rand.New(rand.NewPCG(3, 4))
		s, a, g, x := randomState(rng), randn(rng, nA, 2), randn(rng, nX, 1), make([]float64, nX)
		f := func() float64 { m.Inputs(1, s, a, x); return dot(g, x) }
		ds, da := make([]float64, nS), make([]float64, nA)
		m.InputsVJP(1, s, a, g, ds, da)
		near(t, name+" ds", ds, numeric(s, f), 1e-7)
		near(t, name+" da", da, numeric(a, f), 1e-7)
	}
}

func TestCarry(t *testing.T) {
	for name, m := range systems() {
		rng := rand.New(rand.NewPCG(3, 5))
		s, w, g := randomState(rng), randn(rng, nU, 1), randn(rng, nU, 1)
		d, back := make([]float64, nU), make([]float64, nU)
		m.ToBody(1, s, w, d)
		m.ToWorld(1, s, d, back)
		near(t, name+" ToWorld∘ToBody", back, w, 1e-12)
		f := func() float64 { d := make([]float64, nU); m.ToBody(1, s, w, d); return dot(g, d) }
		ds, dw := make([]float64, nS), make([]float64, nU)
		m.ToBodyVJP(1, s, w, g, ds)
		m.ToWorld(1, s, g, dw)
		near(t, name+" ds", ds, numeric(s, f), 1e-7)
		near(t, name+" dw", dw, numeric(w, f), 1e-7)
	}
}

func TestMinusVJPAgainstFiniteDifferences(t *testing.T) {
	m := systems()["nominal"]
	for _, turn := range []float64{1e-9, 1e-5, 1e-2, 1, 3} { // rad between the two attitudes
		rng := rand.New(rand.NewPCG(5, 6))
		s0 := randomState(rng)
		s1 := append([]float64(nil), s0...)
		q := quatAt(s0).mul(exp([3]float64{turn * .6, -turn * .8, 0}))
		copy(s1[iQ:], []float64{q.w, q.x, q.y, q.z})
		g, e := randn(rng, nU, 1), make([]float64, nU)
		f := func() float64 { m.Minus(1, s1, nS, s0, nS, e); return dot(g, e) }
		ds := make([]float64, nS)
		m.MinusVJP(1, s1, nS, s0, nS, g, ds)
		near(t, "ds", ds, numeric(s1, f), 1e-5)
	}
}

// (s ⊕ d) ⊖ s = d for the measured part of a system that stands still.
func TestPlusMinus(t *testing.T) {
	m := systems()["in world, no prior"]
	rng := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		s, a, d := randomState(rng), randn(rng, nA, 1), randn(rng, nU, .8)
		next, e := make([]float64, nS), make([]float64, nU)
		m.Step(1, s, a, d, next)
		m.Minus(1, next, nS, s, nS, e)
		near(t, "(s⊕d)⊖s", e, d, 1e-9)
	}
}

// A residual in the body frame is the same residual in the world, turned by the attitude.
func TestFramesAgree(t *testing.T) {
	body, world := systems()["lag"], systems()["lag"].InWorld()
	rng := rand.New(rand.NewPCG(7, 9))
	s, a, d := randomState(rng), randn(rng, nA, 1), randn(rng, nU, .5)
	inWorld := append([]float64(nil), d...)
	dp, dv := quatAt(s).rotate(vec(d[uP:])), quatAt(s).rotate(vec(d[uV:]))
	copy(inWorld[uP:], dp[:])
	copy(inWorld[uV:], dv[:])
	x, y := make([]float64, nS), make([]float64, nS)
	body.Step(1, s, a, d, x)
	world.Step(1, s, a, inWorld, y)
	near(t, "next", x, y, 1e-12)
}

// A hovering command keeps a level vehicle at rest; without thrust it falls by g t²/2.
func TestHoverAndFreeFall(t *testing.T) {
	m := NewQuadrotor[float64](.02, NominalActuator())
	for _, c := range []struct{ thrust, drop, tol float64 }{{9.81, 0, 1e-12}, {0, 9.81 / 2, 1e-9}} {
		s, next, a, d := make([]float64, nS), make([]float64, nS), []float64{c.thrust, 0, 0, 0}, make([]float64, nU)
		s[iQ] = 1
		for range 50 {
			m.Step(1, s, a, d, next)
			copy(s, next)
		}
		if math.Abs(s[iP+2]+c.drop) > c.tol {
			t.Errorf("thrust %g: z after 1 s = %g, want %g", c.thrust, s[iP+2], -c.drop)
		}
	}
}

// The delay line and the lag follow their closed forms.
func TestActuatorStepResponse(t *testing.T) {
	act := Actuator{ThrustGain: .8, ThrustDelay: 2.25, ThrustLag: .1, RateGain: 1, RateDelay: 0, RateLag: 0}
	m := NewQuadrotor[float64](.02, act)
	s, next, d := make([]float64, nS), make([]float64, nS), make([]float64, nU)
	s[iQ] = 1
	al, want, in := 1-math.Exp(-.02/.1), 0., []float64{0, 0, .75, 1, 1, 1, 1, 1}
	for k, u := range in {
		m.Step(1, s, []float64{10, .5, 0, 0}, d, next)
		copy(s, next)
		want += al * (8*u - want)
		if math.Abs(s[iT]-want) > 1e-12 || s[iW] != .5 {
			t.Fatalf("step %d: thrust %g, want %g; rate %g, want 0.5 at once", k, s[iT], want, s[iW])
		}
	}
}

// Residuals of a window that the system made itself vanish, and its last state is the system's own.
func TestWindowReproducesItsOwnRollout(t *testing.T) {
	const T = 20
	m := systems()["lag"]
	rng := rand.New(rand.NewPCG(9, 10))
	measured, actions := make([]float64, (T+1)*nM), make([]float64, T*nA)
	cur, next, d := make([]float64, nS), make([]float64, nS), make([]float64, nU)
	copy(measured, randomState(rng)[:nM])
	for i := range T {
		copy(actions[i*nA:], []float64{9 + rng.Float64(), rng.NormFloat64(), rng.NormFloat64(), 0})
	}
	m.rest(measured, actions, cur)
	for i := range T {
		m.Step(1, cur, actions[i*nA:], d, next)
		cur, next = next, cur
		copy(measured[(i+1)*nM:], cur[:nM])
	}
	s, r, ctx := make([]float64, nS), make([]float64, T*nU), make([]float64, T*nC)
	m.InWorld().Window(T, measured, actions, s, ctx, nil, nil)
	if ctx[(T-1)*nC+cPosition] != measured[(T-1)*nM]-measured[T*nM] {
		t.Errorf("context position is not relative to the window's end")
	}
	m.Window(T, measured, actions, s, ctx, nil, r)
	near(t, "s", s, cur, 1e-12)
	for i, x := range r {
		if math.Abs(x) > 1e-12 {
			t.Fatalf("residual %d = %g, want 0", i, x)
		}
	}
}

func TestIdentifyFindsTheActuator(t *testing.T) {
	want := Actuator{ThrustGain: .92, ThrustLag: .12, RateGain: 1.08, RateDelay: 1.2, ThrustDelay: 0, RateLag: .03,
		YawLag: .15}
	got, err := Identify(context.Background(), .02, simulated(want, 6, 400))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range []struct{ got, want, tol float64 }{{got.ThrustGain, want.ThrustGain, .02},
		{got.ThrustLag + .02*got.ThrustDelay, want.ThrustLag, .02}, {got.RateGain, want.RateGain, .02},
		{.02*got.RateDelay + got.RateLag, .02*1.2 + .03, .01}, {got.YawLag, want.YawLag, .02}} {
		if math.Abs(p.got-p.want) > p.tol {
			t.Errorf("number %d: %g, want %g ± %g (%+v)", i, p.got, p.want, p.tol, got)
		}
	}
}

// steady is a hover in slow vertical disturbances, which the feedback answers: rows every 0.02 s.
func steady(n int) (rows []quad.Row) {
	rng := rand.New(rand.NewPCG(3, 4))
	s := quad.State{Q: so3.Identity()}
	var push, flown float64
	for i := range n {
		seen := s
		seen.P.Z += .001 * rng.NormFloat64()
		seen.V.Z += .01 * rng.NormFloat64()
		seen.Q = so3.Exp(so3.Vec3{X: .002 * rng.NormFloat64(), Y: .002 * rng.NormFloat64()})
		c := quad.Command{Thrust: quad.Gravity - 8*seen.P.Z - 5*seen.V.Z}
		rows = append(rows, quad.Row{T: .02 * float64(i), State: seen, Command: c})
		push += .02*-push/.5 + .1*rng.NormFloat64()
		flown += (c.Thrust - flown) * .4
		s.V.Z += .02 * (flown - quad.Gravity + push)
		s.P.Z += .02 * s.V.Z
	}
	return rows
}

func TestIdentifyLeavesTheThrustGainOfASteadyHover(t *testing.T) {
	got, err := Identify(context.Background(), .02, [][]quad.Row{steady(1500)[100:]})
	if err != nil || got.ThrustGain != 1 {
		t.Errorf("%+v, %v; expected a thrust gain of 1", got, err)
	}
}

// TestIdentifyFindsLongDelays: a robot that answers after six steps, with states that are known later than they are.
func TestIdentifyFindsLongDelays(t *testing.T) {
	want := Actuator{ThrustGain: 1, ThrustDelay: 5.5, RateGain: 1, RateDelay: 6.2, RateLag: .02}
	got, err := Identify(context.Background(), .02, simulated(want, 6, 400))
	if err != nil {
		t.Fatal(err)
	}
	thrust, rates := got.ThrustDelay+got.ThrustLag/.02, got.RateDelay+got.RateLag/.02
	if math.Abs(thrust-5.5) > .5 || math.Abs(rates-7.2) > .5 || got.YawLag > .02 {
		t.Errorf("thrust comes %.2f steps late, want 5.5, rates %.2f, want 7.2 (%+v)", thrust, rates, got)
	}
}

// TestIdentifyLeavesAYawThatIsNotCommanded: its lag is that of the other rates then, whatever noise would fit.
func TestIdentifyLeavesAYawThatIsNotCommanded(t *testing.T) {
	flown := simulated(Actuator{ThrustGain: 1, RateGain: 1, RateLag: .03, YawLag: .2}, 6, 400)
	for _, rows := range flown {
		for k := range rows {
			rows[k].Command.Rates.Z = 0
		}
	}
	got, err := Identify(context.Background(), .02, flown)
	if err != nil || got.YawLag != 0 {
		t.Errorf("%+v, %v; expected no lag of yaw", got, err)
	}
}

// TestReadOfBundles: an actuator of before has no lag of yaw, and what no robot has is refused.
func TestReadOfBundles(t *testing.T) {
	const before = `{"actuator": {"thrust_gain": 1, "thrust_delay": 4, "thrust_lag": 0, "rate_gain": 1,
		"rate_delay": %s, "rate_lag": 0.03%s}, "prior": true, "world": false, "origin": {"X": 0, "Y": 0, "Z": 0}}`
	config := func(delay, more string) json.RawMessage { return json.RawMessage(fmt.Sprintf(before, delay, more)) }
	r, err := Reader.Read(.02, config("4", ""))
	if err != nil || r.Actuator.YawLag != 0 {
		t.Fatalf("%+v, %v", r.Actuator, err)
	}
	if again, err := json.Marshal(r.Config()); err != nil || strings.Contains(string(again), "yaw_lag") {
		t.Errorf("written again: %s, %v", again, err)
	}
	if r, err = Reader.Read(.02, config("8", `, "yaw_lag": 0.15`)); err != nil || r.Actuator.YawLag != .15 {
		t.Errorf("%+v, %v", r.Actuator, err)
	}
	r.System()
	for _, c := range [][3]string{{"8.01", "", "rate_delay is 8.01, want 0 to 8"}, {"-1", "", "rate_delay is -1"},
		{"1", `, "yaw_lag": -0.1`, "yaw_lag is -0.1, want 0 to 10"}, {"1", `, "yaw_lag": 1e300`, "yaw_lag is 1e+300"},
		{"1", `, "yaw_lag": NaN`, "invalid character"}, {"1", `, "yaw_lags": 1`, "unknown field"}} {
		_, err := Reader.Read(.02, config(c[0], c[1]))
		if err == nil || !strings.Contains(err.Error(), c[2]) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: %v", c, err)
		}
	}
}
