package bridge

import (
	"fmt"
	"math"

	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/core/so3"
)

// InFrame refuses a frame that is not the one that is meant.
func InFrame(has, want string) error {
	if has != want {
		return fmt.Errorf("frame_id is %.40q, expected %q", has, want)
	}
	return nil
}

// OnTable is the pose of what lies on a table: x, y, heading, at a height above it, m.
func OnTable(stamp int64, frame string, at [3]float64, height float64) *geometrymsgs.PoseStamped {
	m := &geometrymsgs.PoseStamped{}
	m.Header.Stamp, m.Header.FrameID = Time(stamp), frame
	m.Pose.Position = geometrymsgs.Point{X: at[0], Y: at[1], Z: height}
	m.Pose.Orientation.Z, m.Pose.Orientation.W = math.Sincos(at[2] / 2)
	return m
}

// flattest is by how much what lies on a table may be tilted, rad, and widest how far it may be from its middle, m.
const flattest, widest = 0.2, 1000

// FromTable reads where something lies on a table: its stamp, ns, and x, y, heading.
func FromTable(m *geometrymsgs.PoseStamped, frame string) (stamp int64, at [3]float64, err error) {
	if err := InFrame(m.Header.FrameID, frame); err != nil {
		return 0, at, err
	}
	p, q := m.Pose.Position, m.Pose.Orientation
	turn := so3.Quat{W: q.W, X: q.X, Y: q.Y, Z: q.Z}
	if size := turn.Norm(); !(math.Abs(size-1) < 0.05 && math.Abs(p.X) < widest && math.Abs(p.Y) < widest) {
		return 0, at, fmt.Errorf("a pose that is none: position %g, %g, quaternion of length %.3g", p.X, p.Y, size)
	}
	turn = turn.Normalize()
	if up := turn.Rotate(so3.Vec3{Z: 1}).Z; !(up > math.Cos(flattest)) {
		return 0, at, fmt.Errorf("tilted by %.2f rad, expected at most %g: nothing that lies on a table",
			math.Acos(min(max(up, -1), 1)), flattest)
	}
	x := turn.Rotate(so3.Vec3{X: 1})
	return Nanoseconds(m.Header.Stamp), [3]float64{p.X, p.Y, math.Atan2(x.Y, x.X)}, nil
}
