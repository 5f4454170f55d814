package quadsim

import (
	geometrymsgs "vnd/msgs/geometry_msgs"
	mocap4r2msgs "vnd/msgs/mocap4r2_msgs"
	motioncapturetrackinginterfaces "vnd/msgs/motion_capture_tracking_interfaces"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// Bodies that motion capture drivers see: the vehicle, and a wand that lies in the arena.
const (
	vehicleBody = "quadrotor"
	wandBody    = "wand"
)

var wand = quad.State{P: so3.Vec3{X: 1.5, Y: 1}, Q: so3.Identity()}

// newDriver publishes what a motion capture driver does; nil for none.
func (n *simulator) newDriver(name string) (func(stamp int64, s quad.State), error) {
	pose := func(s quad.State) geometrymsgs.Pose {
		var m geometrymsgs.PoseStamped
		bridge.PutPoseStamped(&m, 0, "", s)
		return m.Pose
	}
	switch name {
	case "motion_capture_tracking":
		pub, err := ros.NewPublisher[motioncapturetrackinginterfaces.NamedPoseArray](n.Node, "poses", node.MocapQoS())
		return func(stamp int64, s quad.State) {
			m := motioncapturetrackinginterfaces.NamedPoseArray{Poses: []motioncapturetrackinginterfaces.NamedPose{
				{Name: wandBody, Pose: pose(wand)}, {Name: vehicleBody, Pose: pose(s)}}}
			m.Header.Stamp, m.Header.FrameID = bridge.Time(stamp), n.params.WorldFrame
			n.warn(pub.Publish(&m))
		}, err
	case "mocap4ros2":
		pub, err := ros.NewPublisher[mocap4r2msgs.RigidBodies](n.Node, "rigid_bodies", node.MocapQoS())
		frame := uint32(0)
		return func(stamp int64, s quad.State) {
			frame++
			m := mocap4r2msgs.RigidBodies{FrameNumber: frame, Rigidbodies: []mocap4r2msgs.RigidBody{
				{RigidBodyName: wandBody, Pose: pose(wand)}, {RigidBodyName: vehicleBody, Pose: pose(s)}}}
			m.Header.Stamp, m.Header.FrameID = bridge.Time(stamp), n.params.WorldFrame
			n.warn(pub.Publish(&m))
		}, err
	}
	return nil, nil
}
