// Package action has servers and clients of ROS 2 actions: goals that take a while, report progress and can be
// canceled. On the wire they are three services and two topics, as rcl_action has them.
package action

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	actionmsgs "vnd/msgs/action_msgs"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

// Callbacks of a Server, which the executor calls.
type Callbacks[G, R, F any] struct {
	// Accept refuses a goal by an error, which is logged: the protocol has no place for it. nil accepts all.
	Accept func(*G) error
	// Start begins to pursue a goal that was accepted, and returns. Some callback or goroutine ends the goal.
	Start func(*Goal[G, R, F])
	// Cancel refuses a client's wish to cancel by false. nil accepts all. Then the goal is Canceling.
	Cancel func(*Goal[G, R, F]) bool
}

// Options of a Server.
type Options struct {
	// KeepResults is how long the result of a goal is kept after its end; 0: 10 s, as from Jazzy on.
	KeepResults time.Duration
	// MaxGoals is the most goals that are known at once, pursued or ended and kept; more are refused. 0: 10,000.
	MaxGoals  int
	Limits    ros.RequestLimits // of requests for goals: what is beyond them is refused
	Endpoints []ros.Option      // of its services
}

const (
	defaultMaxGoals = 10_000
	// maxWaiting is the most requests for results that wait at once; more are answered with the status Unknown.
	maxWaiting = 10_000
)

// Server pursues the goals of clients.
type Server[G, R, F any] struct {
	node     *ros.Node
	name     string
	call     Callbacks[G, R, F]
	keep     time.Duration
	maxGoals int
	status   *ros.Publisher[actionmsgs.GoalStatusArray]
	feedback func(ID, *F) error

	publishing sync.Mutex // held from reading the goals until they are published
	mu         sync.Mutex
	goals      map[ID]*Goal[G, R, F] // nil while Accept decides
	order      []*Goal[G, R, F]      // by acceptance
	waiting    int                   // requests for results
}

// Goal is one that a Server has accepted. Its methods may be called from any goroutine.
type Goal[G, R, F any] struct {
	ID      ID
	Request *G

	server    *Server[G, R, F]
	stamp     ros.Time
	canceling chan struct{}

	// Guarded by the server's mu:
	status  Status
	result  *R
	waiting []func(Status, *R)
}

// NewServer makes an action server, whose name is expanded and remapped.
func NewServer[G, R, F any, PG ros.Message[G], PR ros.Message[R], PF ros.Message[F]](n *ros.Node, name string,
	call Callbacks[G, R, F], o Options) (*Server[G, R, F], error) {
	if _, err := typeOf[G, R, F, PG, PR, PF](); err != nil {
		return nil, err
	}
	s := &Server[G, R, F]{node: n, name: name, call: call, keep: cmp.Or(o.KeepResults, 10*time.Second),
		maxGoals: cmp.Or(o.MaxGoals, defaultMaxGoals), goals: map[ID]*Goal[G, R, F]{}}
	var err error
	if s.status, err = ros.NewPublisher[actionmsgs.GoalStatusArray](n, name+"/_action/status",
		rmw.ActionStatusQoS()); err != nil {
		return nil, err
	}
	p, err := ros.NewPublisher[feedbackMessage[F, PF]](n, name+"/_action/feedback", ros.DefaultQoS())
	if err != nil {
		return nil, err
	}
	s.feedback = func(id ID, f *F) error { return p.Publish(&feedbackMessage[F, PF]{id, *f}) }
	_, sends := ros.NewDeferredService(n, name+"/_action/send_goal",
		func(q *sendGoalRequest[G, PG], answer func(*sendGoalResponse[G, PG])) {
			s.accept(q.id, &q.goal, func(ok bool, at ros.Time) {
				answer(&sendGoalResponse[G, PG]{accepted: ok, stamp: at.Msg()})
			})
		}, append(slices.Clone(o.Endpoints), ros.WithRequestLimits(o.Limits,
			func(_ *sendGoalResponse[G, PG], err error) { s.refuse(err) }))...)
	_, cancels := ros.NewService(n, name+"/_action/cancel_goal", s.cancel, o.Endpoints...)
	_, results := ros.NewDeferredService(n, name+"/_action/get_result",
		func(q *getResultRequest[R, PR], answer func(*getResultResponse[R, PR])) {
			s.await(q.id, func(status Status, r *R) { answer(&getResultResponse[R, PR]{status, *r}) })
		}, o.Endpoints...)
	return s, errors.Join(sends, cancels, results)
}

// accept answers a request for a goal, and starts the goal.
func (s *Server[G, R, F]) accept(id ID, request *G, answer func(bool, ros.Time)) {
	g, err := s.decide(id, request)
	if err != nil {
		s.refuse(err)
		answer(false, 0)
		return
	}
	answer(true, g.stamp)
	if err := g.become(Executing, nil); err != nil { // canceled already
		s.node.Log().Debug().Err(err).Send()
	}
	s.call.Start(g)
}

// refuse says why a goal is not accepted.
func (s *Server[G, R, F]) refuse(err error) {
	s.node.Log().Warn().Msgf("action '%s': goal refused: %v", s.name, err)
}

// decide makes a goal of a request that is accepted. Its ID is taken while the callback decides, so that a second
// request of it is refused.
func (s *Server[G, R, F]) decide(id ID, request *G) (*Goal[G, R, F], error) {
	if err := s.reserve(id); err != nil {
		return nil, err
	}
	var err error
	if s.call.Accept != nil {
		err = s.call.Accept(request)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		delete(s.goals, id)
		return nil, err
	}
	g := &Goal[G, R, F]{ID: id, Request: request, server: s, stamp: s.node.Now(), status: Accepted,
		canceling: make(chan struct{})}
	s.goals[id] = g
	s.order = append(s.order, g)
	return g, nil
}

// reserve takes the ID of a goal, where there is none of it and not too many others are known.
func (s *Server[G, R, F]) reserve(id ID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, exists := s.goals[id]; exists {
		return errors.New("a goal of this ID exists")
	}
	if len(s.goals) >= s.maxGoals {
		return fmt.Errorf("%d goals are pursued, or ended less than %v ago: expected fewer", len(s.goals), s.keep)
	}
	s.goals[id] = nil
	return nil
}

// await calls answer with the goal's result when there is one: at once where the goal has ended or is not known, or too
// many wait.
func (s *Server[G, R, F]) await(id ID, answer func(Status, *R)) {
	s.mu.Lock()
	g := s.goals[id]
	switch {
	case g == nil:
		s.mu.Unlock()
		answer(Unknown, new(R))
	case g.status.Ended():
		status, result := g.status, g.result
		s.mu.Unlock()
		answer(status, result)
	case s.waiting >= maxWaiting:
		s.mu.Unlock()
		s.node.Log().Warn().Msgf("action '%s': request for a result refused: %d wait already", s.name, maxWaiting)
		answer(Unknown, new(R))
	default:
		g.waiting = append(g.waiting, answer)
		s.waiting++
		s.mu.Unlock()
	}
}

// cancel answers a client's wish to cancel one goal, all up to a stamp, or all.
func (s *Server[G, R, F]) cancel(q *actionmsgs.CancelGoalRequest, r *actionmsgs.CancelGoalResponse) {
	chosen, code := s.toCancel(ID(q.GoalInfo.GoalID.UUID), ros.TimeOf(q.GoalInfo.Stamp))
	r.ReturnCode = code
	for _, g := range chosen {
		if s.call.Cancel != nil && !s.call.Cancel(g) {
			continue
		}
		if g.become(Canceling, nil) == nil {
			r.GoalsCanceling = append(r.GoalsCanceling, g.info())
		}
	}
	if len(chosen) > 0 && len(r.GoalsCanceling) == 0 {
		r.ReturnCode = actionmsgs.CancelGoalResponseErrorRejected
	}
}

// toCancel are the goals that a request means and that may be canceled, as rcl_action chooses them: an ID without a
// stamp means that goal, a stamp all that were accepted until then and the goal of the ID, neither means all.
func (s *Server[G, R, F]) toCancel(id ID, until ros.Time) (chosen []*Goal[G, R, F], code int8) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id != (ID{}) && until == 0 {
		g := s.goals[id]
		switch {
		case g == nil:
			return nil, actionmsgs.CancelGoalResponseErrorUnknownGoalID
		case !slices.Contains(from[Canceling], g.status):
			return nil, actionmsgs.CancelGoalResponseErrorGoalTerminated
		}
		return []*Goal[G, R, F]{g}, actionmsgs.CancelGoalResponseErrorNone
	}
	for _, g := range s.order {
		means := id == (ID{}) && until == 0 || g.ID == id || until != 0 && g.stamp <= until
		if means && slices.Contains(from[Canceling], g.status) {
			chosen = append(chosen, g)
		}
	}
	return chosen, actionmsgs.CancelGoalResponseErrorNone
}

// publish publishes the states of all goals.
func (s *Server[G, R, F]) publish() {
	s.publishing.Lock()
	defer s.publishing.Unlock()
	var m actionmsgs.GoalStatusArray
	s.mu.Lock()
	for _, g := range s.order {
		m.StatusList = append(m.StatusList, actionmsgs.GoalStatus{GoalInfo: g.info(), Status: int8(g.status)})
	}
	s.mu.Unlock()
	if err := s.status.Publish(&m); err != nil && !errors.Is(err, rmw.ErrClosed) {
		s.node.Log().Warn().Msgf("action '%s': status: %v", s.name, err)
	}
}

// forget drops a goal whose result was kept for long enough.
func (s *Server[G, R, F]) forget(g *Goal[G, R, F]) {
	s.mu.Lock()
	delete(s.goals, g.ID)
	s.order = slices.DeleteFunc(s.order, func(o *Goal[G, R, F]) bool { return o == g })
	s.mu.Unlock()
}

func (g *Goal[G, R, F]) info() actionmsgs.GoalInfo {
	return actionmsgs.GoalInfo{GoalID: g.ID.msg(), Stamp: g.stamp.Msg()}
}

// become brings the goal into a state, tells those who wait for its end, and publishes it.
func (g *Goal[G, R, F]) become(to Status, result *R) error {
	s := g.server
	s.mu.Lock()
	if !slices.Contains(from[to], g.status) {
		defer s.mu.Unlock()
		return fmt.Errorf("goal %v is %v: it cannot become %v", g.ID, g.status, to)
	}
	g.status, g.result = to, result
	waiting := g.waiting
	if to.Ended() {
		g.waiting = nil
		s.waiting -= len(waiting)
		time.AfterFunc(s.keep, func() { s.forget(g) })
	} else {
		waiting = nil
	}
	if to == Canceling {
		close(g.canceling)
	}
	s.mu.Unlock()
	for _, answer := range waiting {
		answer(to, result)
	}
	s.publish()
	return nil
}

// Status is where the goal stands.
func (g *Goal[G, R, F]) Status() Status {
	g.server.mu.Lock()
	defer g.server.mu.Unlock()
	return g.status
}

// Canceling is closed when a client's wish to cancel was accepted.
func (g *Goal[G, R, F]) Canceling() <-chan struct{} { return g.canceling }

// Feedback publishes how far the goal is.
func (g *Goal[G, R, F]) Feedback(f *F) error { return g.server.feedback(g.ID, f) }

// Succeed, Abort and Cancel end the goal with a result, which they keep. A goal ends once; only one that is Canceling
// ends by Cancel.
func (g *Goal[G, R, F]) Succeed(r *R) error { return g.become(Succeeded, r) }

// Abort ends the goal that was not reached.
func (g *Goal[G, R, F]) Abort(r *R) error { return g.become(Aborted, r) }

// Cancel ends the goal as a client wished.
func (g *Goal[G, R, F]) Cancel(r *R) error { return g.become(Canceled, r) }
