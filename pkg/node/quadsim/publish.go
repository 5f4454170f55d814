package quadsim

import (
	sensormsgs "vnd/msgs/sensor_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
)

// status is how the vehicle is, for any goroutine.
type status struct {
	mode      closedloop.Mode
	text      string
	autopilot string // what it says of itself
	condition string
	time      float64 // simulated, s
	skipped   uint64
}

// mocap publishes a sample that has arrived, and the odometry that its estimator makes of it.
func (n *simulator) mocap(t float64, p so3.Vec3, q so3.Quat) {
	s, stamp := quad.State{P: p, Q: q}, n.stamp(t)
	n.newest = stamp
	bridge.PutPoseStamped(&n.poseM, stamp, n.params.WorldFrame, s)
	n.warn(n.pose.Publish(&n.poseM))
	if n.driver != nil {
		n.driver(stamp, s)
	}
	if s, outcome := n.estimator.Add(estimator.Pose{T: t, P: p, Q: q}); outcome == estimator.Ready {
		if n.odom != nil {
			bridge.PutOdometry(&n.odomM, stamp, n.params.WorldFrame, n.params.BodyFrame, s)
			n.warn(n.odom.Publish(&n.odomM))
		}
		if n.autopilot != nil && !n.autopilot.estimate(t, stamp, s) {
			return // a controller that flies by the autopilot's estimate has none of this
		}
	}
	if !n.params.Inertial {
		n.pace.Sampled(stamp)
	}
}

// look tells what is true now, where that is due or has changed.
func (n *simulator) look() {
	truth := n.vehicle.Truth()
	status := &status{mode: n.vehicle.Mode(), text: n.vehicle.Status(), condition: truth.Condition, time: truth.Time,
		skipped: n.pace.Skipped()}
	if n.autopilot != nil {
		a := n.autopilot.state()
		a.look(truth.Time, n.vehicle.Mode())
		n.warn(a.steer(n.vehicle))
		n.autopilot.look(truth.Time, n.stamp(truth.Time))
		status.autopilot = a.said()
	}
	if n.battery.pub != nil && n.battery.due(truth.Time, batteryRate) {
		n.warn(n.battery.pub.Publish(batteryState(&truth, n.stamp(truth.Time))))
	}
	n.status.Store(status)
	if truth.Condition != n.published {
		n.published = truth.Condition
		n.warn(n.condition.Publish(&stdmsgs.String{Data: n.published}))
		n.Log().Info().Msgf("condition %s at %.2f s", n.published, truth.Time)
	}
	if rate := n.params.TruthRate; rate > 0 && truth.Time >= n.truthAt {
		n.truthAt = max(n.truthAt+1/rate, truth.Time)
		bridge.PutOdometry(&n.truthM, n.stamp(truth.Time), n.params.WorldFrame, n.params.BodyFrame, truth.State)
		n.truthM.Twist.Twist.Angular.X, n.truthM.Twist.Twist.Angular.Y, n.truthM.Twist.Twist.Angular.Z = truth.Rates.X,
			truth.Rates.Y, truth.Rates.Z
		n.warn(n.truth.Publish(&n.truthM))
	}
}

// batteryState tells of the battery.
func batteryState(truth *sim.Truth, stamp int64) *sensormsgs.BatteryState {
	b := &sensormsgs.BatteryState{Voltage: float32(truth.Voltage), Percentage: float32(truth.Charge), Present: true}
	b.Header.Stamp = bridge.Time(stamp)
	return b
}

// batteryTopic is that of command_interface vnd and rotors; an autopilot has its own.
type batteryTopic struct {
	pub *ros.Publisher[sensormsgs.BatteryState] // nil: none
	every
}

func (b *batteryTopic) publish(n *simulator) (err error) {
	if n.params.Interface == bridge.VND || n.params.Interface == bridge.Rotors {
		b.pub, err = ros.NewPublisher[sensormsgs.BatteryState](n.Node, "battery", node.AutopilotQoS())
	}
	return err
}
