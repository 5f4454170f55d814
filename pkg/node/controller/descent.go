package controller

import (
	"errors"
	"fmt"
	"time"

	"vnd/msgs"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/action"
)

type landGoal = action.Goal[msgs.LandGoal, msgs.LandResult, msgs.LandFeedback]

// serveLandGoals makes the action ~/land, which ends when the robot stands. A landing goes on whoever has asked for it.
func (c *Controller) serveLandGoals() error {
	_, err := action.NewServer(c.Node, c.service("land"),
		action.Callbacks[msgs.LandGoal, msgs.LandResult, msgs.LandFeedback]{
			Accept: func(*msgs.LandGoal) error { return c.land() },
			Start:  func(g *landGoal) { go c.descend(g) },
			Cancel: func(*landGoal) bool { return false },
		}, action.Options{MaxGoals: goalsKept, Limits: ros.RequestLimits{Bytes: 1 << 10, Late: c.stalls.late},
			Endpoints: []ros.Option{ros.InGroup(c.Context().NewGroup(ros.Exclusive))}})
	return err
}

// descend ends a goal when the robot stands, or nothing lands it any more.
func (c *Controller) descend(g *landGoal) {
	look := time.NewTicker(lookPeriod)
	defer look.Stop()
	d := descent{}
	c.last.Read(func(t *control.TickRecord) { d.tick = t.Seq })
	for {
		c.logEnd(g.Feedback(&msgs.LandFeedback{Height: c.height()}))
		select {
		case <-c.ctx.Done():
			return
		case <-look.C:
		}
		var t control.TickRecord
		c.last.Read(func(last *control.TickRecord) { t = *last })
		switch over, err := d.look(&t, c.aboveGround(), time.Now()); {
		case err != nil:
			c.logEnd(g.Abort(&msgs.LandResult{Message: err.Error()}))
			return
		case over:
			c.logEnd(g.Succeed(&msgs.LandResult{Success: true, Message: "the robot stands"}))
			return
		}
	}
}

// descent is how a landing stands.
type descent struct {
	tick  uint64    // the newest that was looked at
	begun bool      // the law was seen to fly
	since time.Time // when it was last
}

// look reports whether the landing is over, or why it will not be. high says whether the robot is above the ground. The
// policy may still fly the first ticks that it sees, which were before the order.
func (d *descent) look(t *control.TickRecord, high bool, now time.Time) (over bool, err error) {
	ticked, policy := t.Seq != d.tick, t.Stage.PolicyFlies()
	law := ticked && !policy && t.Stage != guard.NotOffboard
	d.tick, d.begun = t.Seq, d.begun || law
	if law || d.since.IsZero() {
		d.since = now
	}
	switch long := now.Sub(d.since) > standstill; {
	case ticked && (t.Stage == guard.Off || t.Stage == guard.NotOffboard && !high):
		return true, nil
	case ticked && policy && (d.begun || long):
		return false, errors.New("the landing has ended: the policy flies")
	case ticked && long:
		return false, errors.New("the landing has ended: commands are not followed, in the air")
	case long:
		return false, fmt.Errorf("the landing is not seen: no tick for %v", standstill)
	}
	return false, nil
}
