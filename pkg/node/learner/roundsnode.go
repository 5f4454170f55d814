package learner

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"vnd/msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
)

// runner runs rounds of learning: a rounds.Runner of any robot, whose methods say what is asked of these.
type runner interface {
	Run(ctx context.Context) error
	Status() continual.Status
	Learn(ctx context.Context) (rounds.Ending, error)
	TrainNow(ctx context.Context) (line string, err error)
	Rollback(ctx context.Context) (line string, err error)
	Pause(ctx context.Context, pause bool) (line string, err error)
}

// roundsNode is what background_learner has of any robot: topics and services around a runner, which has a goroutine of
// its own.
type roundsNode struct {
	*ros.Node
	slow    *ros.Group // of what waits for the runner
	runner  runner
	bundles []*ros.Publisher[msgs.Bundle] // one for each robot
	status  []*ros.Publisher[msgs.LearnerStatus]
	ended   chan error // of the runner

	asked       atomic.Pointer[asked] // rounds of a goal; nil: none is under way
	bad         atomic.Uint64         // lines of what went wrong
	published   continual.Status      // less what changes all the time
	publishedAt time.Time
}

func newRoundsNode(c *ros.Context) (*roundsNode, error) {
	r, err := c.NewNode(Name)
	if err != nil {
		return nil, err
	}
	return &roundsNode{Node: r, slow: c.NewGroup(ros.Exclusive)}, nil
}

// robot is what the parameter of this name, which decides what others there are, was set to; "" where it was not.
func (n *roundsNode) robot() (name string) {
	for _, a := range n.Parameters().Unused() {
		if a.Name == "robot" {
			name, _ = a.Value.(string)
		}
	}
	return name
}

// announce makes the topics that the robots in some namespaces listen to, and keeps to the limits.
func (n *roundsNode) announce(s *Signing, l *rounds.ResourceLimits, namespaces []string) error {
	if s.KeyFile == "" {
		n.Log().Warn().Msg("bundle_key_file is not set: bundles go out unsigned (vnd key new makes a key)")
	}
	if err := l.Apply(); err != nil {
		return err
	}
	for _, namespace := range namespaces {
		bundles, err := ros.NewPublisher[msgs.Bundle](n.Node, in(namespace, "bundle"), node.LatchedQoS())
		if err != nil {
			return err
		}
		status, err := ros.NewPublisher[msgs.LearnerStatus](n.Node, in(namespace, "learner/status"), node.LatchedQoS())
		if err != nil {
			return err
		}
		n.bundles, n.status = append(n.bundles, bundles), append(n.status, status)
	}
	return nil
}

// begin has the runner run, and the node listen, serve and report. end is called when the runner ends.
func (n *roundsNode) begin(ctx context.Context, r runner, end func(), robot string, listen func() error,
	report func(*diagnostics.Status)) error {
	n.runner, n.ended = r, make(chan error, 1)
	go func() {
		n.ended <- r.Run(ctx)
		end()
	}()
	err := listen()
	if err == nil {
		err = n.serve(ctx)
	}
	var u *diagnostics.Updater
	if err == nil {
		u, err = diagnostics.New(n.Node, robot)
	}
	if err != nil {
		end()
		return err
	}
	u.Add("learning", report)
	return nil
}

// serve makes the services.
func (n *roundsNode) serve(ctx context.Context) error {
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
	for service, do := range map[string]func(context.Context) (string, error){"~/train_now": n.runner.TrainNow,
		"~/rollback": n.runner.Rollback} {
		answer := func(_ *stdsrvs.TriggerRequest, a *stdsrvs.TriggerResponse) { a.Success, a.Message = within(do) }
		if _, err := ros.NewService(n.Node, service, answer, ros.InGroup(n.slow)); err != nil {
			return err
		}
	}
	pause := func(q *stdsrvs.SetBoolRequest, a *stdsrvs.SetBoolResponse) {
		a.Success, a.Message = within(func(ctx context.Context) (string, error) { return n.runner.Pause(ctx, q.Data) })
	}
	_, err := ros.NewService(n.Node, "~/pause", pause, ros.InGroup(n.slow))
	return errors.Join(err, n.serveLearn(ctx))
}

// close waits for the runner, whose context is done.
func (n *roundsNode) close() error {
	if n.ended == nil {
		return nil
	}
	return <-n.ended
}
