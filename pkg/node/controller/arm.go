package controller

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/battery"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
)

// serveArm makes ~/arm. It has a group of its own, for it waits for the autopilot. Disarming ends an arming under way.
func (c *Controller) serveArm() error {
	_, err := ros.NewService(c, c.service("arm"), func(q *stdsrvs.SetBoolRequest, r *stdsrvs.SetBoolResponse) {
		if q.Data {
			r.Success, r.Message = answer(c.arming.alone(c.ctx, c.arm), "armed, and follows the policy")
			return
		}
		c.arming.end()
		r.Success, r.Message = answer(c.disarming.alone(c.ctx, c.disarm), "disarmed")
	}, ros.InGroup(c.Context().NewGroup(ros.Reentrant)),
		ros.WithRequestLimits(ros.RequestLimits{Bytes: 1 << 10, Waiting: ordersWaiting, Late: late},
			func(r *stdsrvs.SetBoolResponse, err error) { r.Success, r.Message = answer(err, "") }))
	return err
}

// single is something that is done once at a time, for armPatience at most.
type single struct {
	mu     sync.Mutex
	cancel context.CancelFunc // nil while it is not done
}

// alone does f, and refuses while it is done already.
func (s *single) alone(ctx context.Context, f func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, armPatience)
	defer cancel()
	s.mu.Lock()
	busy := s.cancel != nil
	if !busy {
		s.cancel = cancel
	}
	s.mu.Unlock()
	if busy {
		return errors.New("the same was asked for before, and is under way")
	}
	defer func() {
		s.mu.Lock()
		s.cancel = nil
		s.mu.Unlock()
	}()
	return f(ctx)
}

// end ends what is done.
func (s *single) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.cancel != nil {
		s.cancel()
	}
}

// armPatience is for all of arming: PX4 wants to have heard setpoints for a second before.
const armPatience = 10 * time.Second

// silence after which an autopilot counts as gone; mavros speaks once a second.
const silence = 3 * time.Second

func (c *Controller) setAutopilot(a autopilot) {
	c.mu.Lock()
	c.link = a
	c.mu.Unlock()
}

// autopilot is that of the flight, nil before one is configured.
func (c *Controller) autopilot() autopilot {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.link
}

// arm has an autopilot that flies the robot follow setpoints: only while those come, from a guard that has not tripped.
// It starts no motors: those of a robot that has to be in the air for it run.
func (c *Controller) arm(ctx context.Context) error {
	a := c.autopilot()
	if a == nil || !c.ticking() {
		return fmt.Errorf("the controller is %s, expected active", c.State())
	}
	if c.ticker().stopped.Load() {
		return errStopped
	}
	if !arms(a) {
		return errNoAutopilot
	}
	if err := c.chargeSuffices(battery.Return); err != nil {
		return fmt.Errorf("not armed: %w", err)
	}
	if err := c.awaitSolePublisher(ctx); err != nil {
		return err
	}
	if f := a.fault(); f != "" {
		return errors.New(f)
	}
	if err := c.request(ctx, a, "has no connection to it", func(s bridge.Autopilot) bool { return s.Connected },
		nil); err != nil {
		return err
	}
	if err := c.awaitCommands(ctx, a); err != nil {
		return err
	}
	if err := c.checkReady(a); err != nil {
		return err
	}
	return c.request(ctx, a, "does not take up offboard mode", bridge.Autopilot.Follows,
		func() error { return a.offboard(ctx) })
}

func (c *Controller) disarm(ctx context.Context) error {
	a := c.autopilot()
	if a == nil {
		return fmt.Errorf("the controller is %s, expected at least inactive", c.State())
	}
	return c.request(ctx, a, "does not disarm", func(s bridge.Autopilot) bool { return !s.Armed },
		func() error { return a.disarm(ctx) })
}

// awaitCommands waits until a second of ticks has gone out one after the other, with the policy flying, or such that it
// would fly if it were followed. A guard that tripped before is reset: what was, such as a start of the nodes one by
// one, concerns no flight to come.
func (c *Controller) awaitCommands(ctx context.Context, a autopilot) error {
	const streaming = time.Second
	reset, refused := time.Time{}, error(nil)
	rate := c.params.Load().Rate
	first, begun := uint64(0), false
	for {
		var t control.TickRecord
		c.last.Read(func(last *control.TickRecord) { t = *last })
		age := time.Duration(int64(c.Now()) - t.Stamp)
		switch flying := t.Bundle != "" && policyFlew(&t) && age < streaming/2; {
		case !flying:
			begun = false
		case !begun:
			first, begun = t.Seq, true
		case float64(t.Seq-first) >= rate*streaming.Seconds()*0.9:
			return nil
		}
		if a.notOffboard() && !policyFlew(&t) && time.Since(reset) > streaming {
			reset = time.Now()
			refused = c.resetGuard()
		}
		if !wait(ctx) {
			switch {
			case t.Bundle == "":
				return fmt.Errorf("not armed: there is nothing to send yet: a bundle and states on %s are needed",
					c.source)
			case !policyFlew(&t) && refused != nil:
				return fmt.Errorf("not armed: %w", refused)
			case !policyFlew(&t):
				return fmt.Errorf("not armed: the guard flies (%v), not the policy: ~/reset_guard", t.Cause)
			}
			return fmt.Errorf("not armed: commands do not flow: the newest state on %s is %.2f s old", c.source,
				age.Seconds())
		}
	}
}

// policyFlew reports whether the policy flew a tick, or would have if the autopilot had followed, and the place is
// right.
func policyFlew(t *control.TickRecord) bool {
	return t.Stage.PolicyFlies() || t.Stage == guard.NotOffboard && (t.Cause == guard.None || t.Cause == guard.NotReady)
}

// checkReady refuses the handover of a robot that does not fly already, which no policy was trained for, or is far from
// where its task begins.
func (c *Controller) checkReady(a autopilot) error {
	last, _ := a.lastReport()
	if last.Follows() { // it follows already
		return nil
	}
	var s quad.State
	var from so3.Vec3
	task := ""
	c.last.Read(func(t *control.TickRecord) { s, from, task = t.State, t.Target, t.Task })
	if _, k := c.flying(); k != nil {
		from, task = k.Path.At(0).P, k.Task
	} else if c.role.hasPolicy() {
		return fmt.Errorf("not armed: the controller is %s, expected active", c.State())
	}
	p := c.params.Load()
	switch {
	case !p.Guard.Flying(&s) && startsMotors(a):
	case !p.Guard.Flying(&s):
		return fmt.Errorf("not armed: the robot stands on the ground, at %.2f m (guard.ground is %g m), and the "+
			"policy does not take off: have the pilot or the autopilot do that first",
			s.P.Z, p.Guard.Ground)
	case !last.Armed:
		return fmt.Errorf("not armed: the autopilot, in mode %s, is not armed, so that the robot at %.2f m does not "+
			"fly, and the policy does not take off: have the pilot or the autopilot do that first",
			last.Mode, s.P.Z)
	case !p.ReadyForHandover(&s, from):
		return fmt.Errorf("not armed: task %s begins at (%.2f, %.2f, %.2f) m, %.2f m from the robot, expected at "+
			"most %g: fly there, or ~/set_task",
			task, from.X, from.Y, from.Z, from.Sub(s.P).Norm(), control.MaxHandoverDistance)
	}
	return nil
}

// request asks for something twice a second until the autopilot says that it is so.
func (c *Controller) request(ctx context.Context, a autopilot, otherwise string, holds func(bridge.Autopilot) bool,
	ask func() error) error {
	const often = 500 * time.Millisecond
	var asked time.Time
	for {
		s, age := a.lastReport()
		if age < silence && holds(s) {
			return nil
		}
		if ask != nil && time.Since(asked) > often {
			asked = time.Now()
			if err := ask(); err != nil {
				return err
			}
		}
		if !wait(ctx) {
			if age >= silence {
				return errors.New("the autopilot does not say how it is: is the bridge to it running?")
			}
			return fmt.Errorf("the autopilot %s: mode %s, armed: %v", otherwise, s.Mode, s.Armed)
		}
	}
}

// wait lets a moment pass; false when ctx is done.
func wait(ctx context.Context) bool {
	const moment = 20 * time.Millisecond
	select {
	case <-ctx.Done():
		return false
	case <-time.After(moment):
		return true
	}
}

// reportAutopilot is the task "autopilot".
func (c *Controller) reportAutopilot(s *diagnostics.Status) {
	a := c.autopilot()
	if a == nil {
		s.Summary(diagnostics.OK, "not configured")
		return
	}
	if !arms(a) {
		s.Summary(diagnostics.OK, "whoever hears %s", c.commandTopic())
		return
	}
	x, age := a.lastReport()
	switch {
	case a.fault() != "":
		s.Summary(diagnostics.Error, "%s", a.fault())
	case age >= silence:
		s.Summary(diagnostics.Error, "the autopilot is not heard")
	case !x.Connected:
		s.Summary(diagnostics.Error, "whoever stands between has no connection to the autopilot: mode %s", x.Mode)
	case x.Follows():
		s.Summary(diagnostics.OK, "armed, follows the commands")
	case x.Armed:
		s.Summary(diagnostics.Warn, "armed, in mode %s: commands are not followed", x.Mode)
	default:
		s.Summary(diagnostics.OK, "not armed, in mode %s", x.Mode)
	}
	s.Add("mode", x.Mode)
	s.Addf("battery (V)", "%.2f", a.volts())
}

// commandTopic is where commands go.
func (c *Controller) commandTopic() string {
	if f := c.ticker(); f != nil {
		return f.sender.topic()
	}
	return "command"
}
