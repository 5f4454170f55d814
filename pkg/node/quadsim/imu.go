package quadsim

import (
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/sim"
)

// imuTopic is the world's IMU, or the gyroscope alone of a vehicle whose motors are commanded; an autopilot keeps its
// own for itself.
type imuTopic struct {
	pub     *ros.Publisher[sensormsgs.Imu] // nil: none
	sensors sim.Sensors
	every
	m sensormsgs.Imu
}

func (i *imuTopic) publish(n *simulator) (err error) {
	if n.params.Inertial || n.params.Interface == bridge.Rotors {
		i.pub, err = ros.NewPublisher[sensormsgs.Imu](n.Node, "imu", node.MocapQoS())
	}
	return err
}

// begin starts anew with the randomness of the world.
func (i *imuTopic) begin(n *simulator) {
	i.sensors.Reset(uint64(n.params.Seed))
	i.every = every{}
}

// look publishes what is due.
func (i *imuTopic) look(n *simulator) {
	if i.pub == nil {
		return
	}
	now, frame := n.vehicle.Time(), n.params.BodyFrame
	for _, s := range n.vehicle.Inertial() {
		bridge.PutInertial(&i.m, n.stamp(s.Stamp), frame, s.Rates, s.Force)
		n.warn(i.pub.Publish(&i.m))
		n.pace.Sampled(n.stamp(s.Stamp)) // what states are made of
	}
	if n.params.Inertial || !i.due(now, n.params.ImuRate) {
		return
	}
	bridge.PutImu(&i.m, n.stamp(now), frame, i.sensors.Rates(n.vehicle.Truth().Rates))
	n.warn(i.pub.Publish(&i.m))
}
