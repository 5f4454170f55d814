package ros_test

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	lifecyclemsgs "vnd/msgs/lifecycle_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/ros2/ros/rostest"
)

// overTheWire is a Context on Cyclone DDS; it skips the test in a build without.
func overTheWire(t testing.TB, args ...string) *ros.Context {
	t.Helper()
	return overTheWireIn(t, environment(), args...)
}

func overTheWireIn(t testing.TB, env map[string]string, args ...string) *ros.Context {
	t.Helper()
	c, err := ros.NewContext(ros.Options{
		Args:   append([]string{"--ros-args", "--disable-external-lib-logs", "--"}, args...),
		Getenv: func(key string) string { return env[key] }, Stderr: io.Discard,
	})
	if err != nil && strings.Contains(err.Error(), "built without Cyclone DDS") {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

// robot is the program of the other process: a managed node with a parameter, a service, and
// an echo of poses.
func robot() {
	ros.MainContext(ros.Options{Args: os.Args[1:]}, func(_ context.Context, c *ros.Context) error {
		l, err := c.NewLifecycleNode("robot", ros.Callbacks{})
		if err != nil {
			return err
		}
		if _, err := params.Bind[tuning](l.Parameters(), nil); err != nil {
			return err
		}
		echo, err := ros.NewPublisher[geometrymsgs.PoseStamped](l.Node, "pong", ros.DefaultQoS())
		if err != nil {
			return err
		}
		_, err = ros.NewSubscription(l, "ping", ros.DefaultQoS(), func(m *geometrymsgs.PoseStamped, _ ros.Info) {
			if err := echo.Publish(m); err != nil {
				l.Log().Error().Err(err).Send()
			}
		})
		return err
	})
}

// Two processes over Cyclone DDS: graph, topics, services, parameters, lifecycle and log.
func TestOverTheWire(t *testing.T) {
	useRobot(t, overTheWire(t), rostest.Environ())
}

// useRobot starts the robot in an environment, and uses all that it offers.
func useRobot(t *testing.T, c *ros.Context, env []string) {
	p, _, stderr := startIn(t, env, nil, "robot", "--ros-args", "-r", "__ns:=/quad", "-p", "gain:=4.0")
	defer func() {
		if err := p.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		if err := p.Wait(); err != nil {
			t.Errorf("%v: %s", err, stderr)
		}
	}()
	n := newNode(t, c, "tool")
	ctx := within(t)
	name := rmw.NodeName{Namespace: "/quad", Name: "robot", Enclave: "/"}
	err := c.WaitForGraph(ctx, func(g rmw.Graph) bool {
		of, err := g.Of(name)
		return err == nil && of.Publishers["/quad/pong"] != nil && of.Servers["/quad/robot/get_state"] != nil
	})
	if err != nil {
		t.Fatalf("%v: %v", err, c.Graph().Nodes())
	}
	poses := make(chan geometrymsgs.PoseStamped, 10)
	sub := must(ros.NewSubscription(n, "/quad/pong", ros.DefaultQoS(),
		func(m *geometrymsgs.PoseStamped, _ ros.Info) { poses <- *m }))(t)
	pub := must(ros.NewPublisher[geometrymsgs.PoseStamped](n, "/quad/ping", ros.DefaultQoS()))(t)
	if err := ros.WaitForMatched(ctx, sub, 1); err != nil {
		t.Fatal(err)
	}
	if err := ros.WaitForMatched(ctx, pub, 1); err != nil {
		t.Fatal(err)
	}
	spin(t, c, 0)
	knock(t, func() {
		if err := pub.Publish(&geometrymsgs.PoseStamped{}); err != nil {
			t.Fatal(err)
		}
	}, poses)
	for i := range 10 {
		m := geometrymsgs.PoseStamped{}
		m.Header.FrameID, m.Pose.Position.X = "world", float64(i)
		if err := pub.Publish(&m); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, poses); got != m {
			t.Errorf("%+v, want %+v", got, m)
		}
	}
	getParameters(t, ctx, n)
	changeState(t, ctx, n)
}

// knock has the other side send until something comes: it may match later than this one.
func knock[T any](t *testing.T, ask func(), answers <-chan T) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); {
		ask()
		select {
		case <-answers:
			for { // the rest of them
				select {
				case <-answers:
				case <-time.After(300 * time.Millisecond):
					return
				}
			}
		case <-time.After(100 * time.Millisecond):
		}
	}
	t.Fatal("nothing came")
}

func getParameters(t *testing.T, ctx context.Context, n *ros.Node) {
	t.Helper()
	get := must(ros.NewClient[rclinterfaces.GetParametersRequest, rclinterfaces.GetParametersResponse](n,
		"/quad/robot/get_parameters"))(t)
	if err := get.WaitForService(ctx); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		r, err := get.Call(ctx, &rclinterfaces.GetParametersRequest{Names: []string{"gain", "name"}})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Values) != 2 || r.Values[0].DoubleValue != 4 || r.Values[1].StringValue != "cf" {
			t.Errorf("%+v", r)
		}
	}
}

func changeState(t *testing.T, ctx context.Context, n *ros.Node) {
	t.Helper()
	events := make(chan uint8, 10)
	sub := must(ros.NewSubscription(n, "/quad/robot/transition_event", ros.DefaultQoS(),
		func(m *lifecyclemsgs.TransitionEvent, _ ros.Info) {
			events <- m.GoalState.ID
		}))(t)
	if err := ros.WaitForMatched(ctx, sub, 1); err != nil {
		t.Fatal(err)
	}
	change := must(ros.NewClient[lifecyclemsgs.ChangeStateRequest, lifecyclemsgs.ChangeStateResponse](n,
		"/quad/robot/change_state"))(t)
	if err := change.WaitForService(ctx); err != nil {
		t.Fatal(err)
	}
	request := func(label string) {
		r, err := change.Call(ctx, &lifecyclemsgs.ChangeStateRequest{
			Transition: lifecyclemsgs.Transition{Label: label}})
		if err != nil || !r.Success {
			t.Fatal(label, r, err)
		}
	}
	knock(t, func() { request("configure"); request("cleanup") }, events)
	request("configure")
	request("activate")
	for _, want := range []uint8{10, 2, 13, 3} {
		if got := receive(t, events); got != want {
			t.Errorf("state %d, want %d", got, want)
		}
	}
}

// A message over Cyclone DDS allocates nothing either.
func TestNoAllocationOverTheWire(t *testing.T) {
	n := newNode(t, overTheWire(t), "alone")
	received := 0
	must(ros.NewSubscription(n, "x", ros.DefaultQoS(), func(*geometrymsgs.PoseStamped, ros.Info) { received++ }))(t)
	pub := must(ros.NewPublisher[geometrymsgs.PoseStamped](n, "x", ros.DefaultQoS()))(t)
	if err := ros.WaitForMatched(within(t), pub, 1); err != nil {
		t.Fatal(err)
	}
	m := &geometrymsgs.PoseStamped{}
	m.Header.FrameID = "world"
	turn := ros.SpinOnce(n.Context())
	exchange := func() {
		before := received
		if err := pub.Publish(m); err != nil {
			t.Fatal(err)
		}
		for received == before {
			turn()
		}
	}
	for range 200 {
		exchange()
	}
	if allocs := testing.AllocsPerRun(1000, exchange); allocs != 0 {
		t.Errorf("%v allocations per message published, taken and decoded", allocs)
	}
}
