package learner

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/attached"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/sim/experiment"
	"vnd/pkg/vnd/bundle"
)

// TestFleetAtScale has one learner, a process with the budgets of its parameters, learn over the wire from fleets that
// fly in real time: each robot sends 50 steps a second. VND_FLEET names their sizes, VND_SECONDS is for how long.
func TestFleetAtScale(t *testing.T) {
	sizes := strings.Fields(os.Getenv("VND_FLEET"))
	if len(sizes) == 0 {
		t.Skip("takes minutes: VND_FLEET=\"1 8 32\"")
	}
	seconds, err := strconv.Atoi(os.Getenv("VND_SECONDS"))
	if err != nil {
		seconds = 120
	}
	program := filepath.Join(t.TempDir(), Name)
	if out, err := exec.Command("go", "build", "-o", program, "vnd/nodes/"+Name).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, size := range sizes {
		robots := must(strconv.Atoi(size))(t)
		t.Run(size, func(t *testing.T) { (&fleetRun{t: t, dir: t.TempDir()}).fly(program, robots, seconds) })
	}
}

// flightSeconds is how long each flight takes. Then the bundle that came last flies.
const flightSeconds = 20

// fleetRobot is simulated, one flight after another, in a wind of its own.
type fleetRobot struct {
	t       *testing.T
	steps   *ros.Publisher[msgs.Step]
	message *msgs.Step
	world   sim.World
	path    reference.Reference
	seed    uint64

	flown  []closedloop.TraceRow // the flight at hand
	bundle string                // of it
	at     int                   // the next of its rows
	seq    uint64
	stamp  int64     // ns
	errors []float64 // mean of each flight, m
}

// newFleetRobot makes robot k, in a wind of 2 m/s². Every other one flies a figure-eight.
func newFleetRobot(t *testing.T, n *ros.Node, k int) *fleetRobot {
	r := &fleetRobot{t: t, message: msgs.NewStep(), seed: uint64(k) << 16, stamp: time.Now().UnixNano(),
		steps: must(ros.NewPublisher[msgs.Step](n, fmt.Sprintf("/cf%d/step", k+1), node.StepQoS()))(t)}
	var hover reference.Hover
	var track reference.FigureEight
	param.Default(&hover)
	param.Default(&track)
	if r.path = must(reference.New(&hover))(t); k%2 == 1 {
		r.path = must(reference.New(&track))(t)
	}
	param.Default(&r.world)
	s, c := math.Sincos(math.Pi * (3 - math.Sqrt(5)) * float64(k))
	r.world.Conditions = sim.Conditions{Name: []string{"wind"}, WindX: []float64{2 * c}, WindY: []float64{2 * s}}
	r.world = must(r.world.Scheduled([]sim.Switch{{Condition: "wind"}}, 0))(t)
	return r
}

// shaken flies a policy whose commands have the noise of flights to learn from.
type shaken struct {
	*policy.ClosedLoopRunner
	noise experiment.Excitation
}

func (s *shaken) Command(at float64, x *quad.State) quad.Command {
	return s.noise.Add(s.ClosedLoopRunner.Command(at, x))
}

// begin flies the next flight in the simulator.
func (r *fleetRobot) begin(b *bundle.Bundle) {
	r.seed++
	s := &closedloop.Setup{World: r.world, Seed: r.seed, Path: r.path, Seconds: flightSeconds, Tick: 0.02}
	param.Default(&s.Estimate)
	param.Default(&s.Limits)
	c := must(policy.NewClosedLoopRunner(b, r.path.At))(r.t)
	trace := must(closedloop.Fly(s, &shaken{c, experiment.NewExcitation(r.seed, 0.6)}))(r.t)
	if trace.Crash != "" {
		r.t.Errorf("bundle %s: %s", b.ID, trace.Crash)
	}
	r.flown, r.bundle, r.at = trace.Rows[5:], b.ID, 0 // the estimator begins
	sum, settled := 0., r.flown[min(250, len(r.flown)-1):]
	for i := range settled {
		sum += settled[i].Error()
	}
	r.errors = append(r.errors, sum/float64(len(settled)))
	r.stamp += int64(3 * time.Second) // flights are apart
}

// tick publishes the next step.
func (r *fleetRobot) tick(b *bundle.Bundle) {
	if r.at == len(r.flown) {
		r.begin(b)
	}
	row := &r.flown[r.at]
	bridge.PutStep(r.message, &control.TickRecord{Seq: r.seq, Stamp: r.stamp, State: row.Estimate, Sent: row.Command,
		Bundle: r.bundle, Task: "hover", Reference: []quad.Reference{row.Reference}}, "world")
	if err := r.steps.Publish(r.message); err != nil {
		r.t.Fatal(err)
	}
	r.at, r.seq, r.stamp = r.at+1, r.seq+1, r.stamp+20e6
}

// fleetRun is a fleet that flies.
type fleetRun struct {
	t   *testing.T
	dir string

	mu     sync.Mutex
	bundle *bundle.Bundle // that flies
	rounds []string       // what the learner says of each
}

func (f *fleetRun) fly(program string, size, seconds int) {
	t := f.t
	c := rostest.Wire(t, nil)
	n := must(c.NewNode("fleet"))(t)
	var robots []*fleetRobot
	var spaces []string
	for k := range size {
		robots = append(robots, newFleetRobot(t, n, k))
		spaces = append(spaces, fmt.Sprintf("/cf%d", k+1))
	}
	last := spaces[size-1]
	must(ros.NewSubscription(n, last+"/bundle", node.LatchedQoS(), func(m *msgs.Bundle, _ ros.Info) {
		b := must(node.Unpack(m))(t)
		f.mu.Lock()
		defer f.mu.Unlock()
		f.bundle = b
	}))(t)
	rostest.Spin(t, c, 1)
	stop := f.learn(program, spaces)
	for begin := time.Now(); f.flies() == nil; time.Sleep(10 * time.Millisecond) {
		if time.Since(begin) > patience {
			t.Fatal("no bundle came")
		}
	}
	f.play(robots, seconds)
	sent := 0
	for _, r := range robots {
		sent += int(r.seq)
	}
	// The last row of each robot is whole when the next step comes, or at the end.
	for begin := time.Now(); f.rows(size) < sent-size && time.Since(begin) < patience/5; {
		time.Sleep(time.Second)
	}
	stop()
	f.report(robots, sent, f.rows(size))
}

// flies is the bundle that flies.
func (f *fleetRun) flies() *bundle.Bundle {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bundle
}

// learn starts the learner until stop.
func (f *fleetRun) learn(program string, spaces []string) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	p := exec.CommandContext(ctx, program, "--ros-args", "-p", "directory:="+f.dir, "-p", "source:=topic",
		"-p", "namespaces:=["+strings.Join(spaces, ", ")+"]")
	p.Env = append(append(os.Environ(), rostest.Environ()...), "ROS_LOG_DIR="+f.t.TempDir())
	var log strings.Builder
	p.Stdout, p.Stderr = &log, &log
	if err := attached.Start(p, syscall.SIGKILL); err != nil {
		f.t.Fatal(err)
	}
	return func() {
		defer cancel()
		if err := p.Process.Signal(os.Interrupt); err != nil {
			f.t.Error(err)
		}
		if err := p.Wait(); err != nil {
			f.t.Errorf("%v: %s", err, log.String())
		}
		for line := range strings.Lines(log.String()) {
			if _, says, ok := strings.Cut(line, "["+Name+"]: "); ok && strings.Contains(says, "round ") {
				f.rounds = append(f.rounds, fmt.Sprintf("%.100s", strings.TrimSpace(says)))
			}
		}
		if u, ok := p.ProcessState.SysUsage().(*syscall.Rusage); ok {
			f.t.Logf("%.0f s of the processor, %d MiB at most", (p.ProcessState.UserTime() +
				p.ProcessState.SystemTime()).Seconds(), u.Maxrss>>10)
		}
	}
}

// play flies in real time. Robots begin one after another, so that not all begin their next flights at once.
func (f *fleetRun) play(robots []*fleetRobot, seconds int) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for k := range 50 * seconds {
		<-tick.C
		b := f.flies()
		for i, r := range robots {
			if k >= i*50*flightSeconds/len(robots) {
				r.tick(b)
			}
		}
	}
}

// rows are how many the learner kept on disk.
func (f *fleetRun) rows(robots int) (n int) {
	for k := range robots {
		all, losses, err := dataset.ReadDir(filepath.Join(f.dir, "collected", fmt.Sprintf("cf%d", k+1)), 0.02)
		if err != nil || len(losses) > 0 {
			f.t.Errorf("cf%d: %v %v", k+1, err, losses)
		}
		for i := range all {
			n += len(all[i].Rows)
		}
	}
	return n
}

// report says what was kept, how long rounds took, and how well robots fly.
func (f *fleetRun) report(robots []*fleetRobot, sent, rows int) {
	first, last, n := 0., 0., float64(len(robots))
	for _, r := range robots {
		first, last = first+r.errors[0]/n, last+r.errors[len(r.errors)-1]/n
	}
	f.t.Logf("%d robots: %d steps, %d rows kept; errors of first and last flights, means: %.4f, %.4f m; rounds:\n%s",
		len(robots), sent, rows, first, last, strings.Join(f.rounds, "\n"))
	if rows != sent || len(f.rounds) == 0 {
		f.t.Errorf("expected all rows, and a round")
	}
}
