package pushcontroller

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	rosgraphmsgs "vnd/msgs/rosgraph_msgs"
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

// ahead is a bundle whose policy goes ahead along the box's x at a share of the speed, whatever it sees.
func ahead(t *testing.T, share float32) *bundle.Bundle {
	t.Helper()
	p, err := vnd.NewActor(pushcontrol.Sees, 0, make([]float32, 2), []float32{1, 1}, []int{4})
	if err != nil {
		t.Fatal(err)
	}
	bias := p.Net.Tensors()[len(p.Net.Tensors())-1]
	p.Net.Params[bias.Offset] = share
	b := &bundle.Bundle{Robot: pusher.Name, Dt: pushing.Dt}
	if err := vnd.PutActor(b, p, nil, "push"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Encode(); err != nil { // which names it
		t.Fatal(err)
	}
	return b
}

// written writes it to a file.
func written(t *testing.T, b *bundle.Bundle) string {
	t.Helper()
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
	bundles         *ros.Publisher[msgs.Bundle]
	twists          chan geometrymsgs.TwistStamped
	steps           chan msgs.PushStep
	clock           *ros.Publisher[rosgraphmsgs.Clock]
	now             func() int64 // ns
}

func newRig(t *testing.T, d *inproc.Domain, parameters ...string) *rig {
	t.Helper()
	r := &rig{t: t, twists: make(chan geometrymsgs.TwistStamped, 10000), steps: make(chan msgs.PushStep, 10000),
		now: func() int64 { return time.Now().UnixNano() }}
	c, err := join(d, &r.log, parameters...)
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
	if r.clock, err = ros.NewPublisher[rosgraphmsgs.Clock](n, "/clock", node.CommandQoS()); err != nil {
		t.Fatal(err)
	}
	if r.bundles, err = ros.NewPublisher[msgs.Bundle](n, "bundle", node.LatchedQoS()); err != nil {
		t.Fatal(err)
	}
	if _, err = ros.NewSubscription(n, node.PushStep, node.StepQoS(), func(m *msgs.PushStep, _ ros.Info) {
		r.steps <- *m
	}); err != nil {
		t.Fatal(err)
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
	if err := r.goal.Publish(bridge.OnTable(r.now(), frame, at, 0)); err != nil {
		r.t.Fatal(err)
	}
}

// show has the node see box and tool.
func (r *rig) show(box [3]float64, tool [2]float64) {
	r.t.Helper()
	now := r.now()
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
	said(r.t, &r.log, text)
}

// TestPushesUntilNothingIsSeen: it commands from the goal on, and stands where places end.
func TestPushesUntilNothingIsSeen(t *testing.T) {
	r := newRig(t, inproc.NewDomain(), "guard.max_age:=1.0", "bundle_file:="+written(t, ahead(t, 0.6)))
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

// send publishes a bundle.
func (r *rig) send(b *bundle.Bundle) {
	r.t.Helper()
	data, err := b.Encode()
	if err == nil {
		err = r.bundles.Publish(&msgs.Bundle{ID: b.ID, Robot: b.Robot, Task: b.Task, Data: data,
			Sha256: sha256.Sum256(data)})
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// step is the next tick that is reported.
func (r *rig) step() (m msgs.PushStep) {
	r.t.Helper()
	select {
	case m = <-r.steps:
	case <-time.After(patience):
		r.t.Fatal("no tick is reported")
	}
	return m
}

// TestBundlesComeWhileItPushes: without a file the first one is waited for. The next one pushes on, and each tick tells
// which one did. Those of another robot or period are refused.
func TestBundlesComeWhileItPushes(t *testing.T) {
	r := newRig(t, inproc.NewDomain(), "use_sim_time:=true") // which stands, however busy the machine is
	r.now = func() int64 { return 1e9 }
	if err := r.clock.Publish(&rosgraphmsgs.Clock{Clock: bridge.Time(r.now())}); err != nil {
		t.Fatal(err)
	}
	r.aim("table", [3]float64{0.2, 0, 0})
	r.said("topic goal/pose: there is no bundle yet (parameter bundle_file, or topic bundle)")
	first, next, foreign, slow := ahead(t, 0.3), ahead(t, 0.6), ahead(t, 0.4), ahead(t, 0.5)
	foreign.Robot = "arm"
	r.send(foreign)
	r.said(` is of robot "arm", expected "pusher"`)
	r.send(first)
	r.said("bundle " + first.ID)
	r.aim("table", [3]float64{0.2, 0, 0.1})
	r.said("pushes to 0.200")
	box, tool := [3]float64{0, 0, 0.05}, [2]float64{-0.1, 0.01}
	r.show(box, tool)
	a := r.step()
	r.send(next)
	r.said("bundle " + next.ID)
	slow.Dt = 0.01
	r.send(slow)
	r.said(" commands each 0.01 s, expected 0.02")
	r.now = func() int64 { return 1e9 + 2e7 }
	r.show(box, tool)
	b := r.step()
	for _, x := range []struct {
		msgs.PushStep
		by *bundle.Bundle
	}{{a, first}, {b, next}} {
		if x.BundleID != x.by.ID || x.Push != 1 || x.Tool != tool || x.Goal[0] != 0.2 || x.There ||
			x.Fault != "" || math.Abs(x.Box[2]-0.05) > 1e-9 || x.PushStep.Command[0] != r.next() {
			t.Errorf("%+v, expected a tick of bundle %s", x.PushStep, x.by.ID)
		}
	}
	if b.Seq != a.Seq+1 || !(b.Command[0] > a.Command[0]) {
		t.Errorf("%+v after %+v", b, a)
	}
	r.now = func() int64 { return 1e9 + 4e7 }
	r.show(box, [2]float64{3, 0})
	if m := r.step(); !strings.HasPrefix(m.Fault, "the tool jumped by 3.100 m") || m.Command != [2]float64{} {
		t.Errorf("%+v where the tool jumps", m)
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
	r := newRig(t, d, "use_sim_time:=true", "guard.max_age:=1.0", "bundle_file:="+written(t, ahead(t, 0.6)))
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
