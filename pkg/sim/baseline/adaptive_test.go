package baseline

import (
	"math"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/sim/baseline/nmpc"
)

// adaptive are the laws that estimate a push, with the guard's gains, for the robot of these tests.
func adaptive(t *testing.T) map[string]quad.Controller {
	t.Helper()
	var g guard.Gains
	param.Default(&g)
	r := Airframe{Actuator: actuator}
	return map[string]quad.Controller{
		"L1":      must(NewL1Geometric(L1Config{g, 5}, limits(), r, dt, point{})),
		"INDI":    must(NewINDI(INDIConfig{g, 10}, limits(), r, dt, point{})),
		"L1-NMPC": must(NewNMPC(NMPCConfig{predictive, 5}, limits(), r, dt, point{})),
	}
}

var predictive = nmpc.Weights{Position: 1, Velocity: 0.05, Tilt: 0.002, Heading: 0.05, Rates: 1e-4, Thrust: 2e-4,
	Turn: 1e-4}

// A constant push leaves no steady error, where the law alone hangs by push/gain. Neither does one that turned.
func TestAdaptiveLawsRejectAConstantPush(t *testing.T) {
	for name, c := range adaptive(t) {
		t.Run(name, func(t *testing.T) {
			wind := so3.Vec3{X: 3, Y: -1, Z: 0.5}
			errs := fly(c, 900, func(t float64) so3.Vec3 {
				if t < 9 {
					return wind
				}
				return wind.Scale(-1)
			})
			const hangs = 0.4 // m, of the law alone
			before, after := mean(errs[350:450]), mean(errs[800:])
			if before > 0.005*hangs || after > 0.005*hangs {
				t.Errorf("errs by %.4f m, after the turn by %.4f m", before, after)
			}
		})
	}
}

// What was flown is forgotten: the second flight is the first again.
func TestAdaptiveLawsForgetAtReset(t *testing.T) {
	for name, c := range adaptive(t) {
		t.Run(name, func(t *testing.T) {
			wind := always(so3.Vec3{X: 2})
			first, second := fly(c, 100, wind), fly(c, 100, wind)
			for k := range first {
				if first[k] != second[k] {
					t.Fatalf("tick %d: %.6f m, then %.6f m", k, first[k], second[k])
				}
			}
		})
	}
}

// The robot in free fall with the thrust of hovering late: what is expected follows the actuator, and drag brakes it.
func TestPlantExpectsTheLaggedThrustAndDrag(t *testing.T) {
	a := actuator
	a.ThrustDelay, a.ThrustLag = 2, 0
	p := newPlant(Airframe{Actuator: a, Drag: 0.5}, dt)
	row := quad.Row{State: quad.State{Q: so3.Identity(), V: so3.Vec3{X: 2}}, Command: quad.Command{Thrust: 15}}
	for k, want := range []so3.Vec3{{X: -1}, {X: -1}, {X: -1, Z: 15 - quad.Gravity}} {
		if got := p.observe(&row); got.Sub(want).Norm() > 1e-9 {
			t.Errorf("step %d: expects %v m/s², want %v", k, got, want)
		}
	}
	p.reset()
	row.Command.Thrust = quad.Gravity
	p.observe(&row)
	after, thrust, _ := p.ahead(&row.State, 2, so3.Vec3{Y: 1})
	if want := dt * (2 - 0.5*dt); math.Abs(after.V.Y-want) > 1e-9 || math.Abs(thrust-quad.Gravity) > 1e-9 ||
		math.Abs(after.V.X-2*math.Pow(1-0.5*dt, 2)) > 1e-9 {
		t.Errorf("two steps ahead %+v under %g m/s²", after, thrust)
	}
}

// The filter passes what stays and halves the power at its cutoff.
func TestButterworth(t *testing.T) {
	const cutoff = 20.0 // rad/s
	f := newButterworth(cutoff, dt)
	f.reset(so3.Vec3{Z: 2})
	if f.step(so3.Vec3{Z: 2}); math.Abs(f.y.Z-2) > 1e-12 {
		t.Errorf("what stays becomes %g", f.y.Z)
	}
	f.reset(so3.Vec3{})
	power, n := 0.0, 4000
	for k := range n {
		f.step(so3.Vec3{X: math.Sin(cutoff * dt * float64(k))})
		power += 2 * f.y.X * f.y.X / float64(n)
	}
	if math.Abs(power-0.5) > 0.01 {
		t.Errorf("power %.3f at the cutoff", power)
	}
}

// In calm the predictive controller stays where it is, and each tick has its step; without adaptation a push moves it.
func TestNMPCSolvesEachTick(t *testing.T) {
	late := actuator
	late.ThrustDelay, late.RateDelay = 2.7, 2.4
	for name, c := range map[string]struct {
		actuator quadrotor.Actuator
		wind     so3.Vec3
		lo, hi   float64 // m
	}{
		"calm": {actuator, so3.Vec3{}, 0, 0.005}, "a push": {actuator, so3.Vec3{X: 2}, 0.02, 0.5},
		"calm, late": {late, so3.Vec3{}, 0, 0.02}, // told of a delay that is not there
	} {
		t.Run(name, func(t *testing.T) {
			n := must(NewNMPC(NMPCConfig{Weights: predictive}, limits(), Airframe{Actuator: c.actuator}, dt, point{}))
			if e := mean(fly(n, 300, always(c.wind))[200:]); e < c.lo || e > c.hi {
				t.Errorf("errs by %.4f m, want %g to %g", e, c.lo, c.hi)
			}
			if k := n.Counts(); k.Ticks != 300 || k.Unsolved > 3 {
				t.Errorf("%+v", k)
			}
		})
	}
}
