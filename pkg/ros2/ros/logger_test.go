package ros_test

import (
	"strings"
	"testing"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

// collectRosout collects /rosout in another process.
func collectRosout(t *testing.T, d *inproc.Domain) <-chan rclinterfaces.Log {
	t.Helper()
	n := newNode(t, join(t, d, nil, "--ros-args", "--disable-rosout-logs"), "rosout_listener")
	ch := make(chan rclinterfaces.Log, 100)
	must(ros.NewSubscription(n, "/rosout", rmw.RosoutQoS(), func(m *rclinterfaces.Log, _ ros.Info) { ch <- *m }))(t)
	spin(t, n.Context(), 0)
	return ch
}

func TestRosout(t *testing.T) {
	d := inproc.NewDomain()
	c := joinLogged(t, d, new(rostest.Console), nil, "--ros-args", "--log-level", "quad.early:=debug")
	n := newNode(t, c, "early")
	n.Log().Debug().Msg("not heard")
	n2, err := joinLogged(t, d, new(rostest.Console), nil, "--ros-args", "-r", "__ns:=/quad", "--log-level",
		"quad.early:=debug").NewNode("early")
	if err != nil {
		t.Fatal(err)
	}
	n2.Log().Debug().Msg("before there was a listener")
	logs := collectRosout(t, d)
	n2.Log().Warn().Int("left", 3).Msg("battery")
	for _, want := range []rclinterfaces.Log{
		{Level: rclinterfaces.LogDebug, Msg: "before there was a listener"},
		{Level: rclinterfaces.LogWarn, Msg: "battery left=3"},
	} {
		got := receive(t, logs)
		if got.Level != want.Level || got.Msg != want.Msg || got.Name != "quad.early" ||
			!strings.HasSuffix(got.File, "logger_test.go") {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
}

// The services of any node change the levels of all loggers of the process.
func TestLoggerLevels(t *testing.T) {
	out := new(rostest.Console)
	c := joinLogged(t, inproc.NewDomain(), out, nil)
	n, err := c.NewNode("test", ros.LoggerService())
	if err != nil {
		t.Fatal(err)
	}
	spin(t, c, 0)
	set := must(ros.NewClient[rclinterfaces.SetLoggerLevelsRequest, rclinterfaces.SetLoggerLevelsResponse](n,
		"~/set_logger_levels"))(t)
	get := must(ros.NewClient[rclinterfaces.GetLoggerLevelsRequest, rclinterfaces.GetLoggerLevelsResponse](n,
		"~/get_logger_levels"))(t)
	ctx := within(t)
	if err := set.WaitForService(ctx); err != nil {
		t.Fatal(err)
	}
	n.Log().Debug().Msg("one")
	r := must(set.Call(ctx, &rclinterfaces.SetLoggerLevelsRequest{
		Levels: []rclinterfaces.LoggerLevel{{Name: "test", Level: 10}, {Name: "x", Level: 7}}}))(t)
	if len(r.Results) != 2 || !r.Results[0].Successful || r.Results[1].Successful {
		t.Errorf("%+v", r)
	}
	n.Log().Debug().Msg("two")
	levels := must(get.Call(ctx, &rclinterfaces.GetLoggerLevelsRequest{Names: []string{"test"}}))(t).Levels
	if len(levels) != 1 || levels[0].Level != 10 {
		t.Errorf("%+v", r)
	}
	c.Log().Sync()
	if s := out.String(); strings.Contains(s, "one") || !strings.Contains(s, "[test]: two\n") {
		t.Error(s)
	}
}

// Incompatible QoS is logged at both ends in rclcpp's words, and listed for diagnostics.
func TestIncompatibleQoS(t *testing.T) {
	d := inproc.NewDomain()
	outs := [2]*rostest.Console{new(rostest.Console), new(rostest.Console)}
	talker := newNode(t, joinLogged(t, d, outs[0], nil), "talker")
	listener := newNode(t, joinLogged(t, d, outs[1], nil), "listener")
	must(ros.NewPublisher[stdmsgs.String](talker, "x", ros.SensorDataQoS()))(t)
	spin(t, talker.Context(), 0)
	spin(t, listener.Context(), 2)
	must(ros.NewSubscription(listener, "x", ros.DefaultQoS(), func(*stdmsgs.String, ros.Info) {}))(t)
	for i, want := range []string{
		"[talker]: New subscription discovered on topic '/x', requesting incompatible QoS. " +
			"No messages will be sent to it. Last incompatible policy: RELIABILITY_QOS_POLICY\n",
		"[listener]: New publisher discovered on topic '/x', offering incompatible QoS. " +
			"No messages will be received from it. Last incompatible policy: RELIABILITY_QOS_POLICY\n",
	} {
		err := talker.Context().WaitForGraph(within(t), func(rmw.Graph) bool {
			return strings.Contains(outs[i].String(), want)
		})
		if err != nil {
			t.Errorf("%v: %s\nwant %s", err, outs[i], want)
		}
	}
	got := listener.Incompatible()
	if len(got) != 1 || got[0] != (ros.Incompatible{Topic: "/x", Side: "subscription", Count: 1,
		Policy: dds.ReliabilityPolicy}) {
		t.Errorf("%+v", got)
	}
}
