package quadsim

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/node"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

// said is what a process wrote.
type said struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *said) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// Commands in degrees per second, or in newtons, are refused with a line that names the topic, and not flown.
func TestCommandsOfOtherUnits(t *testing.T) {
	for want, m := range map[string]msgs.ThrustRates{
		"topic /quad/command: body rates of 344 rad/s in all, expected at most 70: are these degrees per " +
			"second?": {Thrust: 9.81, BodyRates: geometrymsgs.Vector3{X: 344}},
		"topic /quad/command: a thrust of 3000 m/s², expected at most 200, mass-normalised: hover is " +
			"9.81": {Thrust: 3000},
	} {
		d := inproc.NewDomain()
		ctx, stop := context.WithCancel(context.Background())
		log := &said{}
		join := func(w io.Writer) *ros.Context {
			c, err := ros.NewContext(ros.Options{Args: []string{"--ros-args", "-r", "__ns:=/quad",
				"--disable-external-lib-logs"},
				Backend: ros.InProcess(d), Getenv: func(string) string { return "" }, Stderr: w})
			if err != nil {
				t.Fatal(err)
			}
			rostest.SpinWith(ctx, stop, t, c, 1)
			return c
		}
		n, err := newSimulator(ctx, join(log))
		if err != nil {
			t.Fatal(err)
		}
		tester, err := join(io.Discard).NewNode("tester")
		if err != nil {
			t.Fatal(err)
		}
		pub, err := ros.NewPublisher[msgs.ThrustRates](tester, "command", node.CommandQoS())
		if err != nil {
			t.Fatal(err)
		}
		long, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		if err := ros.WaitForMatched(long, pub, 1); err != nil {
			t.Fatal(err)
		}
		if err := pub.Publish(&m); err != nil {
			t.Fatal(err)
		}
		for !strings.Contains(log.String(), want) && long.Err() == nil {
			time.Sleep(time.Millisecond)
		}
		if !strings.Contains(log.String(), want) || n.refused.Load() != 1 {
			t.Errorf("%d commands refused, the log says %q, expected %q", n.refused.Load(), log, want)
		}
		if status := n.status.Load().text; status != "waiting for a command" {
			t.Errorf("the vehicle is %s", status)
		}
	}
}
