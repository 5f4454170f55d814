// Package bridge turns ROS messages into the types of package quad and back. Of what flies, it alone knows frames,
// units and quaternion orders other than ours (world ENU, z up; body FLU; SI; radians; thrust per mass). What throttle
// and volts are worth is in the packages airframe and battery.
package bridge

import (
	"math"

	builtininterfaces "vnd/msgs/builtin_interfaces"
	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Pose is where a body was at a stamp, and how it moved where the message says so. Numbers are as the message has
// them: they may be NaN, and the quaternion may be off unit norm.
type Pose struct {
	Stamp       int64      // of the sender, ns since the epoch of its clock; 0: the message has none
	State       quad.State // V is zero without HasVelocity
	HasVelocity bool
	Frame       string // name of the world's frame in the message; "" where it has none
	Spread      Spread // what the numbers err by, where the message says so
}

// Command is what was commanded at a stamp.
type Command struct {
	Stamp   int64 // of the sender, ns since the epoch of its clock; 0: the message has none
	Command quad.Command
	Clipped bool // thrust was outside of what the message's type can mean and is at its limit
}

// Nanoseconds is a ROS time as one number.
func Nanoseconds(t builtininterfaces.Time) int64 { return int64(t.Sec)*1e9 + int64(t.Nanosec) }

// Time is ns since the epoch as a ROS time, which ends in 2038.
func Time(ns int64) builtininterfaces.Time {
	sec := ns / 1e9
	if ns%1e9 < 0 {
		sec--
	}
	return builtininterfaces.Time{Sec: int32(sec), Nanosec: uint32(ns - sec*1e9)}
}

// microseconds of a PX4 message are ns here; what does not fit is no stamp.
func microseconds(us uint64) int64 {
	if us > math.MaxInt64/1000 {
		return 0
	}
	return int64(us) * 1000
}

func stateOf(p *geometrymsgs.Pose) quad.State {
	o := p.Orientation
	return quad.State{
		P: so3.Vec3{X: p.Position.X, Y: p.Position.Y, Z: p.Position.Z},
		Q: so3.Quat{W: o.W, X: o.X, Y: o.Y, Z: o.Z},
	}
}

func putPose(m *geometrymsgs.Pose, s quad.State) {
	m.Position = geometrymsgs.Point{X: s.P.X, Y: s.P.Y, Z: s.P.Z}
	m.Orientation = geometrymsgs.Quaternion{X: s.Q.X, Y: s.Q.Y, Z: s.Q.Z, W: s.Q.W}
}

func vec(v geometrymsgs.Vector3) so3.Vec3 { return so3.Vec3{X: v.X, Y: v.Y, Z: v.Z} }

func vector3(v so3.Vec3) geometrymsgs.Vector3 { return geometrymsgs.Vector3{X: v.X, Y: v.Y, Z: v.Z} }

func vec32(v [3]float32) so3.Vec3 {
	return so3.Vec3{X: float64(v[0]), Y: float64(v[1]), Z: float64(v[2])}
}

func array32(v so3.Vec3) [3]float32 { return [3]float32{float32(v.X), float32(v.Y), float32(v.Z)} }

func finite(v so3.Vec3) bool {
	sum := v.X + v.Y + v.Z
	return !math.IsNaN(sum) && !math.IsInf(sum, 0)
}
