package learner

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"vnd/msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/bridge/armlog"
	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/train"
	"vnd/pkg/node"
	robotarm "vnd/pkg/robot/arm"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/vnd/bundle"
)

// arm is the robot of ArmParams, and ArmFile their file in params/.
const (
	arm     = "arm"
	ArmFile = "arm_learner.yaml"
)

// ArmParams are those of the node with robot: arm.
type ArmParams struct {
	Robot      string   `param:"robot" default:"arm" enum:"arm" read_only:"true" doc:"arm: a Panda, whose parameters these are"`
	Directory  string   `param:"directory" default:"vnd_data" read_only:"true" doc:"folder of the bundles (bundles/) and of what was heard (collected/)"`
	BundleFile string   `param:"bundle_file" default:"" read_only:"true" doc:"bundle to begin with, where the folder has none; empty trains a policy in the prior"`
	Seed       int      `param:"seed" default:"1" min:"0" max:"4294967295" read_only:"true" doc:"seed of all randomness"`
	Joints     []string `param:"joints" default:"" read_only:"true" doc:"names of the joints from base to flange, in the order of the torques; empty: panda_joint1 to panda_joint7"`
	Reference  string   `param:"reference_json" default:"" read_only:"true" doc:"reference that policies learn, one JSON object as of ~/set_task; empty: all shapes at 0.25 and 0.5 m/s"`
	Stretch    float64  `param:"stretch" default:"10.0" min:"4" max:"60" unit:"s" read_only:"true" doc:"time after which what came is learned from"`
	Signing
	rounds.ResourceLimits
	armlearning.Rounds
}

// check refuses what does not go together.
func (p *ArmParams) check() error {
	if _, err := p.references(); err != nil {
		return fmt.Errorf("parameter reference_json: %w", err)
	}
	if p.Base.Latent != p.Fit.Model.Latent {
		return fmt.Errorf("base.latent is %d and fit.model.latent %d: expected the same", p.Base.Latent,
			p.Fit.Model.Latent)
	}
	_, err := p.signer()
	return errors.Join(err, p.joints().Check(robotarm.Joints))
}

func (p *ArmParams) joints() bridge.Joints { return bridge.PandaJoints(p.Joints) }

// references are what policies are trained for.
func (p *ArmParams) references() ([]*robotarm.Reference, error) {
	if p.Reference == "" {
		return armlearning.AllReferences()
	}
	r, err := armcontrol.ParseReference([]byte(p.Reference), armlearning.Dt)
	return []*robotarm.Reference{r}, err
}

// armNode is background_learner of an arm.
type armNode struct {
	*roundsNode
	params  *params.Bound[ArmParams]
	learner *rounds.Runner[[]robotarm.Row]
	stream  *armlog.Stream
	rows    *dataset.Buffer       // on disk
	full    atomic.Pointer[error] // of the disk; nil: rows are kept
	dropped atomic.Uint64         // ticks that the learner had no time for
	logged  node.LogOnce
}

func newArmNode(ctx context.Context, l *roundsNode, end func()) (*armNode, error) {
	n := &armNode{roundsNode: l}
	if err := n.begin(ctx, end); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

func (n *armNode) begin(ctx context.Context, end func()) (err error) {
	if n.params, err = params.Bind(n.Parameters(), (*ArmParams).check); err != nil {
		return err
	}
	p := n.params.Load()
	if err := n.announce(&p.Signing, &p.ResourceLimits); err != nil {
		return err
	}
	references, err := p.references()
	if err != nil {
		return fmt.Errorf("parameter reference_json: %w", err)
	}
	o := rounds.Common{Dir: filepath.Join(p.Directory, "bundles"), Seed: uint64(p.Seed), Dt: armlearning.Dt,
		Publish: n.publish, Report: n.progress, Log: n.log}
	if o.Key, err = p.signer(); err != nil {
		return err
	}
	if p.BundleFile != "" {
		o.BasePolicy = func(context.Context, func(train.Progress)) (*bundle.Bundle, error) {
			b, err := bundle.Read(p.BundleFile)
			if err != nil {
				return nil, fmt.Errorf("parameter bundle_file: %w", err)
			}
			return b, nil
		}
	}
	n.learner, err = armlearning.Open(func() *armlearning.Rounds { return &n.params.Load().Rounds }, o, references,
		"vnd "+Name)
	if err != nil {
		return fmt.Errorf("parameter directory: %w", err)
	}
	return n.roundsNode.begin(ctx, n.learner, end, arm, func() error { return n.listen(ctx, p) }, n.diagnose)
}

// diagnose reports the state of learning.
func (n *armNode) diagnose(s *diagnostics.Status) {
	n.roundsNode.diagnose(s)
	if err := n.full.Load(); err != nil {
		s.Merge(diagnostics.Error, "rows are in memory alone: %v", *err)
	}
	s.Add("Steps left out", n.dropped.Load())
}

// close waits for the learner, and lets others write.
func (n *armNode) close() error {
	err := n.roundsNode.close()
	if n.rows != nil {
		err = errors.Join(err, n.rows.Close())
	}
	return err
}

// listen takes joint states and the torques that somebody commands, whoever that is, after what was kept of before.
func (n *armNode) listen(ctx context.Context, p *ArmParams) error {
	if err := n.recall(ctx, p); err != nil {
		return err
	}
	simulated, err := params.Get[bool](n.Parameters(), "use_sim_time")
	if err != nil {
		return err
	}
	n.stream = armlog.NewStream(armlog.Options{Joints: p.joints(), States: node.JointStates,
		Commands: node.JointEfforts, Delta: armlearning.Dt, Window: p.Fit.Model.Context}, simulated)
	one := ros.InGroup(n.Context().NewGroup(ros.Exclusive))
	states, commands := node.JointStatesQoS(), node.CommandQoS()
	states.Depth, commands.Depth = depth, depth
	if _, err = ros.NewSubscription(n.Node, node.JointStates, states, func(m *sensormsgs.JointState, i ros.Info) {
		n.refuse(node.JointStates, n.stream.States(m, sent(i)))
		if s := n.stream.Seconds(); s < 0 || s >= p.Stretch {
			n.take(ctx)
		}
	}, one); err != nil {
		return err
	}
	if err := n.listenToTicks(); err != nil {
		return err
	}
	_, err = ros.NewSubscription(n.Node, node.JointEfforts, commands, func(m *stdmsgs.Float64MultiArray, i ros.Info) {
		n.refuse(node.JointEfforts, n.stream.Command(m, sent(i)))
	}, one)
	return err
}

// listenToTicks takes what arm_controller reports, as evidence.
func (n *armNode) listenToTicks() error {
	var ticks armTicks
	q := node.StepQoS()
	q.Depth = depth
	_, err := ros.NewSubscription(n.Node, node.ArmStep, q, func(m *msgs.ArmStep, _ ros.Info) {
		all, err := ticks.add(m)
		n.refuse(node.ArmStep, err)
		for _, t := range all {
			if !n.learner.Tick(t) {
				n.dropped.Add(1)
			}
		}
	}, ros.InGroup(n.Context().NewGroup(ros.Exclusive)))
	return err
}

// sent is when a message was, ns.
func sent(i ros.Info) int64 {
	if i.Source == 0 {
		return int64(i.Received)
	}
	return int64(i.Source)
}
