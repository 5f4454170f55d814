// Package pushcontroller is the node push_controller: it has a tool push a box to a goal, by a bundle's policy.
// Another bundle may come while it pushes.
// docs/guide/pushing.md names its topics; package pushcontrol holds what it does.
package pushcontroller

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"sync"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/node"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/vnd/bundle"
)

// Name of the node.
const Name = "push_controller"

// Params of the node, read at its start.
type Params struct {
	BundleFile string             `param:"bundle_file" default:"" read_only:"true" doc:"bundle whose policy pushes; empty: it waits for one on bundle"`
	Frame      string             `param:"frame" default:"table" read_only:"true" doc:"frame of all poses, z up"`
	Guard      pushcontrol.Config `param:"guard" read_only:"true" doc:"guard: when a push is given up"`
	node.Trust
}

// Main is the program push_controller.
func Main() {
	ros.MainContext(ros.Options{Args: os.Args[1:]}, func(_ context.Context, c *ros.Context) error { return New(c) })
}

// controller is the node.
type controller struct {
	*ros.Node
	params *params.Bound[Params]
	trust  *bundle.Trust

	mu      sync.Mutex        // of what follows
	loop    *pushcontrol.Loop // nil: there is no bundle yet
	twist   *ros.Publisher[geometrymsgs.TwistStamped]
	steps   *ros.Publisher[msgs.PushStep]
	step    msgs.PushStep
	tool    [3]float64
	seen    int64 // stamp of the tool's newest place, ns; 0: none came
	ticked  int64 // stamp of the last tick, ns; 0: none since the goal came
	aimed   int64 // when the goal came, ns
	said    pushcontrol.Stage
	logged  node.LogOnce
	refused uint64
	why     string // of the newest that was refused
}

// New makes the node.
func New(c *ros.Context) error {
	n, err := c.NewNode(Name)
	if err != nil {
		return err
	}
	p := &controller{Node: n}
	if err := p.begin(); err != nil {
		return errors.Join(err, n.Close())
	}
	return nil
}

func (c *controller) begin() (err error) {
	if c.params, err = params.Bind(c.Parameters(), func(p *Params) error { return p.Trust.Check() }); err != nil {
		return err
	}
	p := c.params.Load()
	if c.trust, err = p.Trust.New(); err != nil {
		return err
	}
	if err = c.load(p.BundleFile); err != nil {
		return fmt.Errorf("parameter bundle_file: %w", err)
	}
	if w := p.Warning(); w != "" {
		c.Log().Warn().Msg(w)
	}
	return c.connect()
}

// connect makes the topics and services.
func (c *controller) connect() (err error) {
	if c.twist, err = ros.NewPublisher[geometrymsgs.TwistStamped](c.Node, node.ToolTwist,
		node.CommandQoS()); err != nil {
		return err
	}
	if c.steps, err = ros.NewPublisher[msgs.PushStep](c.Node, node.PushStep, node.StepQoS()); err != nil {
		return err
	}
	one := ros.InGroup(c.Context().NewGroup(ros.Exclusive))
	if _, err = ros.NewSubscription(c.Node, node.ToolPose, node.MocapQoS(), c.addTool, one); err != nil {
		return err
	}
	if _, err = ros.NewSubscription(c.Node, node.BoxPose, node.MocapQoS(), c.addBox, one); err != nil {
		return err
	}
	if _, err = ros.NewSubscription(c.Node, node.GoalPose, node.CommandQoS(), c.addGoal, one); err != nil {
		return err
	}
	if _, err = c.NewTimer(looks, c.look, one); err != nil {
		return err
	}
	if _, err = ros.NewSubscription(c.Node, "bundle", node.LatchedQoS(), c.addBundle,
		ros.InGroup(c.Context().NewGroup(ros.Exclusive))); err != nil {
		return err
	}
	if _, err = ros.NewService(c.Node, "~/stop", func(_ *stdsrvs.TriggerRequest, r *stdsrvs.TriggerResponse) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.stop("it was asked to (~/stop)")
		r.Success, r.Message = true, "the tool stands until the next goal"
	}); err != nil {
		return err
	}
	u, err := diagnostics.New(c.Node, Name)
	if err == nil {
		u.Add("push", c.report)
	}
	return err
}

// looks is how often it looks whether places come.
const looks = 20 * time.Millisecond

// refuse counts what is not taken, and logs each reason once.
func (c *controller) refuse(topic string, err error) {
	c.refused++
	if c.why = fmt.Sprintf("topic %s: %v", topic, err); c.logged.First(c.why) {
		c.Log().Error().Msg(c.why)
	}
}

// place reads a pose of now, or refuses it.
func (c *controller) place(topic string, m *geometrymsgs.PoseStamped) (stamp int64, at [3]float64, ok bool) {
	stamp, at, err := bridge.FromTable(m, c.params.Load().Frame)
	most := c.params.Load().Guard.MaxAge
	if off := float64(int64(c.Now())-stamp) / 1e9; err == nil && !(math.Abs(off) <= most) {
		err = fmt.Errorf("the stamp is off this machine's clock by more than guard.max_age (%g s): it is old, or of "+
			"another clock", most)
	}
	if err != nil {
		c.refuse(topic, err)
	}
	return stamp, at, err == nil
}

func (c *controller) addTool(m *geometrymsgs.PoseStamped, _ ros.Info) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if stamp, at, ok := c.place(node.ToolPose, m); ok {
		c.seen, c.tool = stamp, at
	}
}

// addBox takes a place of the box, and commands where a tick is due.
func (c *controller) addBox(m *geometrymsgs.PoseStamped, _ ros.Info) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stamp, at, ok := c.place(node.BoxPose, m)
	since := stamp - c.ticked
	if !ok || !c.pushes() || since >= 0 && since < int64(0.9e9*c.loop.Dt) {
		return
	}
	c.ticked, c.step.Box = stamp, at
	most := c.params.Load().Guard.MaxAge
	if late := float64(stamp-c.seen) / 1e9; !(math.Abs(late) <= most) {
		c.stop(fmt.Sprintf("no place of the tool on %s within %g s of the box's (guard.max_age)", node.ToolPose, most))
		return
	}
	by := c.loop.Bundle()
	c.send(stamp, c.loop.Tick(float64(stamp-c.aimed)/1e9, at, [2]float64(c.tool[:])))
	c.say()
	if now := c.loop.Bundle(); now != by {
		c.Log().Error().Msgf("bundle %s is rolled back, %s pushes again", by, now)
	}
}

// pushes reports whether a push is under way.
func (c *controller) pushes() bool {
	if c.loop == nil {
		return false
	}
	stage, _ := c.loop.Stage()
	return stage == pushcontrol.Pushing
}

// addGoal begins a push.
func (c *controller) addGoal(m *geometrymsgs.PoseStamped, _ ros.Info) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, goal, err := bridge.FromTable(m, c.params.Load().Frame)
	if err == nil && c.loop == nil {
		err = errors.New("there is no bundle yet (parameter bundle_file, or topic bundle)")
	}
	if err != nil {
		c.refuse(node.GoalPose, err)
		return
	}
	c.step.Push++
	c.loop.Aim(goal)
	c.aimed, c.ticked, c.said = int64(c.Now()), 0, pushcontrol.Pushing
	c.Log().Info().Msgf("pushes to %.3f, %.3f m, heading %.2f rad", goal[0], goal[1], goal[2])
}

// look ends a push that nothing is seen of.
func (c *controller) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := c.params.Load().Guard.MaxAge
	if newest := max(c.ticked, c.aimed); math.Abs(float64(int64(c.Now())-newest)/1e9) > most {
		c.stop(fmt.Sprintf("no place of the box on %s for more than %g s (guard.max_age)", node.BoxPose, most))
	}
}

// stop gives a push up: the tool stands.
func (c *controller) stop(why string) {
	if !c.pushes() {
		return
	}
	c.loop.Stop(why)
	c.send(int64(c.Now()), pusher.Command{})
	c.say()
}

// say logs the end of a push.
func (c *controller) say() {
	stage, why := c.loop.Stage()
	if stage == c.said {
		return
	}
	if c.said = stage; stage == pushcontrol.There {
		c.Log().Info().Msg("the box is at its goal")
		return
	}
	c.Log().Error().Msgf("the push is given up: %s", why)
}

// send commands the tool, and reports the tick.
func (c *controller) send(stamp int64, v pusher.Command) {
	m := &geometrymsgs.TwistStamped{}
	m.Header.Stamp, m.Header.FrameID = bridge.Time(stamp), c.params.Load().Frame
	m.Twist.Linear.X, m.Twist.Linear.Y = v[0], v[1]
	s := &c.step
	stage, why := c.loop.Stage()
	s.Header, s.Tool, s.Goal, s.Command = m.Header, [2]float64(c.tool[:]), c.loop.Goal(), v
	s.BundleID, s.There, s.Fault = c.loop.Bundle(), stage == pushcontrol.There, why
	s.PolicyFailed = c.loop.PolicyFailed()
	if err := errors.Join(c.twist.Publish(m), c.steps.Publish(s)); err != nil {
		c.Log().Warn().Msg(err.Error())
	}
	s.Seq++
}

// report is the task "push".
func (c *controller) report(s *diagnostics.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stage, why, bundle := pushcontrol.Idle, "", ""
	if c.loop != nil {
		stage, why = c.loop.Stage()
		bundle = c.loop.Bundle()
	}
	switch {
	case c.loop == nil:
		s.Summary(diagnostics.Warn, "waits for a bundle")
	case stage == pushcontrol.Pushing:
		s.Summary(diagnostics.OK, "pushes")
	case stage == pushcontrol.There:
		s.Summary(diagnostics.OK, "the box is at its goal")
	case stage == pushcontrol.Stopped:
		s.Summary(diagnostics.Error, "the push was given up: %s", why)
	default:
		s.Summary(diagnostics.OK, "waits for a goal on %s", node.GoalPose)
	}
	s.Add("bundle", bundle)
	s.Add("messages refused", c.refused)
	s.Add("the newest", c.why)
}
