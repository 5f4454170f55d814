// Command own_autopilot is policy_controller with an autopilot of one's own behind it. This one wants throttle 0 to 1
// and rates in deg/s FRD on a topic, and says on another whether it is armed. `bin/quad_sim` gives it poses at a desk.
//
//	go run ./examples/own_autopilot --ros-args -p autostart:=true -p hover_throttle:=0.4 -p bundle_file:=BUNDLE
package main

import (
	"context"
	"errors"
	"math"
	"os"
	"sync/atomic"

	geometrymsgs "vnd/msgs/geometry_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/node/controller"
	"vnd/pkg/ros2/ros"
)

func main() {
	ros.MainContext(ros.Options{Args: os.Args[1:], Threads: 3}, func(ctx context.Context, c *ros.Context) error {
		_, err := controller.New(ctx, c, controller.WithAutopilot(connect))
		return err
	})
}

// autopilot implements controller.Autopilot.
type autopilot struct {
	setpoints *ros.Publisher[geometrymsgs.Twist]
	states    *ros.Subscription[stdmsgs.Bool]
	throttle  bridge.Throttle
	disarmed  atomic.Bool
}

func connect(h ros.Host, p *controller.Params) (controller.Autopilot, error) {
	if err := p.Throttle.Check(); err != nil { // parameters hover_throttle, thrust_curve
		return nil, err
	}
	a := &autopilot{throttle: p.Throttle}
	q := ros.DefaultQoS()
	q.Depth = 1 // the newest alone counts
	var err error
	if a.setpoints, err = ros.NewPublisher[geometrymsgs.Twist](h, "own/setpoint", q); err != nil {
		return nil, err
	}
	a.states, err = ros.NewSubscription(h, "own/armed", q, func(m *stdmsgs.Bool, _ ros.Info) {
		a.disarmed.Store(!m.Data)
	})
	if err != nil {
		return nil, errors.Join(err, a.setpoints.Close())
	}
	return a, nil
}

func (a *autopilot) Topic() string { return a.setpoints.Topic() }
func (a *autopilot) Follows() bool { return !a.disarmed.Load() }
func (a *autopilot) Close() error  { return errors.Join(a.setpoints.Close(), a.states.Close()) }

// Send turns body FLU to FRD and rad/s to deg/s. Thrust is mass-normalised, m/s²; the throttle's curve turns it.
func (a *autopilot) Send(_ int64, c quad.Command) error {
	const volts = 0 // not measured
	throttle, _ := a.throttle.Of(c.Thrust, volts)
	rates := bridge.SwapBody(c.Rates).Scale(180 / math.Pi)
	return a.setpoints.Publish(&geometrymsgs.Twist{Linear: geometrymsgs.Vector3{Z: throttle},
		Angular: geometrymsgs.Vector3{X: rates.X, Y: rates.Y, Z: rates.Z}})
}
