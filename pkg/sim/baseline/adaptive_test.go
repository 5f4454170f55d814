package baseline

import (
	"context"
	"math"
	"math/rand/v2"
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
		"Neural-Fly": must(NewNeuralFly(NeuralFlyConfig{g, 0.01, 0.1, 0.1, 1}, must(newBasis(1)), limits(), r, dt,
			point{})),
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

// Coefficients of a few rows under functions that were learned in other conditions foretell the rest of a condition:
// the waves of what is left, too, which constants do not.
func TestBasisIsSharedByConditions(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	condition := func() (rows []basisRow) {
		wave, push := so3.Vec3{X: rng.NormFloat64(), Z: rng.NormFloat64()}, so3.Vec3{Y: rng.NormFloat64()}
		for range 400 {
			r := basisRow{y: push}
			for j := range r.x {
				r.x[j] = float32(rng.NormFloat64())
			}
			r.y = r.y.Add(wave.Scale(math.Sin(2 * float64(r.x[0]))))
			rows = append(rows, r)
		}
		return rows
	}
	c := BasisConfig{Updates: 1500, Shot: 32, Batch: 128, Rate: 5e-3, Seed: 1}
	var seen [][]basisRow
	for range 8 {
		seen = append(seen, condition())
	}
	b := must(learnBasis(context.Background(), c, seen))
	l := newMetaStep(c)
	whole := must(newBasis(l.rows))
	copy(whole.net.Params, b.net.Params)
	whole.net.Refresh()
	left, was := 0., 0.
	for range 5 {
		unseen := condition()
		l.draw(unseen, rng)
		l.descend(whole)
		a := l.coefficients()
		for k := l.shot; k < l.rows; k++ {
			f, off := l.features(k), l.y[k]
			for j := range f {
				off = off.Sub(a[j].Scale(f[j]))
			}
			left, was = left+off.Dot(off), was+l.y[k].X*l.y[k].X+l.y[k].Z*l.y[k].Z
		}
	}
	if !(left < 0.1*was) {
		t.Errorf("%.2f of the squares of the waves are left", left/was)
	}
	if _, err := LearnBasis(context.Background(), c, nil, Airframe{Actuator: actuator}, dt); err == nil {
		t.Error("a basis of no flights")
	}
}
