package action

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	actionmsgs "vnd/msgs/action_msgs"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

// ErrRejected: the server did not accept the goal.
var ErrRejected = errors.New("the goal was rejected")

// Client has goals pursued by a server. Its methods may be called from any goroutine.
type Client[G, R, F any] struct {
	name     string
	send     func(context.Context, ID, *G) (bool, ros.Time, error)
	result   func(context.Context, ID) (Status, *R, error)
	cancel   *ros.Client[actionmsgs.CancelGoalRequest, actionmsgs.CancelGoalResponse]
	complete func() bool

	mu       sync.Mutex
	feedback map[ID]func(*F)
}

// Pursued is a goal that a server has accepted.
type Pursued[G, R, F any] struct {
	ID     ID
	Stamp  ros.Time // of the acceptance
	client *Client[G, R, F]
}

// NewClient makes a client of an action, whose name is expanded and remapped.
func NewClient[G, R, F any, PG ros.Message[G], PR ros.Message[R], PF ros.Message[F]](n *ros.Node, name string,
	options ...ros.Option) (*Client[G, R, F], error) {
	if _, err := typeOf[G, R, F, PG, PR, PF](); err != nil {
		return nil, err
	}
	c := &Client[G, R, F]{name: name, feedback: map[ID]func(*F){}}
	send, err := ros.NewClient[sendGoalRequest[G, PG], sendGoalResponse[G, PG]](n, name+"/_action/send_goal",
		options...)
	if err != nil {
		return nil, err
	}
	result, err := ros.NewClient[getResultRequest[R, PR], getResultResponse[R, PR]](n, name+"/_action/get_result",
		options...)
	if err != nil {
		return nil, err
	}
	if c.cancel, err = ros.NewClient[actionmsgs.CancelGoalRequest, actionmsgs.CancelGoalResponse](n,
		name+"/_action/cancel_goal", options...); err != nil {
		return nil, err
	}
	feedback, err := ros.NewSubscription(n, name+"/_action/feedback", ros.DefaultQoS(),
		func(m *feedbackMessage[F, PF], _ ros.Info) { c.report(m.id, &m.feedback) }, options...)
	if err != nil {
		return nil, err
	}
	status, err := ros.NewSubscription(n, name+"/_action/status", rmw.ActionStatusQoS(),
		func(*actionmsgs.GoalStatusArray, ros.Info) {}, options...)
	if err != nil {
		return nil, err
	}
	c.send = func(ctx context.Context, id ID, goal *G) (bool, ros.Time, error) {
		r, err := send.Call(ctx, &sendGoalRequest[G, PG]{id, *goal})
		if err != nil {
			return false, 0, err
		}
		return r.accepted, ros.TimeOf(r.stamp), nil
	}
	c.result = func(ctx context.Context, id ID) (Status, *R, error) {
		r, err := result.Call(ctx, &getResultRequest[R, PR]{id})
		if err != nil {
			return Unknown, nil, err
		}
		return r.status, &r.result, nil
	}
	c.complete = func() bool {
		return send.Available() && c.cancel.Available() && result.Available() && feedback.Matched() > 0 &&
			status.Matched() > 0
	}
	return c, nil
}

// report hands feedback to who asked for the goal.
func (c *Client[G, R, F]) report(id ID, f *F) {
	c.mu.Lock()
	call := c.feedback[id]
	c.mu.Unlock()
	if call != nil {
		call(f)
	}
}

// Available says whether a server is there, with all its services and topics.
func (c *Client[G, R, F]) Available() bool { return c.complete() }

// WaitForServer waits until the server is available or ctx is done.
func (c *Client[G, R, F]) WaitForServer(ctx context.Context) error {
	const recheck = 20 * time.Millisecond
	for !c.complete() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("action %s is not available: %w", c.name, context.Cause(ctx))
		case <-time.After(recheck):
		}
	}
	return nil
}

// Send asks for a goal, and waits until the server accepted it; ErrRejected where it did not. The executor calls
// feedback, which may be nil, with each message of feedback until Result has returned; the message is its own only for
// the call.
func (c *Client[G, R, F]) Send(ctx context.Context, goal *G, feedback func(*F)) (*Pursued[G, R, F], error) {
	p := &Pursued[G, R, F]{ID: NewID(), client: c}
	if feedback != nil {
		c.mu.Lock()
		c.feedback[p.ID] = feedback
		c.mu.Unlock()
	}
	accepted, stamp, err := c.send(ctx, p.ID, goal)
	if err == nil && !accepted {
		err = fmt.Errorf("action %s: %w", c.name, ErrRejected)
	}
	if err != nil {
		p.forget()
		return nil, err
	}
	p.Stamp = stamp
	return p, nil
}

func (p *Pursued[G, R, F]) forget() {
	p.client.mu.Lock()
	delete(p.client.feedback, p.ID)
	p.client.mu.Unlock()
}

// Result waits until the goal has ended. Its status is Unknown where the server does not know the goal any more, or has
// too many who wait.
func (p *Pursued[G, R, F]) Result(ctx context.Context) (Status, *R, error) {
	defer p.forget()
	return p.client.result(ctx, p.ID)
}

// Cancel asks the server to cancel the goal, which ends later if that is accepted.
func (p *Pursued[G, R, F]) Cancel(ctx context.Context) error {
	goal := actionmsgs.GoalInfo{GoalID: p.ID.msg()}
	r, err := p.client.cancel.Call(ctx, &actionmsgs.CancelGoalRequest{GoalInfo: goal})
	if err != nil {
		return err
	}
	switch r.ReturnCode {
	case actionmsgs.CancelGoalResponseErrorNone:
		return nil
	case actionmsgs.CancelGoalResponseErrorUnknownGoalID:
		return fmt.Errorf("action %s: the goal is not known", p.client.name)
	case actionmsgs.CancelGoalResponseErrorGoalTerminated:
		return fmt.Errorf("action %s: the goal has ended, or is being canceled", p.client.name)
	}
	return fmt.Errorf("action %s: the server refuses to cancel", p.client.name)
}
