package quadsim

import (
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
)

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
		bridge.PutOdometry(&n.odomM, stamp, n.params.WorldFrame, n.params.BodyFrame, s)
		n.warn(n.odom.Publish(&n.odomM))
		if n.stack != nil && !n.stack.estimate(t, stamp, s) {
			return // a controller that flies by the autopilot's estimate has none of this
		}
	}
	n.pace.sampled(stamp)
}

// look tells what is true now, where that is due or has changed.
func (n *simulator) look() {
	truth := n.vehicle.Truth()
	status := &status{mode: n.vehicle.Mode(), text: n.vehicle.Status(), condition: truth.Condition, time: truth.Time,
		skipped: n.pace.skipped}
	if n.stack != nil {
		a := n.stack.state()
		a.look(truth.Time, n.vehicle.Mode())
		n.warn(a.steer(n.vehicle))
		n.stack.look(truth.Time, n.stamp(truth.Time))
		status.autopilot = a.said()
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
