package learner

import (
	"context"
	"errors"
	"sync/atomic"

	"vnd/msgs"
	"vnd/pkg/learning/continual"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/action"
)

type learnGoal = action.Goal[msgs.LearnGoal, msgs.LearnResult, msgs.LearnFeedback]

// asked are rounds that somebody waits for.
type asked struct {
	goal  *learnGoal
	ended atomic.Uint32 // of them
}

// serveLearn makes the action ~/learn, which pursues one goal at a time.
func (n *roundsNode) serveLearn(ctx context.Context) error {
	var busy atomic.Bool
	_, err := action.NewServer(n.Node, "~/learn", action.Callbacks[msgs.LearnGoal, msgs.LearnResult,
		msgs.LearnFeedback]{
		Accept: func(*msgs.LearnGoal) error {
			if busy.Swap(true) {
				return errors.New("another goal is under way")
			}
			return nil
		},
		Start: func(g *learnGoal) {
			go func() {
				end, r := n.learn(ctx, g)
				busy.Store(false) // before the client knows, who may send its next goal at once
				if end == nil {
					return
				}
				if err := end(r); err != nil {
					n.Log().Debug().Err(err).Send()
				}
			}()
		},
	}, action.Options{Endpoints: []ros.Option{ros.InGroup(n.slow)}})
	return err
}

// learn runs a goal's rounds, until one fails, or the goal is canceled. It returns how the goal ends, with its result;
// nil where the node ends.
func (n *roundsNode) learn(ctx context.Context, g *learnGoal) (end func(*msgs.LearnResult) error,
	r *msgs.LearnResult) {
	rounds, canceled := context.WithCancel(ctx)
	defer canceled()
	go func() {
		select {
		case <-g.Canceling():
			canceled()
		case <-rounds.Done():
		}
	}()
	a, err := &asked{goal: g}, error(nil)
	r = new(msgs.LearnResult)
	n.asked.Store(a)
	defer n.asked.Store(nil)
	for err == nil && r.Rounds < max(g.Request.Rounds, 1) {
		err = n.oneRound(rounds, r)
		a.ended.Store(r.Rounds)
	}
	if ctx.Err() != nil {
		return nil, nil
	}
	r.BundleID = n.runner.Status().BundleID
	end = g.Succeed
	if g.Status() == action.Canceling {
		end, r.Message = g.Cancel, "canceled"
	} else if err != nil {
		end = g.Abort
	}
	return end, r
}

// oneRound adds a round to what came of a goal.
func (n *roundsNode) oneRound(ctx context.Context, r *msgs.LearnResult) error {
	e, err := n.runner.Learn(ctx)
	if err != nil {
		r.Message = err.Error()
		return err
	}
	r.Message = e.Line
	r.Rounds++
	if e.Promoted {
		r.Promoted++
	}
	return nil
}

// feedback tells whoever waits for a round how far it is.
func (n *roundsNode) feedback(s *continual.Status) {
	a := n.asked.Load()
	if a == nil {
		return
	}
	f := &msgs.LearnFeedback{Round: a.ended.Load() + 1, Phase: string(s.Phase), Progress: float32(s.Share)}
	if err := a.goal.Feedback(f); err != nil {
		n.Log().Debug().Err(err).Send()
	}
}
