// Package torture kills, stops and floods the nodes while they fly, as processes over the wire. Its tests are short
// ones; with VND_TORTURE=1 they go on as long as make torture has it.
package torture

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	navmsgs "vnd/msgs/nav_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/attached"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

// patience is how long a test waits for what must happen.
const patience = 2 * time.Minute

// long reports whether the tests are to go on.
func long() bool { return os.Getenv("VND_TORTURE") != "" }

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// programs are the nodes that there are, the simulator with them.
var programs = []string{"quad_sim", "policy_controller", "latent_encoder", "transition_recorder", "background_learner",
	"flight", "visualizer", "flight_guard"}

// built builds them, once; TestMain removes them.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "vnd_torture")
	if err != nil {
		return "", err
	}
	args := []string{"build", "-o", dir}
	for _, p := range programs {
		if there(p) {
			args = append(args, "vnd/nodes/"+p)
		}
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		err = errors.Join(fmt.Errorf("%w: %s", err, out), os.RemoveAll(dir))
		return "", err
	}
	begun = dir
	return dir, nil
})

var begun string // folder of the programs; empty while they are not built

func there(program string) bool {
	_, err := os.Stat(filepath.Join("..", "..", "..", "nodes", program, "main.go"))
	return err == nil
}

// endsWithUs ends the test where go test was killed, which says so to nobody. The nodes end with it.
func endsWithUs() {
	for us := os.Getppid(); os.Getppid() == us; time.Sleep(time.Second) {
	}
	os.RemoveAll(begun)
	os.Exit(1)
}

func TestMain(m *testing.M) {
	if what := os.Getenv(leaky); what != "" {
		leak(what)
	}
	go endsWithUs()
	code := m.Run()
	if begun != "" {
		os.RemoveAll(begun)
	}
	os.Exit(code)
}

// seenStep is what the test keeps of a step.
type seenStep struct {
	at        time.Time // on this machine
	publisher rmw.GID
	seq       uint64
	stamp     int64
	stage     guard.Stage
	bundle    string
	latent    bool // the policy had one
	height    float64
}

// field is the nodes as processes, with the test as one more that listens.
type field struct {
	t    *testing.T
	ctx  context.Context
	n    *ros.Node
	dir  string   // of the programs
	data string   // what they keep
	env  []string // more of the environment of a process that is started

	mu       sync.Mutex
	changed  *sync.Cond
	steps    []seenStep
	latents  int
	bundles  int
	outside  string        // what is wrong with where the robot is or was; empty while all is well
	place    so3.Vec3      // of the robot
	starved  time.Duration // for so long this process did not get the processor at worst
	controls string        // what the controller says of itself
	missed   string        // ticks, as the controller counts them
	rounds   []string      // of learning that came to an end, in the learner's words
	failed   string        // why one did not; empty while all is well
}

// newField has more pairs of the environment for the test itself; they come before those of rostest.
func newField(t *testing.T, more ...string) *field {
	t.Helper()
	c := rostest.Wire(t, nil, more...)
	f := &field{t: t, dir: must(built())(t), data: t.TempDir()}
	f.changed = sync.NewCond(&f.mu)
	var cancel context.CancelFunc
	f.ctx, cancel = context.WithCancel(context.Background())
	f.n = must(c.NewNode("tester"))(t)
	f.listen()
	ended := make(chan error, 1)
	go func() { ended <- c.Spin(f.ctx) }()
	go f.starve()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, c.Close()); err != nil {
			t.Error(err)
		}
	})
	return f
}

// note changes what the test knows.
func (f *field) note(do func()) {
	f.mu.Lock()
	do()
	f.mu.Unlock()
	f.changed.Broadcast()
}

// starve measures how late this process gets the processor: nothing here can be quicker.
func (f *field) starve() {
	const beat = 10 * time.Millisecond
	for f.ctx.Err() == nil {
		begin := time.Now()
		time.Sleep(beat)
		if late := time.Since(begin) - beat; late > 0 {
			f.note(func() { f.starved = max(f.starved, late) })
		}
	}
}

func (f *field) listen() {
	deep := node.StepQoS()
	deep.Depth = 5000
	must(ros.NewSubscription(f.n, "/quad/step", deep, func(m *msgs.Step, i ros.Info) {
		s := seenStep{time.Now(), i.Publisher, m.Seq, bridge.Nanoseconds(m.Header.Stamp), guard.Stage(m.GuardState),
			m.BundleID, m.LatentStamp.Sec != 0, m.Pose.Position.Z}
		f.note(func() { f.steps = append(f.steps, s) })
	}))(f.t)
	must(ros.NewSubscription(f.n, "/quad/latent", node.LatentQoS(),
		func(*msgs.Latent, ros.Info) { f.note(func() { f.latents++ }) }))(f.t)
	must(ros.NewSubscription(f.n, "/quad/bundle", node.LatchedQoS(),
		func(*msgs.Bundle, ros.Info) { f.note(func() { f.bundles++ }) }))(f.t)
	must(ros.NewSubscription(f.n, "/quad/learner/status", node.LatchedQoS(), func(m *msgs.LearnerStatus, _ ros.Info) {
		f.note(func() { f.learning(m.Message) })
	}))(f.t)
	must(ros.NewSubscription(f.n, "/quad/quad_sim/ground_truth", node.MocapQoS(),
		func(m *navmsgs.Odometry, _ ros.Info) {
			p := bridge.FromOdometry(m, bridge.PoseOptions{}).State.P
			f.note(func() {
				f.place = p
				if !inFence(p) {
					f.outside = fmt.Sprintf("the robot was at (%.2f, %.2f, %.2f) m, outside the geofence", p.X, p.Y,
						p.Z)
				}
			})
		}))(f.t)
	must(ros.NewSubscription(f.n, "/diagnostics", ros.DefaultQoS(),
		func(m *diagnosticmsgs.DiagnosticArray, _ ros.Info) {
			for i := range m.Status {
				f.diagnosed(&m.Status[i])
			}
		}))(f.t)
}

// inFence reports whether a robot is in the guard's own fence.
func inFence(p so3.Vec3) bool { return max(p.X, -p.X, p.Y, -p.Y, p.Z) <= 4 && p.Z >= -0.5 }

// learning takes what the learner says, which it says more than once.
func (f *field) learning(message string) {
	if strings.HasPrefix(message, "the round failed") {
		f.failed = message
	}
	if n := len(f.rounds); strings.HasPrefix(message, "round ") && (n == 0 || f.rounds[n-1] != message) {
		f.rounds = append(f.rounds, message)
	}
}

// learned sees to it that the learner was at work, and returns how many rounds came to their end.
func (f *field) learned() int {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed != "" {
		f.t.Errorf("learning: %s", f.failed)
	}
	if long() && len(f.rounds) == 0 {
		f.t.Error("no round of learning came to its end")
	}
	return len(f.rounds)
}

func (f *field) diagnosed(s *diagnosticmsgs.DiagnosticStatus) {
	switch s.Name {
	case "quad_sim: vehicle":
		if strings.HasPrefix(s.Message, "crashed") {
			f.note(func() { f.outside = s.Message })
		}
	case "policy_controller: control":
		f.note(func() {
			f.controls = s.Message
			for _, v := range s.Values {
				if v.Key == "ticks missed" {
					f.missed = v.Value
				}
			}
		})
	}
}

// process is a node that can be killed, stopped and started anew.
type process struct {
	f    *field
	name string
	args []string
	env  []string
	cmd  *exec.Cmd // nil after a kill
	log  *output
}

// start starts a program in the namespace quad. It is ended in good order, unless it was killed.
func (f *field) start(name string, parameters ...string) *process {
	f.t.Helper()
	return f.startRemapped(name, nil, parameters...)
}

// startRemapped is start, with other names of topics.
func (f *field) startRemapped(name string, remaps []string, parameters ...string) *process {
	f.t.Helper()
	p := &process{f: f, name: name, env: f.env, args: []string{"--ros-args"}}
	for _, x := range append([]string{"__ns:=/quad"}, remaps...) {
		p.args = append(p.args, "-r", x)
	}
	for _, x := range parameters {
		p.args = append(p.args, "-p", x)
	}
	p.again()
	f.t.Cleanup(p.end)
	return p
}

func (p *process) again() {
	p.f.t.Helper()
	p.cmd, p.log = exec.Command(filepath.Join(p.f.dir, p.name), p.args...), &output{}
	p.cmd.Env = append(append(append(os.Environ(), rostest.Environ()...), "ROS_LOG_DIR="+p.f.data), p.env...)
	p.cmd.Stderr, p.cmd.Stdout = p.log, p.log
	if err := attached.Start(p.cmd, syscall.SIGKILL); err != nil {
		p.f.t.Fatal(err)
	}
}

func (p *process) kill() {
	p.f.t.Helper()
	p.signal(syscall.SIGKILL)
	_ = p.cmd.Wait() // says that it was killed
	p.cmd = nil
}

func (p *process) signal(s syscall.Signal) {
	p.f.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.f.t.Fatalf("%s: %v; it said:\n%s", p.name, err, p.log)
	}
}

// end ends the process in good order.
func (p *process) end() {
	if p.cmd == nil {
		return
	}
	if err := errors.Join(p.cmd.Process.Signal(syscall.SIGCONT), p.cmd.Process.Signal(os.Interrupt)); err != nil {
		p.f.t.Errorf("%s: %v", p.name, err)
	}
	if err := p.cmd.Wait(); err != nil {
		p.f.t.Errorf("%s: %v", p.name, err)
	}
	if strings.HasSuffix(p.log.String(), ": closed") {
		p.f.t.Errorf("%s publishes after its end", p.name)
	}
	p.cmd = nil
	if p.f.t.Failed() {
		p.f.t.Logf("%s said:\n%s", p.name, p.log)
	}
}

// until waits until holds, which looks at what came.
func (f *field) until(what string, holds func() bool) {
	f.t.Helper()
	f.within(patience, what, holds)
}

// within waits until holds, for so long.
func (f *field) within(patience time.Duration, what string, holds func() bool) {
	f.t.Helper()
	deadline := time.Now().Add(patience)
	defer time.AfterFunc(patience, f.changed.Broadcast).Stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	for !holds() {
		if f.outside != "" {
			f.t.Fatalf("waiting for: %s: %s", what, f.outside)
		}
		if time.Now().After(deadline) {
			last := seenStep{}
			if n := len(f.steps); n > 0 {
				last = f.steps[n-1]
			}
			f.t.Fatalf("not in %v: %s; %d steps, the last %+v, %d latents, %d bundles, the robot is at %v, the "+
				"controller says %q",
				patience, what, len(f.steps), last, f.latents, f.bundles, f.place, f.controls)
		}
		f.changed.Wait()
	}
}

// flies reports whether the last n steps are the policy's, of one controller, from the i-th step heard on.
func (f *field) flies(i, n int) bool {
	if len(f.steps) < i+n {
		return false
	}
	last := f.steps[len(f.steps)-n:]
	for _, s := range last {
		if !s.stage.PolicyFlies() || s.publisher != last[0].publisher {
			return false
		}
	}
	return true
}

// count is how many steps were heard so far.
func (f *field) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.steps)
}

// bundleFile is one that hovers and tracks.
func bundleFile(t *testing.T) string {
	return must(filepath.Abs(filepath.Join("..", "..", "flight", "control", "testdata", "a.vnd")))(t)
}
