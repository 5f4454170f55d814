// Package armcontroller is the node arm_controller: a managed node that moves a Panda's tool along references, by a
// bundle's policy or by computed torque. docs/guide/arm.md names its topics; package armcontrol holds what it does.
package armcontroller

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	visualizationmsgs "vnd/msgs/visualization_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/node"
	"vnd/pkg/robot/arm"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/vnd/bundle"
)

// Controller is the node.
type Controller struct {
	*ros.LifecycleNode
	params *params.Bound[Params]

	mu       sync.Mutex               // of what follows
	logged   map[string]*node.LogOnce // by topic or parameter
	closers  []io.Closer
	efforts  *ros.Publisher[stdmsgs.Float64MultiArray]
	path     *ros.Publisher[navmsgs.Path]
	steps    *ros.Publisher[msgs.ArmStep]
	latents  *ros.Publisher[msgs.Latent]
	marks    *ros.Publisher[visualizationmsgs.MarkerArray]
	policy   *armcontrol.Policy // nil: the law follows references
	trust    *bundle.Trust
	dt       float64          // s
	loop     *armcontrol.Loop // nil while the node is not active
	wanted   *arm.Reference   // that is followed once joint states come; nil: none
	follows  string           // what is followed
	origin   int64            // stamp from which the loop's times count, ns
	newest   int64            // stamp of the newest joint states, ns; 0: none came
	ticked   int64            // stamp of the last tick, ns
	fault    string           // that was logged
	refused  uint64           // messages that were not taken
	why      string           // of the newest
	distance float64          // of the tool from its reference, a mean of the last second, m
	m        stdmsgs.Float64MultiArray
	step     msgs.ArmStep
}

// held is what is followed where nothing is.
const held = "nothing: the arm is held"

// New makes the node, unconfigured unless its parameters say otherwise.
func New(c *ros.Context) (*Controller, error) {
	n := &Controller{logged: map[string]*node.LogOnce{}}
	var err error
	n.LifecycleNode, err = c.NewLifecycleNode(Name, ros.Callbacks{OnConfigure: n.configure, OnActivate: n.activate,
		OnDeactivate: n.deactivate, OnCleanup: n.cleanup, OnShutdown: n.cleanup, OnError: n.cleanup})
	if err != nil {
		return nil, err
	}
	if err := n.begin(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, nil
}

func (c *Controller) begin() (err error) {
	if c.params, err = params.Bind(c.Parameters(), (*Params).check); err != nil {
		return err
	}
	u, err := diagnostics.New(c.Node, Name)
	if err != nil {
		return err
	}
	u.Add("arm", c.report)
	if err := c.serve(); err != nil {
		return err
	}
	node.FixWhile(c.Node, c.flying, "use_sim_time")
	if c.params.Load().Autostart {
		c.Autostart()
	}
	return nil
}

// configure reads the bundle, and makes the topics.
func (c *Controller) configure() error {
	trust, err := c.params.Load().Trust.New()
	if err != nil {
		return err
	}
	policy, err := load(c.params.Load().BundleFile, trust)
	if err == nil && policy != nil {
		err = policy.Try(nil, &c.params.Load().Guard)
	}
	if err != nil {
		return fmt.Errorf("parameter bundle_file: %w", err)
	}
	if w := c.params.Load().Warning(); w != "" {
		c.Log().Warn().Msg(w)
	}
	c.mu.Lock()
	c.trust = trust
	if c.policy, c.dt = policy, armcontrol.Period; policy != nil {
		c.dt = policy.Dt
	}
	c.mu.Unlock()
	if err := c.connect(); err != nil {
		return errors.Join(err, c.cleanup())
	}
	return nil
}

// load reads the policy of a bundle's file; nil where none is named.
func load(file string, trust *bundle.Trust) (*armcontrol.Policy, error) {
	if file == "" {
		return nil, nil
	}
	b, err := bundle.Read(file)
	if err == nil {
		err = trust.CheckFile(b)
	}
	if err != nil {
		return nil, err
	}
	return armcontrol.Load(b)
}

func (c *Controller) connect() (err error) {
	if err := c.advertise(); err != nil {
		return err
	}
	ticks := ros.InGroup(c.Context().NewGroup(ros.Exclusive))
	states, err := ros.NewSubscription(c, node.JointStates, node.JointStatesQoS(), c.addStates, ticks)
	if err != nil {
		return err
	}
	c.closers = append(c.closers, states)
	poses, err := ros.NewSubscription(c, node.ReferencePose, node.CommandQoS(), c.addPose,
		ros.InGroup(c.Context().NewGroup(ros.Exclusive)))
	if err != nil {
		return err
	}
	c.closers = append(c.closers, poses)
	timer, err := c.NewTimer(time.Duration(c.dt*1e9), c.look, ticks)
	if err != nil {
		return err
	}
	c.closers = append(c.closers, timer)
	shows, err := c.NewWallTimer(100*time.Millisecond, c.mark, ros.InGroup(c.Context().NewGroup(ros.Exclusive)))
	if err != nil {
		return err
	}
	c.closers = append(c.closers, shows)
	bundles, err := ros.NewSubscription(c, "bundle", node.LatchedQoS(), c.addBundle, // from here on it may set c.dt
		ros.InGroup(c.Context().NewGroup(ros.Exclusive)))
	if err == nil {
		c.closers = append(c.closers, bundles)
	}
	return err
}

// activate begins anew: the arm is held where it is, until joint states have come and lead into the reference.
func (c *Controller) activate() error {
	c.mu.Lock() // a bundle with another period may come
	defer c.mu.Unlock()
	p := c.params.Load()
	var wanted *arm.Reference
	if p.Reference != "" {
		var err error
		if wanted, err = armcontrol.ParseReference([]byte(p.Reference), c.dt); err != nil {
			return fmt.Errorf("parameter reference_json: %w", err)
		}
	}
	c.loop, c.wanted, c.follows = armcontrol.NewLoop(p.Guard, c.dt, c.policy), wanted, held
	c.origin, c.newest, c.ticked, c.fault = 0, 0, 0, ""
	return nil
}

// deactivate leaves the arm with torques that carry its payload: ros2_control keeps the last command.
func (c *Controller) deactivate() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loop != nil && c.newest != 0 {
		c.send(c.loop.Blind("the controller is no longer active"))
	}
	c.loop = nil
	return nil
}

func (c *Controller) cleanup() (err error) {
	err = c.deactivate()
	for _, x := range c.closers {
		err = errors.Join(err, x.Close())
	}
	c.closers = nil
	return err
}

// addStates takes joint states, and commands where a tick is due.
func (c *Controller) addStates(m *sensormsgs.JointState, _ ros.Info) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loop == nil {
		return
	}
	p := c.params.Load()
	var s arm.State
	stamp, err := p.joints().FromJointState(m, s.Q[:], s.V[:])
	if off := float64(int64(c.Now())-stamp) / 1e9; err == nil && !(off <= p.Guard.MaxAge && off >= -p.Guard.MaxAge) {
		err = fmt.Errorf("the stamp is off this machine's clock by more than guard.max_age (%g s): it is old, or of "+
			"another clock", p.Guard.MaxAge)
	}
	if err != nil {
		c.refuse(node.JointStates, err)
		return
	}
	c.newest = stamp
	if since := stamp - c.ticked; since >= 0 && since < int64(0.9e9*c.dt) {
		return
	}
	if c.origin == 0 {
		c.origin = stamp - 1e9
	}
	c.ticked = stamp
	c.send(c.loop.Tick(float64(stamp-c.origin)/1e9, &s))
	c.publishTick(stamp, &s)
	if before := c.policy; before != c.loop.Policy() {
		c.policy = c.loop.Policy()
		c.Log().Error().Msgf("bundle %s is rolled back", before.ID)
	}
	c.distance += (c.loop.Distance() - c.distance) * c.dt
	if c.wanted != nil && c.loop.Fault() == "" {
		if err := c.follow(c.wanted, c.target(), "parameter reference_json"); err != nil {
			c.refuse("parameter reference_json", err)
		}
		c.wanted = nil
	}
	c.watch()
}

// flying is why the clock stays; "" while the node is not active.
func (c *Controller) flying() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loop == nil {
		return ""
	}
	return "the controller is active: deactivate it first"
}

// look commands where joint states are too old, or, after the clock was set back, of times to come.
func (c *Controller) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	most := c.params.Load().Guard.MaxAge
	if c.loop == nil || c.newest == 0 || math.Abs(float64(int64(c.Now())-c.newest)/1e9) <= most {
		return
	}
	c.send(c.loop.Blind(fmt.Sprintf("no joint states on %s for more than %g s (guard.max_age)", node.JointStates,
		most)))
	c.watch()
}

// watch logs a fault that is new.
func (c *Controller) watch() {
	if f := c.loop.Fault(); f != c.fault {
		if c.fault = f; f != "" {
			c.Log().Error().Msgf("the law holds the arm: %s; ~/reset_guard ends that", f)
		}
	}
}

// target is where the joints are to be, rad; before joint states have come, the ready pose.
func (c *Controller) target() [arm.Joints]float64 {
	if c.loop == nil || c.newest == 0 {
		return arm.Home
	}
	return c.loop.Target()
}

// follow leads into a reference, or to rest at angles goal.
func (c *Controller) follow(r *arm.Reference, goal [arm.Joints]float64, name string) error {
	if c.loop == nil {
		return fmt.Errorf("the controller is %s, expected active", c.State())
	}
	err := c.loop.Follow(r, goal)
	if err == nil {
		c.follows, c.wanted = name, nil
		c.draw(r)
	}
	return err
}

// addPose takes a pose of the tool, to which it leads.
func (c *Controller) addPose(m *geometrymsgs.PoseStamped, _ ros.Info) {
	if err := c.goTo(m); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.refuse(node.ReferencePose, err)
	}
}

func (c *Controller) goTo(m *geometrymsgs.PoseStamped) error {
	if frame := c.params.Load().BaseFrame; m.Header.FrameID != frame {
		return fmt.Errorf("frame_id is %.40q, expected %q (parameter base_frame)", m.Header.FrameID, frame)
	}
	c.mu.Lock()
	from := c.target()
	c.mu.Unlock()
	s := bridge.FromPoseStamped(m, bridge.PoseOptions{World: bridge.ENU}).State
	goal, err := armcontrol.Goal(s.P, s.Q, from)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.follow(nil, goal, "a pose of "+node.ReferencePose)
}

// addBundle tries the policy of a bundle out, and has it command from the next tick on.
func (c *Controller) addBundle(m *msgs.Bundle, _ ros.Info) {
	b, err := node.Unpack(m)
	if err == nil {
		err = c.trust.Check(b)
	}
	var p *armcontrol.Policy
	if err == nil {
		p, err = armcontrol.Load(b)
	}
	if err == nil {
		err = p.Try(c.following(p.Dt), &c.params.Load().Guard)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		err = c.swap(p)
	}
	if err != nil {
		c.refuse("topic bundle", err)
	}
}

// following is the reference that is followed in rows of dt seconds; nil: there is none.
func (c *Controller) following(dt float64) *arm.Reference {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.loop == nil || dt != c.dt {
		return nil
	}
	return c.loop.Reference()
}

// swap takes up a policy that commands as often as the node does, unless it is there already.
func (c *Controller) swap(p *armcontrol.Policy) error {
	switch {
	case c.policy != nil && c.policy.ID == p.ID:
		return nil
	case c.loop == nil:
		c.policy, c.dt = p, p.Dt
	case p.Dt != c.dt:
		return fmt.Errorf("bundle %s commands each %g s, expected %g while the controller is active", p.ID, p.Dt, c.dt)
	default:
		c.policy = p
		c.loop.Swap(p)
	}
	c.Log().Info().Msgf("bundle %s", p.ID)
	return nil
}

// refuse counts what is not taken, and logs each reason once.
func (c *Controller) refuse(what string, err error) {
	c.refused++
	c.why = what + ": " + err.Error()
	if c.logged[what] == nil {
		c.logged[what] = new(node.LogOnce)
	}
	if c.logged[what].First(c.why) {
		c.Log().Error().Msg(c.why)
	}
}
