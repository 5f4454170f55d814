package armcontroller

import (
	"math"
	"strings"
	"testing"

	geometrymsgs "vnd/msgs/geometry_msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/param/paramtest"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/robot/arm"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/lifecycle"
	"vnd/pkg/ros2/ros/rostest"
	"vnd/pkg/vnd/bundle"
)

func TestParameterFile(t *testing.T) { paramtest.File[Params](t, Name) }

// rig is the node, fed by hand: no time passes on its clock.
type rig struct {
	*Controller
	t      *testing.T
	log    rostest.Console
	domain *inproc.Domain
	stamp  int64
}

func newRig(t *testing.T) *rig {
	t.Helper()
	r := &rig{t: t, domain: inproc.NewDomain()}
	c, err := ros.NewContext(ros.Options{Args: []string{"--ros-args", "--disable-external-lib-logs", "-p",
		"use_sim_time:=true", "-p", "guard.max_age:=1.0"}, Backend: ros.InProcess(r.domain),
		Getenv: func(string) string { return "" }, Stderr: &r.log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if r.Controller, err = New(c); err != nil {
		t.Fatal(err)
	}
	for _, id := range []lifecycle.ID{lifecycle.Configure, lifecycle.Activate} {
		if err := r.Change(id); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// states is a message a period after the one before, of joints from the last to the first, behind a finger.
func (r *rig) states() *sensormsgs.JointState {
	r.stamp += 20e6
	m := &sensormsgs.JointState{Name: []string{"panda_finger_joint1"}, Position: []float64{0.04},
		Velocity: []float64{0}}
	m.Header.Stamp = bridge.Time(r.stamp)
	names := bridge.PandaJoints(nil)
	for j := arm.Joints - 1; j >= 0; j-- {
		m.Name, m.Position = append(m.Name, names[j]), append(m.Position, arm.Home[j])
		m.Velocity = append(m.Velocity, 0)
	}
	return m
}

// commands counts the commands that a function brings about.
func (r *rig) commands(f func()) int {
	r.m.Data = nil
	f()
	return len(r.m.Data) / arm.Joints
}

func (r *rig) logged(line string) int {
	r.Log().Info().Msg("that was all")
	r.Context().Log().Sync()
	return strings.Count(r.log.String(), line)
}

// TestJointsComeInAnyOrder: they are told apart by their names, and commanded in the order of the parameter.
func TestJointsComeInAnyOrder(t *testing.T) {
	r := newRig(t)
	m := r.states()
	r.addStates(m, ros.Info{})
	if r.loop.Fault() != "" {
		t.Fatal(r.loop.Fault())
	}
	m = r.states()
	m.Velocity[7] = 0.5 // of joint 1
	if n := r.commands(func() { r.addStates(m, ros.Info{}) }); n != 1 || r.m.Data[0] > -5 || math.Abs(r.m.Data[3]) > 5 {
		t.Errorf("%d commands, the last %v", n, r.m.Data)
	}
}

// TestBadStatesAreRefused with one line each, and no command.
func TestBadStatesAreRefused(t *testing.T) {
	r := newRig(t)
	for want, spoil := range map[string]func(*sensormsgs.JointState){
		`joint_states: there is no joint "panda_joint7" among [`: func(m *sensormsgs.JointState) {
			m.Name[1] = "x"
		},
		`joint_states: joint "panda_joint3" is at 0 rad and turns with NaN rad/s`: func(m *sensormsgs.JointState) {
			m.Velocity[5] = math.NaN()
		},
		`joint_states: the stamp is 0, expected when the joints were`: func(m *sensormsgs.JointState) {
			m.Header.Stamp.Nanosec = 0
		},
		`joint_states: the stamp is off this machine's clock by more than`: func(m *sensormsgs.JointState) {
			m.Header.Stamp.Sec = 7
		},
		`joint_states: joint "panda_joint1" has no position or no velocity`: func(m *sensormsgs.JointState) {
			m.Velocity = m.Velocity[:7]
		},
	} {
		for range 3 {
			m := r.states()
			spoil(m)
			if n := r.commands(func() { r.addStates(m, ros.Info{}) }); n != 0 {
				t.Errorf("%s: %d commands", want, n)
			}
		}
		if n := r.logged(want); n != 1 {
			t.Errorf("%q is logged %d times: %s", want, n, r.log.String())
		}
	}
}

// TestOldStatesHoldTheArm: torques that carry it go on, the law holds it when states come again, and says why until the
// guard is reset.
func TestOldStatesHoldTheArm(t *testing.T) {
	const want = "no joint states on joint_states for more than 1 s (guard.max_age)"
	r := newRig(t)
	if n := r.commands(r.look); n != 0 {
		t.Errorf("%d commands before the first state", n)
	}
	r.addStates(r.states(), ros.Info{})
	if n := r.commands(r.look); n != 0 || r.loop.Fault() != "" {
		t.Errorf("%d commands while states are new: %q", n, r.loop.Fault())
	}
	r.newest = 2e9 // of a clock that was set back
	if n := r.commands(r.look); n != 1 || r.loop.Fault() != want {
		t.Errorf("%d commands where states are of times to come: %q", n, r.loop.Fault())
	}
	r.newest = -2e9
	for range 3 {
		if n := r.commands(r.look); n != 1 || r.loop.Fault() != want {
			t.Errorf("%d commands: %q", n, r.loop.Fault())
		}
	}
	r.addStates(r.states(), ros.Info{})
	if err := r.setTask("track_pose", `{"kind": "circle"}`); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("while the law holds: %v", err)
	}
	if n := r.logged("the law holds the arm: " + want); n != 1 {
		t.Errorf("it is logged %d times: %s", n, r.log.String())
	}
	if err := r.reset(); err != nil {
		t.Fatal(err)
	}
	if err := r.setTask("track_pose", `{"kind": "circle"}`); err != nil {
		t.Error(err)
	}
}

// TestItEndsWithAnArmThatIsCarried: deactivation leaves no torque that moved the arm.
func TestItEndsWithAnArmThatIsCarried(t *testing.T) {
	r := newRig(t)
	r.addStates(r.states(), ros.Info{})
	m := r.states()
	m.Velocity[7] = 0.5 // of joint 1
	r.addStates(m, ros.Info{})
	if n := r.commands(func() {
		if err := r.Change(lifecycle.Deactivate); err != nil {
			t.Fatal(err)
		}
	}); n != 1 || math.Abs(r.m.Data[0]) > 1 {
		t.Errorf("%d commands: %v", n, r.m.Data)
	}
}

func TestTasksAreRefused(t *testing.T) {
	r := newRig(t)
	if err := r.setTask("track_pose", ""); err == nil || !strings.Contains(err.Error(), "no joint states have come") {
		t.Errorf("before the first state: %v", err)
	}
	r.addStates(r.states(), ros.Info{})
	for want, q := range map[string][2]string{
		`task is "hover", expected "track_pose"`:                {"hover", ""},
		`reference_json: reference "square", exp`:               {"track_pose", `{"kind": "square"}`},
		`reference_json: speed is 0, expected 0.02 to 1 m/s`:    {"track_pose", `{"kind": "circle", "speed": 0}`},
		`reference_json: speed is 2, expected 0.02 to 1 m/s`:    {"track_pose", `{"kind": "circle", "speed": 2}`},
		`reference_json: it is of type array; expected as {"k`:  {"track_pose", `[]`},
		`reference_json: kind is of type number; expected as`:   {"track_pose", `{"kind": 3}`},
		`reference_json: something follows the JSON object`:     {"track_pose", `{"kind": "circle"} {}`},
		`unknown field "size"; expected as {"kind": "circle"`:   {"track_pose", `{"kind": "circle", "size": 1}`},
		"reference_json: 1001 bytes, expected one JSON object":  {"track_pose", strings.Repeat(" ", 1001)},
		"reference_json: unexpected EOF; expected as {\"kind\"": {"track_pose", `{"kind"`},
	} {
		if err := r.setTask(q[0], q[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := r.Change(lifecycle.Deactivate); err != nil {
		t.Fatal(err)
	}
	if err := r.setTask("track_pose", ""); err == nil || !strings.Contains(err.Error(), "expected active") {
		t.Errorf("inactive: %v", err)
	}
}

// TestTorquesBeyondAJointAreRefused, and so are too few.
func TestTorquesBeyondAJointAreRefused(t *testing.T) {
	for want, torque := range map[string][]float64{
		"guard.max_torque has 30 N·m for joint 5, expected at most 12": {30, 30, 30, 30, 30, 8, 4},
		"guard.max_torque has 1 numbers, expected 7":                   {30},
	} {
		c := armcontrol.Config{Torque: torque}
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// TestPoses: the tool is led to one in reach; others are refused with a line.
func TestPoses(t *testing.T) {
	r := newRig(t)
	r.addStates(r.states(), ros.Info{})
	c := arm.Panda()
	p := c.NewPose()
	c.Place(arm.Home[:], &p)
	for want, x := range map[string]struct {
		frame string
		state quad.State
	}{
		`reference/pose: frame_id is "map", expected "panda_link0" (parameter`: {"map", quad.State{Q: so3.Identity()}},
		"reference/pose: the tool does not reach 3.000, 0.000, 0.000 m": {"panda_link0",
			quad.State{P: so3.Vec3{X: 3}, Q: so3.Identity()}},
		"m, attitude of norm 0: expected finite numbers and norm 1": {"panda_link0", quad.State{P: p.Tool}},
	} {
		var m geometrymsgs.PoseStamped
		bridge.PutPoseStamped(&m, 1, x.frame, x.state)
		r.addPose(&m, ros.Info{})
		if n := r.logged(want); n != 1 || !strings.HasPrefix(r.follows, "nothing") {
			t.Errorf("%q is logged %d times: %s", want, n, r.log.String())
		}
	}
	var m geometrymsgs.PoseStamped
	bridge.PutPoseStamped(&m, 1, "panda_link0", quad.State{P: p.Tool.Add(so3.Vec3{Z: 0.1}), Q: so3.FromMat3(p.Turn)})
	if r.addPose(&m, ros.Info{}); r.follows != "a pose of reference/pose" {
		t.Errorf("it follows %s: %s", r.follows, r.log.String())
	}
}

func TestBundlesAreRefused(t *testing.T) {
	for file, want := range map[string]string{
		"../../flight/control/testdata/a.vnd": `is of robot "quadrotor", expected "panda"`,
		"none.vnd":                            "none.vnd",
	} {
		if _, err := load(file, &bundle.Trust{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", file, err, want)
		}
	}
}
