package interop

import (
	"context"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	builtin "vnd/msgs/builtin_interfaces"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	rosgraphmsgs "vnd/msgs/rosgraph_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

// getenv looks up the environment of the place.
func (p *place) getenv(key string) (value string) {
	for _, pair := range p.env {
		if v, ok := strings.CutPrefix(pair, key+"="); ok {
			value = v // the last holds
		}
	}
	return value
}

// node is a node of this process that spins.
func (p *place) node(name string, args ...string) *ros.Node {
	p.t.Helper()
	c, err := ros.NewContext(ros.Options{Args: append([]string{"--ros-args", "--disable-external-lib-logs"}, args...),
		Getenv: p.getenv, Stderr: io.Discard})
	if err != nil {
		p.t.Fatal(err)
	}
	n, err := c.NewNode(name)
	if err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Spin(context.Background()) }()
	p.t.Cleanup(func() {
		if err := c.Close(); err != nil {
			p.t.Error(err)
		}
		if err := <-ended; err != nil {
			p.t.Error(err)
		}
	})
	return n
}

// rclpy starts a role of testdata/peer.py.
func (p *place) rclpy(role string) *background {
	p.t.Helper()
	script, err := filepath.Abs("testdata/peer.py")
	if err != nil {
		p.t.Fatal(err)
	}
	python := "python3"
	if _, err := exec.Command(python, "-c", "import rclpy").CombinedOutput(); err != nil {
		p.t.Skip("no rclpy here")
	}
	return p.start(python, script, role)
}

func within(t *testing.T) context.Context {
	ctx, stop := context.WithTimeout(context.Background(), patience)
	t.Cleanup(stop)
	return ctx
}

// until waits for a value that is wanted.
func until[T any](t *testing.T, ch <-chan T, what string, wanted func(T) bool) T {
	t.Helper()
	end := time.After(patience)
	for {
		select {
		case v := <-ch:
			if wanted(v) {
				return v
			}
		case <-end:
			t.Fatalf("%s did not come", what)
		}
	}
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// collect subscribes.
func collect[T any, P ros.Message[T]](t *testing.T, n *ros.Node, topic string, q ros.QoS) <-chan T {
	t.Helper()
	ch := make(chan T, 1000)
	must(ros.NewSubscription[T, P](n, topic, q, func(m *T, _ ros.Info) {
		select {
		case ch <- *m:
		default: // nobody waits any more
		}
	}))(t)
	return ch
}

// Topics, service, parameters and log of a node of rclpy, from ours.
func TestRclpyTalker(t *testing.T) {
	p := withROS(t)
	p.rclpy("talker")
	n := p.node("listener")
	ctx := within(t)
	chatter := collect[stdmsgs.String](t, n, "/drone1/chatter", ros.DefaultQoS())
	log := collect[rclinterfaces.Log](t, n, "/rosout", rmw.RosoutQoS())
	events := collect[rclinterfaces.ParameterEvent](t, n, "/parameter_events", rmw.ParameterEventsQoS())
	until(t, chatter, "chatter", func(m stdmsgs.String) bool { return strings.HasPrefix(m.Data, "n") })
	arm := must(ros.NewClient[stdsrvs.SetBoolRequest, stdsrvs.SetBoolResponse](n, "/drone1/arm"))(t)
	if err := arm.WaitForService(ctx); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if r, err := arm.Call(ctx, &stdsrvs.SetBoolRequest{Data: true}); err != nil || !r.Success ||
			r.Message != "armed by rclpy" {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	until(t, log, "the log", func(m rclinterfaces.Log) bool {
		return m.Name == "drone1.talker" && m.Msg == "armed" && m.Level == rclinterfaces.LogWarn
	})
	names := "use_sim_time gain ids"
	if newer() {
		names = "use_sim_time start_type_description_service gain ids"
	}
	parametersOf(t, n, names)
	until(t, events, "the event", func(m rclinterfaces.ParameterEvent) bool {
		return m.Node == "/drone1/talker" && len(m.ChangedParameters) == 1 &&
			m.ChangedParameters[0].Value.DoubleValue == 2.5
	})
}

// parametersOf lists, sets and gets parameters of /drone1/talker.
func parametersOf(t *testing.T, n *ros.Node, names string) {
	t.Helper()
	ctx := within(t)
	set := must(ros.NewClient[rclinterfaces.SetParametersRequest, rclinterfaces.SetParametersResponse](n,
		"/drone1/talker/set_parameters", ros.WithQoS(rmw.ParametersQoS())))(t)
	get := must(ros.NewClient[rclinterfaces.GetParametersRequest, rclinterfaces.GetParametersResponse](n,
		"/drone1/talker/get_parameters", ros.WithQoS(rmw.ParametersQoS())))(t)
	list := must(ros.NewClient[rclinterfaces.ListParametersRequest, rclinterfaces.ListParametersResponse](n,
		"/drone1/talker/list_parameters", ros.WithQoS(rmw.ParametersQoS())))(t)
	for _, err := range []error{set.WaitForService(ctx), get.WaitForService(ctx), list.WaitForService(ctx)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if r := must(list.Call(ctx, &rclinterfaces.ListParametersRequest{}))(t); strings.Join(r.Result.Names,
		" ") != names {
		t.Errorf("%+v", r)
	}
	gain := rclinterfaces.Parameter{Name: "gain", Value: rclinterfaces.ParameterValue{Type: 3, DoubleValue: 2.5}}
	if r := must(set.Call(ctx, &rclinterfaces.SetParametersRequest{Parameters: []rclinterfaces.Parameter{gain}}))(
		t); len(r.Results) != 1 || !r.Results[0].Successful {
		t.Errorf("%+v", r)
	}
	r := must(get.Call(ctx, &rclinterfaces.GetParametersRequest{Names: []string{"gain", "ids"}}))(t)
	if len(r.Values) != 2 || r.Values[0].DoubleValue != 2.5 || len(r.Values[1].IntegerArrayValue) != 3 {
		t.Errorf("%+v", r)
	}
}

// Our clock follows rclpy's /clock, also backwards.
func TestRclpyClock(t *testing.T) {
	p := withROS(t)
	n := p.node("follower", "-p", "use_sim_time:=true")
	times := make(chan ros.Time, 1000)
	must(n.NewTimer(100*time.Millisecond, func() {
		select {
		case times <- n.Now():
		default:
		}
	}))(t)
	p.rclpy("clock")
	until(t, times, "simulated time", func(now ros.Time) bool { return now > 100e9 && now < 102e9 })
	until(t, times, "simulated time after a jump back", func(now ros.Time) bool { return now > 50e9 && now < 99e9 })
}

// A node of rclpy follows our /clock.
func TestRclpySleeper(t *testing.T) {
	p := withROS(t)
	n := p.node("world")
	clock := must(ros.NewPublisher[rosgraphmsgs.Clock](n, "/clock", rmw.ClockQoS()))(t)
	received := collect[stdmsgs.String](t, n, "/time", ros.DefaultQoS())
	p.rclpy("sleeper")
	now := ros.Time(1000e9)
	must(n.NewWallTimer(10*time.Millisecond, func() {
		now += 100e6
		if err := clock.Publish(&rosgraphmsgs.Clock{Clock: builtin.Time(now.Msg())}); err != nil {
			t.Error(err)
		}
	}))(t)
	until(t, received, "the time of rclpy", func(m stdmsgs.String) bool { return len(m.Data) == 4 && m.Data[0] == '1' })
}
