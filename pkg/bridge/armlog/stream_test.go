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
			all, err := s.Take()
			if err != nil || len(all) != 1 {
				t.Fatalf("part %d: %d stretches, %v", part, len(all), err)
			}
			for _, row := range all[0] {
				if math.Abs(row.Torque[0]-row.State.Q[0]) > 1e-9 {
					t.Fatalf("simulated %t: at %g rad a torque of %g", simulated, row.State.Q[0], row.Torque[0])
				}
			}
			n += len(all[0])
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
	feed(t, s, 400e9, 200, none) // at 40 rad
	if _, err := s.Take(); err == nil || !strings.Contains(err.Error(), `joint "panda_joint1" is between 40`) {
		t.Errorf("got %v", err)
	}
	feed(t, s, 1e9, 1, none)
	if s.Seconds() >= 0 {
		t.Errorf("%g s after the clock was set back", s.Seconds())
	}
	if all, err := s.Take(); err != nil || all != nil || s.Seconds() != 0 {
		t.Errorf("%d stretches, %v, %g s", len(all), err, s.Seconds())
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
