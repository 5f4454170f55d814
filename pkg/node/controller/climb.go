package controller

import (
	"errors"
	"time"

	"vnd/msgs"
	"vnd/pkg/flight/control"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/action"
)

type takeOffGoal = action.Goal[msgs.TakeOffGoal, msgs.TakeOffResult, msgs.TakeOffFeedback]

// serveTakeOffGoals makes the action ~/take_off, which goes on for as long as the climb. Canceled, the guard lands.
func (c *Controller) serveTakeOffGoals() error {
	_, err := action.NewServer(c.Node, c.service("take_off"),
		action.Callbacks[msgs.TakeOffGoal, msgs.TakeOffResult, msgs.TakeOffFeedback]{
			Accept: func(*msgs.TakeOffGoal) error { return c.beginTakeOff() },
			Start:  func(g *takeOffGoal) { go c.climb(g) },
		}, action.Options{MaxGoals: goalsKept, Limits: ros.RequestLimits{Bytes: 1 << 10, Late: late},
			Endpoints: []ros.Option{ros.InGroup(c.Context().NewGroup(ros.Exclusive))}})
	return err
}

// goalsKept bounds how many goals are watched, and whose ends are kept.
const goalsKept = 1000

// lookPeriod is how often a goal's flight is looked at, and feedback goes out.
const lookPeriod = 100 * time.Millisecond

// climb ends a goal when the policy flies, the take-off ends below its height, or it is canceled.
func (c *Controller) climb(g *takeOffGoal) {
	look := time.NewTicker(lookPeriod)
	defer look.Stop()
	a := ascent{}
	for {
		c.logEnd(g.Feedback(&msgs.TakeOffFeedback{Height: c.height()}))
		select {
		case <-c.ctx.Done():
			return
		case <-g.Canceling():
			said, err := "canceled: the guard lands", c.landAtLast()
			if err != nil {
				said = "canceled, but no landing: " + err.Error()
			}
			c.logEnd(g.Cancel(&msgs.TakeOffResult{Message: said}))
			return
		case <-look.C:
		}
		switch err := c.climbed(&a); {
		case err != nil:
			c.logEnd(g.Abort(&msgs.TakeOffResult{Message: err.Error()}))
			return
		case a.over:
			c.logEnd(g.Succeed(&msgs.TakeOffResult{Success: true, Message: tookOff}))
			return
		}
	}
}

// climbed looks at a take-off; one whose commands nobody follows for a while has ended.
func (c *Controller) climbed(a *ascent) error {
	err := c.watch(a)
	switch {
	case !a.unfollowed:
		a.alone = time.Time{}
	case a.alone.IsZero():
		a.alone = time.Now()
	case time.Since(a.alone) > climbPatience:
		return errors.Join(err, errUnfollowed)
	}
	return err
}

// landAtLast has the guard land, as soon as the thread that ticks answers: until then the climb goes on.
func (c *Controller) landAtLast() error {
	err := c.land()
	for errors.Is(err, errNoAnswer) && wait(c.ctx) {
		err = c.land()
	}
	return err
}

// height is that of the newest state, m.
func (c *Controller) height() (z float32) {
	c.last.Read(func(t *control.TickRecord) { z = float32(t.State.P.Z) })
	return z
}

// logEnd logs that a goal, or its feedback, could not be published.
func (c *Controller) logEnd(err error) {
	if err != nil {
		c.Log().Debug().Err(err).Send()
	}
}
