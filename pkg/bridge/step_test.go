package bridge

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"vnd/msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
)

// Every field of a tick has its place in the message, where the readers of steps find it.
func TestPutStep(t *testing.T) {
	state := quad.State{P: so3.Vec3{X: 1, Y: 2, Z: 3}, Q: so3.Quat{W: .5, X: .5, Y: -.5, Z: .5},
		V: so3.Vec3{X: 4, Y: 5, Z: 6}}
	tick := control.TickRecord{Seq: 7, Stamp: 1_700_000_000_000_000_008, State: state,
		Command:  quad.Command{Thrust: 9, Rates: so3.Vec3{X: 10, Y: 11, Z: 12}},
		Sent:     quad.Command{Thrust: 13, Rates: so3.Vec3{X: 14, Y: 15, Z: 16}},
		Actuator: quad.Command{Thrust: 17, Rates: so3.Vec3{X: 18, Y: 19, Z: 20}},
		Reference: []quad.Reference{{P: so3.Vec3{X: 21, Y: 22, Z: 23}, V: so3.Vec3{X: 24, Y: 25, Z: 26}, Yaw: 27},
			{P: so3.Vec3{X: 28, Y: 29, Z: 30}, V: so3.Vec3{X: 31, Y: 32, Z: 33}, Yaw: 34}},
		Latent: []float32{35, 36}, LatentStamp: 1_600_000_000_000_000_037, Bundle: "b", Stage: guard.Hold,
		Confidence: .38, Task: "track"}
	want := msgs.Step{Seq: 7, Command: [4]float64{9, 10, 11, 12}, CommandSent: [4]float64{13, 14, 15, 16},
		Actuator:  [4]float64{17, 18, 19, 20},
		Reference: []float64{21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34}, Latent: []float32{35, 36},
		BundleID: "b", GuardState: msgs.StepGuardHold, Confidence: .38, Task: "track"}
	want.Header.Stamp.Sec, want.Header.Stamp.Nanosec, want.Header.FrameID = 1_700_000_000, 8, "map"
	want.LatentStamp.Sec, want.LatentStamp.Nanosec = 1_600_000_000, 37
	want.Pose.Position.X, want.Pose.Position.Y, want.Pose.Position.Z = 1, 2, 3
	want.Pose.Orientation.W, want.Pose.Orientation.X, want.Pose.Orientation.Y, want.Pose.Orientation.Z = .5, .5, -.5, .5
	want.Velocity.X, want.Velocity.Y, want.Velocity.Z = 4, 5, 6
	var got msgs.Step
	for range 2 { // into a fresh message and into a used one
		PutStep(&got, &tick, "map")
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	}
	if p := FromStep(&got); p.State != state || p.Stamp != tick.Stamp || CommandFromStep(&got).Command != tick.Sent {
		t.Errorf("read back %+v", p)
	}
	if r, ok := ReferenceOf(&got); !ok || r != tick.Reference[0] {
		t.Errorf("read back the reference %+v", r)
	}
	if _, ok := ReferenceOf(&msgs.Step{Reference: want.Reference[:6]}); ok {
		t.Error("a reference was read of six numbers")
	}
	if n := testing.AllocsPerRun(100, func() { PutStep(&got, &tick, "map") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// The stages of the guard are those that Step.msg declares, by number.
func TestGuardStagesAreDeclaredInStep(t *testing.T) {
	declared := map[uint8]guard.Stage{
		msgs.StepGuardPolicy: guard.Policy, msgs.StepGuardLimited: guard.Limited, msgs.StepGuardHold: guard.Hold,
		msgs.StepGuardLand: guard.Land, msgs.StepGuardBlind: guard.Blind, msgs.StepGuardOff: guard.Off,
		msgs.StepGuardNotOffboard: guard.NotOffboard,
	}
	for state, stage := range declared {
		if state != uint8(stage) {
			t.Errorf("stage %v is %d, Step.msg has %d for it", stage, stage, state)
		}
	}
	if next := guard.Stage(len(declared)); next.String() != "unknown" {
		t.Errorf("stage %d, %v, is not in Step.msg", next, next)
	}
}

func TestLatentThereAndBack(t *testing.T) {
	z := control.Latent{Stamp: 1_700_000_000_000_000_001, Bundle: "b", Mean: []float32{1, 2}, Novelty: .5}
	var m msgs.Latent
	PutLatent(&m, &z)
	if diff := cmp.Diff(z, FromLatent(&m)); diff != "" {
		t.Error(diff)
	}
}
