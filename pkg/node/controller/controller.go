// Package controller is the node policy_controller: a managed node that flies a bundle's policy. docs/guide/nodes.md
// names its topics and services; package control holds what it does at a tick.
package controller

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"vnd/msgs"
	navmsgs "vnd/msgs/nav_msgs"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/reference"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/vnd/bundle"
)

// Name of the node.
const Name = "policy_controller"

// Controller is the node. Its callbacks run on the context's executor, ticks on a thread of their own; more than one
// thread of the executor keeps bundles and services from holding samples up.
type Controller struct {
	*ros.LifecycleNode
	ctx    context.Context
	role   role
	params *params.Bound[Params]
	bound  atomic.Bool // params are there
	gauges *gauges
	source string // topic of the state
	trust  *bundle.Trust
	link   autopilot

	battery atomic.Pointer[batteryWatch] // nil before the first configuration

	connectOwn Connect // nil: the autopilot of command_interface

	services   *ros.Group
	arming     single
	disarming  single
	takingOff  single
	stalls     stalls
	logged     node.LogOnce                    // of refused samples
	worldFrame atomic.Pointer[string]          // nil before it is known
	last       node.Latest[control.TickRecord] // without its slices

	// handover is held while policy and task are set in the loop, or a loop is made for them: a bundle that comes
	// while the node is activated is in the loop that ticks.
	handover sync.Mutex

	mu      sync.Mutex // of what follows
	current *ticker    // while configured
	policy  *control.LoadedPolicy
	task    *control.TaskReference // that is flown; nil before the first bundle
	active  bool
	closers []io.Closer
	path    *ros.Publisher[navmsgs.Path]
	steps   *ros.Publisher[msgs.Step]
	stop    func() // ends the threads
	threads sync.WaitGroup
}

// New makes the node, unconfigured unless its parameters say otherwise. ctx ends its threads.
func New(ctx context.Context, c *ros.Context, options ...Option) (*Controller, error) {
	return newNode(ctx, c, Name, options)
}

func newNode(ctx context.Context, c *ros.Context, name string, options []Option) (*Controller, error) {
	n := &Controller{ctx: ctx, services: c.NewGroup(ros.Exclusive)}
	for _, set := range options {
		set(n)
	}
	var err error
	n.LifecycleNode, err = c.NewLifecycleNode(name, ros.Callbacks{
		OnConfigure: n.configure, OnActivate: n.activate, OnDeactivate: n.deactivate,
		OnCleanup: n.cleanup, OnShutdown: n.shutdown, OnError: n.cleanup,
	})
	if err != nil {
		return nil, err
	}
	if n.params, err = node.BindAirframe(n.Node, n.check); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	n.bound.Store(true)
	node.FixWhile(n.Node, func() string {
		if n.ticker() == nil {
			return ""
		}
		return fmt.Sprintf("the node is %s and reads it when it is configured: deactivate it and clean it up first",
			n.State())
	}, "use_sim_time")
	p := n.params.Load()
	if n.role = roleOf(p); name == GuardName {
		n.role = guardSide
		n.harden(p)
	}
	go n.stalls.watch(ctx)
	if n.trust, err = p.Trust.New(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	if w := p.Trust.Warning(); w != "" && n.role.hasPolicy() {
		n.Log().Warn().Msg(w)
	}
	u, err := diagnostics.New(n.Node, p.Robot)
	if err != nil {
		return nil, errors.Join(err, n.Close())
	}
	n.gauges = newGauges(u, n)
	if err := n.serve(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	if p.Autostart || n.role == guardSide {
		n.Autostart()
	}
	return n, nil
}

// check refuses a change while the node is configured: a flight has the parameters that it began with.
func (c *Controller) check(p *Params) error {
	if c.ticker() != nil {
		return fmt.Errorf("the node is %s and reads its parameters when it is configured: deactivate it and clean it "+
			"up first", c.State())
	}
	if c.bound.Load() && p.Reference != c.params.Load().Reference && p.Reference != "" {
		if _, err := reference.ParseReceived("parameter reference_json", []byte(p.Reference)); err != nil {
			return err // it came by a service: no file that a caller names is opened
		}
	}
	return p.Check()
}

func (c *Controller) ticker() *ticker {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.current
}

// flying is what flies, and where.
func (c *Controller) flying() (*control.LoadedPolicy, *control.TaskReference) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.policy, c.task
}

// ticking reports whether the node is active.
func (c *Controller) ticking() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.active
}

// configure makes the ticker and its topics.
func (c *Controller) configure() error {
	p := c.params.Load()
	if err := p.Check(); err != nil {
		return err
	}
	if err := c.watchBattery(p); err != nil {
		return errors.Join(err, c.cleanup())
	}
	c.gauges.rate.Min, c.gauges.rate.Max = p.Rate, p.Rate
	f := newTicker(p, c.Clock(), nil, c.gauges)
	if err := c.connectSides(p, f); err != nil {
		return errors.Join(err, c.cleanup())
	}
	c.startThreads(p, f)
	if err := c.connect(p, f); err != nil {
		return errors.Join(err, c.cleanup())
	}
	return nil
}

// flyFile has the bundle of parameter bundle_file flown, if there is one.
func (c *Controller) flyFile(p *Params) error {
	if p.BundleFile == "" {
		return nil
	}
	b, err := bundle.Read(p.BundleFile)
	if err == nil {
		err = c.trust.CheckFile(b)
	}
	if err == nil {
		err = c.flyBundle(b)
	}
	if err != nil {
		return fmt.Errorf("parameter bundle_file: %w", err)
	}
	return nil
}

// connectSides makes what the thread that ticks reaches beyond: the vehicle, and the other side where that is another
// process.
func (c *Controller) connectSides(p *Params, f *ticker) (err error) {
	if c.role == policySide {
		return c.dial(p, f)
	}
	if f.link, f.sender, err = c.connectAutopilot(p); err != nil {
		return err
	}
	c.setAutopilot(f.link)
	if c.role == guardSide {
		return c.expect(p, f)
	}
	return nil
}

// startThreads starts what ticks and what publishes steps.
func (c *Controller) startThreads(p *Params, f *ticker) {
	ctx, stop := context.WithCancel(c.ctx)
	c.mu.Lock()
	c.current, c.stop = f, stop
	c.mu.Unlock()
	c.worldFrame.Store(nil)
	if p.WorldFrame != "" {
		c.worldFrame.Store(&p.WorldFrame)
	}
	c.threads.Go(func() { c.run(f, p, ctx.Done()) })
	c.threads.Go(func() { c.publishSteps(f, ctx.Done()) })
}

// connect makes publishers, subscriptions and the clock's timer.
func (c *Controller) connect(p *Params, f *ticker) (err error) {
	if c.role.hasPolicy() {
		if err := c.publish(); err != nil {
			return err
		}
		if err := c.flyFile(p); err != nil { // before any of the topic, which is newer
			return err
		}
	}
	if err := c.listen(p, f); err != nil {
		return err
	}
	if c.role.hasVehicle() {
		if err := c.watchPublishers(p, f); err != nil {
			return err
		}
	}
	period := time.Duration(p.Period())
	if f.mocap || c.role == guardSide { // to see that nothing comes, in time
		period /= 2
	}
	t, err := c.NewTimer(period, f.onTimer, ros.InGroup(c.Context().NewGroup(ros.Exclusive)))
	if err != nil {
		return err
	}
	c.keep(t)
	return nil
}

// publish makes the publishers of the policy's side.
func (c *Controller) publish() (err error) {
	if c.steps, err = ros.NewPublisher[msgs.Step](c, "step", node.StepQoS()); err != nil {
		return err
	}
	c.keep(c.steps)
	if c.path, err = ros.NewPublisher[navmsgs.Path](c, "reference/path", node.LatchedQoS()); err != nil {
		return err
	}
	c.keep(c.path)
	return nil
}

// listen subscribes to mocap, latents and bundles, each in a group of its own.
func (c *Controller) listen(p *Params, f *ticker) error {
	group := func() ros.Option { return ros.InGroup(c.Context().NewGroup(ros.Exclusive)) }
	if c.role.hasVehicle() {
		state, err := c.subscribeState(p, f, group())
		if err != nil {
			return err
		}
		c.keep(state)
	}
	if err := c.subscribeRates(p, f, group()); err != nil {
		return err
	}
	if !c.role.hasPolicy() {
		return nil
	}
	z, err := ros.NewSubscription(c, "latent", node.LatentQoS(), func(m *msgs.Latent, _ ros.Info) { f.addLatent(m) },
		group())
	if err != nil {
		return err
	}
	c.keep(z)
	frames, err := c.subscribeFeatures(p, f, group())
	if err != nil {
		return err
	}
	c.keep(frames)
	b, err := ros.NewSubscription(c, "bundle", node.LatchedQoS(), c.bundle, ros.InGroup(c.services))
	if err != nil {
		return err
	}
	c.keep(b)
	return nil
}

func (c *Controller) keep(x io.Closer) {
	c.mu.Lock()
	c.closers = append(c.closers, x)
	c.mu.Unlock()
}

// activate begins to tick, anew: with a guard that has seen nothing.
func (c *Controller) activate() error {
	p := c.params.Load()
	loop, err := newLoop(p, c.role)
	if err != nil {
		return err
	}
	c.handover.Lock()
	defer c.handover.Unlock()
	policy, task := c.flying()
	if policy != nil {
		if task, err = control.NewTaskReference(task.Task, task.Path); err != nil {
			return err
		}
		loop.SetPolicy(policy)
		loop.SetReference(task)
	}
	err = c.order(func(f *ticker) error {
		f.setLoop(loop)
		f.pace, f.active = control.NewScheduler(p.Period()), true
		return nil
	})
	if err != nil {
		return err
	}
	c.mu.Lock()
	c.task, c.active = task, true
	c.mu.Unlock()
	if task != nil {
		c.show(task)
	}
	if c.role == policySide { // or once it is there
		_ = c.ticker().guard.Begin()
	}
	return nil
}

// deactivate ends the ticks, in flight where the autopilot takes over or else after a landing.
func (c *Controller) deactivate() error {
	if err := c.landFirst(); err != nil {
		return err
	}
	c.mu.Lock()
	c.active = false
	c.mu.Unlock()
	return c.order(func(f *ticker) error {
		f.active = false
		f.sending.Store(0)
		return nil
	})
}

// shutdown is cleanup after a landing; what keeps that from ending does not keep the node.
func (c *Controller) shutdown() error { return errors.Join(c.landFirst(), c.cleanup()) }

// cleanup ends what configure made.
func (c *Controller) cleanup() (err error) {
	c.mu.Lock()
	closers, stop, f := c.closers, c.stop, c.current
	c.closers, c.stop, c.current, c.policy, c.task, c.link, c.active = nil, nil, nil, nil, nil, nil, false
	c.mu.Unlock()
	if stop != nil {
		stop()
		f.signal()
		c.threads.Wait()
	}
	for _, x := range closers {
		err = errors.Join(err, x.Close())
	}
	c.gauges.forget()
	return err
}
