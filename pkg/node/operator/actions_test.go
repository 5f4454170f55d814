package operator

import (
	"context"
	"slices"
	"testing"
	"time"

	example "vnd/msgs/example_interfaces"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/action"
)

type fibonacci = action.Goal[example.FibonacciGoal, example.FibonacciResult, example.FibonacciFeedback]

// serveFibonacci serves an action that reports once and then ends, or for order 0 waits to be canceled.
func serveFibonacci(t *testing.T, n *ros.Node) {
	t.Helper()
	must(action.NewServer(n, "fibo", action.Callbacks[example.FibonacciGoal, example.FibonacciResult,
		example.FibonacciFeedback]{
		Accept: func(g *example.FibonacciGoal) error {
			if g.Order < 0 {
				return context.Canceled
			}
			return nil
		},
		Start: func(g *fibonacci) {
			if g.Request.Order == 0 {
				go func() {
					<-g.Canceling()
					g.Cancel(&example.FibonacciResult{})
				}()
				return
			}
			g.Feedback(&example.FibonacciFeedback{Sequence: []int32{0, 1}})
			r := &example.FibonacciResult{Sequence: []int32{0, 1, 1}}
			time.AfterFunc(100*time.Millisecond, func() { g.Succeed(r) })
		}}, action.Options{}))(t)
}

func TestActions(t *testing.T) {
	n, p := lab(t, patience)
	serveFibonacci(t, n)
	found := must(p.Action(t.Context(), "fibo"))(t)
	if !slices.Equal(found.Types, []string{"example_interfaces/action/Fibonacci"}) || found.Name != "/quad/fibo" ||
		!slices.Equal(found.Servers, []string{"/quad/policy_controller"}) || len(found.Clients) != 0 {
		t.Errorf("%+v", found)
	}
	accepted, feedback := "", make(chan string, 10)
	g := must(p.Pursue(t.Context(), "fibo", "{order: 2}", func(g *Pursuit) { accepted = Text(g.Goal, 0) },
		func(m cdr.Message) { feedback <- Text(m, 0) }))(t)
	if got := Text(g.Result, 0); g.Status != action.Succeeded || got != "sequence: [0, 1, 1]\n" ||
		accepted != "order: 2\n" {
		t.Errorf("%v %q of %q", g.Status, got, accepted)
	}
	if got := <-feedback; got != "sequence: [0, 1]\n" {
		t.Errorf("%q", got)
	}
	quiet := func(cdr.Message) {}
	_, err := p.Pursue(t.Context(), "fibo", "{order: -1}", func(*Pursuit) {}, quiet)
	fails(t, err, "action /quad/fibo: the goal was rejected")
	_, err = p.Pursue(t.Context(), "fibo", "{orders: 1}", func(*Pursuit) {}, quiet)
	fails(t, err, `action /quad/fibo (example_interfaces/action/Fibonacci): `)
}

// Who gives up has the goal canceled, and still gets its result.
func TestGivenUpGoalIsCanceled(t *testing.T) {
	n, p := lab(t, patience)
	serveFibonacci(t, n)
	ctx, giveUp := context.WithCancel(t.Context())
	g := must(p.Pursue(ctx, "fibo", "{order: 0}", func(*Pursuit) { giveUp() }, func(cdr.Message) {}))(t)
	if g.Status != action.Canceled {
		t.Errorf("%v", g.Status)
	}
}

func TestNoAction(t *testing.T) {
	_, p := lab(t, soon)
	_, err := p.Action(t.Context(), "fibo")
	fails(t, err, "action /quad/fibo: nobody serves it within")
}

// Feedback that comes before the answer is shown after it.
func TestFeedbackInTurn(t *testing.T) {
	var shown []string
	turn := &inTurn{show: func(m cdr.Message) { shown = append(shown, m.(*stdmsgs.String).Data) }}
	turn.feedback(&stdmsgs.String{Data: "early"})
	turn.begin(func() { shown = append(shown, "accepted") })
	turn.feedback(&stdmsgs.String{Data: "late"})
	if want := []string{"accepted", "early", "late"}; !slices.Equal(shown, want) {
		t.Errorf("shown %q, expected %q", shown, want)
	}
}
