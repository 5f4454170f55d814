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
	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/learning/train"
	"vnd/pkg/node"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/vnd/bundle"
)

// Run learns until ctx is done, or the learner cannot go on.
func Run(ctx context.Context, o ros.Options, judges Judges) error {
	var n closer
	spinning, end := context.WithCancel(ctx)
	defer end()
	err := ros.Run(spinning, o, func(ctx context.Context, c *ros.Context) (err error) {
		n, err = newNode(ctx, c, judges, end)
		return err
	})
	if n != nil {
		end()
		err = errors.Join(err, n.close())
	}
	return err
}

// closer waits for what is at work.
type closer interface{ close() error }

// newNode makes the node for its robot. end is called when its learner ends.
func newNode(ctx context.Context, c *ros.Context, judges Judges, end func()) (closer, error) {
	l, err := newRoundsNode(c)
	if err != nil {
		return nil, err
	}
	switch l.robot() {
	case arm:
		return closing(newArmNode(ctx, l, end))
	case pusher:
		return closing(newPushNode(ctx, l, judges.Pusher, end))
	}
	return closing(newLearnerNode(ctx, l, judges.Quadrotor, end))
}

// closing is a node, or nil where there is an error.
func closing(n closer, err error) (closer, error) {
	if err != nil {
		return nil, err
	}
	return n, nil
}

// learnerNode is background_learner of a quadrotor.
type learnerNode struct {
	*roundsNode
	params    *params.Bound[Params]
	steps     *ros.Group
	learner   *rounds.Quadrotor
	collector *dataset.Collector // with source topic

	flying     node.Flying
	dropped    atomic.Uint64 // ticks that the learner had no time for
	looked     time.Time     // for somebody who commands motors; of the group steps
	motored    bool          // there was one
	complained bool          // of that
	ticks      bundleTicks   // of the group steps
}

// newLearnerNode makes the node. end is called when the learner ends.
func newLearnerNode(ctx context.Context, l *roundsNode, judge NewJudge, end func()) (*learnerNode, error) {
	n := &learnerNode{roundsNode: l, steps: l.Context().NewGroup(ros.Exclusive)}
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
	if err := n.announce(&p.Signing, &p.ResourceLimits); err != nil {
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
	return n.roundsNode.begin(ctx, n.learner, end, p.Robot, func() error { return n.listen(ctx, p) }, n.diagnose)
}

// diagnose reports the state of learning.
func (n *learnerNode) diagnose(s *diagnostics.Status) {
	n.roundsNode.diagnose(s)
	if n.collector != nil {
		if err := n.collector.Counts().Err; err != nil {
			s.Merge(diagnostics.Error, "%v", err)
		}
	}
	s.Add("Steps left out", n.dropped.Load())
}

// Judges make those of the gates. The program hands them in: the learner's packages cannot look at the simulated world.
type Judges struct {
	Quadrotor NewJudge
	Pusher    NewPushJudge
}

// NewPushJudge makes the judge of a pushed box, or says why there is none.
type NewPushJudge func() (pushlearning.Judging, error)

// NewJudge makes the judge of the gate's flights in the full simulator.
type NewJudge func(gate.JudgeConfig, []reference.Reference, quad.Limits, *rotors.Airframe, *guard.Config) gate.Judge

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
	opt := rounds.Options{Common: rounds.Common{Key: key, Dir: filepath.Join(p.Directory, "bundles"),
		Seed: uint64(p.Seed), Dt: p.Nominal.Dt, Publish: n.publish, Report: n.progress, Log: n.log},
		Tasks: tasks, Task: p.Task, Vehicle: quadgate.Vehicle{Robot: p.Robot, Limits: p.Limits}}
	if p.Judge.Use {
		opt.Judge = judge(p.Judge.JudgeConfig, paths, p.Limits, &p.Rotors, &p.Guard)
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
	if t.Dropped = n.ticks.dropped(m.Seq, m.BundleID, stage.HoldsAuthority()); t.Dropped != "" {
		t.Fault = "the guard tripped"
	}
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

// close waits for the learner, whose context is done.
func (n *learnerNode) close() error {
	err := n.roundsNode.close()
	if n.collector != nil {
		err = errors.Join(err, n.collector.Close())
	}
	return err
}
