package autopilottest

import (
	"io"
	"sync"

	crazyflieinterfaces "vnd/msgs/crazyflie_interfaces"
	geometrymsgs "vnd/msgs/geometry_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/ros2/ros"
)

// Crazyflie is one behind crazyswarm2's server, in the air by its high-level commander.
type Crazyflie struct {
	Server *parameters // of the node crazyflie_server

	place  place
	status *ros.Publisher[crazyflieinterfaces.Status]

	mu    sync.Mutex
	state CrazyflieState
}

// CrazyflieState is what a fake Crazyflie has got.
type CrazyflieState struct {
	Twists           []geometrymsgs.Twist            // of cmd_vel_legacy
	States           []crazyflieinterfaces.FullState // of cmd_full_state
	Follows          bool                            // setpoints, which have come and were not stopped
	Stopped, Landing bool                            // notify_setpoints_stop and then land were called
}

// NewCrazyflie has all names begin with prefix, and its own topics with prefix and name.
func NewCrazyflie(n *ros.Node, prefix, name string) (*Crazyflie, error) {
	c := &Crazyflie{}
	own := prefix + name + "/"
	var err error
	if c.Server, err = serveParameters(n, prefix+"crazyflie_server"); err != nil {
		return nil, err
	}
	if c.place, err = newPlace(n, prefix); err != nil {
		return nil, err
	}
	if c.status, err = ros.NewPublisher[crazyflieinterfaces.Status](n, own+"status", ros.DefaultQoS()); err != nil {
		return nil, err
	}
	if _, err = ros.NewService(n, own+"notify_setpoints_stop",
		func(*crazyflieinterfaces.NotifySetpointsStopRequest, *crazyflieinterfaces.NotifySetpointsStopResponse) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.state.Stopped, c.state.Follows = true, false
		}); err != nil {
		return nil, err
	}
	if _, err = ros.NewService(n, own+"land",
		func(*crazyflieinterfaces.LandRequest, *crazyflieinterfaces.LandResponse) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.state.Landing = c.state.Stopped
		}); err != nil {
		return nil, err
	}
	if _, err = ros.NewSubscription(n, own+"cmd_vel_legacy", ros.DefaultQoS(), func(m *geometrymsgs.Twist, _ ros.Info) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.state.Twists, c.state.Follows = append(c.state.Twists, *m), true
	}); err != nil {
		return nil, err
	}
	_, err = ros.NewSubscription(n, own+"cmd_full_state", ros.DefaultQoS(),
		func(m *crazyflieinterfaces.FullState, _ ros.Info) {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.state.States, c.state.Follows = append(c.state.States, *m), true
		})
	return c, err
}

// Settle has the server hold the settings that a command interface needs.
func (c *Crazyflie) Settle(name, commandInterface string) {
	settings := bridge.CrazyflieSettingsOf(commandInterface)
	for i, value := range settings.Values() {
		c.Server.Set(settings.Parameters(name)[i], Integer(value))
	}
}

// Cflib has its server be one with the backend cflib, which has more services, until they are closed.
func (c *Crazyflie) Cflib(n *ros.Node, prefix, name string) (io.Closer, error) {
	return ros.NewService(n, prefix+name+"/remove_logging", func(*stdsrvs.EmptyRequest, *stdsrvs.EmptyResponse) {})
}

// Say has it report its state and its place.
func (c *Crazyflie) Say() error {
	if err := c.place.say(); err != nil {
		return err
	}
	return c.status.Publish(&crazyflieinterfaces.Status{BatteryVoltage: 3.9,
		SupervisorInfo: crazyflieinterfaces.StatusSupervisorInfoIsArmed |
			crazyflieinterfaces.StatusSupervisorInfoIsFlying})
}

// Follows reports whether it follows setpoints.
func (c *Crazyflie) Follows() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state.Follows
}

// Take returns what it has got; setpoints are those since the last call.
func (c *Crazyflie) Take() CrazyflieState {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.state
	c.state.Twists, c.state.States = nil, nil
	return s
}
