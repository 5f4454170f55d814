package learner

import (
	"context"
	"errors"
	"fmt"

	"vnd/msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/bridge/armlog"
	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/node"
	robotarm "vnd/pkg/robot/arm"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/params"
)

// arm is the robot of ArmParams, and ArmFile their file in params/.
const (
	arm     = "arm"
	ArmFile = "arm_learner.yaml"
)

// ArmParams are those of the node with robot: arm.
type ArmParams struct {
	Robot string `param:"robot" default:"arm" enum:"arm" read_only:"true" doc:"arm: a Panda, whose parameters these are"`
	Stretches
	Joints    []string `param:"joints" default:"" read_only:"true" doc:"names of the joints from base to flange, in the order of the torques; empty: panda_joint1 to panda_joint7"`
	Reference string   `param:"reference_json" default:"" read_only:"true" doc:"reference that policies learn, one JSON object as of ~/set_task; empty: all shapes at 0.25 and 0.5 m/s"`
	Stretch   float64  `param:"stretch" default:"10.0" min:"4" max:"60" unit:"s" read_only:"true" doc:"time after which what came is learned from"`
	armlearning.Rounds
}

// check refuses what does not go together.
func (p *ArmParams) check() error {
	if _, err := p.references(); err != nil {
		return fmt.Errorf("parameter reference_json: %w", err)
	}
	if base, policy, model := p.Base.Latent, p.Policy.Latent, p.Fit.Model.Latent; base != model || policy != model {
		return fmt.Errorf("base.latent %d, policy.latent %d, fit.model.latent %d: expected the same", base, policy,
			model)
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
	stretchNode[robotarm.Row]
	params *params.Bound[ArmParams]
	stream *armlog.Stream
}

func newArmNode(ctx context.Context, l *roundsNode, end func()) (*armNode, error) {
	n := &armNode{stretchNode: stretchNode[robotarm.Row]{roundsNode: l}}
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
	references, err := p.references()
	if err != nil {
		return fmt.Errorf("parameter reference_json: %w", err)
	}
	if err := n.open(&p.Stretches, armlearning.Dt, func(o rounds.Common) (*rounds.Runner[[]robotarm.Row], error) {
		return armlearning.Open(func() *armlearning.Rounds { return &n.params.Load().Rounds }, o, references,
			"vnd "+Name)
	}); err != nil {
		return err
	}
	return n.roundsNode.begin(ctx, n.learner, end, arm, func() error { return n.listen(ctx, p) }, n.diagnose)
}

// listen takes joint states and the torques that somebody commands, whoever that is, after what was kept of before.
func (n *armNode) listen(ctx context.Context, p *ArmParams) error {
	if err := n.recall(ctx, p.Directory, dataset.Options{MaxRows: p.MaxRows, Delta: armlearning.Dt,
		Kind: armlearning.Rows}); err != nil {
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
			n.takeStretch(ctx)
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

// takeStretch takes what came so far.
func (n *armNode) takeStretch(ctx context.Context) {
	t := n.stream.Take()
	if t.Why != "" {
		n.once(t.Why)
	}
	for _, rows := range t.Rows {
		n.take(ctx, t.Begin, rows)
	}
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
