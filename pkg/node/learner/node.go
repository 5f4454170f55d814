// Package learner is the node background_learner: topics and services around rounds of continual learning.
package learner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"time"

	"vnd/msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/learning/train"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/vnd/bundle"
)

// Run learns until ctx is done, or the learner cannot go on.
func Run(ctx context.Context, o ros.Options, judge NewJudge) error {
	var n *learnerNode
	spinning, end := context.WithCancel(ctx)
	defer end()
	err := ros.Run(spinning, o, func(ctx context.Context, c *ros.Context) (err error) {
		n, err = newLearnerNode(ctx, c, judge, end)
		return err
	})
	if n != nil {
		end()
		err = errors.Join(err, n.close())
	}
	return err
}

// learnerNode is background_learner: topics and services around a rounds.Runner, which has a goroutine of its
// own.
type learnerNode struct {
	*ros.Node
	params    *params.Bound[Params]
	steps     *ros.Group
	slow      *ros.Group // of what waits for the learner
	learner   *rounds.Runner
	collector *dataset.Collector // with source topic
	bundles   *ros.Publisher[msgs.Bundle]
	status    *ros.Publisher[msgs.LearnerStatus]
	ended     chan error // of the learner

	asked       atomic.Pointer[asked] // rounds of a goal; nil: none is under way
	flying      node.Flying
	dropped     atomic.Uint64    // ticks that the learner had no time for
	bad         atomic.Uint64    // lines of what went wrong
	looked      time.Time        // for somebody who commands motors; of the group steps
	motored     bool             // there was one
	complained  bool             // of that
	published   continual.Status // less what changes all the time
	publishedAt time.Time
}

// newLearnerNode makes the node. end is called when the learner ends.
func newLearnerNode(ctx context.Context, c *ros.Context, judge NewJudge, end func()) (*learnerNode, error) {
	r, err := c.NewNode(Name)
	if err != nil {
		return nil, err
	}
	n := &learnerNode{Node: r, steps: c.NewGroup(ros.Exclusive), slow: c.NewGroup(ros.Exclusive)}
	if err := n.begin(ctx, judge, end); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

func (n *learnerNode) begin(ctx context.Context, judge NewJudge, end func()) (err error) {
	if n.params, err = node.BindAirframe(n.Node, (*Params).check); err != nil {
		return err
	}
	node.FixWhile(n.Node, n.flying.InFlight, "use_sim_time", "gate.", "auto_rollback")
	p := n.params.Load()
	if p.KeyFile == "" {
		n.Log().Warn().Msg("bundle_key_file is not set: bundles go out unsigned (vnd key new makes a key)")
	}
	if err := p.ResourceLimits.Apply(); err != nil {
		return err
	}
	if n.bundles, err = ros.NewPublisher[msgs.Bundle](n.Node, "bundle", node.LatchedQoS()); err != nil {
		return err
	}
	if n.status, err = ros.NewPublisher[msgs.LearnerStatus](n.Node, "learner/status", node.LatchedQoS()); err != nil {
		return err
	}
	opt, err := n.options(p, judge)
	if err != nil {
		return err
	}
	n.learner, err = rounds.Open(func() *rounds.Config { return &n.params.Load().Config }, opt)
	if err != nil {
		return fmt.Errorf("parameter directory: %w", err)
	}
	n.ended = make(chan error, 1)
	go func() {
		n.ended <- n.learner.Run(ctx)
		end()
	}()
	if err := n.listen(ctx, p); err != nil {
		end()
		return err
	}
	if err := n.serve(ctx); err != nil {
		end()
		return err
	}
	u, err := diagnostics.New(n.Node, p.Robot)
	if err != nil {
		end()
		return err
	}
	u.Add("learning", n.diagnose)
	return nil
}

// NewJudge makes the judge of the gate's flights in the full simulator. The program hands it in: the learner's packages
// cannot look at the simulated world.
type NewJudge func(gate.JudgeConfig, []reference.Reference, quad.Limits, *guard.Config) gate.Judge

// options of the rounds.
func (n *learnerNode) options(p *Params, judge NewJudge) (rounds.Options, error) {
	tasks, paths, err := continual.Tasks(&p.Objective, p.Task)
	if err != nil {
		return rounds.Options{}, fmt.Errorf("parameter task: %w", err)
	}
	key, err := p.signer()
	if err != nil {
		return rounds.Options{}, err
	}
	opt := rounds.Options{Key: key, Dir: filepath.Join(p.Directory, "bundles"), Tasks: tasks, Task: p.Task,
		Seed: uint64(p.Seed), Dt: p.Nominal.Dt,
		Vehicle: quadgate.Vehicle{Robot: p.Robot, Limits: p.Limits}, Publish: n.publish, Report: n.progress, Log: n.log}
	if p.Judge.Use {
		opt.Judge = judge(p.Judge.JudgeConfig, paths, p.Limits, &p.Guard)
	}
	base := p.Base
	continual.Respond(&base.Nominal, &p.Response)
	opt.BasePolicy = func(ctx context.Context, progress func(train.Progress)) (*bundle.Bundle, error) {
		if p.BundleFile != "" {
			b, err := bundle.Read(p.BundleFile)
			if err != nil {
				return nil, fmt.Errorf("parameter bundle_file: %w", err)
			}
			return b, nil
		}
		return base.Make(ctx, tasks, p.Task, p.Limits, uint64(p.Seed), "vnd "+Name, progress)
	}
	return opt, nil
}

// depth of the subscription of steps: a busy learner loses none for seconds.
const depth = 1000

// listen subscribes to what is learned from.
func (n *learnerNode) listen(ctx context.Context, p *Params) error {
	announced := func(a dataset.SegmentFile) {
		if err := n.learner.Segment(ctx, a); err != nil && ctx.Err() == nil {
			n.log(true, err.Error())
		}
	}
	if p.Source == fromTopic {
		var err error
		n.collector, err = dataset.OpenCollector(p.Buffer,
			dataset.CollectorOptions{Dir: filepath.Join(p.Directory, "collected"), Finished: announced})
		if err != nil {
			return fmt.Errorf("parameter directory: %w", err)
		}
		for _, loss := range n.collector.Losses() {
			n.log(true, "damaged: segment "+loss.String())
		}
	} else {
		root, err := p.segments()
		if err != nil {
			return err
		}
		_, err = ros.NewSubscription(n.Node, "buffer", node.BufferQoS(), func(m *msgs.BufferSegment, _ ros.Info) {
			if err := inside(root, m.Directory); err != nil {
				n.log(true, err.Error())
				return
			}
			announced(dataset.SegmentFile{Dir: m.Directory, File: m.File, Rows: m.Rows, SHA256: m.Sha256})
		}, ros.InGroup(n.slow))
		if err != nil {
			return err
		}
	}
	q := node.StepQoS()
	q.Depth = depth
	_, err := ros.NewSubscription(n.Node, "step", q, n.step, ros.InGroup(n.steps))
	return err
}

// step takes a tick of the controller: as evidence, and to learn from where nobody else records.
func (n *learnerNode) step(m *msgs.Step, _ ros.Info) {
	stage := guard.Stage(m.GuardState)
	n.flying.Step(stage)
	s := node.ControllerStep(m)
	if n.byMotors() {
		return
	}
	if n.collector != nil {
		n.collector.Add(s)
	}
	if len(m.Reference) < 3 {
		return
	}
	at := so3.Vec3{X: m.Reference[0], Y: m.Reference[1], Z: m.Reference[2]}
	t := rounds.ControllerTick{Stamp: s.Stamp, Bundle: m.BundleID, Task: m.Task, Error: s.State.P.Sub(at).Norm(),
		Policy: stage == guard.Policy || stage == guard.Limited, Row: quad.Row{State: s.State, Command: s.Sent}}
	if bridge.Nanoseconds(m.LatentStamp) != 0 { // else the policy flew under the prior mean, for want of another
		t.Latent = append([]float32(nil), m.Latent...)
	}
	if !n.learner.Tick(t) {
		n.dropped.Add(1)
	}
}

// motorsPeriod is how often the learner looks whether somebody commands motors.
const motorsPeriod = time.Second / 2

// byMotors reports whether the vehicle is flown by its motors, and says so once. Nothing is learned from that.
func (n *learnerNode) byMotors() bool {
	if now := time.Now(); now.Sub(n.looked) > motorsPeriod {
		n.looked, n.motored = now, node.FlownByMotors(n.Node)
	}
	if n.motored && !n.complained {
		n.complained = true
		n.log(true, "topic step: "+node.ByMotors)
	}
	return n.motored
}

// serve makes the services.
func (n *learnerNode) serve(ctx context.Context) error {
	const patience = 30 * time.Second
	within := func(do func(context.Context) (string, error)) (ok bool, text string) {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		text, err := do(ctx)
		if err != nil {
			return false, err.Error()
		}
		return true, text
	}
	for service, do := range map[string]func(context.Context) (string, error){"~/train_now": n.learner.TrainNow,
		"~/rollback": n.learner.Rollback} {
		answer := func(_ *stdsrvs.TriggerRequest, a *stdsrvs.TriggerResponse) { a.Success, a.Message = within(do) }
		if _, err := ros.NewService(n.Node, service, answer, ros.InGroup(n.slow)); err != nil {
			return err
		}
	}
	pause := func(q *stdsrvs.SetBoolRequest, a *stdsrvs.SetBoolResponse) {
		a.Success, a.Message = within(func(ctx context.Context) (string, error) { return n.learner.Pause(ctx, q.Data) })
	}
	_, err := ros.NewService(n.Node, "~/pause", pause, ros.InGroup(n.slow))
	return errors.Join(err, n.serveLearn(ctx))
}

// close waits for the learner, whose context is done.
func (n *learnerNode) close() (err error) {
	if n.ended != nil {
		err = <-n.ended
	}
	if n.collector != nil {
		err = errors.Join(err, n.collector.Close())
	}
	return err
}
