package cli

import (
	"strings"
	"testing"

	example "vnd/msgs/example_interfaces"
	"vnd/pkg/node/operator"
)

// The end of a goal and the ends of an action read as those of ros2.
func TestActionsReadAsThoseOfROS(t *testing.T) {
	r := &example.FibonacciResult{Sequence: []int32{0, 1, 1}}
	for want, shown := range map[string]result{
		"Result:\n    sequence: [0, 1, 1]\n\nGoal finished with status: SUCCEEDED\n": &pursued{Status: "SUCCEEDED",
			text: "    " + operator.Text(r, 0)},
		"Action: /fibo\nAction clients: 0\nAction servers: 1\n    /server\n": &actionInfo{operator.Action{
			Name: "/fibo", Servers: []string{"/server"}}},
		"/fibo [test_msgs/action/Fibonacci]\n": &actionList{[]operator.Action{{Name: "/fibo",
			Types: []string{"test_msgs/action/Fibonacci"}}}},
		"/path: one message, of 40 bytes: a rate needs two\n": &topicRate{&operator.Rate{Topic: "/path", Messages: 1,
			Bytes: 40}},
	} {
		var b strings.Builder
		if err := shown.WriteText(&b); err != nil || b.String() != want {
			t.Errorf("%v %q, expected %q", err, b.String(), want)
		}
	}
}
