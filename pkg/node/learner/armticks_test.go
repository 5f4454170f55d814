package learner

import (
	"math"
	"strings"
	"testing"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/learning/continual/rounds"
	robotarm "vnd/pkg/robot/arm"
	"vnd/pkg/sim/manipulation"
)

// swinging is what arm_controller reports of an arm whose joints are driven to and fro under a payload, kg.
type swinging struct {
	truth robotarm.Robot
	s     [2 * robotarm.Joints]float32
	m     msgs.ArmStep
	stamp int64
	ticks armTicks
}

func newSwinging(mass float64) *swinging {
	w := &swinging{truth: manipulation.Truth(mass), stamp: 1e18}
	w.truth.System().Rest(w.s[:], make([]float32, robotarm.Joints))
	w.m.BundleID, w.m.Policy, w.m.Task = "a", true, "track_pose"
	w.m.Tool, w.m.Reference = geometrymsgs.Point{X: 0.5, Y: 0.003}, geometrymsgs.Point{X: 0.5, Z: 0.004}
	return w
}

// step reports a tick after some periods, and returns what comes of it.
func (w *swinging) step(t *testing.T, periods int64) []rounds.ControllerTick {
	t.Helper()
	var tau [robotarm.Joints]float32
	w.m.Position, w.m.Velocity, w.m.Effort = nil, nil, nil
	for j := range tau {
		tau[j] = float32(2 * math.Cos(float64(j+4)*float64(w.m.Seq)*0.02))
		w.m.Position = append(w.m.Position, float64(w.s[j]))
		w.m.Velocity = append(w.m.Velocity, float64(w.s[robotarm.Joints+j]))
		w.m.Effort = append(w.m.Effort, float64(tau[j]))
	}
	w.stamp += periods * 2e7
	w.m.Header.Stamp = bridge.Time(w.stamp)
	all, err := w.ticks.add(&w.m)
	if err != nil {
		t.Fatal(err)
	}
	var none [2 * robotarm.Joints]float32
	w.truth.System().Step(1, w.s[:], tau[:], none[:], w.s[:])
	w.m.Seq++
	return all
}

// TestArmTicksKnowThePayload: a second of an arm tells what it carries. After a gap nobody knows.
func TestArmTicksKnowThePayload(t *testing.T) {
	w := newSwinging(2)
	var all []rounds.ControllerTick
	for range 120 {
		all = append(all, w.step(t, 1)...)
	}
	if len(all) != 100 {
		t.Fatalf("%d ticks", len(all))
	}
	for _, x := range all {
		if !x.Policy || x.Bundle != "a" || math.Abs(x.Error-0.005) > 1e-9 || math.Abs(x.Place[0]-2) > 0.1 ||
			math.Abs(x.Place[1]-0.5) > 0.1 {
			t.Fatalf("%+v at %v", x, x.Place)
		}
	}
	lost := w.step(t, 3)
	if len(lost) != 20 || lost[0].Policy || lost[0].Place != nil {
		t.Errorf("after a gap: %d ticks, %+v", len(lost), lost)
	}
	w.m.Position = w.m.Position[:3]
	if _, err := w.ticks.add(&w.m); err == nil || !strings.Contains(err.Error(), "position has 3 numbers, expected 7") {
		t.Error(err)
	}
}

// TestArmTicksOfARollback: of a bundle that the controller rolled back at a fault; not of a swap, nor of a controller
// that begins anew.
func TestArmTicksOfARollback(t *testing.T) {
	for _, c := range []struct {
		name, fault, want string
		anew              bool
	}{
		{"rolled back", "the tool is off", "a", false},
		{"swapped", "", "", false},
		{"begins anew", "joint states end", "", true},
	} {
		w := newSwinging(1)
		w.step(t, 1)
		w.m.BundleID, w.m.Fault = "b", c.fault
		if c.anew {
			w.m.Seq = 0
		}
		w.step(t, 1)
		got := w.ticks.ticks[1]
		if got.Dropped != c.want || got.Dropped != "" && got.Fault != c.fault {
			t.Errorf("%s: %+v", c.name, got)
		}
	}
}
