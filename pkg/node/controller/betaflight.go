package controller

import (
	"context"
	"errors"
	"fmt"
	"math"

	mavrosmsgs "vnd/msgs/mavros_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/flight/control"
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

// disarmLanded stops the motors of a board that would keep them turning: an armed board controls its attitude against
// the ground, and creeps. After a landing without states nobody sees it there; it has had the least thrust since then.
func (c *Controller) disarmLanded() {
	a := c.autopilot()
	if !startsMotors(a) {
		return
	}
	err := c.disarming.alone(c.ctx, func(ctx context.Context) error {
		return c.request(ctx, a, "does not disarm", func(s bridge.Autopilot) bool { return !s.Armed },
			func() error {
				if !c.landed() {
					return errFalls
				}
				return a.kill(ctx)
			})
	})
	if err != nil && c.ctx.Err() == nil {
		c.Log().Error().Msgf("the robot has landed, its motors turn: %v", err)
		return
	}
	c.Log().Info().Msg("landed: disarmed")
}

// landed reports whether the robot has, at the newest tick.
func (c *Controller) landed() (so bool) {
	p := c.params.Load()
	c.last.Read(func(t *control.TickRecord) { so = standsAt(t, int64(c.Now()), &p.Guard) })
	return so
}

// standsAt reports whether the guard sends the least thrust in a tick, and no state that is fresh at now, ns, says that
// the robot flies.
func standsAt(t *control.TickRecord, now int64, g *guard.Config) bool {
	fresh := math.Abs(float64(now-t.Stamp))/1e9 < g.MaxAge
	return t.Stage == guard.Off && !(fresh && g.Flying(&t.State))
}
