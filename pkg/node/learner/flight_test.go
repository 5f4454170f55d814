package learner

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vnd/msgs"
	"vnd/pkg/core/attached"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

// programs of a flight.
var programs = []string{"quad_sim", "policy_controller", "latent_encoder", "transition_recorder", "background_learner"}

// field is the nodes as processes, with the test as one more that listens.
type field struct {
	t        *testing.T
	ctx      context.Context
	n        *ros.Node
	programs string // their folder
	data     string // what they keep

	mu       sync.Mutex
	changed  *sync.Cond
	steps    []msgs.Step
	latents  map[string]int // by bundle
	bundles  []string
	segments int
	status   string
}

func newField(t *testing.T) *field {
	t.Helper()
	c := rostest.Wire(t, nil)
	f := &field{t: t, programs: t.TempDir(), data: t.TempDir(), latents: map[string]int{}}
	f.changed = sync.NewCond(&f.mu)
	var cancel context.CancelFunc
	f.ctx, cancel = context.WithTimeout(context.Background(), 4*patience)
	args := []string{"build", "-o", f.programs}
	for _, p := range programs {
		args = append(args, "vnd/nodes/"+p)
	}
	if out, err := exec.CommandContext(f.ctx, "go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	f.n = must(c.NewNode("tester"))(t)
	f.listen(f.n)
	t.Cleanup(cancel)
	rostest.Spin(t, c, 1)
	return f
}

func (f *field) listen(n *ros.Node) {
	note := func(do func()) {
		f.mu.Lock()
		do()
		f.mu.Unlock()
		f.changed.Broadcast()
	}
	deep := node.StepQoS()
	deep.Depth = 5000
	must(ros.NewSubscription(n, "/quad/step", deep,
		func(m *msgs.Step, _ ros.Info) { note(func() { f.steps = append(f.steps, *m) }) }))(f.t)
	must(ros.NewSubscription(n, "/quad/latent", node.LatentQoS(),
		func(m *msgs.Latent, _ ros.Info) { note(func() { f.latents[m.BundleID]++ }) }))(f.t)
	must(ros.NewSubscription(n, "/quad/bundle", node.LatchedQoS(),
		func(m *msgs.Bundle, _ ros.Info) { note(func() { f.bundles = append(f.bundles, m.ID) }) }))(f.t)
	must(ros.NewSubscription(n, "/quad/learner/status", node.LatchedQoS(), func(m *msgs.LearnerStatus, _ ros.Info) {
		note(func() { f.status = m.Phase + ": " + m.Message })
	}))(f.t)
	q := ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal, Depth: 100}
	must(ros.NewSubscription(n, "/quad/buffer", q,
		func(*msgs.BufferSegment, ros.Info) { note(func() { f.segments++ }) }))(f.t)
}

// start starts a program in the namespace quad. It is ended in good order, unless it was killed.
func (f *field) start(name string, parameters ...string) (kill func()) {
	f.t.Helper()
	args := []string{"--ros-args", "-r", "__ns:=/quad", "-p", "use_sim_time:=true"}
	for _, p := range parameters {
		args = append(args, "-p", p)
	}
	p := exec.CommandContext(f.ctx, filepath.Join(f.programs, name), args...)
	p.Env = append(append(os.Environ(), rostest.Environ()...), "ROS_LOG_DIR="+f.t.TempDir())
	log := &strings.Builder{}
	p.Stderr, p.Stdout = log, log
	if err := attached.Start(p, syscall.SIGKILL); err != nil {
		f.t.Fatal(err)
	}
	killed := false
	f.t.Cleanup(func() {
		if !killed {
			if err := p.Process.Signal(os.Interrupt); err != nil {
				f.t.Errorf("%s: %v", name, err)
			}
			if err := p.Wait(); err != nil {
				f.t.Errorf("%s: %v", name, err)
			}
		}
		if f.t.Failed() {
			f.t.Logf("%s said:\n%s", name, log)
		}
	})
	return func() {
		killed = true
		if err := p.Process.Kill(); err != nil {
			f.t.Error(err)
		}
		_ = p.Wait() // says that it was killed
	}
}

// until waits until holds, which looks at what came.
func (f *field) until(what string, holds func() bool) {
	f.t.Helper()
	const most = patience
	deadline := time.Now().Add(most)
	defer time.AfterFunc(most, f.changed.Broadcast).Stop()
	f.mu.Lock()
	defer f.mu.Unlock()
	for !holds() {
		if time.Now().After(deadline) {
			f.t.Fatalf("not in %v: %s; %d steps, bundles %v, %d segments, latents %v, status %q", most, what,
				len(f.steps), f.bundles, f.segments, f.latents, f.status)
		}
		f.changed.Wait()
	}
}

// flying reports whether the policy of a bundle flew n steps, none of them missing, from some step on.
func (f *field) flying(id string, n int) bool {
	if len(f.steps) < n {
		return false
	}
	for _, s := range f.steps[len(f.steps)-n:] {
		if s.BundleID != id || !guard.Stage(s.GuardState).PolicyFlies() {
			return false
		}
	}
	return true
}

// TestSwapInFlight: five processes over the wire, in wind that comes and goes. A bundle is learned from the flight,
// gated, and flies without a gap; learner and recorder are killed in flight, come up again and join in.
func TestSwapInFlight(t *testing.T) {
	if testing.Short() {
		t.Skip("five processes")
	}
	f := newField(t)
	world := must(filepath.Abs(filepath.Join("testdata", "gusty.yaml")))(t)
	learner := append(append([]string(nil), tiny...), "directory:="+f.data, "max_rows:=20000", "keep_bundles:=5",
		"base.hidden:=32", "base.epochs:=150", "base.envs:=32", "base.horizon:=60") // so that it flies
	recorder := []string{"directory:=" + f.data, "buffer.segment_seconds:=5.0", "bag.least_free:=0"}
	killLearner := f.start("background_learner", learner...)
	f.until("a first bundle", func() bool { return len(f.bundles) > 0 })
	first := f.bundles[0]
	killRecorder := f.start("transition_recorder", recorder...)
	f.start("latent_encoder")
	f.start("policy_controller", "autostart:=true")
	f.start("quad_sim", "world:="+world, "lockstep:=true", "lockstep_patience:=10.0")
	f.until("flight under the first bundle", func() bool { return f.flying(first, 100) && f.segments > 0 })
	f.until("another bundle is learned", func() bool { return len(f.bundles) > 1 })
	f.until("it flies", func() bool { return f.flying(f.bundles[len(f.bundles)-1], 100) })
	f.until("it is read by its own encoder", func() bool {
		return f.latents[f.bundles[len(f.bundles)-1]] > 0 ||
			len(f.bundles) > 2
	})
	f.swapped(first)

	killLearner()
	f.mu.Lock()
	before := len(f.bundles)
	last := f.bundles[before-1]
	f.mu.Unlock()
	f.start("background_learner", learner...)
	f.until("the learner comes up again", func() bool { return len(f.bundles) > before })
	if f.bundles[before] != last {
		t.Errorf("after a kill the learner publishes %s, what it published last was %s", f.bundles[before], last)
	}
	killRecorder()
	f.mu.Lock()
	segments := f.segments
	f.mu.Unlock()
	f.start("transition_recorder", recorder...)
	f.until("the recorder comes up again, and announces what is there and of more",
		func() bool { return f.segments > segments+1 })
	f.until("learning goes on", func() bool { return len(f.bundles) > before+1 })
	f.until("flight goes on", func() bool { return f.flying(f.bundles[len(f.bundles)-1], 20) })
	f.until("bags", func() bool {
		bags, _ := filepath.Glob(filepath.Join(f.data, "bags", "rosbag2_*"))
		return len(bags) >= 2
	})
	f.recorded()
}

// swapped looks at the step with which the first bundle gave way.
func (f *field) swapped(first string) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	for k := 1; k < len(f.steps); k++ {
		a, b := &f.steps[k-1], &f.steps[k]
		if a.BundleID != first || b.BundleID == first {
			continue
		}
		if b.Seq != a.Seq+1 || !guard.Stage(a.GuardState).PolicyFlies() || !guard.Stage(b.GuardState).PolicyFlies() {
			f.t.Errorf("the swap from step %d (guard %d) to %d (guard %d)", a.Seq, a.GuardState, b.Seq, b.GuardState)
		}
		if apart := ros.TimeOf(b.Header.Stamp).Sub(ros.TimeOf(a.Header.Stamp)); apart > 30*time.Millisecond {
			f.t.Errorf("%v between the last step of one bundle and the first of the next", apart)
		}
		return
	}
	f.t.Errorf("no step in which %s gave way", first)
}

// recorded looks at what the killed recorder left: its bag is whole again, with both bundles.
func (f *field) recorded() {
	f.t.Helper()
	bags, _ := filepath.Glob(filepath.Join(f.data, "bags", "rosbag2_*"))
	for deadline := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		info, err := bag.Info(bags[0])
		if err == nil && !info.Lost.Any() && !info.Live {
			counts := map[string]uint64{}
			for _, topic := range info.Topics {
				counts[topic.Name] = topic.Count
			}
			if counts["/quad/bundle"] < 2 || counts["/quad/step"] < 200 || counts["/quad/mocap/pose"] < 200 ||
				counts["/quad/latent"] == 0 || counts["/quad/command"] < 200 {
				f.t.Errorf("in the bag: %v", counts)
			}
			return
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("%s is not whole: %+v, %v", bags[0], info, err)
		}
	}
}
