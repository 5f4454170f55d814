package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/flight/battery"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/ros2/ros"
)

// serveTakeOff makes ~/takeoff. It has a group of its own, for it answers when the climb is over.
func (c *Controller) serveTakeOff() error {
	_, err := ros.NewService(c, c.service("takeoff"), func(_ *stdsrvs.TriggerRequest, r *stdsrvs.TriggerResponse) {
		said := ""
		err := c.takingOff.alone(c.ctx, func(ctx context.Context) (err error) {
			said, err = c.takeOff(ctx)
			return err
		})
		r.Success, r.Message = answer(err, said)
	}, ros.InGroup(c.Context().NewGroup(ros.Reentrant)),
		ros.WithRequestLimits(ros.RequestLimits{Bytes: 1 << 10, Waiting: ordersWaiting, Late: late}, refuseTrigger))
	return err
}

// climbPatience is less than callers wait, as vnd call.
const climbPatience = 4 * time.Second

const tookOff = "took off: the policy flies"

var errUnfollowed = errors.New("the take-off has ended: commands are not followed")

// beginTakeOff has the guard's law take off. Motors that an autopilot holds still stay so.
func (c *Controller) beginTakeOff() error {
	if err := c.chargeSuffices(battery.Warn); err != nil {
		return fmt.Errorf("no take-off: %w", err)
	}
	return c.order(func(x *ticker) error {
		switch {
		case x.stopped.Load():
			return errStopped
		case !x.active:
			return fmt.Errorf("the controller is %s, expected active", c.State())
		}
		return x.loop.Guard().TakeOff()
	})
}

// takeOff has the guard's law take off, and says how that went until ctx is done. A climb that ended below its height
// is an error.
func (c *Controller) takeOff(ctx context.Context) (string, error) {
	if err := c.beginTakeOff(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, climbPatience)
	defer cancel()
	a := ascent{}
	for wait(ctx) {
		if err := c.watch(&a); err != nil || a.over {
			return tookOff, err
		}
	}
	if a.unfollowed {
		return "", errUnfollowed
	}
	if !c.aboveGround() {
		return "", fmt.Errorf("the robot has not left the ground in %v: the law goes on, or ~/land", climbPatience)
	}
	return "climbing by the guard's law; the policy flies from the height on", nil
}

// watch looks at a take-off. A thread that does not answer says nothing of it.
func (c *Controller) watch(a *ascent) error {
	if err := c.inFlight(a.look); !errors.Is(err, errNoAnswer) {
		return err
	}
	return nil
}

// ascent is how a take-off stands.
type ascent struct {
	over       bool // the policy flies
	unfollowed bool // commands are not followed
	slipped    bool // they were not, for a while

	alone time.Time // since when they are not; zero: they are
}

// look looks at the guard. An end that is none by the policy's flight is an error, with its cause. Commands that came
// late are not followed for a moment, and then the law may hold: what becomes of that is waited for.
func (a *ascent) look(l *control.Loop) error {
	g := l.Guard()
	if a.unfollowed = !g.TakingOff() && (g.Silent() || !g.Stage().Offboard()); a.unfollowed {
		a.slipped = true
		return nil
	}
	switch a.over = g.Mode() == guard.Flying; {
	case a.over || g.TakingOff() || g.Mode() == guard.Holding:
		return nil
	case a.slipped:
		return fmt.Errorf("the take-off has ended: commands were not followed for a while (%v)", g.Mode())
	}
	return fmt.Errorf("the take-off has ended: %v (%v)", g.Tripped(), g.Mode())
}
