package controller

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
	"time"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// mavrosAutopilot is PX4 or ArduPilot behind mavros. While it has a fault, nothing is sent, and it does not follow.
type mavrosAutopilot struct {
	reports
	mode    *ros.Client[mavrosmsgs.SetModeRequest, mavrosmsgs.SetModeResponse]
	armed   *ros.Client[mavrosmsgs.CommandBoolRequest, mavrosmsgs.CommandBoolResponse]
	command *ros.Client[mavrosmsgs.CommandLongRequest, mavrosmsgs.CommandLongResponse]
	follows string   // the mode in which it follows setpoints
	lands   []string // modes that land; the first that mavros knows is taken
	checked []*node.PeerParameters
	foreign atomic.Bool // it is in a mode of the other firmware
}

// newMavrosAutopilot is PX4 behind mavros.
func newMavrosAutopilot(c *Controller, p *Params) (*mavrosAutopilot, error) {
	return connectMavros(c, p, &mavrosAutopilot{follows: mavrosmsgs.StateModePx4Offboard,
		lands: []string{mavrosmsgs.StateModePx4Land, mavrosmsgs.StateModeApmCopterLand}})
}

// newArdupilot is ArduPilot Copter behind mavros. Before its parameters are known nothing is sent: it would take thrust
// for a climb rate.
func newArdupilot(c *Controller, p *Params) (*mavrosAutopilot, error) {
	a, err := connectMavros(c, p, &mavrosAutopilot{follows: p.ArdupilotMode,
		lands: []string{mavrosmsgs.StateModeApmCopterLand}})
	if err != nil {
		return nil, err
	}
	firmware, err := c.watchParameters(p.autopilotName("mavros/param"), func(v []parameterValue) error {
		spin, err := bridge.ReadSpin(&v[2], &v[3], &v[4])
		if err == nil {
			err = bridge.CheckLeastThrust(&p.Throttle, spin)
		}
		return cmp.Or(bridge.CheckGuidOptions(&v[0]), bridge.CheckAngleBoost(&v[1]), err)
	}, bridge.GuidOptions, bridge.AngleBoost, bridge.SpinMin, bridge.SpinMax, bridge.ThrustExpo)
	if err != nil {
		return nil, err
	}
	scaling, err := c.watchParameters(p.autopilotName("mavros/setpoint_raw"),
		func(v []parameterValue) error { return bridge.CheckThrustScaling(&v[0]) }, bridge.ThrustScaling)
	a.checked = []*node.PeerParameters{firmware, scaling}
	return a, err
}

func connectMavros(c *Controller, p *Params, a *mavrosAutopilot) (*mavrosAutopilot, error) {
	a.clock = c.Clock()
	px4 := a.follows == mavrosmsgs.StateModePx4Offboard
	state, err := ros.NewSubscription(c, p.autopilotName("mavros/state"), node.AutopilotQoS(),
		func(m *mavrosmsgs.State, _ ros.Info) {
			a.foreign.Store(px4 && bridge.ArdupilotGuided(m.Mode))
			a.addReport(bridge.FromMavrosState(m))
		})
	if err != nil {
		return nil, err
	}
	c.keep(state)
	battery, err := ros.NewSubscription(c, p.autopilotName("mavros/battery"), node.AutopilotQoS(),
		func(m *sensormsgs.BatteryState, i ros.Info) {
			if v := float64(m.Voltage); c.voltage(v, i.Publisher) {
				a.measured(v)
			}
		})
	if err != nil {
		return nil, err
	}
	c.keep(battery)
	if a.mode, err = ros.NewClient[mavrosmsgs.SetModeRequest, mavrosmsgs.SetModeResponse](c,
		p.autopilotName("mavros/set_mode")); err != nil {
		return nil, err
	}
	c.keep(a.mode)
	if a.armed, err = ros.NewClient[mavrosmsgs.CommandBoolRequest, mavrosmsgs.CommandBoolResponse](c,
		p.autopilotName("mavros/cmd/arming")); err != nil {
		return nil, err
	}
	c.keep(a.armed)
	if a.command, err = ros.NewClient[mavrosmsgs.CommandLongRequest, mavrosmsgs.CommandLongResponse](c,
		p.autopilotName("mavros/cmd/command")); err != nil {
		return nil, err
	}
	c.keep(a.command)
	return a, nil
}

func (a *mavrosAutopilot) fault() string {
	if a.foreign.Load() {
		return "command_interface mavros: the autopilot is ArduPilot in a guided mode, which takes thrust for a " +
			"climb rate unless it is told otherwise: set command_interface to ardupilot, which checks that"
	}
	for _, p := range a.checked {
		if f := p.Fault(); f != "" {
			return f
		}
	}
	return ""
}

func (a *mavrosAutopilot) lastReport() (bridge.Autopilot, time.Duration) {
	s, age := a.reports.lastReport()
	s.Offboard = s.Offboard && a.fault() == ""
	return s, age
}

func (a *mavrosAutopilot) notOffboard() bool { return notFollowed(a) }

func (a *mavrosAutopilot) offboard(ctx context.Context) error { return a.enter(ctx, a.follows) }

func (a *mavrosAutopilot) enter(ctx context.Context, modes ...string) error {
	for _, mode := range modes {
		r, err := a.mode.Call(ctx, &mavrosmsgs.SetModeRequest{CustomMode: mode})
		if err != nil || r.ModeSent {
			return err
		}
	}
	return fmt.Errorf("service %s: mavros did not send mode %s", a.mode.Name(), modes[0])
}

func (a *mavrosAutopilot) land(ctx context.Context) error { return a.enter(ctx, a.lands...) }

// landsUnasked is not so of ArduPilot: after GUID_TIMEOUT it levels, and holds its height.
func (a *mavrosAutopilot) landsUnasked() bool { return a.follows == mavrosmsgs.StateModePx4Offboard }

func (a *mavrosAutopilot) disarm(ctx context.Context) error {
	r, err := a.armed.Call(ctx, &mavrosmsgs.CommandBoolRequest{Value: false})
	if err == nil && !r.Success {
		err = refused(a.armed.Name(), r.Result)
	}
	return err
}

// kill stops the motors in the air, too.
func (a *mavrosAutopilot) kill(ctx context.Context) error {
	q := bridge.KillByMavros()
	r, err := a.command.Call(ctx, &q)
	if err == nil && !r.Success {
		err = refused(a.command.Name(), r.Result)
	}
	return err
}

func refused(service string, result uint8) error {
	return fmt.Errorf("service %s: the autopilot refused (MAV_RESULT %d)", service, result)
}
