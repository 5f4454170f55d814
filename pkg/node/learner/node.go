// Package learner is the node background_learner: topics and services around rounds of continual learning.
package learner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"vnd/pkg/core/quad"
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
	params  *params.Bound[Params]
	steps   *ros.Group
	learner *rounds.Quadrotor
	robots  []*robot

	announced func(dataset.SegmentFile) // has the learner take a segment
	flying    node.Flying               // any of them
	dropped   atomic.Uint64             // ticks that the learner had no time for
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
	if err := n.apart(p.Namespaces); err != nil {
		return err
	}
	if err := n.announce(&p.Signing, &p.ResourceLimits, fleet(p.Namespaces)); err != nil {
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
	for _, r := range n.robots {
		if r.namespace != "" {
			s.Add("Steps of "+robotName(r.namespace), r.seen.Load())
		}
		r.diagnoseController(s)
		if r.collector == nil {
			continue
		}
		c := r.collector.Counts()
		if c.Err != nil {
			s.Merge(diagnostics.Error, "%v", c.Err)
		}
		if r.namespace != "" {
			s.Add("Rows of "+robotName(r.namespace), c.Rows)
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
	var robots []string
	for _, namespace := range p.Namespaces {
		robots = append(robots, robotName(namespace))
	}
	opt := rounds.Options{Common: rounds.Common{Robots: robots, Key: key, Dir: filepath.Join(p.Directory, "bundles"),
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
	n.announced = func(a dataset.SegmentFile) {
		if err := n.learner.Segment(ctx, a); err != nil && ctx.Err() == nil {
			n.log(true, err.Error())
		}
	}
	for _, namespace := range fleet(p.Namespaces) {
		n.robots = append(n.robots, &robot{learnerNode: n, namespace: namespace})
	}
	if p.Source == fromTopic {
		if err := n.collect(p); err != nil {
			return err
		}
	}
	for _, r := range n.robots {
		if err := r.listen(p); err != nil {
			return err
		}
	}
	return nil
}

// close waits for the learner, whose context is done.
func (n *learnerNode) close() error {
	err := n.roundsNode.close()
	for _, r := range n.robots {
		if r.collector != nil {
			err = errors.Join(err, r.collector.Close())
		}
	}
	return err
}
