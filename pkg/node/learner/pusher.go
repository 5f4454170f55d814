package learner

import (
	"context"
	"errors"
	"fmt"

	"vnd/msgs"
	"vnd/pkg/bridge/pushlog"
	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/node"
	robotpusher "vnd/pkg/robot/pusher"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/params"
)

// pusher is the robot of PushParams, and PushFile their file in params/.
const (
	pusher   = robotpusher.Name
	PushFile = "push_learner.yaml"
)

// PushParams are those of the node with robot: pusher.
type PushParams struct {
	Robot string `param:"robot" default:"pusher" enum:"pusher" read_only:"true" doc:"pusher: a box that is pushed, whose parameters these are"`
	Stretches
	Judge pushJudge `param:"judge" read_only:"true" doc:"pushes of the gate in MuJoCo, by the forces that were seen"`
	pushlearning.Rounds
}

type pushJudge struct {
	Use bool `param:"use" default:"true" doc:"pushes in MuJoCo; false: the gate pushes in the learned model alone"`
}

// check refuses what does not go together.
func (p *PushParams) check() error {
	_, err := p.signer()
	return err
}

// pushNode is background_learner of a pushed box.
type pushNode struct {
	stretchNode[robotpusher.Row]
	params *params.Bound[PushParams]
	stream pushlog.Stream // of the topic's group
	ticks  pushTicks
}

func newPushNode(ctx context.Context, l *roundsNode, judge NewPushJudge, end func()) (*pushNode, error) {
	n := &pushNode{stretchNode: stretchNode[robotpusher.Row]{roundsNode: l},
		stream: pushlog.Stream{Dt: pushlearning.Dt, Least: pushlearning.LeastRows}}
	if err := n.begin(ctx, judge, end); err != nil {
		return nil, errors.Join(err, n.close())
	}
	return n, nil
}

func (n *pushNode) begin(ctx context.Context, judge NewPushJudge, end func()) (err error) {
	if n.params, err = params.Bind(n.Parameters(), (*PushParams).check); err != nil {
		return err
	}
	p := n.params.Load()
	var by pushlearning.Judging
	if p.Judge.Use {
		if by, err = judge(); err != nil {
			return fmt.Errorf("parameter judge.use: %w", err)
		}
	}
	if err := n.open(&p.Stretches, pushlearning.Dt, func(o rounds.Common) (*rounds.Runner[[]robotpusher.Row], error) {
		return pushlearning.Open(func() *pushlearning.Rounds { return &n.params.Load().Rounds }, o,
			pushlearning.DefaultTask, by, "vnd "+Name)
	}); err != nil {
		return err
	}
	return n.roundsNode.begin(ctx, n.learner, end, pusher, func() error { return n.listen(ctx, p) }, n.diagnose)
}

// listen takes what push_controller reports, whoever that is, after what was kept of before.
func (n *pushNode) listen(ctx context.Context, p *PushParams) error {
	if err := n.recall(ctx, p.Directory, dataset.Options{MaxRows: p.MaxRows, Delta: pushlearning.Dt,
		Kind: pushlearning.Rows}); err != nil {
		return err
	}
	q := node.StepQoS()
	q.Depth = depth
	_, err := ros.NewSubscription(n.Node, node.PushStep, q, func(m *msgs.PushStep, _ ros.Info) {
		s, err := n.stream.Add(m)
		if t := n.ticks.add(m, s.Rows); t != nil && !n.learner.Tick(*t) {
			n.dropped.Add(1)
		}
		n.refuse(node.PushStep, err)
		if why := n.stream.Why(); why != "" {
			n.once(fmt.Sprintf("topic %s: %s", node.PushStep, why))
		}
		if len(s.Rows) > 0 {
			n.take(ctx, s.Begin, s.Rows)
		}
	}, ros.InGroup(n.Context().NewGroup(ros.Exclusive)))
	return err
}
