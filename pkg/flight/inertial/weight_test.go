package inertial

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// tilted flies a robot by its attitude and the thrust that it commands at a speed, of which a share is lost, in a wind
// and with a drag, 1/s. It returns the RMS error of the velocity from 2 s on, m/s, and the share of poses with a state.
func tilted(seconds float64, turns func(at float64) so3.Quat, thrust func(at float64, v so3.Vec3) float64,
	lost, drag float64, wind so3.Vec3) (speed, known float64) {
	const h = 0.005
	rng, commanded := rand.New(rand.NewPCG(5, 2)), 0.0
	normal := func() so3.Vec3 { return so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()} }
	e := NewCommandEstimator(func(_ *quad.State, from, to float64) (rates, force so3.Vec3) {
		turn := so3.Log(turns(from).Conj().Mul(turns(to)))
		return turn.Scale(1 / (to - from)), so3.Vec3{Z: commanded}
	})
	s, n := quad.State{Q: so3.Identity()}, 0.0
	for i := 1; i < int(seconds/h); i++ {
		now, middle := float64(i)*h, (float64(i)-0.5)*h
		commanded = thrust(middle, s.V)
		a := turns(middle).Rotate(so3.Vec3{Z: (1 - lost) * commanded}).Add(wind).Sub(s.V.Scale(drag))
		a.Z -= quad.Gravity
		s.P = s.P.Add(s.V.Scale(h)).Add(a.Scale(h * h / 2))
		s.V, s.Q = s.V.Add(a.Scale(h)), turns(now)
		e.AddPose(Pose{T: now, P: s.P.Add(normal().Scale(0.0003)), Q: s.Q.Mul(so3.Exp(normal().Scale(0.002)))}, now)
		if found, ok := e.At(now); now > 2 {
			off := found.V.Sub(s.V)
			n++
			if ok {
				speed, known = speed+off.Dot(off), known+1
			}
		}
	}
	return math.Sqrt(speed / known), known / n
}

// TestWeightTurnsWithTheBody: a load takes a quarter of the thrust of a robot that hovers and rolls by 0.6 rad to and
// fro four times a second, with a wind beside it and without. A push that stayed in the world had velocities err by
// eight times as much.
func TestWeightTurnsWithTheBody(t *testing.T) {
	roll := func(at float64) so3.Quat { return so3.Exp(so3.Vec3{X: 0.6 * math.Sin(8*math.Pi*at)}) }
	for _, wind := range []so3.Vec3{{}, {X: 1, Y: -1}} {
		const lost = 0.25
		thrust := func(at float64, _ so3.Vec3) float64 {
			return quad.Gravity / (1 - lost) / roll(at).Rotate(so3.Vec3{Z: 1}).Z
		}
		if speed, known := tilted(4, roll, thrust, lost, 0, wind); !(speed < 0.02) || known != 1 {
			t.Errorf("wind %v: errs by %.3f m/s, known %.2f", wind, speed, known)
		}
	}
}

// TestOnItsSide: a robot without a weight dives on its side for 0.8 s, and its drag pushes upwards. No weight can be
// found there that would explain it.
func TestOnItsSide(t *testing.T) {
	for _, most := range []float64{1.4, 1.5, math.Pi / 2, 1.65} {
		turn := func(at float64) float64 { return most * min(max(0, at-3)/0.15, 1, max(0, 4.1-at)/0.15) }
		roll := func(at float64) so3.Quat { return so3.Exp(so3.Vec3{X: turn(at)}) }
		thrust := func(at float64, v so3.Vec3) float64 {
			if turn(at) > 0.3 {
				return 5
			}
			return min(max(quad.Gravity-4*v.Z, 1), 40)
		}
		speed, known := tilted(8, roll, thrust, 0, 0.3, so3.Vec3{})
		if !(speed < 0.05) || known != 1 {
			t.Errorf("%.2f rad: errs by %.3f m/s, known %.2f of the time", most, speed, known)
		}
	}
}

// TestPushTurnsWithItsFrame: where a source leapt by a turn, the frame goes back to it, slowly or at once. A wind is
// the same in the frame of the poses.
func TestPushTurnsWithItsFrame(t *testing.T) {
	wind := so3.Vec3{X: 3, Y: 1, Z: 2}
	for name, back := range map[string]func(e *Estimator){
		"slowly":  func(e *Estimator) { e.relax(1) },
		"at once": func(e *Estimator) { e.leave() },
	} {
		e := newPushed(0).e.filter
		e.frame.yaw, e.past.accelBias = 0.6, yawed(0.6).Rotate(wind)
		e.present = e.past
		back(e)
		for _, b := range []*belief{&e.past, &e.present} {
			got, turn := yawed(-e.frame.yaw).Rotate(b.accelBias), e.frame.yaw
			if turn == 0.6 || got.Sub(wind).Norm() > 1e-12 {
				t.Errorf("%s: frame turned by %g, wind %v", name, turn, got)
			}
		}
	}
}

// TestPushSetsInAtAnyTilt: what a push that sets in makes uncertain is what a push makes of a velocity, by the step.
func TestPushSetsInAtAnyTilt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const by, since = 3.0, 0.03
		b := belief{motion: anyMotion(rt)}
		b.pushed, b.gyroBias = true, so3.Vec3{}
		step := b.jacobian(&Imu{}, since)
		var acted matrix
		acted.addDiagonal(atAccel, 3, by*by)
		step.carry(&acted)
		b.pushedAnew(by, since)
		for i := range 3 * 6 {
			row, column := atVelocity+i/6, []int{atVelocity, atAccel}[i%2]+i%6/2
			if got, want := b.cov[row*size+column], acted[row*size+column]; math.Abs(got-want) > 1e-9 {
				rt.Fatalf("%d, %d: %g, by the step %g", row, column, got, want)
			}
		}
	})
}
