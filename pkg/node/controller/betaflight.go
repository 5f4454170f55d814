package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// betaflight is a board behind betaflight_bridge, which takes the topic command. Where the board has MSP OVERRIDE, its
// operator arms and gives over by a switch; else ~/arm starts the motors of a robot that stands.
type betaflight struct {
	reports
	c     *Controller
	armed *ros.Client[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse]
}

func newBetaflight(c *Controller, p *Params) (*betaflight, error) {
	a := &betaflight{reports: reports{clock: c.Clock()}, c: c}
	state, err := ros.NewSubscription(c, p.autopilotName("betaflight_bridge/state"), node.AutopilotQoS(),
		func(m *mavrosmsgs.State, _ ros.Info) { a.addReport(bridge.FromBridgeState(m)) })
	if err != nil {
		return nil, err
	}
	c.keep(state)
	a.armed, err = keptClient[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse](c, p, "betaflight_bridge/arm")
	return a, err
}

func (a *betaflight) fault() string { return "" }

func (a *betaflight) order(ctx context.Context, on bool) error {
	r, err := a.armed.Call(ctx, &stdsrvs.SetBoolRequest{Data: on})
	if err == nil && !r.Success {
		err = fmt.Errorf("service %s: %s", a.armed.Name(), r.Message)
	}
	return err
}

func (a *betaflight) offboard(ctx context.Context) error { return a.order(ctx, true) }

var errFalls = errors.New("the robot flies, and falls where it is disarmed: ~/land first, or ~/emergency")

// disarm stops the motors, and is refused in the air, whoever flies: the board would do it there, too.
func (a *betaflight) disarm(ctx context.Context) error {
	if report, _ := a.lastReport(); report.Armed && a.c.aboveGround() {
		return errFalls
	}
	return a.kill(ctx)
}

func (a *betaflight) kill(ctx context.Context) error { return a.order(ctx, false) }

// land is left to the guard's law: the board cannot.
func (a *betaflight) land(context.Context) error { return nil }

// landsUnasked is not so: where commands end, the board's failsafe stops the motors.
func (a *betaflight) landsUnasked() bool { return false }

// startsMotors reports whether arming is for a robot that stands: the guard then has it stand, until ~/takeoff.
func startsMotors(a autopilot) bool {
	_, ok := a.(*betaflight)
	return ok
}

// landedFor is how long a robot stands after a flight until its motors stop, as PX4 has it by COM_DISARM_LAND.
const landedFor = 2 * time.Second

// landing knows for how long a robot has stood after a flight.
type landing struct {
	flown      bool
	at         time.Duration // on the node's clock; 0 while it flies
	unfollowed time.Duration // since when commands are not followed; 0 while they are
}

// aSlip is how long commands that came late go unfollowed at most; for longer, somebody else flies.
const aSlip = time.Second / 2

// ended takes a tick's stage and time, and reports once a flight that landedFor has passed since it ended.
func (l *landing) ended(s guard.Stage, now time.Duration) bool {
	if s == guard.NotOffboard {
		if l.unfollowed == 0 {
			l.unfollowed = now
		} else if now-l.unfollowed > aSlip {
			l.flown, l.at = false, 0
		}
		return false
	}
	l.unfollowed = 0
	switch {
	case s != guard.Off:
		*l = landing{flown: true}
	case l.flown && l.at == 0:
		l.at = now
	case l.flown && now-l.at >= landedFor:
		*l = landing{}
		return true
	}
	return false
}

// disarmLanded stops the motors of a board that would keep them turning: an armed board controls its attitude against
// the ground, and creeps.
func (c *Controller) disarmLanded() {
	if !startsMotors(c.autopilot()) {
		return
	}
	if err := c.disarming.alone(c.ctx, c.disarm); err != nil && c.ctx.Err() == nil {
		c.Log().Error().Msgf("the robot has landed, its motors turn: %v", err)
		return
	}
	c.Log().Info().Msg("landed: disarmed")
}
