package bridge

import (
	"fmt"
	"math"
	"strings"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	px4msgs "vnd/msgs/px4_msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Frames in which poses may come.
const (
	Auto    = "auto"  // by the frame names in the message
	ENU     = "enu"   // world z up, body FLU
	NED     = "ned"   // world z down, body FRD
	InBody  = "body"  // twist in the frame of the body
	InWorld = "world" // twist in the frame of the pose
)

// PoseOptions say what messages with poses leave open. The zero value is Auto.
type PoseOptions struct {
	World string // Auto: NED when the frame's name ends in _ned (REP-103), else ENU; ENU; NED
	// Twist is the frame of an odometry's velocity: InBody, InWorld or Auto. Auto is InWorld where both frames have
	// the same name, else InBody (REP-105).
	Twist string
	Body  string // name of the body, where a message holds several; "" takes the only one
}

// down reports whether a message's frames are NED and FRD.
func (o PoseOptions) down(frame string) bool {
	return o.World == NED || o.World != ENU && strings.HasSuffix(frame, "_ned")
}

// toENU turns a state in the message's own frames into ours.
func (o PoseOptions) toENU(frame string, s quad.State) quad.State {
	if o.down(frame) {
		return SwapState(s)
	}
	return s
}

// spread turns one along the message's own axes into one along ours.
func (o PoseOptions) spread(frame string, s Spread) Spread {
	if o.down(frame) {
		return s.swapped()
	}
	return s
}

// FromPoseStamped is for motion capture and vision: body to world.
func FromPoseStamped(m *geometrymsgs.PoseStamped, o PoseOptions) Pose {
	return Pose{Stamp: Nanoseconds(m.Header.Stamp), State: o.toENU(m.Header.FrameID, stateOf(&m.Pose)),
		Frame: m.Header.FrameID}
}

// FromPoseWithCovarianceStamped takes the variances of the covariance.
func FromPoseWithCovarianceStamped(m *geometrymsgs.PoseWithCovarianceStamped, o PoseOptions) Pose {
	return Pose{Stamp: Nanoseconds(m.Header.Stamp), State: o.toENU(m.Header.FrameID, stateOf(&m.Pose.Pose)),
		Frame: m.Header.FrameID, Spread: o.spread(m.Header.FrameID, poseSpread(&m.Pose.Covariance))}
}

// FromOdometry turns the twist into the world: from the child frame, unless o or equal frames say that it is there.
func FromOdometry(m *navmsgs.Odometry, o PoseOptions) Pose {
	s := stateOf(&m.Pose.Pose)
	v := vec(m.Twist.Twist.Linear)
	inWorld := o.Twist == InWorld || o.Twist != InBody && m.ChildFrameID != "" && m.ChildFrameID == m.Header.FrameID
	spread, axes := poseSpread(&m.Pose.Covariance), so3.Identity()
	if !inWorld {
		v, axes = s.Q.Rotate(v), s.Q
	}
	spread.addTwist(&m.Twist.Covariance, axes)
	s.V = v
	p := moving(Nanoseconds(m.Header.Stamp), m.Header.FrameID, o.toENU(m.Header.FrameID, s))
	p.Spread = o.spread(m.Header.FrameID, spread)
	return p
}

// FromTransformStamped is for one transform from a child frame, the body, to its parent, the world.
func FromTransformStamped(m *geometrymsgs.TransformStamped, o PoseOptions) Pose {
	t, r := m.Transform.Translation, m.Transform.Rotation
	s := quad.State{P: vec(t), Q: so3.Quat{W: r.W, X: r.X, Y: r.Y, Z: r.Z}}
	return Pose{Stamp: Nanoseconds(m.Header.Stamp), State: o.toENU(m.Header.FrameID, s), Frame: m.Header.FrameID}
}

// FromVehicleOdometry is for PX4's estimate, with its variances. A world of unknown heading (pose_frame FRD) is as good
// as NED: nothing here needs to know north. A velocity in neither the pose's frame nor the body's is left out.
func FromVehicleOdometry(m *px4msgs.VehicleOdometry) (Pose, error) {
	if f := m.PoseFrame; f != px4msgs.VehicleOdometryPoseFrameNed && f != px4msgs.VehicleOdometryPoseFrameFrd {
		return Pose{}, fmt.Errorf("pose_frame is %d, expected %d (NED) or %d (FRD)", f,
			px4msgs.VehicleOdometryPoseFrameNed, px4msgs.VehicleOdometryPoseFrameFrd)
	}
	q := so3.Quat{W: float64(m.Q[0]), X: float64(m.Q[1]), Y: float64(m.Q[2]), Z: float64(m.Q[3])}
	s := quad.State{P: vec32(m.Position), Q: q}
	stamp := microseconds(m.TimestampSample)
	if stamp == 0 {
		stamp = microseconds(m.Timestamp)
	}
	switch {
	case m.VelocityFrame == px4msgs.VehicleOdometryVelocityFrameBodyFrd:
		s.V = q.Rotate(vec32(m.Velocity))
	case m.VelocityFrame == m.PoseFrame: // NED and FRD have the same numbers in both
		s.V = vec32(m.Velocity)
	default:
		return Pose{Stamp: stamp, State: SwapState(s), Spread: px4Spread(m, q)}, nil
	}
	p := moving(stamp, "", SwapState(s))
	p.Spread = px4Spread(m, q)
	return p, nil
}

// FromStep takes the state that vnd's own controller used.
func FromStep(m *msgs.Step) Pose {
	s := stateOf(&m.Pose)
	s.V = vec(m.Velocity)
	return moving(Nanoseconds(m.Header.Stamp), m.Header.FrameID, s)
}

// moving is a pose with a velocity, unless that is not finite.
func moving(stamp int64, frame string, s quad.State) Pose {
	if !finite(s.V) {
		s.V = so3.Vec3{}
		return Pose{Stamp: stamp, State: s, Frame: frame}
	}
	return Pose{Stamp: stamp, State: s, HasVelocity: true, Frame: frame}
}

// PutPoseStamped fills m with a pose in the world frame of that name.
func PutPoseStamped(m *geometrymsgs.PoseStamped, stamp int64, frame string, s quad.State) {
	m.Header.Stamp, m.Header.FrameID = Time(stamp), frame
	putPose(&m.Pose, s)
}

// PutOdometry fills m with a state: pose in frame, linear twist in the body's frame, child. The angular twist, which a
// state does not have, and the covariances are zero: unknown.
func PutOdometry(m *navmsgs.Odometry, stamp int64, frame, child string, s quad.State) {
	m.Header.Stamp, m.Header.FrameID, m.ChildFrameID = Time(stamp), frame, child
	putPose(&m.Pose.Pose, s)
	m.Twist.Twist = geometrymsgs.Twist{Linear: vector3(s.Q.Conj().Rotate(s.V))}
	clear(m.Pose.Covariance[:])
	clear(m.Twist.Covariance[:])
}

// PutVehicleOdometry fills m with a state in PX4's frames, pose and velocity in NED; stamp is of the autopilot's clock,
// ns. Body rates are FLU; variances are not known.
func PutVehicleOdometry(m *px4msgs.VehicleOdometry, stamp int64, s quad.State, rates so3.Vec3) {
	nan, n := float32(math.NaN()), SwapState(s)
	us := uint64(max(stamp, 0)) / 1000
	*m = px4msgs.VehicleOdometry{
		Timestamp: us, TimestampSample: us,
		PoseFrame: px4msgs.VehicleOdometryPoseFrameNed, VelocityFrame: px4msgs.VehicleOdometryVelocityFrameNed,
		Position: array32(n.P), Velocity: array32(n.V), AngularVelocity: array32(SwapBody(rates)),
		Q:                [4]float32{float32(n.Q.W), float32(n.Q.X), float32(n.Q.Y), float32(n.Q.Z)},
		PositionVariance: [3]float32{nan, nan, nan}, OrientationVariance: [3]float32{nan, nan, nan},
		VelocityVariance: [3]float32{nan, nan, nan},
	}
}
