package node_test

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	lifecyclemsgs "vnd/msgs/lifecycle_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/params"
)

func TestFlyingFollowsTheStage(t *testing.T) {
	var f node.Flying
	for _, c := range []struct {
		stage guard.Stage
		want  bool
	}{{guard.Off, false}, {guard.NotOffboard, false}, {guard.Policy, true}} {
		f.Step(c.stage)
		if f.Now() != c.want {
			t.Errorf("%v: %v", c.stage, f.Now())
		}
	}
}

// What is fixed in flight is refused by name, with all below it; all else may change.
func TestFixWhile(t *testing.T) {
	c := must(ros.NewContext(ros.Options{Args: []string{"--ros-args", "--disable-external-lib-logs"},
		Backend: ros.InProcess(inproc.NewDomain()), Getenv: func(string) string { return "" }, Stderr: io.Discard}))(t)
	defer c.Close()
	n := must(c.NewNode("learner"))(t)
	type gate struct {
		Level float64 `param:"level" default:"0.95" min:"0" max:"1" doc:"of the gate"`
	}
	type config struct {
		Gate gate `param:"gate" doc:"of candidates"`
		Rows int  `param:"rows" default:"1" min:"1" max:"9" doc:"of a round"`
	}
	must(params.Bind[config](n.Parameters(), nil))(t)
	var f node.Flying
	node.FixWhile(n, f.InFlight, "use_sim_time", "gate.")
	set := func(name string, v any) error {
		return n.Parameters().SetAtomically(params.Parameter{Name: name, Value: v})
	}
	if err := set("gate.level", 0.9); err != nil {
		t.Errorf("on the ground: %v", err)
	}
	f.Step(guard.Policy)
	for name, v := range map[string]any{"gate.level": 0.5, "use_sim_time": true} {
		want := "parameter " + name + " is fixed: commands are"
		if err := set(name, v); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, v := range map[string]any{"gate.level": 0.9, "rows": 3} { // as it is, and what is not fixed
		if err := set(name, v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// set sets a parameter of a node over the wire, and returns why not.
func (l *lab) set(node, name string, v rclinterfaces.ParameterValue) string {
	l.t.Helper()
	r := call[rclinterfaces.SetParametersRequest, rclinterfaces.SetParametersResponse](l,
		"/quad/"+node+"/set_parameters", &rclinterfaces.SetParametersRequest{
			Parameters: []rclinterfaces.Parameter{{Name: name, Value: v}}})
	if len(r.Results) != 1 {
		l.t.Fatalf("%+v", r)
	}
	if r.Results[0].Successful {
		return ""
	}
	return r.Results[0].Reason
}

// In flight, parameters that concern safety are refused over the wire, each in one line. Deactivation lands first.
func TestChangesInFlight(t *testing.T) {
	l := newLab(t)
	file := must(filepath.Abs("../flight/control/testdata/a.vnd"))(t)
	l.start("latent_encoder", "-p", "use_sim_time:=true", "-p", "bundle_file:="+file)
	l.hovering()
	off := rclinterfaces.ParameterValue{Type: 1}
	number := func(x float64) rclinterfaces.ParameterValue {
		return rclinterfaces.ParameterValue{Type: 3, DoubleValue: x}
	}
	numbers := func(x ...float64) rclinterfaces.ParameterValue {
		return rclinterfaces.ParameterValue{Type: 8, DoubleArrayValue: x}
	}
	text := func(s string) rclinterfaces.ParameterValue {
		return rclinterfaces.ParameterValue{Type: 4, StringValue: s}
	}
	for _, c := range []struct {
		node, name, want string
		value            rclinterfaces.ParameterValue
	}{
		{"policy_controller", "use_sim_time", "parameter use_sim_time is fixed", off},
		{"policy_controller", "limits.max_thrust", "deactivate it and clean it up first", number(30)},
		{"policy_controller", "guard.max_speed", "deactivate it and clean it up first", number(50)},
		{"policy_controller", "guard.fence_max", "deactivate it and clean it up first", numbers(90, 90, 90)},
		{"policy_controller", "guard.ground", "deactivate it and clean it up first", number(-100)},
		{"policy_controller", "state_source", "deactivate it and clean it up first", text("odometry")},
		{"policy_controller", "command_interface", "deactivate it and clean it up first", text("px4")},
		{"policy_controller", "reference_json", "deactivate it and clean it up first", text(`{"kind": "hover"}`)},
		{"policy_controller", "bundle_file", "read-only", text("/dev/zero")},
		{"policy_controller", "airframe", "read-only", text("/dev/zero")},
		{"latent_encoder", "use_sim_time", "parameter use_sim_time is fixed", off},
	} {
		why := l.set(c.node, c.name, c.value)
		if !strings.Contains(why, c.want) || strings.Contains(why, "\n") {
			t.Errorf("%s %s: %q, expected %q", c.node, c.name, why, c.want)
		}
	}
	for _, transition := range []string{"cleanup", "configure", "activate"} {
		r := call[lifecyclemsgs.ChangeStateRequest, lifecyclemsgs.ChangeStateResponse](l,
			"/quad/policy_controller/change_state",
			&lifecyclemsgs.ChangeStateRequest{Transition: lifecyclemsgs.Transition{Label: transition}})
		if r.Success {
			t.Errorf("%s in flight", transition)
		}
	}
	l.landsFirst("deactivate")
}

// landsFirst makes a transition in flight, and sees to it that the robot stands when the node's commands end.
func (l *lab) landsFirst(transition string) {
	l.t.Helper()
	l.change(transition)
	// The answer may come here before the last steps. After them there are no more: this waits for no other landing.
	height := func() float64 {
		l.mu.Lock()
		defer l.mu.Unlock()
		return newest(l.steps).Pose.Position.Z
	}
	for end := time.Now().Add(2 * time.Second); height() > 0.1 && time.Now().Before(end); {
		time.Sleep(10 * time.Millisecond)
	}
	if z := height(); z > 0.1 {
		l.t.Errorf("%s: the node ends its commands at %.2f m, in stage %v", transition, z,
			guard.Stage(newest(l.steps).GuardState))
	}
}

func TestShutdownLandsFirst(t *testing.T) {
	l := newLab(t)
	l.hovering()
	l.landsFirst("shutdown")
}
