package controller

import (
	"context"
	"crypto/sha256"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/lifecycle"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/ros2/ros/rostest"
	"vnd/pkg/vnd/bundle"
)

// long is how long a test waits for what must happen.
const long = 30 * time.Second

func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func path(name string) string {
	return filepath.Join("..", "..", "flight", "control", "testdata", name)
}

func defaults(t testing.TB) *Params {
	t.Helper()
	p := new(Params)
	if err := param.Check(p); err != nil {
		t.Fatal(err)
	}
	param.Default(p)
	return p
}

// sent is a sender that remembers.
type sent struct {
	stamps   []int64
	commands []quad.Command
}

func (*sent) topic() string { return "/command" }

func (s *sent) send(stamp int64, _ *quad.State, d *control.Decision) error {
	s.stamps, s.commands = append(s.stamps[:0], stamp), append(s.commands[:0], d.Sent)
	return nil
}

// active is a ticker with a loop that ticks, without threads.
func active(t testing.TB, p *Params) (*ticker, *sent) {
	t.Helper()
	s := &sent{}
	const second = time.Second
	g := &gauges{rate: diagnostics.NewFrequency(0, 0), latency: diagnostics.NewLatency(0, second),
		age: diagnostics.NewLatency(-second, second)}
	f := newTicker(p, ros.NewClock(ros.SystemTime), s, g)
	f.loop = must(control.New(p.Config))(t)
	b := must(bundle.Read(path("a.vnd")))(t)
	f.loop.SetPolicy(must(control.LoadPolicy(b, quadrotor.Name, p.Rate))(t))
	f.loop.SetReference(must(control.NewTaskReference("hover", nil))(t))
	f.pace, f.active = control.NewScheduler(p.Period()), true
	return f, s
}

// A turn of the thread that ticks allocates nothing, from the sample to the step, and neither does a latent.
func TestAllocatesNothing(t *testing.T) {
	f, s := active(t, defaults(t))
	pose := bridge.Pose{State: quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}}
	z := &msgs.Latent{Mean: []float32{1, 2, 3, 4}, BundleID: f.loop.Policy().ID}
	ticks, flown := 0, 0
	now := time.Now().UnixNano()
	turn := func() {
		now += 20e6
		pose.Stamp, pose.State.P.X = now-1e6, 1e-4*float64(now/20e6%7) // no tracker sends a pose twice
		z.Header.Stamp = bridge.Time(pose.Stamp)
		f.addLatent(z)
		f.addSample(pose, ros.Time(now))
		f.runOnceAt(now)
		for t := f.ticks.Front(); t != nil; t = f.ticks.Front() {
			if ticks++; t.Stage.PolicyFlies() && t.LatentStamp != 0 {
				flown++
			}
			f.ticks.Pop()
		}
		select {
		case <-f.recorded:
		default:
		}
	}
	for range 100 {
		turn()
	}
	const turns = 2000
	least := math.Inf(1) // of three, for the count is of the whole process
	for try := 0; try < 3 && least != 0; try++ {
		ticks, flown = 0, 0
		least = min(least, testing.AllocsPerRun(1, func() { // of all turns together
			for range turns {
				turn()
			}
		}))
	}
	if least != 0 {
		t.Errorf("%v allocations in %d ticks", least, turns)
	}
	if ticks != 2*turns || flown != ticks {
		t.Errorf("%d ticks, the policy flew in %d of them under its latent, expected %d", ticks, flown, 2*turns)
	}
	if ticks == 0 || len(s.commands) == 0 || f.ticks.Dropped() != 0 {
		t.Errorf("%d ticks, %d dropped", ticks, f.ticks.Dropped())
	}
}

// With a ring that nobody empties the commands go out all the same.
func TestNobodyListensToSteps(t *testing.T) {
	f, s := active(t, defaults(t))
	base := time.Now().UnixNano()
	commands := 0
	for k := range int64(4 * (ticksWaiting + 50)) {
		s.commands = s.commands[:0]
		f.addSample(bridge.Pose{Stamp: base + k*5e6, State: quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}}, 0)
		f.runOnceAt(base + k*5e6 + 1e6)
		commands += len(s.commands)
	}
	if commands < ticksWaiting+40 || f.ticks.Dropped() < 40 || uint64(commands) != ticksWaiting+f.ticks.Dropped() {
		t.Errorf("%d commands, %d steps dropped", commands, f.ticks.Dropped())
	}
}

// A message of /clock that comes after the samples that it goes with makes no tick more: every command has its sample.
func TestTicksOnceWhereClockTopicIsLate(t *testing.T) {
	f, _ := active(t, defaults(t))
	f.sim = func() bool { return true }
	const second, ticks = 1_000_000_000, 100
	clock := int64(second)
	for k := range int64(4*ticks - 3) {
		stamp := second + k*5e6
		if k%100 < 60 || k%100 > 75 { // else it stands
			clock = stamp
		}
		f.addSample(bridge.Pose{Stamp: stamp, State: quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}}, 0)
		f.runOnceAt(clock)
		f.runOnceAt(clock) // by the timer
	}
	if n := f.loop.Guard().Count(guard.Missed); n != 0 {
		t.Errorf("ticks were missed %d times", n)
	}
	before := f.ticks.Front().Stamp
	for f.ticks.Pop(); f.ticks.Front() != nil; f.ticks.Pop() {
		if now := f.ticks.Front().Stamp; now-before != 20e6 {
			t.Errorf("a tick at the stamp %d after one at %d ns, expected 20 ms later", now, before)
		}
		before = f.ticks.Front().Stamp
	}
	if want := int64(second + ticks*20e6 - 25e6); before != want {
		t.Errorf("the last tick was at %d ns, expected %d", before, want)
	}
}

func TestParams(t *testing.T) {
	for want, spoil := range map[string]func(*Params){
		"":                          func(*Params) {},
		"hover_throttle is not set": func(p *Params) { p.CommandInterface = bridge.PX4 },
		"autopilot_namespace is not set": func(p *Params) {
			p.CommandInterface, p.Hover = bridge.Crazyswarm2, 0.5
		},
		"rate is 100, expected at most 50": func(p *Params) {
			p.CommandInterface, p.Hover, p.AutopilotNamespace, p.Rate = bridge.Crazyswarm2, 0.5, "/cf231", 100
		},
		"reaches 40 m from the origin, expected at most 32.7": func(p *Params) {
			p.CommandInterface, p.AutopilotNamespace = bridge.Crazyswarm2FullState, "/cf231"
			p.Guard.FenceMin[0] = -40
		},
		"command_interface aerostack2: parameter mass is not set": func(p *Params) {
			p.CommandInterface = bridge.Aerostack2
		},
		"lost_state is law, expected auto": func(p *Params) {
			p.CommandInterface, p.AutopilotNamespace = bridge.Crazyswarm2FullState, "/cf231"
			p.LostState = "law"
		},
		"lost_state is autopilot, expected auto": func(p *Params) {
			p.CommandInterface, p.Mass, p.LostState = bridge.Aerostack2, 1, "autopilot"
		},
		"reference_json is set":          func(p *Params) { p.Reference = "{}" },
		`task "juggle" has no reference`: func(p *Params) { p.Task = "juggle" },
		"leaves the geofence": func(p *Params) {
			p.Task, p.Reference = "hover",
				`{"kind": "hover", "point": [9, 0, 1]}`
		},
		"hovering takes 0":                  func(p *Params) { p.Limits.MinThrust = 9.9 },
		"fence_min and fence_max: x from 5": func(p *Params) { p.Guard.FenceMin = []float64{5, 0, 0} },
	} {
		p := defaults(t)
		spoil(p)
		if err := p.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
}

// harness is the node in a process of its own, and a test beside it.
type harness struct {
	t      *testing.T
	c      *Controller
	guard  *Controller // beside it; nil: inside
	n      *ros.Node
	status chan diagnosticmsgs.DiagnosticStatus // of the task "control"
	steps  chan msgs.Step
	lines  chan string // of the log
}

func newHarness(t *testing.T, args ...string) *harness {
	t.Helper()
	d := inproc.NewDomain()
	ctx, stop := context.WithCancel(context.Background())
	join := func(threads int, args ...string) *ros.Context {
		c := must(ros.NewContext(ros.Options{Args: append([]string{"--ros-args", "--disable-external-lib-logs"},
			args...),
			Backend: ros.InProcess(d), Getenv: func(string) string { return "" }, Stderr: io.Discard}))(t)
		rostest.SpinWith(ctx, stop, t, c, threads)
		return c
	}
	h := &harness{t: t, status: make(chan diagnosticmsgs.DiagnosticStatus, 100), steps: make(chan msgs.Step, 1000),
		lines: make(chan string, 1000)}
	args = append(args, "-p", "diagnostic_updater.period:=0.05")
	if slices.Contains(args, "guard_process:=true") {
		h.guard = must(NewGuard(ctx, join(3, args...)))(t)
	}
	h.c = must(New(ctx, join(3, args...)))(t)
	t.Cleanup(func() { // no thread of one test flies beside the next
		for _, c := range []*Controller{h.c, h.guard} {
			if c == nil {
				continue
			}
			if err := c.cleanup(); err != nil {
				t.Error(err)
			}
		}
	})
	h.n = must(join(1).NewNode("tester"))(t)
	must(ros.NewSubscription(h.n, "/diagnostics", ros.DefaultQoS(),
		func(m *diagnosticmsgs.DiagnosticArray, _ ros.Info) {
			for _, s := range m.Status {
				if s.Name == Name+": control" {
					select {
					case h.status <- s:
					default:
					}
				}
			}
		}))(t)
	must(ros.NewSubscription(h.n, "step", node.StepQoS(), func(m *msgs.Step, _ ros.Info) {
		select {
		case h.steps <- *m:
		default:
		}
	}))(t)
	must(ros.NewSubscription(h.n, "/rosout", rmw.RosoutQoS(), func(m *rclinterfaces.Log, _ ros.Info) {
		select {
		case h.lines <- m.Msg:
		default:
		}
	}))(t)
	return h
}

// logs waits for a line of the log.
func (h *harness) logs(words string) {
	h.t.Helper()
	var all []string
	for deadline := time.After(long); ; {
		select {
		case line := <-h.lines:
			if all = append(all, line); strings.Contains(line, words) {
				return
			}
		case <-deadline:
			h.t.Fatalf("the log is %q, expected %q", all, words)
		}
	}
}

// says waits for a diagnosis that contains words.
func (h *harness) says(level diagnostics.Level, words string) {
	h.t.Helper()
	deadline := time.After(long)
	last := ""
	for {
		select {
		case s := <-h.status:
			if last = s.Message; s.Level == uint8(level) && strings.Contains(last, words) {
				return
			}
		case <-deadline:
			h.t.Fatalf("the diagnosis is %q, expected %q", last, words)
		}
	}
}

func (h *harness) change(ids ...lifecycle.ID) {
	h.t.Helper()
	for _, id := range ids {
		if err := h.c.Change(id); err != nil {
			h.t.Fatal(err)
		}
	}
}

func (h *harness) bundle(name string, change func(*msgs.Bundle)) *msgs.Bundle {
	h.t.Helper()
	data := must(os.ReadFile(path(name)))(h.t)
	b := must(bundle.Decode(name, data))(h.t)
	m := &msgs.Bundle{ID: b.ID, Robot: b.Robot, Task: b.Task, Data: data, Sha256: sha256.Sum256(data)}
	change(m)
	return m
}

// What is wrong with bundles and samples is said, and what flies flies on; another publisher of commands is named.
func TestBadInput(t *testing.T) {
	h := newHarness(t, "-p", "world_frame:=map", "-p", "guard.descent:=2.0")
	if err := h.c.order(nil); err == nil || !strings.Contains(err.Error(), "unconfigured, expected active") {
		t.Error(err)
	}
	h.change(lifecycle.Configure)
	h.says(diagnostics.OK, "not active")
	if err := h.c.land(); err == nil || !strings.Contains(err.Error(), "inactive, expected active") {
		t.Error(err)
	}
	if err := h.c.setTask("hover", ""); err == nil || err.Error() != "there is no bundle to fly yet" {
		t.Error(err)
	}
	if err := h.c.Parameters().SetAtomically(params.Parameter{Name: "rate", Value: 100.0}); err == nil ||
		!strings.Contains(err.Error(), "deactivate it and clean it up first") {
		t.Error(err)
	}
	h.change(lifecycle.Activate)
	h.says(diagnostics.Warn, "waiting for a bundle")
	bundles := must(ros.NewPublisher[msgs.Bundle](h.n, "bundle", node.LatchedQoS()))(t)
	for _, c := range []struct {
		change func(*msgs.Bundle)
		want   string
	}{
		{func(m *msgs.Bundle) { m.Robot = "arm" }, `its robot is "quadrotor", the message says "arm"`},
		{func(m *msgs.Bundle) { m.Data = slices.Clone(m.Data); m.Data[9000]++ }, "the SHA-256 of its"},
		{func(m *msgs.Bundle) { m.Data = m.Data[:99]; m.Sha256 = sha256.Sum256(m.Data) }, "bundle"},
		{func(m *msgs.Bundle) { m.ID = "other" }, "the message says"},
	} {
		if err := bundles.Publish(h.bundle("a.vnd", c.change)); err != nil {
			t.Fatal(err)
		}
		h.says(diagnostics.Warn, c.want)
	}
	if err := bundles.Publish(h.bundle("a.vnd", func(*msgs.Bundle) {})); err != nil {
		t.Fatal(err)
	}
	h.says(diagnostics.Warn, "waiting for a state on /mocap/pose")
	h.samples("elsewhere", so3.Quat{W: 1}, 1)
	h.says(diagnostics.Warn, `a sample in frame "elsewhere" is refused, expected "map"`)
	h.samples("map", so3.Quat{W: 1}, 60)
	h.policyFlew()
	h.logs("the guard flies: ") // the state is too old, or ticks were missed on a busy machine
	h.logs("the guard has landed: least thrust (")
	if err := bundles.Publish(h.bundle("a.vnd", func(m *msgs.Bundle) { m.ID = "no" })); err != nil {
		t.Fatal(err)
	}
	h.says(diagnostics.Error, "the message says")
	must(ros.NewPublisher[msgs.ThrustRates](h.n, "command", node.CommandQoS()))(t)
	h.says(diagnostics.Error, "topic /command has other publishers too: /tester")
	if f, _ := h.c.flying(); f == nil || f.ID == "no" {
		t.Error("a refused bundle flies")
	}
	h.change(lifecycle.Deactivate, lifecycle.Cleanup)
	h.says(diagnostics.OK, "not configured")
	if err := h.c.Parameters().SetAtomically(params.Parameter{Name: "rate", Value: 100.0}); err != nil {
		t.Error(err)
	}
	h.change(lifecycle.Configure, lifecycle.Activate)
	h.says(diagnostics.Error, "waiting for a bundle")
}

// A bundle that comes while the node is activated is the one that the loop flies.
func TestBundleBesideActivation(t *testing.T) {
	h := newHarness(t)
	h.change(lifecycle.Configure)
	f, held, release := h.c.ticker(), make(chan struct{}), make(chan struct{})
	f.orders <- func(*ticker) { // the thread that ticks has no time
		close(held)
		<-release
	}
	signal(f.wake)
	<-held
	b := must(bundle.Read(path("a.vnd")))(t)
	ended := make(chan error, 2)
	waiting := func(n int) {
		for end := time.Now().Add(100 * time.Millisecond); len(f.orders) < n &&
			time.Now().Before(end); time.Sleep(time.Millisecond) {
		}
	}
	go func() { ended <- h.c.flyBundle(b) }()
	waiting(1)
	go func() { ended <- h.c.Change(lifecycle.Activate) }()
	waiting(2)
	close(release)
	for range 2 {
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
	}
	err := h.c.inFlight(func(l *control.Loop) error {
		if policy, task := h.c.flying(); l.Policy() == nil || l.Policy() != policy || l.TaskReference() == nil ||
			l.TaskReference() != task {
			t.Errorf("the loop has bundle %v and task %v, the node %v and "+
				"%v", l.Policy(), l.TaskReference(), policy, task)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// samples come at 200 Hz, of a robot that stands.
func (h *harness) samples(frame string, q so3.Quat, n int) {
	h.t.Helper()
	pub := must(ros.NewPublisher[geometrymsgs.PoseStamped](h.n, "mocap/pose", node.MocapQoS()))(h.t)
	defer pub.Close()
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	if err := ros.WaitForMatched(ctx, pub, 1); err != nil {
		h.t.Fatal(err)
	}
	var m geometrymsgs.PoseStamped
	for range n {
		now := time.Now().UnixNano()
		bridge.PutPoseStamped(&m, now, frame, quad.State{P: so3.Vec3{X: 1e-9 * float64(now%1e5), Z: 1}, Q: q})
		if err := pub.Publish(&m); err != nil {
			h.t.Fatal(err)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// flies waits for steps, the last of which tell of the guard that takes over when samples end.
func (h *harness) policyFlew() {
	h.t.Helper()
	deadline := time.After(long)
	for {
		select {
		case s := <-h.steps:
			if !guard.Stage(s.GuardState).PolicyFlies() && s.Task == "hover" && s.Header.FrameID == "map" {
				return
			}
		case <-deadline:
			h.t.Fatal("no step under the guard's word")
		}
	}
}

// The services answer in words.
func TestServices(t *testing.T) {
	h := newHarness(t, "-p", "bundle_file:="+path("a.vnd"), "-p", "autostart:=true")
	deadline := time.Now().Add(long)
	for h.c.State() != lifecycle.Active {
		if time.Now().After(deadline) {
			t.Fatal(h.c.State())
		}
		time.Sleep(time.Millisecond)
	}
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	land := must(ros.NewClient[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](h.n, "/policy_controller/land"))(t)
	if err := land.WaitForService(ctx); err != nil {
		t.Fatal(err)
	}
	if r := must(land.Call(ctx, &stdsrvs.TriggerRequest{}))(t); !r.Success ||
		!strings.Contains(r.Message, "takeoff") {
		t.Errorf("%+v", r)
	}
	if err := h.c.setTask("track", `{"kind": "figure_eight", "width": 1.0}`); err != nil {
		t.Error(err)
	}
	if _, k := h.c.flying(); k.Task != "track" {
		t.Errorf("task %s", k.Task)
	}
}

func TestBadBundleFile(t *testing.T) {
	h := newHarness(t, "-p", "bundle_file:=none.vnd")
	if err := h.c.Change(lifecycle.Configure); err == nil ||
		!strings.Contains(err.Error(), "parameter bundle_file: open none.vnd") {
		t.Error(err)
	}
	if h.c.State() != lifecycle.Unconfigured || h.c.ticker() != nil {
		t.Errorf("%v, and something is left", h.c.State())
	}
}
