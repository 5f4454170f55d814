package pushcontroller

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/attached"
	"vnd/pkg/node"
	"vnd/pkg/node/pushsim"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
	"vnd/pkg/sim/pushing"
)

// process runs a program until the test ends, and returns what it says.
func process(t *testing.T, programs, name string, parameters ...string) *rostest.Console {
	t.Helper()
	args := []string{"--ros-args"}
	for _, p := range parameters {
		args = append(args, "-p", p)
	}
	log := new(rostest.Console)
	p := exec.Command(filepath.Join(programs, name), args...)
	p.Env = append(append(os.Environ(), rostest.Environ()...), "ROS_LOG_DIR="+t.TempDir())
	p.Stdout, p.Stderr = log, log
	if err := attached.Start(p, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Process.Signal(os.Interrupt); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := p.Wait(); err != nil || t.Failed() {
			t.Errorf("%s: %v\n%s", name, err, log)
		}
	})
	return log
}

// TestBadBundleIsRolledBack: push_controller pushes boxes of push_sim, processes over the wire. A bundle comes that
// pushes the box past its goal, and away. The one before it is back at once, and brings the next box to its goal.
func TestBadBundleIsRolledBack(t *testing.T) {
	w, err := pushing.NewWorlds(1, 1)
	if err != nil {
		t.Skip(err) // there is no MuJoCo
	}
	w.Close()
	programs := t.TempDir()
	build := exec.Command("go", "build", "-o", programs+"/", "vnd/nodes/push_controller", "vnd/nodes/push_sim")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	good, bad := ahead(t, 0.12), ahead(t, 0.9)
	c := rostest.Wire(t, nil)
	n, err := c.NewNode("operator")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, steps: make(chan msgs.PushStep, 10000)}
	r.bundles, err = ros.NewPublisher[msgs.Bundle](n, "bundle", node.LatchedQoS())
	if err == nil {
		r.goal, err = ros.NewPublisher[geometrymsgs.PoseStamped](n, node.GoalPose, node.CommandQoS())
	}
	q := node.StepQoS()
	q.Depth = 5000
	if err == nil {
		_, err = ros.NewSubscription(n, node.PushStep, q, func(m *msgs.PushStep, _ ros.Info) { r.steps <- *m })
	}
	if err != nil {
		t.Fatal(err)
	}
	rostest.Spin(t, c, 1)
	log := process(t, programs, Name, "use_sim_time:=true", "guard.max_age:=1.0", "guard.farthest:=0.15",
		"bundle_file:="+written(t, good))
	process(t, programs, pushsim.Name, "lockstep:=true", "lockstep_patience:=0.5", "mass:=0.5")
	pushed := 0.
	for _, x := range []struct {
		by, after string
		there     bool
	}{{good.ID, good.ID, true}, {bad.ID, good.ID, false}, {good.ID, good.ID, true}} {
		if x.by == bad.ID {
			r.send(bad)
			said(t, log, "bundle "+bad.ID)
		}
		m := r.pushTo(pushed+0.1, x.by)
		pushed = m.Box[0]
		if m.There != x.there || m.BundleID != x.after || m.PolicyFailed == x.there {
			t.Errorf("pushed by %s: ends with %+v\n%s", x.by, m, log)
		}
	}
	if want := "bundle " + bad.ID + " is rolled back, " + good.ID + " pushes again"; !strings.Contains(log.String(),
		want) {
		t.Errorf("it does not say %q, but\n%s", want, log)
	}
}

// pushTo has the box pushed ahead to a place by a bundle, and returns the last tick of that.
func (r *rig) pushTo(x float64, by string) (m msgs.PushStep) {
	r.t.Helper()
	const again = 2 * time.Second // a goal may be lost while the controller has not seen who publishes it
	ask := time.NewTicker(again)
	defer ask.Stop()
	r.aimAt(x)
	for end := time.After(patience); ; {
		select {
		case m = <-r.steps:
			if m.There || m.Fault != "" {
				return m
			}
			if m.BundleID != by {
				r.t.Fatalf("bundle %s pushes, expected %s", m.BundleID, by)
			}
			ask.Reset(again)
		case <-ask.C:
			r.aimAt(x)
		case <-end:
			r.t.Fatalf("a push to %g m does not end: %+v", x, m)
		}
	}
}

func (r *rig) aimAt(x float64) {
	r.t.Helper()
	if err := r.goal.Publish(bridge.OnTable(0, "table", [3]float64{x, 0, 0}, 0)); err != nil {
		r.t.Fatal(err)
	}
}

// said waits for a line of a log.
func said(t *testing.T, log *rostest.Console, text string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if strings.Contains(log.String(), text) {
			return
		}
	}
	t.Fatalf("it does not say %q, but %s", text, log)
}
