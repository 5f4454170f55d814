package controller

import (
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"vnd/msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/battery"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/vnd/bundle"
)

// serve makes the services of the node's sides.
func (c *Controller) serve() error {
	limits := ros.RequestLimits{Bytes: 2 * reference.MaxReceived, Waiting: ordersWaiting, Late: late}
	o := ros.InGroup(c.services)
	if c.role.hasPolicy() {
		_, err := ros.NewService(c, "~/set_task", func(q *msgs.SetTaskRequest, r *msgs.SetTaskResponse) {
			r.Success, r.Message = answer(c.setTask(q.Task, q.ReferenceJSON), "flying "+q.Task)
		}, o, ros.WithRequestLimits(limits, func(r *msgs.SetTaskResponse, err error) {
			r.Success, r.Message = answer(err, "")
		}))
		if err := errors.Join(err, c.serveFlyTask()); err != nil {
			return err
		}
	}
	if c.role.hasVehicle() {
		return errors.Join(c.serveFlight(limits, o), c.serveArm())
	}
	return nil
}

// serveFlight makes the services of the vehicle's side. Those that end a flight have a group of their own, so
// that no other one holds them up.
func (c *Controller) serveFlight(limits ros.RequestLimits, o ros.Option) error {
	refuse := ros.WithRequestLimits(limits, refuseTrigger)
	_, err := ros.NewService(c, c.service("reset_guard"), func(_ *stdsrvs.TriggerRequest, r *stdsrvs.TriggerResponse) {
		r.Success, r.Message = answer(c.resetGuard(), "reset: the policy flies, or a robot on the ground stays there")
	}, o, refuse)
	if err != nil {
		return err
	}
	if err := errors.Join(c.serveTakeOff(), c.serveTakeOffGoals()); err != nil {
		return err
	}
	urgent := ros.InGroup(c.Context().NewGroup(ros.Exclusive))
	limits.Late = c.stalls.late
	refuse = ros.WithRequestLimits(limits, refuseTrigger)
	_, err = ros.NewService(c, c.service("land"), func(_ *stdsrvs.TriggerRequest, r *stdsrvs.TriggerResponse) {
		r.Success, r.Message = answer(c.land(), "landing; ~/takeoff takes off again")
	}, urgent, refuse)
	if err := errors.Join(err, c.serveLandGoals()); err != nil || !c.params.Load().EmergencyService {
		return err
	}
	_, err = ros.NewService(c, c.service("emergency"), func(_ *stdsrvs.TriggerRequest, r *stdsrvs.TriggerResponse) {
		r.Success, r.Message = answer(c.emergency(), "motors off until the node is cleaned up and configured anew")
	}, urgent, refuse)
	return err
}

func refuseTrigger(r *stdsrvs.TriggerResponse, err error) { r.Success, r.Message = answer(err, "") }

func answer(err error, good string) (success bool, message string) {
	if err != nil {
		return false, err.Error()
	}
	return true, good
}

// patience of a service with a thread that ticks.
const patience = time.Second

// errNoAnswer is that an order was not carried out. It says nothing of the flight, and the order may be given again.
var errNoAnswer = errors.New("the controller does not answer")

// order has f done between two ticks, and waits for it. Where the wait is over before f began, f is never done: that is
// errNoAnswer.
func (c *Controller) order(f func(*ticker) error) error {
	now := c.ticker()
	if now == nil {
		return fmt.Errorf("the controller is %s, expected active", c.State())
	}
	done := make(chan error, 1)
	var taken atomic.Bool // by the thread that ticks, or by the end of the wait
	select {
	case now.orders <- func(x *ticker) {
		if !taken.Swap(true) {
			done <- f(x)
		}
	}:
	default:
		return fmt.Errorf("%w: it has too many orders to carry out", errNoAnswer)
	}
	now.signal()
	select {
	case err := <-done:
		return err
	case <-time.After(patience):
		if taken.Swap(true) { // it is being done
			return <-done
		}
		return fmt.Errorf("%w: its thread stands still", errNoAnswer)
	}
}

// setTask takes up another task or reference.
func (c *Controller) setTask(task, json string) error {
	policy, _ := c.flying()
	switch {
	case policy == nil:
		return errors.New("there is no bundle to fly yet")
	case !policy.TrainedFor(task):
		return fmt.Errorf("task %.40q: bundle %s was trained for %q", task, policy.ID, policy.Tasks)
	}
	if err := c.chargeSuffices(battery.Return); err != nil {
		return err
	}
	k, err := c.params.Load().receivedTask(task, json)
	if err != nil {
		return err
	}
	if k, err = c.startAtRobot(k); err != nil {
		return err
	}
	return c.setPolicyAndTask(nil, k)
}

// startAtRobot has a landing begin where the robot is; other tasks stay as they are.
func (c *Controller) startAtRobot(k *control.TaskReference) (*control.TaskReference, error) {
	var s quad.State
	known := false
	c.last.Read(func(t *control.TickRecord) { s, known = t.State, t.Bundle != "" })
	if !known {
		return k, nil
	}
	path, err := reference.StartAt(k.Path, &s)
	if err != nil {
		return nil, err
	}
	return control.NewTaskReference(k.Task, path)
}

// setPolicyAndTask gives the loop a policy, a task or both, where they are not nil.
func (c *Controller) setPolicyAndTask(policy *control.LoadedPolicy, k *control.TaskReference) error {
	c.handover.Lock()
	defer c.handover.Unlock()
	return c.setBoth(policy, k)
}

// setBoth is setPolicyAndTask, for who holds handover.
func (c *Controller) setBoth(policy *control.LoadedPolicy, k *control.TaskReference) error {
	err := c.order(func(f *ticker) error {
		if f.loop == nil { // until it is activated
			return nil
		}
		if policy != nil {
			f.loop.SetPolicy(policy)
		}
		if k != nil {
			f.loop.SetReference(k)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	if policy != nil {
		c.policy = policy
	}
	if k != nil {
		c.task = k
	}
	c.mu.Unlock()
	if k != nil {
		c.show(k)
		c.Log().Info().Msgf("task %s", k.Task)
	}
	return nil
}

func (c *Controller) land() error {
	return c.inFlight(func(l *control.Loop) error {
		l.Guard().Land()
		return nil
	})
}

func (c *Controller) resetGuard() error {
	return c.order(func(x *ticker) error {
		switch {
		case x.stopped.Load():
			return errStopped
		case !x.active:
			return fmt.Errorf("the controller is %s, expected active", c.State())
		}
		return x.loop.Reset()
	})
}

// inFlight is order, for an active controller.
func (c *Controller) inFlight(f func(*control.Loop) error) error {
	return c.order(func(x *ticker) error {
		if !x.active {
			return fmt.Errorf("the controller is %s, expected active", c.State())
		}
		return f(x.loop)
	})
}

// bundle takes a message of the topic.
func (c *Controller) bundle(m *msgs.Bundle, _ ros.Info) {
	b, err := node.Unpack(m)
	if err == nil {
		err = c.trust.Check(b)
	}
	if err == nil {
		err = c.flyBundle(b)
	}
	if err != nil {
		err = fmt.Errorf("topic bundle: %w", err)
		c.gauges.refuseBundle(err)
		c.Log().Error().Msgf("%v; %s", err, c.goesOn())
	}
}

// goesOn says what a refused bundle leaves as it is.
func (c *Controller) goesOn() string {
	policy, _ := c.flying()
	switch {
	case policy == nil:
		return "there is no other one yet"
	case !c.ticking():
		return fmt.Sprintf("%s is there as before, and the controller is %s", policy.ID, c.State())
	}
	return "the one before flies on"
}

// flyBundle has a bundle flown from the next tick on; the first one also begins the task.
func (c *Controller) flyBundle(b *bundle.Bundle) error {
	p := c.params.Load()
	next, err := control.LoadPolicy(b, p.robot(), p.Rate)
	if err != nil {
		return err
	}
	now, k := c.flying()
	if now != nil && now.ID == next.ID && slices.Equal(now.Tasks, next.Tasks) { // it came by another way
		c.gauges.badBundle.Store(nil)
		return nil
	}
	if p.commandsMotors() {
		err = policy.TryOutMotors(b, &p.Rotors)
	} else {
		err = policy.TryOut(b)
	}
	if err != nil {
		return err
	}
	switch {
	case k == nil:
		if k, err = p.firstTask(next); err != nil {
			return err
		}
	case !next.TrainedFor(k.Task):
		return fmt.Errorf("bundle %s was trained for %q, and %s is flown", next.ID, next.Tasks, k.Task)
	default:
		k = nil
	}
	if err := c.setPolicyAndTask(next, k); err != nil {
		return err
	}
	c.gauges.badBundle.Store(nil)
	c.Log().Info().Msgf("bundle %s for %s", next.ID, b.Task)
	return nil
}

// firstTask is the one with which the parameters have a first bundle begin.
func (p *Params) firstTask(first *control.LoadedPolicy) (*control.TaskReference, error) {
	task := p.Task
	if task == "" {
		task = first.Tasks[0]
	}
	if !first.TrainedFor(task) {
		return nil, fmt.Errorf("bundle %s was trained for %q, and parameter task is %q", first.ID, first.Tasks, task)
	}
	return p.taskReference(task, p.Reference, reference.Parse)
}
