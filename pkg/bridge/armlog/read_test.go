package armlog

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vnd/msgs"
	sensormsgs "vnd/msgs/sensor_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/arm"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/bag/bagtest"
	"vnd/pkg/ros2/cdr"
)

func options() Options { return Options{Joints: bridge.PandaJoints(nil), Delta: 0.02, Window: 20} }

// The bag is a Panda of MuJoCo, written by PyPI rosbags. Its rows are those of our dynamics under the same payload, and
// of no other.
func TestRecordingOfMuJoCo(t *testing.T) {
	segments, warnings, err := Read(bagtest.Unpack(t, filepath.Join("testdata", "panda_bag.tar.zst")), options())
	if err != nil || len(warnings) > 0 || len(segments) != 1 || len(segments[0]) < 149 {
		t.Fatalf("%d segments, warnings %q, error %v", len(segments), warnings, err)
	}
	off := func(payload float64) (worst float64) {
		r := arm.Robot{Dt: 0.02, Steps: 20, Payload: payload, At: so3.Vec3{X: 0.03, Y: -0.02, Z: 0.05}}
		s, a := r.Flatten(segments[0])
		next, n := make([]float32, len(s)), len(segments[0])
		arm.New[float32](r).Step(n, s, a, make([]float32, len(s)), next)
		for i := range (n - 1) * 2 * arm.Joints {
			worst = max(worst, math.Abs(float64(next[i]-s[i+2*arm.Joints])))
		}
		return worst
	}
	if two, none := off(2), off(0); two > 1e-3 || none < 0.05 {
		t.Errorf("a step is off by %g under 2 kg, by %g under none", two, none)
	}
}

// recording is a bag that a test writes.
type recording struct {
	t *testing.T
	w *bag.Writer
	s sensormsgs.JointState
	c stdmsgs.Float64MultiArray
}

func newRecording(t *testing.T) (*recording, string) {
	dir := filepath.Join(t.TempDir(), "b")
	w, err := bag.Create(dir, bag.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{t: t, w: w}
	for name, type_ := range map[string]string{"/joint_states": r.s.TypeName(), "/efforts": r.c.TypeName()} {
		known, _ := msgs.Lookup(type_)
		if err := w.AddTopic(bag.Topic{Name: name, Type: type_, Definition: known.Definition()}); err != nil {
			t.Fatal(err)
		}
	}
	return r, dir
}

func (r *recording) write(topic, type_ string, at int64, m cdr.Message) {
	data, err := cdr.Marshal(m)
	if err == nil {
		err = r.w.Write(&bag.Message{Topic: topic, Type: type_, LogTime: at, PublishTime: at, Data: data})
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

const begin = int64(1_700_000_000e9)

// state writes joint states of a time, ms; command a torque of all joints.
func (r *recording) state(ms, q, v float64) {
	at := begin + int64(ms*1e6)
	r.s.Header.Stamp = bridge.Time(at)
	r.s.Name = bridge.PandaJoints(nil)
	r.s.Position = slices.Clone(arm.Home[:])
	r.s.Position[0] = q
	r.s.Velocity = slices.Repeat([]float64{v}, arm.Joints)
	r.write("/joint_states", r.s.TypeName(), at+5e6, &r.s)
}

func (r *recording) command(ms, torque float64) {
	r.c.Data = slices.Repeat([]float64{torque}, arm.Joints)
	r.write("/efforts", r.c.TypeName(), begin+int64(ms*1e6)+5e6, &r.c)
}

// Rows lie at Δt from the first state on, between states; torques are means of the time until the next row; a gap of
// states or commands begins a new segment.
func TestRows(t *testing.T) {
	r, dir := newRecording(t)
	for ms := 0.0; ms < 2000; ms += 8 {
		if ms < 800 || ms > 900 {
			r.state(ms, 0.001*ms, 1)
		}
		if ms < 1400 || ms > 1700 {
			r.command(ms, ms)
		}
	}
	if err := r.w.Close(); err != nil {
		t.Fatal(err)
	}
	segments, warnings, err := Read(dir, options())
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	if len(segments) != 2 {
		t.Fatalf("%d segments, expected one before the gap, one before the commands end", len(segments))
	}
	for i, want := range [][2]float64{{0, 0.78}, {0.904, 1.63}} {
		s := segments[i]
		begins, ends := s[0].T, s[len(s)-1].T
		if math.Abs(begins-want[0]) > 1e-9 || math.Abs(ends-want[1]) > 0.02 {
			t.Errorf("segment %d is from %g to %g s, expected %v", i, begins, ends, want)
		}
	}
	for k, row := range segments[0][:30] {
		at := 0.02 * float64(k)
		if math.Abs(row.T-at) > 1e-9 || math.Abs(row.State.Q[0]-at) > 1e-6 || math.Abs(row.State.V[3]-1) > 1e-6 {
			t.Errorf("row %d: %+v, expected q %g", k, row, at)
		}
		if held := 1000*at + 6; math.Abs(row.Torque[2]-held) > 4 { // 8 ms each, held over 20 ms
			t.Errorf("row %d has a torque of %g, expected about %g", k, row.Torque[2], held)
		}
	}
	if mean := segments[0][0].Torque[0]; math.Abs(mean-(0*8+8*8+16*4)/20.) > 1e-6 {
		t.Errorf("the first torque is %g, expected the mean", mean)
	}
}

func TestRefusals(t *testing.T) {
	for want, c := range map[string]struct {
		change func(*Options)
		write  func(*recording)
	}{
		"torques commanded (--commands): there is no topic of type std_msgs/msg/Float64MultiArray with": {nil,
			func(r *recording) { r.state(0, 0, 0) }},
		`joint states (--joint-states): there is no topic "elsewhere" of type`: {
			func(o *Options) { o.States = "elsewhere" }, func(r *recording) { r.state(0, 0, 0) }},
		`topic /joint_states: joint "panda_joint1" is between 0 and 57.3, expected`: {nil, func(r *recording) {
			r.state(0, 0, 1)
			r.state(10, 57.3, 1)
			r.command(0, 1)
		}},
		`turns by 1 rad and its velocity is always 0`: {nil, func(r *recording) {
			r.state(0, 0, 0)
			r.state(10, 1, 0)
			r.command(0, 1)
		}},
		`topic /joint_states: none of 1 messages can be used: there is no joint "elbow"`: {func(o *Options) {
			o.Joints = slices.Clone(o.Joints)
			o.Joints[3] = "elbow"
		}, func(r *recording) {
			r.state(0, 0, 0)
			r.command(0, 1)
		}},
		"topic /efforts: none of 1 messages can be used: 2 numbers, expected 7": {nil, func(r *recording) {
			r.state(0, 0, 0)
			r.c.Data = []float64{1, 2}
			r.write("/efforts", r.c.TypeName(), begin, &r.c)
		}},
		"no 21 rows of 0.02 s in a row with both joint states and commands": {nil, func(r *recording) {
			for ms := 0.0; ms < 300; ms += 10 {
				r.state(ms, 0, 0)
				r.command(ms, 0)
			}
		}},
	} {
		r, dir := newRecording(t)
		c.write(r)
		if err := r.w.Close(); err != nil {
			t.Fatal(err)
		}
		o := options()
		if c.change != nil {
			c.change(&o)
		}
		_, _, err := Read(dir, o)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("got %v, expected %q", err, want)
		}
	}
}
