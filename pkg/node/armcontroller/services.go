package armcontroller

import (
	"fmt"

	"vnd/msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/node"
	"vnd/pkg/robot/arm"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
)

func (c *Controller) serve() error {
	o := ros.InGroup(c.Context().NewGroup(ros.Exclusive))
	_, err := ros.NewService(c, "~/set_task", func(q *msgs.SetTaskRequest, r *msgs.SetTaskResponse) {
		if err := c.setTask(q.Task, q.ReferenceJSON); err != nil {
			r.Message = err.Error()
			return
		}
		r.Success, r.Message = true, "the arm is led into the reference"
	}, o)
	if err != nil {
		return err
	}
	_, err = ros.NewService(c, "~/reset_guard", func(_ *stdsrvs.TriggerRequest, r *stdsrvs.TriggerResponse) {
		if err := c.reset(); err != nil {
			r.Message = err.Error()
			return
		}
		r.Success, r.Message = true, "reset: the arm is held where it is; ~/set_task or reference/pose moves it"
	}, o)
	return err
}

// setTask follows a reference; "" has the arm come to rest.
func (c *Controller) setTask(task, text string) error {
	if task != armcontrol.Task {
		return fmt.Errorf("task is %.40q, expected %q", task, armcontrol.Task)
	}
	var r *arm.Reference
	name := held
	if text != "" {
		var err error
		if r, err = armcontrol.ParseReference([]byte(text), c.rowPeriod()); err != nil {
			return fmt.Errorf("reference_json: %w", err)
		}
		name = text
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.follow(r, c.target(), name)
}

func (c *Controller) rowPeriod() float64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dt
}

func (c *Controller) reset() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loop == nil {
		return fmt.Errorf("the controller is %s, expected active", c.State())
	}
	c.loop.Reset()
	c.follows, c.wanted = held, nil
	c.watch()
	return nil
}

const unheard = "nobody hears " + node.JointEfforts + ": is the effort controller of ros2_control active?"

// unheard reports whether nobody takes the torques, and logs that once.
func (c *Controller) unheard() bool {
	if c.efforts.Matched() > 0 {
		return false
	}
	if c.logged[unheard] == nil {
		c.logged[unheard] = new(node.LogOnce)
		c.Log().Error().Msg(unheard)
	}
	return true
}

// report is the task "arm".
func (c *Controller) report(s *diagnostics.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.Add("messages refused", c.refused)
	s.Add("the newest", c.why)
	switch {
	case c.loop == nil:
		s.Summary(diagnostics.OK, "%s", c.State())
		return
	case c.newest == 0:
		s.Summary(diagnostics.Warn, "no joint states have come")
	case c.unheard():
		s.Summary(diagnostics.Warn, "%s", unheard)
	case c.loop.Fault() != "":
		s.Summary(diagnostics.Error, "the law holds the arm: %s", c.loop.Fault())
	case c.loop.PolicyCommands():
		s.Summary(diagnostics.OK, "the policy of bundle %s commands", c.policy.ID)
	default:
		s.Summary(diagnostics.OK, "computed torque commands")
	}
	s.Add("follows", c.follows)
	s.Addf("tool off its reference, mean of a second (mm)", "%.2f", 1000*c.distance)
}
