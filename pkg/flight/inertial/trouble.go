package inertial

import (
	"fmt"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Kind names what is wrong with the sensors, or with what is made of them.
type Kind uint8

const (
	None        Kind = iota
	ClocksApart      // Value: by how much poses are newer than the IMU, s
	ForceInG         // Value: mean size of the specific force, as it comes
	ForceDown        // the z axis of the IMU points down
	ForceTilted      // Value: angle between measured and expected direction of gravity, rad
	ForceSize        // Value: mean size of the specific force, m/s²
	InDegrees        // the gyroscope's unit
	Reversed         // Value: axis of the gyroscope, 0 to 2
	Unlike           // Value: axis of the gyroscope that does not turn as the poses do
	Divergence       // biases or covariance became what cannot be
)

// Trouble is what is wrong.
type Trouble struct {
	Kind  Kind
	Value float64
}

// String says it in words: what is there, and what was expected.
func (t Trouble) String() string {
	switch t.Kind {
	case ClocksApart:
		return fmt.Sprintf("stamps of the poses are %+.3f s from those of the IMU, expected %g to %g s: "+
			"synchronise the clocks of both, or set delay", t.Value, -maxBehind, maxAhead)
	case ForceInG:
		return fmt.Sprintf("linear_acceleration of the IMU is %.2f in all, expected about 9.8 m/s²: is it in g?",
			t.Value)
	case ForceDown:
		return "linear_acceleration of the IMU is -9.8 m/s² along z where the body is level, expected +9.8: is it " +
			"FRD, or without gravity's reaction? (imu_attitude: [3.14159, 0.0, 0.0] is for FRD)"
	case ForceTilted:
		return fmt.Sprintf("linear_acceleration of the IMU points %.0f° off up by the poses' attitude, expected less "+
			"than %.0f°: set imu_attitude to the IMU's attitude in the body", t.Value*180/math.Pi,
			maxTilted*180/math.Pi)
	case ForceSize:
		return fmt.Sprintf("linear_acceleration of the IMU is %.2f m/s² in all, expected about 9.8: is gravity's "+
			"reaction missing?", t.Value)
	case InDegrees:
		return "angular_velocity of the IMU is 57 times what the poses turn by, expected rad/s: is it in °/s?"
	case Reversed:
		return fmt.Sprintf("angular_velocity of the IMU about %c is the reverse of the poses' turns: set imu_attitude "+
			"to the IMU's attitude in the body", 'x'+rune(t.Value))
	case Unlike:
		return fmt.Sprintf("angular_velocity of the IMU about %c is not what the poses turn by: set imu_attitude to "+
			"the IMU's attitude in the body, or delay", 'x'+rune(t.Value))
	case Divergence:
		return "the filter has diverged: a bias or an uncertainty became what no sensor has; it begins anew"
	}
	return ""
}

const (
	examined  = 0.25 // s of samples that are looked at
	maxTilted = 1.0  // rad
)

// examine compares the specific force of late with a pose: before the beginning the robot stands or hovers.
func (e *Estimator) examine(z *Pose) Trouble {
	var sum so3.Vec3
	n, newest := 0, e.at(e.n-1).T
	for i := e.n - 1; i >= 0 && newest-e.at(i).T <= examined; i-- {
		sum = sum.Add(e.at(i).Force)
		n++
	}
	f := sum.Scale(1 / float64(n))
	size := f.Norm()
	up := z.Q.Rotate(f).Z / max(size, 1e-9)
	switch {
	case size > 0.5 && size < 2:
		return Trouble{ForceInG, size}
	case size < quad.Gravity/3 || size > 4*quad.Gravity:
		return Trouble{ForceSize, size}
	case up < -0.7:
		return Trouble{Kind: ForceDown}
	case up < math.Cos(maxTilted):
		return Trouble{ForceTilted, math.Acos(up)}
	}
	return Trouble{}
}

// axes compares the turns between poses with what the gyroscope measured meanwhile.
type axes struct {
	known  bool
	q      so3.Quat // of the pose before
	t      float64  // its time, s
	gg, gp [3]float64
}

// add takes a pose of t.
func (a *axes) add(e *Estimator, z *Pose, t float64) {
	const longest, forgetting = 0.3, 0.99
	if dt := t - a.t; a.known && dt > 0 && dt <= longest {
		gyro := e.turned(a.t, t)
		pose := so3.Log(a.q.Conj().Mul(z.Q))
		for i, x := range [3][2]float64{{gyro.X, pose.X}, {gyro.Y, pose.Y}, {gyro.Z, pose.Z}} {
			a.gg[i] = forgetting*a.gg[i] + x[0]*x[0]
			a.gp[i] = forgetting*a.gp[i] + x[0]*x[1]
		}
	}
	a.known, a.q, a.t = true, z.Q, t
}

// turned is the sum of what the gyroscope turned by between two times, rad in the body.
func (e *Estimator) turned(from, to float64) so3.Vec3 {
	var sum so3.Vec3
	for i := e.n - 1; i > 0 && e.at(i).T > from; i-- {
		lo, hi := max(e.at(i-1).T, from), min(e.at(i).T, to)
		if hi > lo {
			sum = sum.Add(e.at(i).Rates.Scale(hi - lo))
		}
	}
	return sum
}

// verdict says which axis does not turn as the poses do.
func (a *axes) verdict() Trouble {
	const enough, unlike, degrees = 0.1, 0.4, math.Pi / 180 // rad²
	for i := range a.gg {
		if a.gg[i] < enough {
			continue
		}
		switch slope := a.gp[i] / a.gg[i]; {
		case slope > degrees/2 && slope < 2*degrees:
			return Trouble{Kind: InDegrees}
		case slope < -unlike:
			return Trouble{Reversed, float64(i)}
		case slope < unlike:
			return Trouble{Unlike, float64(i)}
		}
	}
	return Trouble{}
}

// diverge begins anew at the next pose, without the biases that were believed.
func (e *Estimator) diverge(t float64) Event {
	e.phase, e.accepted, e.streak = Waiting, 0, streak{}
	e.past = belief{motion: motion{pushed: e.past.pushed}}
	e.sound = t + e.origin.settling + afterDiverged
	e.trouble = Trouble{Kind: Divergence}
	return Diverged
}

// wrong reports whether what is believed cannot be.
func (b *belief) wrong(most *biases) bool {
	for i := range size {
		if x := b.cov[i*size+i]; !(x >= 0 && x < 1e12) {
			return true
		}
	}
	return !(b.gyroBias.Norm() < most.gyro && b.accelBias.Norm() < most.accel && b.P.Finite() && b.V.Finite())
}
