package armcontroller

import (
	"io"
	"math"
	"slices"
	"testing"
	"time"

	"vnd/msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/node"
	"vnd/pkg/robot/arm"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/rostest"
	"vnd/pkg/vnd"
)

// TestTicksArePublished: each with its state, torques, tool and bundle, and, once a window is whole, its latent.
func TestTicksArePublished(t *testing.T) {
	r := newRig(t)
	c, err := ros.NewContext(ros.Options{Args: []string{"--ros-args", "--disable-external-lib-logs"},
		Backend: ros.InProcess(r.domain), Getenv: func(string) string { return "" }, Stderr: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.NewNode("people")
	if err != nil {
		t.Fatal(err)
	}
	steps, latents := make(chan msgs.ArmStep, 100), make(chan msgs.Latent, 100)
	if _, err := ros.NewSubscription(n, node.ArmStep, node.StepQoS(),
		func(m *msgs.ArmStep, _ ros.Info) { steps <- *m }); err != nil {
		t.Fatal(err)
	}
	if _, err := ros.NewSubscription(n, "latent", node.LatentQoS(),
		func(m *msgs.Latent, _ ros.Info) { latents <- *m }); err != nil {
		t.Fatal(err)
	}
	rostest.Spin(t, c, 1)
	if err := ros.WaitForMatched(t.Context(), r.steps, 1); err != nil {
		t.Fatal(err)
	}
	if err := ros.WaitForMatched(t.Context(), r.latents, 1); err != nil {
		t.Fatal(err)
	}
	b := message(t, 0.02, 1, func(a *vnd.Actor[float32]) { // which sees the latent
		for i := range a.Net.Params {
			a.Net.Params[i] = 1e-3
		}
	})
	r.addBundle(b, ros.Info{})
	chain := arm.Panda()
	pose := chain.NewPose()
	chain.Place(arm.Home[:], &pose)
	for k := range uint64(6) {
		m := r.states()
		r.addStates(m, ros.Info{})
		s := within(t, steps)
		if s.Seq != k || s.Header.Stamp != m.Header.Stamp || s.Header.FrameID != "panda_link0" ||
			s.BundleID != b.ID || s.Policy || s.Fault != "" || s.Task != "track_pose "+held ||
			!slices.Equal(s.Position, arm.Home[:]) || !slices.Equal(s.Effort, r.m.Data) ||
			math.Abs(s.Tool.X-pose.Tool.X)+math.Abs(s.Reference.Z-pose.Tool.Z) > 1e-9 {
			t.Fatalf("step %d: %+v", k, s)
		}
		const window = 3
		if known := k >= window; known != (len(s.Latent) == 2) {
			t.Fatalf("step %d has the latent %v", k, s.Latent)
		} else if known {
			l := within(t, latents)
			if l.Header.Stamp != m.Header.Stamp || l.BundleID != b.ID || !slices.Equal(l.Mean, s.Latent) ||
				!(l.Novelty >= 0 && l.Novelty <= 1) || bridge.Nanoseconds(l.Header.Stamp) != r.stamp {
				t.Fatalf("latent %+v, of the step %v", l, s.Latent)
			}
		}
	}
}

// within waits for what comes.
func within[M any](t *testing.T, c chan M) M {
	t.Helper()
	select {
	case m := <-c:
		return m
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
		panic("not reached")
	}
}

// TestTorquesThatNobodyTakes: where no effort controller listens, one line of the log says so.
func TestTorquesThatNobodyTakes(t *testing.T) {
	r := newRig(t)
	r.addStates(r.states(), ros.Info{})
	for range 2 {
		r.report(new(diagnostics.Status))
	}
	if n := r.logged("nobody hears joint_group_effort_controller/commands: "); n != 1 || !r.unheard() {
		t.Errorf("logged %d times: %s", n, r.log.String())
	}
	c, err := ros.NewContext(ros.Options{Args: []string{"--ros-args", "--disable-external-lib-logs"},
		Backend: ros.InProcess(r.domain), Getenv: func(string) string { return "" }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	n, err := c.NewNode("effort_controller")
	if err == nil {
		_, err = ros.NewSubscription(n, node.JointEfforts, node.CommandQoS(),
			func(*stdmsgs.Float64MultiArray, ros.Info) {})
	}
	if err == nil {
		err = ros.WaitForMatched(t.Context(), r.efforts, 1)
	}
	if err != nil || r.unheard() {
		t.Errorf("with one that listens nobody hears them, %v", err)
	}
}
