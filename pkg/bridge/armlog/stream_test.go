package armlog

import (
	"math"
	"strings"
	"testing"

	sensormsgs "vnd/msgs/sensor_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/robot/arm"
)

// feed sends states each 10 ms from a stamp on, in which joint 1 is at its stamp in tenths of a rad, and a command of
// that torque each 20 ms, some ms after its state.
func feed(t *testing.T, s *Stream, from, steps int64, after func(k int64) int64) {
	t.Helper()
	joints := bridge.PandaJoints(nil)
	for k := range steps {
		var m sensormsgs.JointState
		q, v := arm.Home, [arm.Joints]float64{0.1}
		stamp := from + k*1e7
		q[0] = float64(stamp) / 1e10
		joints.PutJointState(&m, stamp, q[:], v[:], v[:])
		if err := s.States(&m, stamp); err != nil {
			t.Fatal(err)
		}
		if k%2 == 0 {
			tau := make([]float64, arm.Joints)
			tau[0] = q[0]
			if err := s.Command(&stdmsgs.Float64MultiArray{Data: tau}, stamp+after(k)*1e6); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func newStream(simulated bool) *Stream {
	return NewStream(Options{Joints: bridge.PandaJoints(nil), States: "s", Commands: "c", Delta: 0.02, Window: 20},
		simulated)
}

// TestStreamGoesOn: what is taken in parts has all rows but those that are still to come, each with its torque, whether
// commands take no time or, in lockstep, any.
func TestStreamGoesOn(t *testing.T) {
	for _, simulated := range []bool{false, true} {
		s := newStream(simulated)
		n, after := 0, func(k int64) int64 { return 0 }
		if simulated {
			after = func(k int64) int64 { return k % 5 } // time stands meanwhile
		}
		for part := range int64(3) {
			feed(t, s, 1e9+part*2e9, 200, after)
			got := s.Take()
			if got.Why != "" || len(got.Rows) != 1 {
				t.Fatalf("part %d: %d stretches, %s", part, len(got.Rows), got.Why)
			}
			for _, row := range got.Rows[0] {
				if at := float64(got.Begin)/1e9 + row.T; math.Abs(at-10*row.State.Q[0]) > 1e-6 {
					t.Fatalf("at %g s the state of %g s", at, 10*row.State.Q[0])
				}
				if math.Abs(row.Torque[0]-row.State.Q[0]) > 1e-9 {
					t.Fatalf("simulated %t: at %g rad a torque of %g", simulated, row.State.Q[0], row.Torque[0])
				}
			}
			n += len(got.Rows[0])
		}
		if n < 265 || n > 275 { // of 300, but for the newest half second
			t.Errorf("simulated %t: %d rows", simulated, n)
		}
	}
}

// TestStreamForgets: what no Panda does is refused once, a clock that is set back begins anew, and commands alone are
// not kept.
func TestStreamForgets(t *testing.T) {
	s, none := newStream(false), func(int64) int64 { return 0 }
	for k := range int64(100) {
		feed(t, s, 1e9+k*1e7, 1, none)
		feed(t, s, 1e9+k*1e7-33e6, 1, none)
	}
	if got := s.Take(); got.Rows != nil || !strings.Contains(got.Why, "stamps are before the one that came before") {
		t.Errorf("two publishers: %+v", got)
	}
	feed(t, s, 1e8, 1, none)
	if s.Seconds() >= 0 {
		t.Errorf("%g s after the clock was set back", s.Seconds())
	}
	if got := s.Take(); got.Rows != nil || s.Seconds() != 0 || !strings.Contains(got.Why, "the clock was set back") {
		t.Errorf("%+v, %g s", got, s.Seconds())
	}
	s = newStream(false)
	for range 10 {
		if err := s.Command(&stdmsgs.Float64MultiArray{Data: make([]float64, arm.Joints)}, 1); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.commands) != 1 {
		t.Errorf("%d commands are kept", len(s.commands))
	}
}

// TestStreamSaysWhyNothingIsLearned: clocks that are apart, commands that end, and joints that jump.
func TestStreamSaysWhyNothingIsLearned(t *testing.T) {
	for want, after := range map[string]func(k int64) int64{
		"":                                 func(int64) int64 { return 2 },
		"no 21 rows of 0.02 s in a row":    func(k int64) int64 { return 1000 * (k / 8) }, // each later
		"torques that joints have":         nil,
		"further than it can turn":         nil,
		`joint "panda_joint1" is at 4 rad`: nil,
	} {
		s, refused := newStream(false), error(nil)
		for k := range int64(400) {
			stamp := 1e9 + k*1e7
			q, v, tau := arm.Home, [arm.Joints]float64{}, make([]float64, arm.Joints)
			switch {
			case k%100 == 50 && strings.Contains(want, "further"):
				q[0] += 0.5
			case k%100 == 50 && strings.Contains(want, "4 rad"):
				q[0] = 4
			case k == 50 && strings.Contains(want, "torques"):
				tau[0] = 1e300
			}
			var m sensormsgs.JointState
			bridge.PandaJoints(nil).PutJointState(&m, stamp, q[:], v[:], v[:])
			if err := s.States(&m, stamp); err != nil {
				refused = err
			}
			late := int64(2)
			if after != nil {
				late = after(k)
			}
			if err := s.Command(&stdmsgs.Float64MultiArray{Data: tau}, stamp+late*1e6); err != nil {
				t.Fatal(err)
			}
		}
		got := s.Take()
		if refused != nil {
			got.Why += refused.Error()
		}
		if !strings.Contains(got.Why, want) || want == "" && got.Why != "" || strings.Contains(got.Why, "\n") {
			t.Errorf("%q, expected %q", got.Why, want)
		}
		for _, rows := range got.Rows {
			for _, row := range rows {
				if row.State.Q[0] != arm.Home[0] || row.State.V[0] != 0 {
					t.Errorf("%s: a row of %+v", want, row.State)
				}
			}
		}
		if rows := got.Rows; len(rows) == 0 != strings.HasPrefix(want, "no 21") {
			t.Errorf("%s: %d stretches", want, len(rows))
		}
	}
}
