package node_test

import (
	"path/filepath"
	"testing"
	"time"

	"vnd/msgs"
	"vnd/pkg/core/so3"
)

// Over the wire: a policy that commands motors hovers and flies the figure-eight, and the guard lands and takes off by
// its rate loop and mixer. Then the controller is killed, and the vehicle's failsafe lands it.
func TestMotorsOverTheWire(t *testing.T) {
	if testing.Short() {
		t.Skip("two processes")
	}
	l := newLab(t)
	world := must(filepath.Abs("../../params/worlds/calm.yaml"))(t)
	file := must(filepath.Abs("../flight/control/testdata/motors.vnd"))(t)
	const rotors = "command_interface:=rotors"
	l.start("quad_sim", "-p", rotors, "-p", "world:="+world, "-p", "lockstep:=true", "-p", "lockstep_patience:=20.0",
		"-p", "lockstep_paced:=true", "-p", "speed:=2.0")
	end := l.spawn("policy_controller", "-p", rotors, "-p", "use_sim_time:=true", "-p", "bundle_file:="+file)
	l.change("configure")
	l.change("activate")
	l.until("the robot hovers", func() bool { return l.hovers(so3.Vec3{Z: 1}) && l.policyFlew(100) })
	if r := l.task("track", ""); !r.Success {
		t.Fatal(r.Message)
	}
	var e float64
	l.until("the figure-eight has been flown", func() bool { return l.tracked(&e, 2) })
	if t.Logf("mean error %.1f mm", 1000*e); e > 0.15 {
		t.Errorf("%.3f m from the figure-eight in the mean", e)
	}
	if r := l.task("hover", ""); !r.Success {
		t.Fatal(r.Message)
	}
	l.until("the robot hovers again", func() bool { return l.hovers(so3.Vec3{Z: 1}) })
	if r := l.trigger("policy_controller/land"); !r.Success {
		t.Fatal(r.Message)
	}
	l.until("the robot has landed", func() bool {
		return newest(l.steps).GuardState == msgs.StepGuardOff && newest(l.truth).State.P.Z < 0.1
	})
	if r := l.trigger("policy_controller/takeoff"); !r.Success {
		t.Fatal(r.Message)
	}
	l.until("the policy flies again", func() bool {
		return newest(l.steps).GuardState == msgs.StepGuardPolicy && newest(l.truth).State.P.Z > 0.9
	})
	l.until("the robot hovers again", func() bool { return l.hovers(so3.Vec3{Z: 1}) })
	end()
	l.until("the failsafe has landed it", func() bool {
		z := newest(l.truth).State.P.Z
		time.Sleep(time.Millisecond)
		return z < 0.1
	})
}
