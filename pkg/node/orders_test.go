package node_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"vnd/msgs"
	rclinterfaces "vnd/msgs/rcl_interfaces"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/core/so3"
	"vnd/pkg/node"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

// hovering starts a simulated flight under a controller of these arguments, and waits until it hovers.
func (l *lab) hovering(args ...string) {
	l.t.Helper()
	l.hoveringIn(must(filepath.Abs("../../params/worlds/calm.yaml"))(l.t), nil, args...)
}

// hoveringIn is hovering in a world, with more arguments of the simulator.
func (l *lab) hoveringIn(world string, sim []string, args ...string) {
	l.t.Helper()
	file := must(filepath.Abs("../flight/control/testdata/a.vnd"))(l.t)
	l.start("quad_sim", append([]string{"-p", "world:=" + world, "-p", "lockstep:=true", "-p",
		"lockstep_patience:=20.0"}, sim...)...)
	l.start("policy_controller", append([]string{"-p", "use_sim_time:=true", "-p", "bundle_file:=" + file}, args...)...)
	l.change("configure")
	l.change("activate")
	l.until("the robot hovers", func() bool { return l.hovers(so3.Vec3{Z: 1}) })
}

// resident is the memory of a process, bytes.
func resident(t testing.TB, pid int) int {
	t.Helper()
	var pages, in int
	text := must(os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid)))(t)
	if _, err := fmt.Sscan(string(text), &pages, &in); err != nil {
		t.Fatal(err)
	}
	return in * os.Getpagesize()
}

// spent is the processor time of a process, s.
func spent(t testing.TB, pid int) float64 {
	t.Helper()
	text := string(must(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))(t))
	f := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	var user, system float64
	if _, err := fmt.Sscan(f[11]+" "+f[12], &user, &system); err != nil {
		t.Fatal(err)
	}
	const ticks = 100 // a second, as Linux counts for /proc
	return (user + system) / ticks
}

// hostileReferences are those that a caller without good will sends, with what is said of them.
func hostileReferences(t testing.TB) map[string][2]string {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	file := func(path string) [2]string {
		return [2]string{fmt.Sprintf(`{"kind":"csv","file":%q}`, path), "names a file"}
	}
	return map[string][2]string{
		"a file of the system": file("/etc/passwd"), "a FIFO": file(fifo), "a device": file("/dev/zero"),
		"a file without end": file("/dev/urandom"), "a file of the process": file("/proc/self/environ"),
		"many points": {`{"kind":"polynomial","points":[` + strings.Repeat("[0,0,1],", 5000) + `[0,0,1]]}`,
			"at most 65"},
		"a billion points": {`{"kind":"polynomial","points":[` + strings.Repeat("[0,0,1],", 1<<20) + `[0,0,1]]}`,
			"a request of "},
		"a huge string": {`{"kind":"` + strings.Repeat("x", 8<<20) + `"}`, "a request of "},
		"deep nesting":  {`{"kind":"hover","point":` + strings.Repeat("[", 50_000), "JSON at byte"},
		"NaN":           {`{"kind":"hover","point":[NaN,0,1]}`, "JSON at byte"},
		"infinity":      {`{"kind":"hover","point":[1e999,0,1]}`, "point"},
		"a spline beyond the vehicle": {`{"kind":"polynomial","points":[[0,0,1],[3,0,1],[-3,0,1],[0,0,1]],` +
			`"times":[0,0.1,0.2,0.3]}`, "the reference (polynomial)"},
	}
}

// Over the wire: no reference that a caller sends has a file opened, and each is refused within 50 MB and a second of
// its processor.
func TestHostileOrders(t *testing.T) {
	l := newLab(t)
	l.hovering()
	if r := l.task("hover", ""); !r.Success {
		t.Fatal(r.Message)
	}
	controller := l.pid
	c := must(ros.NewClient[msgs.SetTaskRequest, msgs.SetTaskResponse](l.n, "/quad/policy_controller/set_task"))(t)
	if err := c.WaitForService(l.ctx); err != nil {
		t.Fatal(err)
	}
	for name, h := range hostileReferences(t) {
		before, begun := resident(t, controller), spent(t, controller)
		r, err := c.Call(l.ctx, &msgs.SetTaskRequest{Task: "hover", ReferenceJSON: h[0]})
		took := spent(t, controller) - begun
		if err != nil || r.Success || !strings.Contains(r.Message, h[1]) || len(r.Message) > 1000 {
			t.Errorf("%s: %.300v, %v, expected %q", name, r, err, h[1])
		}
		if more := resident(t, controller) - before; took > 1 || more > 50e6 {
			t.Errorf("%s: answered after %.2f s of its processor with %d bytes more", name, took, more)
		}
	}
	set := call[rclinterfaces.SetParametersRequest, rclinterfaces.SetParametersResponse](l,
		"/quad/policy_controller/set_parameters", &rclinterfaces.SetParametersRequest{
			Parameters: []rclinterfaces.Parameter{{Name: "bundle_file", Value: rclinterfaces.ParameterValue{Type: 4,
				StringValue: "/dev/zero"}}}})
	if len(set.Results) != 1 || set.Results[0].Successful {
		t.Errorf("%+v", set)
	}
	if r := l.trigger("policy_controller/land"); !r.Success {
		t.Error(r.Message)
	}
}

// flood calls services of the controller a thousand times a second until ctx is done; it counts its calls.
func (l *lab) flood(ctx context.Context, n *atomic.Int64) {
	c := rostest.Wire(l.t, nil)
	node := must(c.NewNode("flood"))(l.t)
	task := must(ros.NewClient[msgs.SetTaskRequest, msgs.SetTaskResponse](node,
		"/quad/policy_controller/set_task"))(l.t)
	get := must(ros.NewClient[rclinterfaces.GetParametersRequest, rclinterfaces.GetParametersResponse](node,
		"/quad/policy_controller/get_parameters"))(l.t)
	if err := task.WaitForService(ctx); err != nil {
		l.t.Error(err)
	}
	spun, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Spin(spun) }()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	points := `{"kind":"polynomial","points":[[0,0,1],[1,0,1],[0,1,1],[0,0,1]]}`
	for ctx.Err() == nil {
		<-tick.C
		if n.Add(1)%2 == 0 {
			_ = task.Send(&msgs.SetTaskRequest{Task: "hover", ReferenceJSON: points},
				func(*msgs.SetTaskResponse, error) {})
			continue
		}
		_ = get.Send(&rclinterfaces.GetParametersRequest{Names: []string{"rate"}},
			func(*rclinterfaces.GetParametersResponse, error) {})
	}
	stop()
	if err := <-ended; err != nil {
		l.t.Error(err)
	}
	if err := c.Close(); err != nil {
		l.t.Error(err)
	}
}

// land calls ~/land many times under a thousand other calls a second, and returns how long each took.
func (l *lab) landUnderFlood(calls int) (took []time.Duration, rate float64) {
	l.t.Helper()
	c := must(ros.NewClient[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](l.n, "/quad/policy_controller/land"))(l.t)
	defer c.Close()
	if err := c.WaitForService(l.ctx); err != nil {
		l.t.Fatal(err)
	}
	ctx, stop := context.WithCancel(l.ctx)
	var n atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		l.flood(ctx, &n)
	}()
	for n.Load() < 500 {
		time.Sleep(time.Millisecond)
	}
	first, begun := n.Load(), time.Now()
	for range calls {
		at := time.Now()
		r, err := c.Call(l.ctx, &stdsrvs.TriggerRequest{})
		if err != nil || !r.Success {
			l.t.Fatalf("%+v, %v", r, err)
		}
		took = append(took, time.Since(at))
		time.Sleep(20 * time.Millisecond)
	}
	rate = float64(n.Load()-first) / time.Since(begun).Seconds()
	stop()
	<-ended
	slices.Sort(took)
	return took, rate
}

// ~/land is answered under a thousand other calls a second. The bound is five times what is asked for, because the
// machine is busy with other tests; the benchmark below has the figure of one that is not.
func TestLandUnderOtherCalls(t *testing.T) {
	l := newLab(t)
	l.hovering()
	took, rate := l.landUnderFlood(50)
	t.Logf("%.0f other calls a second; ~/land was answered in %v in the middle, in %v at most", rate,
		took[len(took)/2], took[len(took)-1])
	if worst := took[len(took)-1]; worst > 500*time.Millisecond {
		t.Errorf("answered after %v", worst)
	}
}

// BenchmarkLandUnderOtherCalls is the time to an answer of ~/land under a thousand other calls a second.
func BenchmarkLandUnderOtherCalls(b *testing.B) {
	l := newLab(b)
	l.hovering()
	took, rate := l.landUnderFlood(200)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(took[len(took)-1].Microseconds())/1000, "worst-ms")
	b.ReportMetric(rate, "other-calls/s")
}

// commanders are the publishers of a topic: when the last command of each came, and for how long two commanded.
type commanders struct {
	last    map[rmw.GID]time.Time
	both    time.Time // since when two do; zero: one does
	longest time.Duration
}

// add takes a command that comes now.
func (c *commanders) add(from rmw.GID, now time.Time) {
	const apart = 100 * time.Millisecond // five periods
	c.last[from] = now
	for other, at := range c.last {
		if other != from && now.Sub(at) < apart {
			if c.both.IsZero() {
				c.both = now
			}
			c.longest = max(c.longest, now.Sub(c.both))
			return
		}
	}
	c.both = time.Time{}
}

// Of two controllers the one that comes later is silent within a second, whoever of them flies on, and says why.
func TestSecondControllerIsSilent(t *testing.T) {
	l := newLab(t)
	l.hovering()
	all := commanders{last: map[rmw.GID]time.Time{}}
	q := node.StepQoS()
	must(ros.NewSubscription(l.n, "/quad/command", q, func(_ *msgs.ThrustRates, i ros.Info) {
		l.mu.Lock()
		all.add(i.Publisher, time.Now())
		l.mu.Unlock()
		l.changed.Broadcast()
	}))(t)
	l.until("commands", func() bool { return len(all.last) == 1 })
	l.start("policy_controller", "-r", "__node:=second", "-p", "use_sim_time:=true", "-p", "autostart:=true", "-p",
		"bundle_file:="+must(filepath.Abs("../flight/control/testdata/b.vnd"))(t))
	said := func(what string) func() bool {
		return func() bool {
			return slices.ContainsFunc(l.log, func(s string) bool { return strings.Contains(s, what) })
		}
	}
	l.until("the second says why", said("no command goes out: another node's commands are heard"))
	began := time.Now()
	// A sample that a busy machine loses stops both in lockstep; of two that begin again at once both fall silent.
	l.until("one of them commands, the other has not for a second", func() bool {
		alive := 0
		for _, at := range all.last {
			if time.Since(at) < time.Second {
				alive++
			}
		}
		return alive == 1 && time.Since(began) > time.Second
	})
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(all.last) > 2 || all.longest > time.Second {
		t.Errorf("%d publishers of commands, two at once for %v", len(all.last), all.longest)
	}
}
