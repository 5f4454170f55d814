package node_test

import (
	"context"
	"crypto/sha256"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vnd/msgs"
	lifecyclemsgs "vnd/msgs/lifecycle_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/attached"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
	"vnd/pkg/vnd/bundle"
)

// patience is how long a test waits for what must happen.
var patience = 60 * time.Second

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// readBundle is a message with one of the test's bundles.
func readBundle(t testing.TB, name string) *msgs.Bundle {
	t.Helper()
	path := filepath.Join("..", "flight", "control", "testdata", name)
	data := must(os.ReadFile(path))(t)
	b := must(bundle.Decode(path, data))(t)
	return &msgs.Bundle{ID: b.ID, Parent: b.Parent, Robot: b.Robot, Task: b.Task, Data: data,
		Sha256: sha256.Sum256(data)}
}

// lab is the nodes as processes, with the test as one more.
type lab struct {
	t   testing.TB
	ctx context.Context
	n   *ros.Node
	dir string                     // of the programs
	pid int                        // of the program that was started last
	cut int                        // pid of a program that was killed
	env func(name string) []string // more of the environment of a program; nil for none

	mu       sync.Mutex
	changed  *sync.Cond
	steps    []msgs.Step
	commands []int64 // stamps
	latents  []msgs.Latent
	truth    []bridge.Pose
	path     navmsgs.Path
	log      []string
}

// newLab builds the programs, or takes those in the folder VND_PROGRAMS, and joins the graph, over Cyclone DDS on the
// loopback.
func newLab(t testing.TB, more ...string) *lab {
	t.Helper()
	c := rostest.Wire(t, nil, more...)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	l := &lab{t: t, dir: t.TempDir()}
	l.changed = sync.NewCond(&l.mu)
	var cancel context.CancelFunc
	l.ctx, cancel = context.WithTimeout(context.Background(), 5*patience)
	t.Cleanup(cancel)
	if there := os.Getenv("VND_PROGRAMS"); there != "" {
		l.dir = there
	} else if out, err := exec.CommandContext(l.ctx, "go", "build", "-o", l.dir, "../../nodes/policy_controller",
		"../../nodes/latent_encoder", "../../nodes/quad_sim").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	l.n = must(c.NewNode("tester"))(t)
	l.listen()
	spinning, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Spin(spinning) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return l
}

func (l *lab) listen() {
	note := func(f func()) {
		l.mu.Lock()
		f()
		l.mu.Unlock()
		l.changed.Broadcast()
	}
	deep := node.StepQoS()
	deep.Depth = 1000
	must(ros.NewSubscription(l.n, "/quad/step", deep, func(m *msgs.Step, _ ros.Info) {
		note(func() {
			s := *m
			s.Latent, s.Reference = append([]float32(nil), m.Latent...), append([]float64(nil), m.Reference...)
			l.steps = append(l.steps, s)
		})
	}))(l.t)
	must(ros.NewSubscription(l.n, "/quad/command", deep, func(m *msgs.ThrustRates, _ ros.Info) {
		note(func() { l.commands = append(l.commands, bridge.FromThrustRates(m).Stamp) })
	}))(l.t)
	must(ros.NewSubscription(l.n, "/quad/latent", node.LatentQoS(), func(m *msgs.Latent, _ ros.Info) {
		note(func() { l.latents = append(l.latents, *m) })
	}))(l.t)
	must(ros.NewSubscription(l.n, "/quad/quad_sim/ground_truth", node.MocapQoS(),
		func(m *navmsgs.Odometry, _ ros.Info) {
			note(func() { l.truth = append(l.truth, bridge.FromOdometry(m, bridge.PoseOptions{})) })
		}))(l.t)
	must(ros.NewSubscription(l.n, "/quad/reference/path", node.LatchedQoS(), func(m *navmsgs.Path, _ ros.Info) {
		note(func() { l.path = *m })
	}))(l.t)
	must(ros.NewSubscription(l.n, "/rosout", rmw.RosoutQoS(), func(m *rclinterfaces.Log, _ ros.Info) {
		note(func() { l.log = append(l.log, m.Msg) })
	}))(l.t)
}

// start starts a program in the namespace quad, to be ended in good order with the test.
func (l *lab) start(name string, args ...string) {
	l.t.Helper()
	l.t.Cleanup(l.spawn(name, args...))
}

// spawn starts a program in the namespace quad, and returns what ends it in good order.
func (l *lab) spawn(name string, args ...string) (end func()) {
	l.t.Helper()
	p := exec.CommandContext(l.ctx, filepath.Join(l.dir, name),
		append([]string{"--ros-args", "-r", "__ns:=/quad"}, args...)...)
	p.Env = append(os.Environ(), "ROS_LOG_DIR="+l.t.TempDir())
	p.Env = append(p.Env, rostest.Environ()...)
	if l.env != nil {
		p.Env = append(p.Env, l.env(name)...)
	}
	log := &strings.Builder{}
	p.Stderr, p.Stdout = log, log
	if err := attached.Start(p, syscall.SIGKILL); err != nil {
		l.t.Fatal(err)
	}
	l.pid = p.Process.Pid
	return func() {
		killed := l.cut == p.Process.Pid
		if err := p.Process.Signal(os.Interrupt); err != nil && !killed {
			l.t.Errorf("%s: %v", name, err)
		}
		if err := p.Wait(); err != nil && !killed {
			l.t.Errorf("%s: %v", name, err)
		}
		if strings.Contains(log.String(), ": closed\n") {
			l.t.Errorf("%s publishes after its end", name)
		}
		if l.t.Failed() {
			l.t.Logf("%s said:\n%s", name, log)
		}
	}
}

// until waits until holds, which may look at what came.
func (l *lab) until(what string, holds func() bool) {
	l.t.Helper()
	deadline := time.Now().Add(patience)
	stop := time.AfterFunc(patience, l.changed.Broadcast)
	defer stop.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for !holds() {
		if time.Now().After(deadline) {
			last := msgs.Step{}
			if n := len(l.steps); n > 0 {
				last = l.steps[n-1]
			}
			l.t.Fatalf("not in %v: %s; %d steps, %d commands, %d latents, %d truths; the last step is %+v",
				patience, what, len(l.steps), len(l.commands), len(l.latents), len(l.truth), last)
		}
		l.changed.Wait()
	}
}

// call calls a service.
func call[Req, Resp any, P ros.Message[Req], R ros.Message[Resp]](l *lab, name string, q *Req) *Resp {
	l.t.Helper()
	c := must(ros.NewClient[Req, Resp, P, R](l.n, name))(l.t)
	defer c.Close()
	ctx, cancel := context.WithTimeout(l.ctx, patience)
	defer cancel()
	if err := c.WaitForService(ctx); err != nil {
		l.t.Fatal(err)
	}
	return must(c.Call(ctx, q))(l.t)
}

func (l *lab) change(transition string) {
	l.t.Helper()
	r := call[lifecyclemsgs.ChangeStateRequest, lifecyclemsgs.ChangeStateResponse](l,
		"/quad/policy_controller/change_state",
		&lifecyclemsgs.ChangeStateRequest{Transition: lifecyclemsgs.Transition{Label: transition}})
	if !r.Success {
		l.t.Fatalf("%s failed", transition)
	}
}

func (l *lab) task(task, reference string) *msgs.SetTaskResponse {
	l.t.Helper()
	return call[msgs.SetTaskRequest, msgs.SetTaskResponse](l, "/quad/policy_controller/set_task",
		&msgs.SetTaskRequest{Task: task, ReferenceJSON: reference})
}

func (l *lab) trigger(service string) *stdsrvs.TriggerResponse {
	l.t.Helper()
	return call[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](l, "/quad/"+service, &stdsrvs.TriggerRequest{})
}

// newest is the last of what came; the zero value before.
func newest[T any](all []T) (v T) {
	if len(all) > 0 {
		v = all[len(all)-1]
	}
	return v
}

// hovers reports whether the last second of truth is within 0.1 m of a place.
func (l *lab) hovers(place so3.Vec3) bool {
	const second = 100 // truths
	if len(l.truth) < second {
		return false
	}
	for _, p := range l.truth[len(l.truth)-second:] {
		if p.State.P.Sub(place).Norm() >= 0.1 {
			return false
		}
	}
	return true
}

// Three processes over the wire: the simulated quadrotor hovers under the policy of a bundle, and of another one that
// is swapped in in flight, without a gap; then it flies another task, and lands.
func TestFlight(t *testing.T) {
	l := newLab(t)
	world := must(filepath.Abs("../../params/worlds/calm.yaml"))(t)
	// At twice the speed the 50 steps that are kept for a reader that misses some last for half a second. A busy
	// machine asks for them again within that.
	l.start("quad_sim", "-p", "world:="+world, "-p", "lockstep:=true", "-p", "lockstep_patience:=10.0", "-p",
		"speed:=2.0")
	l.start("latent_encoder", "-p", "use_sim_time:=true")
	l.start("policy_controller", "-p", "use_sim_time:=true")
	bundles := must(ros.NewPublisher[msgs.Bundle](l.n, "/quad/bundle", node.LatchedQoS()))(t)
	a, b := readBundle(t, "a.vnd"), readBundle(t, "b.vnd")
	if err := bundles.Publish(a); err != nil {
		t.Fatal(err)
	}
	l.change("configure")
	l.change("activate")
	above := so3.Vec3{Z: 1}
	l.until("the robot hovers under bundle a and its latents", func() bool {
		s := newest(l.steps)
		return len(l.steps) > 150 && s.BundleID == a.ID && s.LatentStamp.Sec > 0 && l.hovers(above)
	})
	if err := bundles.Publish(b); err != nil {
		t.Fatal(err)
	}
	swapped := 0
	l.until("bundle b flies, under its own latents", func() bool {
		if s := newest(l.steps); swapped == 0 && s.BundleID == b.ID {
			swapped = len(l.steps)
		}
		s := newest(l.steps)
		return swapped > 0 && len(l.steps) > swapped+200 && s.LatentStamp.Sec > 0 && newest(l.latents).BundleID == b.ID
	})
	l.until("the robot hovers under bundle b", func() bool { return l.hovers(above) })
	l.noGaps(a.ID, b.ID)
	l.tasks()
	l.land()
}

// noGaps sees to it that every tick has its step, one after the other, and that ids change once.
func (l *lab) noGaps(first, second string) {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	swaps := 0
	for i, s := range l.steps {
		if !guard.Stage(s.GuardState).PolicyFlies() || s.BundleID != first && s.BundleID != second ||
			s.Header.FrameID != "world" {
			l.t.Fatalf("step %d: %+v", i, s)
		}
		if i == 0 {
			continue
		}
		before := &l.steps[i-1]
		if s.BundleID != before.BundleID {
			swaps++
		}
		if gap := bridge.Nanoseconds(s.Header.Stamp) - bridge.Nanoseconds(before.Header.Stamp); s.Seq != before.Seq+1 ||
			gap <= 0 || gap > 1e8 {
			l.t.Fatalf("step %d: number %d %d ns after number %d", i, s.Seq, gap, before.Seq)
		}
	}
	if swaps != 1 {
		l.t.Errorf("%d changes of the bundle", swaps)
	}
	for i := 1; i < len(l.commands); i++ {
		if gap := l.commands[i] - l.commands[i-1]; gap <= 0 || gap > 1e8 {
			l.t.Errorf("a command %d ns after the one before", gap)
		}
	}
}

// tasks has another task flown, and some refused.
func (l *lab) tasks() {
	l.t.Helper()
	for _, c := range []struct{ task, reference, want string }{
		{"land", "", `was trained for ["hover" "track"]`},
		{"hover", `{"kind": "hover", "point": [0, 0, 9]}`, "leaves the geofence"},
		{"hover", `{"kind": "hoover"}`, `"kind": "hoover" is none`},
	} {
		if r := l.task(c.task, c.reference); r.Success || !strings.Contains(r.Message, c.want) {
			l.t.Errorf("set_task %s %s: %+v", c.task, c.reference, r)
		}
	}
	if r := l.task("track", ""); !r.Success {
		l.t.Fatal(r.Message)
	}
	l.until("the path of the figure-eight, and its task",
		func() bool { return len(l.path.Poses) > 20 && newest(l.steps).Task == "track" })
	if r := l.task("hover", `{"kind": "hover", "point": [0.5, 0, 1.2]}`); !r.Success {
		l.t.Fatal(r.Message)
	}
	l.until("the robot hovers elsewhere", func() bool { return l.hovers(so3.Vec3{X: .5, Z: 1.2}) })
	if r := newest(l.steps).Reference; len(r) != 5*7 || r[0] != .5 || r[2] != 1.2 {
		l.t.Errorf("reference %v", r)
	}
}

// land has the guard land and take off again, and the policy fly then.
func (l *lab) land() {
	l.t.Helper()
	if r := l.trigger("policy_controller/land"); !r.Success {
		l.t.Fatal(r.Message)
	}
	l.until("the robot has landed", func() bool {
		return newest(l.steps).GuardState == msgs.StepGuardOff && newest(l.truth).State.P.Z < 0.1
	})
	if r := l.trigger("policy_controller/takeoff"); !r.Success {
		l.t.Fatal(r.Message)
	}
	l.until("it flies again", func() bool {
		return newest(l.steps).GuardState == msgs.StepGuardPolicy && newest(l.truth).State.P.Z > 0.9
	})
	l.until("the log says who flies", func() bool {
		k := slices.Index(l.log, "the guard flies: on request (land)")
		if k < 0 {
			return false
		}
		after := l.log[k:]
		landed := slices.Index(after, "the guard has landed: least thrust (on request); ~/takeoff takes off again")
		return landed > 0 && slices.Contains(after[landed:], "the policy flies again")
	})
	l.change("deactivate")
	l.until("the autopilot lands without commands", func() bool { return newest(l.truth).State.P.Z < 0.1 })
}
