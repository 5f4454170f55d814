// Package pushcontroller is the node push_controller: it has a tool push a box to a goal, by a bundle's policy.
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
	BundleFile string             `param:"bundle_file" default:"" read_only:"true" doc:"bundle whose policy pushes"`
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
	bundle string // ID

	mu      sync.Mutex // of what follows
	loop    *pushcontrol.Loop
	twist   *ros.Publisher[geometrymsgs.TwistStamped]
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
	if err = c.load(); err != nil {
		return fmt.Errorf("parameter bundle_file: %w", err)
	}
	if c.twist, err = ros.NewPublisher[geometrymsgs.TwistStamped](c.Node, node.ToolTwist,
		node.CommandQoS()); err != nil {
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
	if _, err = c.NewTimer(time.Duration(c.loop.Dt*1e9), c.look, one); err != nil {
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

// load reads the bundle.
func (c *controller) load() error {
	p := c.params.Load()
	if p.BundleFile == "" {
		return errors.New("is empty, expected a bundle: go run ./examples/push learns one")
	}
	trust, err := p.Trust.New()
	if err != nil {
		return err
	}
	b, err := bundle.Read(p.BundleFile)
	if err == nil {
		err = trust.CheckFile(b)
	}
	if err != nil {
		return err
	}
	policy, err := pushcontrol.Load(b)
	if err == nil {
		c.bundle, c.loop = b.ID, pushcontrol.NewLoop(policy, b.Dt, p.Guard)
	}
	return err
}

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
	if stage, _ := c.loop.Stage(); !ok || stage != pushcontrol.Pushing || since >= 0 && since < int64(0.9e9*c.loop.Dt) {
		return
	}
	c.ticked = stamp
	most := c.params.Load().Guard.MaxAge
	if late := float64(stamp-c.seen) / 1e9; !(math.Abs(late) <= most) {
		c.stop(fmt.Sprintf("no place of the tool on %s within %g s of the box's (guard.max_age)", node.ToolPose, most))
		return
	}
	c.send(stamp, c.loop.Tick(float64(stamp-c.aimed)/1e9, at, [2]float64{c.tool[0], c.tool[1]}))
	c.say()
}

// addGoal begins a push.
func (c *controller) addGoal(m *geometrymsgs.PoseStamped, _ ros.Info) {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, goal, err := bridge.FromTable(m, c.params.Load().Frame)
	if err != nil {
		c.refuse(node.GoalPose, err)
		return
	}
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
	if stage, _ := c.loop.Stage(); stage != pushcontrol.Pushing {
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

// send commands the tool.
func (c *controller) send(stamp int64, v pusher.Command) {
	m := &geometrymsgs.TwistStamped{}
	m.Header.Stamp, m.Header.FrameID = bridge.Time(stamp), c.params.Load().Frame
	m.Twist.Linear.X, m.Twist.Linear.Y = v[0], v[1]
	if err := c.twist.Publish(m); err != nil {
		c.Log().Warn().Msg(err.Error())
	}
}

// report is the task "push".
func (c *controller) report(s *diagnostics.Status) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch stage, why := c.loop.Stage(); stage {
	case pushcontrol.Pushing:
		s.Summary(diagnostics.OK, "pushes")
	case pushcontrol.There:
		s.Summary(diagnostics.OK, "the box is at its goal")
	case pushcontrol.Stopped:
		s.Summary(diagnostics.Error, "the push was given up: %s", why)
	default:
		s.Summary(diagnostics.OK, "waits for a goal on %s", node.GoalPose)
	}
	s.Add("bundle", c.bundle)
	s.Add("messages refused", c.refused)
	s.Add("the newest", c.why)
}
