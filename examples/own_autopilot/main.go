// Command own_autopilot is the bridge to an autopilot of one's own. It takes vnd's command: collective thrust in m/s²
// and body rates in rad/s FLU. It publishes what this autopilot wants: throttle 0 to 1 and rates in deg/s, FRD.
//
//	go run ./examples/own_autopilot --ros-args -r __ns:=/quad
package main

import (
	"fmt"
	"math"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/ros"
)

func main() { ros.Main("own_autopilot", connect) }

func connect(n *ros.Node) error {
	throttle := bridge.Throttle{Hover: 0.4, Curve: 0.3}
	if err := throttle.Check(); err != nil {
		return err
	}
	newest := ros.QoS{Reliability: dds.Reliable, Depth: 1}
	setpoint, err := ros.NewPublisher[geometrymsgs.Twist](n, "own_autopilot/setpoint", newest)
	if err != nil {
		return err
	}
	_, err = ros.NewSubscription(n, "command", newest, func(c *msgs.ThrustRates, _ ros.Info) {
		const volts = 0 // not measured
		u, clipped := throttle.Of(float64(c.Thrust), volts)
		rates := bridge.SwapBody(so3.Vec3{X: c.BodyRates.X, Y: c.BodyRates.Y, Z: c.BodyRates.Z}).Scale(180 / math.Pi)
		out := geometrymsgs.Twist{Linear: geometrymsgs.Vector3{Z: u},
			Angular: geometrymsgs.Vector3{X: rates.X, Y: rates.Y, Z: rates.Z}}
		if err := setpoint.Publish(&out); err != nil {
			n.Log().Error().Err(err).Send()
		}
		fmt.Printf("throttle %.3f, rates %.1f %.1f %.1f deg/s, clipped %v\n", u, rates.X, rates.Y, rates.Z, clipped)
	})
	if err != nil {
		return err
	}
	return demonstrate(n, newest)
}

// demonstrate commands a hover that rolls, pitches and yaws, in place of a policy_controller.
func demonstrate(n *ros.Node, q ros.QoS) error {
	command, err := ros.NewPublisher[msgs.ThrustRates](n, "command", q)
	if err != nil {
		return err
	}
	_, err = n.NewTimer(100*time.Millisecond, func() {
		c := msgs.ThrustRates{Thrust: 9.81, BodyRates: geometrymsgs.Vector3{X: 0.1, Y: 0.2, Z: 0.3}}
		if err := command.Publish(&c); err != nil {
			n.Log().Error().Err(err).Send()
		}
	})
	return err
}
