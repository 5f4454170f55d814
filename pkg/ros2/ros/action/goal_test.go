package action_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	example "vnd/msgs/example_interfaces"
	"vnd/pkg/ros2/ros/action"
)

// next is rcl_action's table of states and events, written down from its documentation.
var next = map[action.Status]map[string]action.Status{
	action.Executing: {"cancel_goal": action.Canceling, "succeed": action.Succeeded, "abort": action.Aborted},
	action.Canceling: {"canceled": action.Canceled, "succeed": action.Succeeded, "abort": action.Aborted},
}

// Whatever is done to a goal, it goes the ways of the table alone, and its result is that of its end.
func TestAnyOrderOfEvents(t *testing.T) {
	goals := make(chan *goal, 1)
	_, c := pair(t, nil, calls{Start: func(g *goal) { goals <- g }}, action.Options{})
	random := rand.New(rand.NewPCG(1, 2))
	events := []string{"cancel_goal", "succeed", "abort", "canceled"}
	for range 200 {
		p := must(c.Send(within(t), &example.FibonacciGoal{}, nil))(t)
		g, want, done := <-goals, action.Executing, ""
		var result int32
		for i := range int32(6) {
			event := events[random.IntN(len(events))]
			r := &example.FibonacciResult{Sequence: []int32{i}}
			var err error
			switch event {
			case "cancel_goal":
				err = p.Cancel(within(t))
			case "succeed":
				err = g.Succeed(r)
			case "abort":
				err = g.Abort(r)
			case "canceled":
				err = g.Cancel(r)
			}
			to, allowed := next[want][event]
			if allowed != (err == nil) {
				t.Fatalf("%s after%s: %v", event, done, err)
			}
			if allowed {
				want = to
				if to.Ended() {
					result = i
				}
			}
			done += fmt.Sprint(" ", event)
			if got := g.Status(); got != want {
				t.Fatalf("%v after%s, expected %v", got, done, want)
			}
		}
		if want.Ended() {
			if status, r, err := p.Result(within(t)); err != nil || status != want || r.Sequence[0] != result {
				t.Fatalf("%v %+v %v after%s, expected %v of event %d", status, r, err, done, want, result)
			}
		}
	}
}
