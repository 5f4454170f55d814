package pushcontroller

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/param/paramtest"
	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/node"
	"vnd/pkg/node/pushsim"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
	"vnd/pkg/sim/mujoco"
	"vnd/pkg/sim/pushing"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

func TestParameterFile(t *testing.T)    { paramtest.File[Params](t, Name) }
func TestParameterFileSim(t *testing.T) { paramtest.File[pushsim.Params](t, pushsim.Name) }

const patience = 30 * time.Second

// ahead writes a bundle whose policy goes ahead along the box's x, whatever it sees.
func ahead(t *testing.T) string {
	t.Helper()
	p, err := vnd.NewActor(pushcontrol.Sees, 0, make([]float32, 2), []float32{1, 1}, []int{4})
	if err != nil {
		t.Fatal(err)
	}
	bias := p.Net.Tensors()[len(p.Net.Tensors())-1]
	p.Net.Params[bias.Offset] = 0.6
	b := &bundle.Bundle{Robot: pusher.Name, Dt: pushing.Dt}
	if err := vnd.PutActor(b, p, nil, "push"); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ahead.vnd")
	if err := bundle.Write(file, b); err != nil {
		t.Fatal(err)
	}
	return file
}

func join(d *inproc.Domain, out io.Writer, parameters ...string) (*ros.Context, error) {
	args := []string{"--ros-args", "--disable-external-lib-logs"}
	for _, p := range parameters {
		args = append(args, "-p", p)
	}
	return ros.NewContext(ros.Options{Args: args, Backend: ros.InProcess(d), Stderr: out,
		Getenv: func(string) string { return "" }})
}

// rig is push_controller, with the test as what it sees and commands.
type rig struct {
	t               *testing.T
	log             rostest.Console
	box, tool, goal *ros.Publisher[geometrymsgs.PoseStamped]
	twists          chan geometrymsgs.TwistStamped
}

func newRig(t *testing.T, d *inproc.Domain, parameters ...string) *rig {
	t.Helper()
	r := &rig{t: t, twists: make(chan geometrymsgs.TwistStamped, 10000)}
	c, err := join(d, &r.log, append(parameters, "bundle_file:="+ahead(t))...)
	if err != nil {
		t.Fatal(err)
	}
	other, err := join(d, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	n, err := other.NewNode("table")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		topic string
		qos   ros.QoS
		to    **ros.Publisher[geometrymsgs.PoseStamped]
	}{{node.BoxPose, node.MocapQoS(), &r.box}, {node.ToolPose, node.MocapQoS(), &r.tool},
		{node.GoalPose, node.CommandQoS(), &r.goal}} {
		if *x.to, err = ros.NewPublisher[geometrymsgs.PoseStamped](n, x.topic, x.qos); err != nil {
			t.Fatal(err)
		}
	}
	take := func(m *geometrymsgs.TwistStamped, _ ros.Info) { r.twists <- *m }
	if _, err = ros.NewSubscription(n, node.ToolTwist, node.CommandQoS(), take); err != nil {
		t.Fatal(err)
	}
	rostest.Spin(t, other, 1)
	if err := New(c); err != nil {
		t.Fatal(err)
	}
	rostest.Spin(t, c, 1)
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := ros.WaitForMatched(ctx, r.goal, 1); err != nil {
		t.Fatal(err)
	}
	return r
}

// aim asks for a goal of the box.
func (r *rig) aim(frame string, at [3]float64) {
	r.t.Helper()
	if err := r.goal.Publish(bridge.OnTable(time.Now().UnixNano(), frame, at, 0)); err != nil {
		r.t.Fatal(err)
	}
}

// show has the node see box and tool.
func (r *rig) show(box [3]float64, tool [2]float64) {
	r.t.Helper()
	now := time.Now().UnixNano()
	err := errors.Join(r.tool.Publish(bridge.OnTable(now, "table", [3]float64{tool[0], tool[1]}, 0)),
		r.box.Publish(bridge.OnTable(now, "table", box, 0)))
	if err != nil {
		r.t.Fatal(err)
	}
}

// next is the velocity that is commanded next.
func (r *rig) next() float64 {
	r.t.Helper()
	select {
	case m := <-r.twists:
		return m.Twist.Linear.X
	case <-time.After(patience):
		r.t.Fatal("no command")
		return 0
	}
}

// said waits for a line of the log.
func (r *rig) said(text string) {
	r.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if strings.Contains(r.log.String(), text) {
			return
		}
	}
	r.t.Fatalf("it does not say %q, but %s", text, r.log.String())
}

// TestPushesUntilNothingIsSeen: it commands from the goal on, and stands where places end.
func TestPushesUntilNothingIsSeen(t *testing.T) {
	r := newRig(t, inproc.NewDomain(), "guard.max_age:=1.0")
	r.aim("map", [3]float64{0.1, 0, 0})
	r.said(`topic goal/pose: frame_id is "map", expected "table"`)
	r.aim("table", [3]float64{0.1, 0, 0})
	r.said("pushes to 0.100")
	r.show([3]float64{}, [2]float64{-0.1, 0})
	if v := r.next(); !(v > 0.1) {
		t.Errorf("commands %g m/s", v)
	}
	if v := r.next(); v != 0 { // nothing more is shown
		t.Errorf("commands %g m/s where nothing is seen", v)
	}
	r.said("the push is given up: no place of the box on box/pose for more than 1 s")
	r.aim("table", [3]float64{0.7, 0, 0})
	r.said("pushes to 0.700")
	r.show([3]float64{}, [2]float64{-0.1, 0})
	if v := r.next(); v != 0 {
		t.Errorf("commands %g m/s to a goal that is too far away", v)
	}
	r.said("the goal is 0.70 m from the box, expected at most 0.35")
}

// TestBundleIsNeeded: without one there is one line.
func TestBundleIsNeeded(t *testing.T) {
	c, err := join(inproc.NewDomain(), io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := New(c); err == nil || !strings.Contains(err.Error(), "bundle_file: is empty, expected a bundle") {
		t.Error(err)
	}
}

// TestPushesTheSimulatedBox: a box of MuJoCo that lies ahead goes ahead, until the tool has brought it to its goal or
// past it.
func TestPushesTheSimulatedBox(t *testing.T) {
	w, err := pushing.NewWorlds(1, 1)
	if err != nil {
		if errors.Is(err, mujoco.ErrMissing) || strings.Contains(err.Error(), "without C") {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	w.Close()
	d := inproc.NewDomain()
	r := newRig(t, d, "use_sim_time:=true", "guard.max_age:=1.0")
	sim, err := join(d, io.Discard, "lockstep:=true", "lockstep_patience:=30.0", "mass:=1.5")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	if err := pushsim.New(ctx, sim); err != nil {
		t.Fatal(err)
	}
	rostest.SpinWith(ctx, cancel, t, sim, 1)
	wait, stop := context.WithTimeout(context.Background(), patience)
	defer stop()
	if err := ros.WaitForMatched(wait, r.goal, 1); err != nil {
		t.Fatal(err)
	}
	r.aim("table", [3]float64{0.1, 0, 0})
	moved := 0.
	for range 200 {
		v := r.next()
		if moved += v * pushing.Dt; v == 0 {
			break
		}
	}
	if !(moved > 0.1) {
		t.Errorf("the tool was commanded over %.3f m, expected to push\n%s", moved, r.log.String())
	}
}
