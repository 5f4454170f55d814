package interop

import (
	"errors"
	"testing"
	"time"

	example "vnd/msgs/example_interfaces"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/action"
)

type fibonacci = action.Goal[example.FibonacciGoal, example.FibonacciResult, example.FibonacciFeedback]

// counter is the node of the transcript of actions: it refuses goals of a negative order, and aborts those of order 2.
func counter(n *ros.Node) error {
	_, err := action.NewServer(n, "fibonacci", action.Callbacks[example.FibonacciGoal, example.FibonacciResult,
		example.FibonacciFeedback]{
		Accept: func(g *example.FibonacciGoal) error {
			if g.Order < 0 {
				return errors.New("expected an order of at least 0")
			}
			return nil
		},
		Start: func(g *fibonacci) { go count(g) },
	}, action.Options{})
	return err
}

// count adds a number in half a second.
func count(g *fibonacci) {
	all := []int32{0, 1}
	for range g.Request.Order {
		select {
		case <-g.Canceling():
			g.Cancel(&example.FibonacciResult{Sequence: all})
			return
		case <-time.After(500 * time.Millisecond):
		}
		g.Feedback(&example.FibonacciFeedback{Sequence: all})
		all = append(all, all[len(all)-1]+all[len(all)-2])
	}
	end := g.Succeed
	if g.Request.Order == 2 {
		end = g.Abort
	}
	end(&example.FibonacciResult{Sequence: all})
}

func TestActions(t *testing.T) {
	p := withROS(t, "ros2action", "example_interfaces")
	p.start("counter", "--ros-args", "-r", "__ns:=/drone1")
	p.replay("actions.txt")
}
