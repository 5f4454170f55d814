package controller

import (
	"context"
	"fmt"
	"os"
	"runtime"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/control"
	"vnd/pkg/node/guardlink"
	"vnd/pkg/node/realtime"
	"vnd/pkg/ros2/ros"
)

// GuardName is that of the node with the guard, where that is a process of its own.
const GuardName = "flight_guard"

// role is which sides of the control loop a node has.
type role uint8

const (
	bothSides  role = iota // policy and guard
	policySide             // the policy's side: requests go to the guard's process
	guardSide              // the guard's side, with all that commands the vehicle
)

// roleOf is that of the node policy_controller.
func roleOf(p *Params) role {
	if p.GuardProcess {
		return policySide
	}
	return bothSides
}

func (r role) hasPolicy() bool  { return r != guardSide }
func (r role) hasVehicle() bool { return r != policySide }

// NewGuard makes the node flight_guard: the guard's side of the control loop, which alone commands the vehicle. It
// takes the parameters of policy_controller, serves what ends a flight under that node's name, and starts by itself:
// nothing goes out before a controller asks for it.
func NewGuard(ctx context.Context, c *ros.Context, options ...Option) (*Controller, error) {
	c.ShareParameters(GuardName, Name)
	return newNode(ctx, c, GuardName, options)
}

// service is the name of a service that users call of the controller, whichever process serves it.
func (c *Controller) service(name string) string {
	if c.role == guardSide {
		return Name + "/" + name
	}
	return "~/" + name
}

// socket is the address between the two processes.
func (c *Controller) socket(p *Params) string {
	if p.GuardSocket != "" {
		return "@" + p.GuardSocket
	}
	domain := os.Getenv("ROS_DOMAIN_ID")
	if domain == "" {
		domain = "0"
	}
	namespace := c.FullName()[:len(c.FullName())-len(c.Name())]
	return guardlink.Address(domain, namespace+GuardName)
}

// settings are the parameters that must be the same in both processes.
func (p *Params) settings() map[string]string {
	all := map[string]string{"command_interface": p.CommandInterface, "mocap_frame": p.MocapFrame,
		"twist_frame": p.TwistFrame, "body": p.Body, "lost_state": p.LostState}
	for name, v := range param.Values(&p.Config) {
		all[name] = fmt.Sprint(v)
	}
	return all
}

// differs names a setting of a controller that is not the guard's; empty: there is none.
func (p *Params) differs(of map[string]string) string {
	first := ""
	for name, ours := range p.settings() {
		if theirs := of[name]; theirs != ours && (first == "" || name < first) {
			first = name
		}
	}
	if first == "" {
		return ""
	}
	return fmt.Sprintf("parameter %s is %s, that of %s is %s: give both the same file", first, of[first], GuardName,
		p.settings()[first])
}

// runLinked ticks until stop is closed, on an OS thread of its own that the other process wakes.
func (f *ticker) runLinked(l *guardlink.Link, stop <-chan struct{}, once func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		select {
		case <-stop:
			return
		default:
			l.Wait()
			f.catchUp()
			once()
		}
	}
}

// harden has the process' memory stay and its threads go first, where the machine allows that.
func (c *Controller) harden(p *Params) {
	if p.RealTime == 0 {
		return
	}
	for _, line := range realtime.Take(p.RealTime) {
		c.Log().Warn().Msg(line)
	}
}

// run is the thread that ticks.
func (c *Controller) run(f *ticker, p *Params, stop <-chan struct{}) {
	var err error
	switch {
	case f.guard != nil:
		f.runLinked(f.guard.Link, stop, f.askOnce)
		err = f.guard.Close()
	case f.requester != nil:
		if err := realtime.Pin(p.GuardCPU); err != nil {
			c.Log().Warn().Msgf("parameter guard_cpu: %v", err)
		}
		f.runLinked(f.requester.Link, stop, f.decideOnce)
		err = f.requester.Close()
	default:
		f.run(stop)
	}
	if err != nil {
		c.Log().Warn().Msg(err.Error())
	}
}

// newLoop makes the sides of a role in one that has seen nothing.
func newLoop(p *Params, r role) (*control.Loop, error) {
	config := p.Config
	config.Filter = config.Filter && r != guardSide // the guard sees poses as they come
	l, err := control.New(config)
	if err != nil {
		return nil, err
	}
	if r == policySide {
		l.DecideElsewhere()
	}
	l.SetAutopilotLands(p.autopilotLands())
	if p.commandsMotors() {
		err = l.CommandMotors(&p.Rotors)
	}
	return l, err
}
