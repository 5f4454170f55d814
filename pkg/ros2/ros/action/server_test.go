package action_test

import (
	"context"
	"errors"
	"testing"
	"time"

	example "vnd/msgs/example_interfaces"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/action"
)

// server is one that nobody asks but the test.
func server(t testing.TB, call calls, o action.Options) *action.Server[example.FibonacciGoal, example.FibonacciResult,
	example.FibonacciFeedback] {
	t.Helper()
	n := node(t, ros.Options{Backend: ros.InProcess(inproc.NewDomain()), Getenv: func(string) string { return "" }},
		"server")
	return must(action.NewServer(n, "fibo", call, o))(t)
}

// An ID is accepted once, also while the callback still decides on the first request of it; one that was refused may
// come again.
func TestAnIDIsAcceptedOnce(t *testing.T) {
	deciding, decide, decisions := make(chan struct{}), make(chan error), 0
	s := server(t, calls{
		Accept: func(*example.FibonacciGoal) error {
			if decisions++; decisions > 1 {
				return nil
			}
			close(deciding)
			return <-decide
		},
		Start: func(*goal) {},
	}, action.Options{})
	id, first := action.NewID(), make(chan bool)
	go func() { first <- s.Ask(id, &example.FibonacciGoal{}) }()
	<-deciding
	if s.Ask(id, &example.FibonacciGoal{}) {
		t.Error("a second request was accepted beside the first")
	}
	status := action.Executing
	s.Await(id, func(now action.Status, _ *example.FibonacciResult) { status = now })
	if status != action.Unknown {
		t.Errorf("%v before it is accepted", status)
	}
	decide <- context.Canceled
	if <-first || decisions != 1 {
		t.Errorf("the first was accepted, or the callback asked %d times", decisions)
	}
	for _, want := range []bool{true, false} {
		if got := s.Ask(id, &example.FibonacciGoal{}); got != want {
			t.Errorf("after that: %v, expected %v", got, want)
		}
	}
}

// Goals beyond the bound are refused, until the results of others are forgotten.
func TestGoalsAreBounded(t *testing.T) {
	goals := make(chan *goal, 3)
	s := server(t, calls{Start: func(g *goal) { goals <- g }},
		action.Options{MaxGoals: 2, KeepResults: time.Millisecond})
	ask := func() bool { return s.Ask(action.NewID(), &example.FibonacciGoal{}) }
	for i := range 3 {
		if got := ask(); got != (i < 2) {
			t.Errorf("goal %d: %v", i, got)
		}
	}
	if err := (<-goals).Succeed(&example.FibonacciResult{}); err != nil {
		t.Error(err)
	}
	for ctx := within(t); !ask(); time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			t.Fatal("none is accepted after one has ended")
		}
	}
}

// Whoever waits for a result is answered: with it, or at once where too many wait.
func TestAllWhoWaitAreAnswered(t *testing.T) {
	goals := make(chan *goal, 1)
	s := server(t, calls{Start: func(g *goal) { goals <- g }}, action.Options{})
	id := action.NewID()
	for round := range 2 { // as many may wait again after the first
		s.Ask(id, &example.FibonacciGoal{})
		answers := map[action.Status]int{}
		for range action.MaxWaiting + 1 {
			s.Await(id, func(status action.Status, _ *example.FibonacciResult) { answers[status]++ })
		}
		if answers[action.Unknown] != 1 || len(answers) > 1 {
			t.Errorf("%v at once, expected one", answers)
		}
		if err := (<-goals).Succeed(&example.FibonacciResult{}); err != nil {
			t.Error(err)
		}
		if answers[action.Succeeded] != action.MaxWaiting {
			t.Errorf("%v in round %d, expected %d", answers, round, action.MaxWaiting)
		}
		id = action.NewID()
	}
}

// Requests for goals beyond the limits are refused, before any callback is asked.
func TestRequestsBeyondTheLimits(t *testing.T) {
	late := ros.RequestLimits{Late: func(time.Duration, time.Duration) error { return errors.New("it came late") }}
	_, c := pair(t, nil, calls{Accept: func(*example.FibonacciGoal) error {
		t.Error("the callback is asked")
		return nil
	}}, action.Options{Limits: late})
	if _, err := c.Send(within(t), &example.FibonacciGoal{}, nil); !errors.Is(err, action.ErrRejected) {
		t.Errorf("%v, expected %v", err, action.ErrRejected)
	}
}
