package bridge

import (
	"fmt"
	"math"

	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/core/so3"
)

// Spread is what a pose's message says that its numbers err by: standard deviations along and about the world's axes.
// Zero is not known.
type Spread struct {
	Position so3.Vec3 // m
	Attitude so3.Vec3 // rad
	Velocity so3.Vec3 // m/s
	Fault    CovarianceFault
}

// CovarianceFault is a variance that is none: what it is of counts as not known.
type CovarianceFault struct {
	Field string // of the message; "": there is none
	Index int
	Value float64
}

// Known reports whether there is one.
func (f *CovarianceFault) Known() bool { return f.Field != "" }

// String names the field and what was expected there.
func (f *CovarianceFault) String() string {
	if f.Value == 0 {
		return fmt.Sprintf("%s[%d] is 0: what it is of counts as not known", f.Field, f.Index)
	}
	return fmt.Sprintf("%s[%d] is %.4g, expected a variance above 0 and below %.4g: what it is of counts as not known",
		f.Field, f.Index, f.Value, absurdVariance)
}

// absurdVariance is that of a number that says nothing, (m, rad or m/s)²; drivers write 1e4 or more for it.
const absurdVariance = 1e3

// spreadOf are the deviations of three variances, spaced apart in a field, from an index on.
func (s *Spread) spreadOf(field string, at, apart int, variance func(i int) float64) (v so3.Vec3) {
	var out [3]float64
	for k := range out {
		x := variance(at + k*apart)
		if !(x > 0 && x < absurdVariance) {
			if !s.Fault.Known() {
				s.Fault = CovarianceFault{field, at + k*apart, x}
			}
			return so3.Vec3{}
		}
		out[k] = math.Sqrt(x)
	}
	return so3.Vec3{X: out[0], Y: out[1], Z: out[2]}
}

// poseSpread is that of a geometry_msgs covariance of x, y, z and turns about fixed axes, row-major.
func poseSpread(c *[36]float64) (s Spread) {
	of := func(i int) float64 { return c[i] }
	s.Position = s.spreadOf("pose.covariance", 0, 7, of)
	s.Attitude = s.spreadOf("pose.covariance", 21, 7, of)
	return s
}

// addTwist adds the velocity's from a covariance in the frame that q turns to the world.
func (s *Spread) addTwist(c *[36]float64, q so3.Quat) {
	v := s.spreadOf("twist.covariance", 0, 7, func(i int) float64 { return c[i] })
	s.Velocity = turned(v, q)
}

// turned are the deviations of independent numbers along other axes.
func turned(v so3.Vec3, q so3.Quat) so3.Vec3 {
	r := q.Mat3()
	in := [3]float64{v.X * v.X, v.Y * v.Y, v.Z * v.Z}
	var out [3]float64
	for i := range out {
		for k := range in {
			out[i] += r[i][k] * r[i][k] * in[k]
		}
		out[i] = math.Sqrt(out[i])
	}
	return so3.Vec3{X: out[0], Y: out[1], Z: out[2]}
}

// swapped is a spread in NED, in ENU.
func (s Spread) swapped() Spread {
	swap := func(v so3.Vec3) so3.Vec3 { return so3.Vec3{X: v.Y, Y: v.X, Z: v.Z} }
	s.Position, s.Attitude, s.Velocity = swap(s.Position), swap(s.Attitude), swap(s.Velocity)
	return s
}

// px4Spread is that of PX4's estimate, along NED; the attitude's is about the body's axes, of which the largest counts.
func px4Spread(m *px4msgs.VehicleOdometry, q so3.Quat) (s Spread) {
	of := func(field string, v *[3]float32) so3.Vec3 {
		return s.spreadOf(field, 0, 1, func(i int) float64 { return float64(v[i]) })
	}
	s.Position = of("position_variance", &m.PositionVariance)
	s.Attitude = turned(of("orientation_variance", &m.OrientationVariance), q)
	s.Velocity = of("velocity_variance", &m.VelocityVariance)
	if m.VelocityFrame == px4msgs.VehicleOdometryVelocityFrameBodyFrd {
		s.Velocity = turned(s.Velocity, q)
	}
	return s.swapped()
}
