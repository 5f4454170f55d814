package controller

import (
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"vnd/msgs"
	builtininterfaces "vnd/msgs/builtin_interfaces"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/task"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/action"
)

type flyTaskGoal = action.Goal[msgs.FlyTaskGoal, msgs.FlyTaskResult, msgs.FlyTaskFeedback]

// taskFlight is a task that is flown for a while.
type taskFlight struct {
	c            *Controller
	goal         *flyTaskGoal
	mine, before *control.TaskReference
	begun        ros.Time
	squares      float64 // of the errors, m²
	looks        int
}

// serveFlyTask makes ~/fly_task, which pursues one goal at a time.
func (c *Controller) serveFlyTask() error {
	var busy atomic.Bool
	var next *taskFlight // from Accept to Start, which follow each other
	_, err := action.NewServer(c.Node, "~/fly_task", action.Callbacks[msgs.FlyTaskGoal, msgs.FlyTaskResult,
		msgs.FlyTaskFeedback]{
		Accept: func(q *msgs.FlyTaskGoal) (err error) {
			if busy.Swap(true) {
				return errors.New("another goal is under way")
			}
			if next, err = c.beginTask(q); err != nil {
				busy.Store(false)
			}
			return err
		},
		Start: func(g *flyTaskGoal) {
			f := next
			f.goal = g
			go func() {
				defer busy.Store(false)
				f.fly()
			}()
		},
	}, action.Options{Limits: ros.RequestLimits{Bytes: 2 * reference.MaxReceived, Late: late},
		Endpoints: []ros.Option{ros.InGroup(c.services)}})
	return err
}

// beginTask has a goal's task flown, where the policy flies.
func (c *Controller) beginTask(q *msgs.FlyTaskGoal) (*taskFlight, error) {
	if q.Task == task.Land {
		return nil, errors.New("task land: the task of before would take off again: ~/land, or ~/set_task")
	}
	if q.Duration.Sec < 0 {
		return nil, fmt.Errorf("a duration of %d s: expected at least 0", q.Duration.Sec)
	}
	if err := c.policyFlies(); err != nil {
		return nil, err
	}
	_, before := c.flying()
	if err := c.setTask(q.Task, q.ReferenceJSON); err != nil {
		return nil, err
	}
	_, mine := c.flying()
	return &taskFlight{c: c, mine: mine, before: before, begun: c.Now()}, nil
}

// policyFlies says why the policy does not fly, or nil.
func (c *Controller) policyFlies() (err error) {
	if !c.ticking() {
		return fmt.Errorf("the controller is %s, expected active", c.State())
	}
	err = errors.New("there is no tick yet")
	c.last.Read(func(t *control.TickRecord) {
		switch {
		case t.Stamp == 0:
		case t.Stage.HoldsAuthority():
			err = fmt.Errorf("the guard has control authority (%v: %v)", t.Stage, t.Cause)
		case !t.Stage.PolicyFlies():
			err = fmt.Errorf("the policy does not fly (%v)", t.Stage)
		default:
			err = nil
		}
	})
	return err
}

// fly ends the goal when its time is over, it is canceled, another task flies, or the policy does not.
func (f *taskFlight) fly() {
	const period = 100 * time.Millisecond
	look := time.NewTicker(period)
	defer look.Stop()
	for {
		select {
		case <-f.c.ctx.Done():
			return
		case <-f.goal.Canceling():
			f.end("canceled", f.goal.Cancel)
			return
		case <-look.C:
		}
		elapsed := f.c.Now().Sub(f.begun)
		if why := f.over(); why != nil {
			f.end(why.Error(), f.goal.Abort)
			return
		}
		f.report(elapsed)
		q := f.goal.Request.Duration
		if d := time.Duration(q.Sec)*time.Second + time.Duration(q.Nanosec); d > 0 && elapsed >= d {
			f.end(fmt.Sprintf("flown for %v", elapsed.Round(period)), f.goal.Succeed)
			return
		}
	}
}

// over says why the goal cannot be pursued any more, or nil.
func (f *taskFlight) over() error {
	if _, now := f.c.flying(); now != f.mine {
		return fmt.Errorf("task %s was set", now.Task)
	}
	return f.c.policyFlies()
}

// report publishes the error of now.
func (f *taskFlight) report(elapsed time.Duration) {
	off := 0.0
	f.c.last.Read(func(t *control.TickRecord) { off = t.State.P.Sub(t.Target).Norm() })
	f.squares, f.looks = f.squares+off*off, f.looks+1
	now := &msgs.FlyTaskFeedback{Error: float32(off), Elapsed: builtininterfaces.Duration{
		Sec: int32(elapsed / time.Second), Nanosec: uint32(elapsed % time.Second)}}
	if err := f.goal.Feedback(now); err != nil {
		f.c.Log().Debug().Err(err).Send()
	}
}

// end has the task of before flown, unless another was set, and ends the goal.
func (f *taskFlight) end(why string, end func(*msgs.FlyTaskResult) error) {
	if err := f.c.takeBack(f.mine, f.before); err != nil {
		why += fmt.Sprintf("; task %s flies on: %v", f.mine.Task, err)
	}
	r := &msgs.FlyTaskResult{Message: why, Error: float32(math.Sqrt(f.squares / float64(max(f.looks, 1))))}
	if err := end(r); err != nil { // canceled at the same time
		err = errors.Join(err, f.goal.Abort(r))
		f.c.Log().Debug().Err(err).Send()
	}
}

// takeBack has a task flown in place of one that still is.
func (c *Controller) takeBack(mine, before *control.TaskReference) error {
	c.handover.Lock()
	defer c.handover.Unlock()
	if _, now := c.flying(); now != mine {
		return nil
	}
	return c.setBoth(nil, before)
}
