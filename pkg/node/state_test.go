package node_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

// poorPoses is a world's file whose poses come at 10 Hz, 80 ms late.
const poorPoses = `world:
  ros__parameters:
    mocap: {rate: 10.0, latency: 0.08, position: 0.003, attitude: 0.01}
`

// Over the wire: state_estimator makes a state of an IMU and of poses at 10 Hz, 80 ms late; the policy hovers on it and
// flies the figure-eight.
func TestFlightOnAnEstimate(t *testing.T) {
	if testing.Short() {
		t.Skip("three processes")
	}
	l := newLab(t)
	if out, err := exec.CommandContext(l.ctx, "go", "build", "-o", l.dir,
		"../../nodes/state_estimator").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	world := written(t, t.TempDir(), "poor.yaml", poorPoses)
	file := must(filepath.Abs("../flight/control/testdata/a.vnd"))(t)
	l.start("state_estimator", "-p", "use_sim_time:=true")
	l.start("quad_sim", "-p", "world:="+world, "-p", "inertial:=true", "-p", "imu_rate:=200.0", "-p", "lockstep:=true",
		"-p", "lockstep_patience:=20.0", "-p", "lockstep_paced:=true", "-p", "speed:=2.0")
	l.start("policy_controller", "-p", "use_sim_time:=true", "-p", "state_source:=odometry", "-p", "bundle_file:="+file)
	l.change("configure")
	l.change("activate")
	l.until("the robot hovers", func() bool { return l.hovers(so3.Vec3{Z: 1}) && l.policyFlew(100) })
	if r := l.task("track", ""); !r.Success {
		t.Fatal(r.Message)
	}
	var e float64
	l.until("the figure-eight has been flown", func() bool { return l.tracked(&e, 6) })
	if t.Logf("mean error %.1f mm", 1000*e); e > 0.1 {
		t.Errorf("%.3f m from the figure-eight in the mean", e)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.steps[len(l.steps)-300:] {
		if !guard.Stage(s.GuardState).PolicyFlies() {
			t.Fatalf("the guard flies: %+v", s)
		}
	}
	for _, line := range l.log {
		if strings.Contains(line, "divergence") {
			t.Error(line)
		}
	}
}
