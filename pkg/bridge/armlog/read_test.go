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
	// clock is when something of a time, ms, is recorded, and stamp what its stamp says, ms.
	clock, stamp func(ms float64) float64
}

func newRecording(t *testing.T) (*recording, string) {
	dir := filepath.Join(t.TempDir(), "b")
	w, err := bag.Create(dir, bag.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r := &recording{t: t, w: w, clock: func(ms float64) float64 { return ms + 5 },
		stamp: func(ms float64) float64 { return ms }}
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
	r.s.Header.Stamp = bridge.Time(begin + int64(r.stamp(ms)*1e6))
	r.s.Name = bridge.PandaJoints(nil)
	r.s.Position = slices.Clone(arm.Home[:])
	r.s.Position[0] = q
	r.s.Velocity = slices.Repeat([]float64{v}, arm.Joints)
	r.write("/joint_states", r.s.TypeName(), begin+int64(r.clock(ms)*1e6), &r.s)
}

func (r *recording) command(ms, torque float64) {
	r.c.Data = slices.Repeat([]float64{torque}, arm.Joints)
	r.write("/efforts", r.c.TypeName(), begin+int64(r.clock(ms)*1e6), &r.c)
}

// both writes both of 100 Hz, from a time of 0 on.
func (r *recording) both(until float64) {
	for ms := 0.0; ms < until; ms += 10 {
		r.state(ms, 0, 0)
		r.command(ms, ms/1000)
	}
}

// Stamps may be of a clock that drifts or is set: torques stay with the states that they were commanded at.
func TestClocksApart(t *testing.T) {
	for name, c := range map[string]struct {
		stamp    func(float64) float64
		most     int // rows that may be missing
		warnings int
	}{
		"drifts by 2 ms a second":  {func(ms float64) float64 { return 0.998 * ms }, 2, 0},
		"is set by an hour":        {func(ms float64) float64 { return ms + 3.6e6*math.Floor(ms/9000) }, 4, 0},
		"is set back by a second":  {func(ms float64) float64 { return ms - 1000*math.Floor(ms/9000) }, 4, 1},
		"is set by 30 ms":          {func(ms float64) float64 { return ms + 30*math.Floor(ms/9000) }, 40, 1},
		"is that of the recording": {func(ms float64) float64 { return ms }, 2, 0},
	} {
		r, dir := newRecording(t)
		r.stamp = c.stamp
		r.both(12_000)
		if err := r.w.Close(); err != nil {
			t.Fatal(err)
		}
		segments, warnings, err := Read(dir, options())
		if err != nil || len(warnings) != c.warnings {
			t.Errorf("a clock that %s: warnings %q, error %v", name, warnings, err)
		}
		rows, began := 0, 0.
		for _, s := range segments {
			for _, row := range s {
				if rows == 0 {
					began = row.Torque[0]
				}
				rows++
			}
		}
		if last := segments[len(segments)-1]; rows < 600-c.most || math.Abs(began-0.005) > 0.003 ||
			math.Abs(last[len(last)-1].Torque[0]-11.975) > 0.02 {
			t.Errorf("a clock that %s: %d rows, torques from %g to %g", name, rows, began, last[len(last)-1].Torque[0])
		}
	}
}

// What is wild for a moment leaves no wild row, and is told.
func TestWildNumbers(t *testing.T) {
	r, dir := newRecording(t)
	r.both(1000)
	r.state(1000, 0, 1e300)
	r.command(1000, 1e300)
	r.clock = func(ms float64) float64 { return ms + 1015 }
	r.stamp = func(ms float64) float64 { return ms + 1010 }
	r.both(1000)
	if err := r.w.Close(); err != nil {
		t.Fatal(err)
	}
	segments, warnings, err := Read(dir, options())
	if err != nil || len(warnings) != 2 {
		t.Fatal(warnings, err)
	}
	for _, s := range segments {
		for _, row := range s {
			if math.Abs(row.State.V[0]) > 1e-9 || math.Abs(row.Torque[0]) > arm.Panda().Links[0].Torque {
				t.Fatalf("%+v", row)
			}
		}
	}
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
			r.command(ms, ms/200)
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
	for i, want := range [][2]float64{{0, 0.78}, {0.904, 1.38}} {
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
		if held := (1000*at + 6) / 200; math.Abs(row.Torque[2]-held) > 0.02 { // 8 ms each, held over 20 ms
			t.Errorf("row %d has a torque of %g, expected about %g", k, row.Torque[2], held)
		}
	}
	if mean := segments[0][0].Torque[0]; math.Abs(mean-(0*8+8*8+16*4)/20./200) > 1e-9 {
		t.Errorf("the first torque is %g, expected the mean", mean)
	}
}

// refusal is a bag that is refused.
type refusal struct {
	change func(*Options)
	write  func(*recording)
}

func (c *refusal) refused(t *testing.T, want string) {
	t.Helper()
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

func TestRefusals(t *testing.T) {
	for want, c := range map[string]refusal{
		"torques commanded (--commands): there is no topic of type std_msgs/msg/Float64MultiArray with": {nil,
			func(r *recording) { r.state(0, 0, 0) }},
		`joint states (--joint-states): there is no topic "elsewhere" of type`: {
			func(o *Options) { o.States = "elsewhere" }, func(r *recording) { r.state(0, 0, 0) }},
		`joint states (--joint-states): there is no topic "/efforts" of type`: {
			func(o *Options) { o.States, o.Commands = "/efforts", "/efforts" }, func(r *recording) { r.both(1000) }},
		`topic /joint_states: joint "panda_joint1" is between 0 and 57.3, expected`: {nil, func(r *recording) {
			r.state(0, 0, 1)
			r.state(10, 57.3, 1)
			r.command(0, 1)
		}},
		`by its velocity joint "panda_joint1" turns 0 times as far as by its position`: {nil, func(r *recording) {
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
		"commands: 30 joint states are over 0.29 s, 30 commands over 0.29 s, expected at most 0.05 and 0.25 s apart": {
			nil, func(r *recording) { r.both(300) }},
	} {
		c.refused(t, want)
	}
}

// Units, signs and clocks that are not what they should be are refused, not fitted.
func TestImplausible(t *testing.T) {
	for want, c := range map[string]refusal{
		`by its velocity joint "panda_joint1" turns -1 times as far`: {nil, func(r *recording) {
			for ms := 0.0; ms < 1000; ms += 10 {
				r.state(ms, 0.001*ms, -1)
				r.command(ms, 0)
			}
		}},
		`99 of 100 messages are not used, the first: joint "panda_joint1" turns at 57.3 rad/s, expected at most`: {nil,
			func(r *recording) {
				r.state(0, 0, 0)
				for ms := 10.0; ms < 1000; ms += 10 {
					r.state(ms, 0.001*ms, 57.3)
					r.command(ms, 0)
				}
			}},
		"topic /efforts: 100 of 100 commands are beyond what joints have, expected N·m": {nil, func(r *recording) {
			for ms := 0.0; ms < 1000; ms += 10 {
				r.state(ms, 0, 0)
				r.command(ms, 1000)
			}
		}},
		"times of recording do not pass as stamps do there, expected within 5 ms": {nil, func(r *recording) {
			r.clock = func(ms float64) float64 { return ms / 4 } // a simulator that is faster than time
			r.both(2000)
		}},
		"100 of 200 stamps are before the one that came before, expected one publisher": {nil, func(r *recording) {
			r.stamp = func(ms float64) float64 { return ms - 13*float64(int(ms/10)%2) }
			r.both(2000)
		}},
	} {
		c.refused(t, want)
	}
}
