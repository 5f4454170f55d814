package ros_test

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	builtin "vnd/msgs/builtin_interfaces"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	rosgraphmsgs "vnd/msgs/rosgraph_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	tf2msgs "vnd/msgs/tf2_msgs"
	tdi "vnd/msgs/type_description_interfaces"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/rostest"
)

// TestWireParameters: a set changes all parameters or none, and publishes one event.
func TestWireParameters(t *testing.T) {
	n := watch(t)
	events := collect[rclinterfaces.ParameterEvent](t, n, "/parameter_events", rmw.ParameterEventsQoS())
	spin(t, n.Context(), 0)
	startProbe(t, nil, "--ros-args", "-p", "gain:=2.5")
	gain := func(x float64) rclinterfaces.Parameter {
		return rclinterfaces.Parameter{Name: "gain", Value: rclinterfaces.ParameterValue{Type: 3, DoubleValue: x}}
	}
	name := rclinterfaces.Parameter{Name: "name", Value: rclinterfaces.ParameterValue{Type: 4, StringValue: "hex"}}
	together := func(ps ...rclinterfaces.Parameter) rclinterfaces.SetParametersResult {
		return ask[rclinterfaces.SetParametersAtomicallyRequest, rclinterfaces.SetParametersAtomicallyResponse](t, n,
			"/probe/set_parameters_atomically", &rclinterfaces.SetParametersAtomicallyRequest{Parameters: ps}).Result
	}
	if r := together(name, gain(11)); r.Successful || !strings.Contains(r.Reason, "gain") {
		t.Errorf("%+v", r)
	}
	if r := together(name, gain(3.5)); !r.Successful {
		t.Errorf("%+v", r)
	}
	e := find(t, events, func(e rclinterfaces.ParameterEvent) bool {
		return e.Node == "/probe" && len(e.ChangedParameters) > 0
	})
	if len(e.ChangedParameters) != 2 {
		t.Errorf("%+v", e)
	}
	got := ask[rclinterfaces.GetParametersRequest, rclinterfaces.GetParametersResponse](t, n, "/probe/get_parameters",
		&rclinterfaces.GetParametersRequest{Names: []string{"gain", "name"}}).Values
	if len(got) != 2 || got[0].DoubleValue != 3.5 || got[1].StringValue != "hex" {
		t.Errorf("%+v", got)
	}
	d := ask[rclinterfaces.DescribeParametersRequest, rclinterfaces.DescribeParametersResponse](t, n,
		"/probe/describe_parameters",
		&rclinterfaces.DescribeParametersRequest{Names: []string{"gain"}}).Descriptors
	if len(d) != 1 || d[0].Description != "of position" || len(d[0].FloatingPointRange) != 1 ||
		d[0].FloatingPointRange[0].ToValue != 10 {
		t.Errorf("%+v", d)
	}
}

// TestWireLog: the log on /rosout, with levels set by argument and by service.
func TestWireLog(t *testing.T) {
	n := watch(t)
	log := collect[rclinterfaces.Log](t, n, "/rosout", rmw.RosoutQoS())
	spin(t, n.Context(), 0)
	startProbe(t, nil, "--ros-args", "-r", "__ns:=/quad", "--log-level", "quad.probe:=error")
	say := func() {
		ask[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](t, n, "/quad/say", &stdsrvs.TriggerRequest{})
	}
	level := func(l uint8) {
		r := ask[rclinterfaces.SetLoggerLevelsRequest, rclinterfaces.SetLoggerLevelsResponse](t, n,
			"/quad/probe/set_logger_levels",
			&rclinterfaces.SetLoggerLevelsRequest{
				Levels: []rclinterfaces.LoggerLevel{{Name: "quad.probe", Level: uint32(l)}}})
		if len(r.Results) != 1 || !r.Results[0].Successful {
			t.Fatalf("%+v", r)
		}
	}
	say() // nothing, at this level
	level(rclinterfaces.LogWarn)
	say()
	level(rclinterfaces.LogDebug)
	say()
	for _, want := range []string{"in short", "in detail", "in short"} {
		m := find(t, log, func(m rclinterfaces.Log) bool { return strings.HasPrefix(m.Msg, "in ") })
		if m.Msg != want || m.Name != "quad.probe" {
			t.Errorf("%+v, want %s", m, want)
		}
	}
	r := ask[rclinterfaces.GetLoggerLevelsRequest, rclinterfaces.GetLoggerLevelsResponse](t, n,
		"/quad/probe/get_logger_levels",
		&rclinterfaces.GetLoggerLevelsRequest{Names: []string{"quad.probe"}})
	if len(r.Levels) != 1 || r.Levels[0].Level != uint32(rclinterfaces.LogDebug) {
		t.Errorf("%+v", r)
	}
}

// TestWireSimulatedTime: simulated time may jump back.
func TestWireSimulatedTime(t *testing.T) {
	n := watch(t)
	clock := must(ros.NewPublisher[rosgraphmsgs.Clock](n, "/clock", rmw.ClockQoS()))(t)
	times := collect[builtin.Time](t, n, "/now", ros.DefaultQoS())
	spin(t, n.Context(), 0)
	startProbe(t, nil, "--ros-args", "-p", "use_sim_time:=true")
	for _, start := range []int32{1000, 500} {
		stop, ended := make(chan struct{}), make(chan struct{})
		go func() { // best effort: what is not heard is said again
			defer close(ended)
			for i := int64(0); ; i++ {
				m := rosgraphmsgs.Clock{Clock: (ros.Time(start)*1e9 + ros.Time(i)*100*ms).Msg()}
				if err := clock.Publish(&m); err != nil {
					t.Error(err)
				}
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
				}
			}
		}()
		find(t, times, func(m builtin.Time) bool { return m.Sec >= start && m.Sec < start+400 })
		close(stop)
		<-ended
	}
}

// TestWireQoS: parameters override QoS. Incompatible QoS is reported by its policy, in the log
// and in the diagnostics.
func TestWireQoS(t *testing.T) {
	n := watch(t)
	log := collect[rclinterfaces.Log](t, n, "/rosout", rmw.RosoutQoS())
	reports := collect[diagnosticmsgs.DiagnosticArray](t, n, "/diagnostics", ros.DefaultQoS())
	must(ros.NewSubscription(n, "/imu", ros.SensorDataQoS(), func(*stdmsgs.String, ros.Info) {}))(t)
	keep := ros.SensorDataQoS()
	keep.Durability = dds.TransientLocal
	must(ros.NewSubscription(n, "/imu", keep, func(*stdmsgs.String, ros.Info) {}))(t)
	spin(t, n.Context(), 0)
	startProbe(t, nil, "--ros-args", "-p", "qos_overrides./imu.publisher.reliability:=reliable",
		"-p", "qos_overrides./imu.publisher.depth:=7")
	seen(t, n, "probe")
	const words = "requesting incompatible QoS. No messages will be sent to it. Last incompatible policy: " +
		"DURABILITY_QOS_POLICY"
	find(t, log, func(m rclinterfaces.Log) bool { return m.Name == "probe" && strings.HasSuffix(m.Msg, words) })
	find(t, reports, func(m diagnosticmsgs.DiagnosticArray) bool {
		return slices.ContainsFunc(m.Status, func(s diagnosticmsgs.DiagnosticStatus) bool {
			return s.Name == "probe: QoS" && s.HardwareID == "cf2" && s.Level == uint8(diagnostics.Error) &&
				strings.Contains(s.Message, "DURABILITY")
		})
	})
	if pubs := n.Context().Graph().Publishers("/imu"); len(pubs) != 1 || pubs[0].QoS.Reliability != dds.Reliable ||
		pubs[0].QoS.Depth != 7 {
		t.Errorf("%+v", pubs)
	}
}

// TestWireTransforms: a later listener gets static transforms.
func TestWireTransforms(t *testing.T) {
	n := watch(t)
	spin(t, n.Context(), 0)
	startProbe(t, nil)
	seen(t, n, "probe")
	received := collect[tf2msgs.TFMessage](t, n, "/tf_static", rmw.StaticTFListenerQoS())
	find(t, received, func(m tf2msgs.TFMessage) bool {
		return len(m.Transforms) == 1 && m.Transforms[0].ChildFrameID == "imu"
	})
}

// TestWireTypeDescription: a node of Jazzy describes its types.
func TestWireTypeDescription(t *testing.T) {
	env := environment()
	env["ROS_DISTRO"] = "jazzy"
	n := newNode(t, overTheWireIn(t, env), "watcher")
	spin(t, n.Context(), 0)
	startProbe(t, []string{"ROS_DISTRO=jazzy"})
	known, _ := msgs.Lookup("builtin_interfaces/msg/Time")
	r := ask[tdi.GetTypeDescriptionRequest, tdi.GetTypeDescriptionResponse](t, n, "/probe/get_type_description",
		&tdi.GetTypeDescriptionRequest{TypeName_: known.Name, TypeHash: known.Hash})
	if !r.Successful || r.TypeDescription.TypeDescription.TypeName_ != known.Name ||
		len(r.TypeDescription.TypeDescription.Fields) != 2 {
		t.Errorf("%+v", r)
	}
}

// peers is an environment of Jazzy without multicast. Processes find only those that one of
// the two names.
func peers(addresses string) map[string]string {
	return map[string]string{"ROS_DISTRO": "jazzy", "ROS_LOCALHOST_ONLY": "", "ROS_STATIC_PEERS": addresses,
		"CYCLONEDDS_URI": environment()["CYCLONEDDS_URI"] +
			`,<General><Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>` +
			`<AllowMulticast>false</AllowMulticast></General>`}
}

func pairs(env map[string]string) (all []string) {
	for name, value := range env {
		all = append(all, name+"="+value)
	}
	return all
}

// TestWireApart: processes of another domain or discovery range are not in the graph, later
// ones of the own are.
func TestWireApart(t *testing.T) {
	tag := environment()["CYCLONEDDS_URI"]
	for _, c := range []struct {
		name         string
		here         map[string]string // besides what the tests have
		apart, there []string
	}{
		{"ROS_DOMAIN_ID", nil, []string{fmt.Sprintf("ROS_DOMAIN_ID=%d", 101+os.Getpid()%100)}, nil},
		{"CYCLONEDDS_URI", nil, []string{"CYCLONEDDS_URI=" + strings.Replace(tag, "vnd_test", "vnd_other", 1)}, nil},
		{"ROS_AUTOMATIC_DISCOVERY_RANGE", map[string]string{"ROS_DISTRO": "jazzy", "ROS_LOCALHOST_ONLY": "",
			"ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST"},
			[]string{"ROS_DISTRO=jazzy", "ROS_LOCALHOST_ONLY=", "ROS_AUTOMATIC_DISCOVERY_RANGE=OFF", "CYCLONEDDS_URI="},
			[]string{"ROS_DISTRO=jazzy", "ROS_LOCALHOST_ONLY=", "ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST"}},
		{"ROS_STATIC_PEERS", peers("127.0.0.1:9"), pairs(peers("127.0.0.1:9")), pairs(peers("127.0.0.1:9;127.0.0.1"))},
	} {
		t.Run(c.name, func(t *testing.T) {
			env := environment()
			maps.Copy(env, c.here)
			n := newNode(t, overTheWireIn(t, env), "watcher")
			out, _ := startProbe(t, c.apart, "--ros-args", "-r", "__node:=apart")
			err := n.Context().WaitForGraph(within(t),
				func(rmw.Graph) bool { return strings.Contains(out.String(), "spinning") })
			if err != nil {
				t.Fatal(err)
			}
			startProbe(t, c.there, "--ros-args", "-r", "__node:=near")
			seen(t, n, "near")
			if hasNode(n.Context().Graph(), "apart") {
				t.Error("seen from another world")
			}
		})
	}
}

// TestWireLogEnvironment: the variables of rcutils and the folder of the log file.
func TestWireLogEnvironment(t *testing.T) {
	folder := t.TempDir()
	n := watch(t)
	spin(t, n.Context(), 0)
	out, _ := startProbe(t, []string{"RCUTILS_CONSOLE_OUTPUT_FORMAT=<{severity}|{name}|{message}|{function_name}>",
		"RCUTILS_COLORIZED_OUTPUT=1",
		"RCUTILS_LOGGING_USE_STDOUT=1", "RCUTILS_LOGGING_BUFFERED_STREAM=0", "ROS_LOG_DIR=" + folder})
	ask[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](t, n, "/say", &stdsrvs.TriggerRequest{})
	const want = "\x1b[33m<WARN|probe|in short|"
	err := n.Context().WaitForGraph(within(t), func(rmw.Graph) bool { return strings.Contains(out.String(), want) })
	if err != nil {
		t.Errorf("%q, want %q", out, want)
	}
	err = n.Context().WaitForGraph(within(t), func(rmw.Graph) bool {
		files, _ := filepath.Glob(filepath.Join(folder, "*.log"))
		if len(files) != 1 {
			return false
		}
		text, err := os.ReadFile(files[0])
		return err == nil && strings.Contains(string(text), "in short")
	})
	if err != nil {
		t.Error("nothing in ROS_LOG_DIR: ", err)
	}
}

// TestWireSecurity: a node that must use SROS 2 and has no keys does not start.
func TestWireSecurity(t *testing.T) {
	p := exec.Command(os.Args[0])
	p.Env = append(append(os.Environ(), rostest.Environ()...), programVariable+"=probe", "ROS_LOG_DIR="+t.TempDir(),
		"ROS_SECURITY_ENABLE=true", "ROS_SECURITY_STRATEGY=Enforce")
	out, err := p.CombinedOutput()
	if err == nil || !strings.Contains(string(out),
		": ROS_SECURITY_STRATEGY is Enforce, but ROS_SECURITY_KEYSTORE is not set") {
		t.Errorf("%v: %s", err, out)
	}
	n := watch(t)
	_, stderr := startProbe(t, []string{"ROS_SECURITY_ENABLE=true", "ROS_SECURITY_STRATEGY=Permissive"})
	const warning = "[rmw]: ROS_SECURITY_ENABLE is true, but "
	err = n.Context().WaitForGraph(within(t),
		func(rmw.Graph) bool { return strings.Contains(stderr.String(), warning) })
	if err != nil {
		t.Errorf("%v: %s", err, stderr)
	}
	seen(t, n, "probe")
}
