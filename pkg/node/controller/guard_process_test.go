package controller

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/lifecycle"
)

// apart is a controller that is active under bundle a, and the guard beside it.
func apart(t *testing.T, args ...string) *harness {
	t.Helper()
	return ready(t, append([]string{"-p", "guard_process:=true", "-p", "real_time:=0", "-p",
		fmt.Sprintf("guard_socket:=vnd_controller_%d_%s", os.Getpid(), t.Name())}, args...)...)
}

// The guard beside flies what the policy asks for, commands alone, and serves what ends a flight under the names that
// users know. When the controller leaves it in good order, no command goes out any more.
func TestGuardBesideCommandsAlone(t *testing.T) {
	h := apart(t)
	m := h.motion("mocap/pose", 0)
	h.flying()
	names := publishers(h.n, "/command")
	if len(names) != 1 || names[0] != "/"+GuardName {
		t.Errorf("commands are published by %q", names)
	}
	if h.c.world() != "world" {
		t.Errorf("the world's frame is %q", h.c.world())
	}
	c := must(ros.NewClient[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](h.n, "/policy_controller/land"))(t)
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	if err := c.WaitForService(ctx); err != nil {
		t.Fatal(err)
	}
	if r := must(c.Call(ctx, &stdsrvs.TriggerRequest{}))(t); !r.Success {
		t.Error(r.Message)
	}
	stage := func() (s guard.Stage) {
		h.guard.last.Read(func(t *control.TickRecord) { s = t.Stage })
		return s
	}
	// This robot hangs where it is, which ends the landing in 1.5 s: a busy machine may miss that.
	h.until(func() bool { s := stage(); return s == guard.Land || s == guard.Off })
	m.is(quad.State{P: so3.Vec3{Z: 0.02}, Q: so3.Identity()})
	h.until(func() bool { return stage() == guard.Off })
	h.change(lifecycle.Deactivate)
	if begun := beginning(h.guard); begun {
		t.Error("the guard goes on to command")
	}
	h.change(lifecycle.Activate)
	h.until(func() bool { return beginning(h.guard) })
}

// beginning reports whether commands go out.
func beginning(c *Controller) (begun bool) {
	_ = c.order(func(f *ticker) error {
		begun = f.requester.begun
		return nil
	})
	return begun
}

// Each name that users know is served by one process, wherever the guard is.
func TestServicesKeepTheirNames(t *testing.T) {
	want := []string{"arm", "land", "reset_guard", "set_task", "takeoff"}
	served := func(h *harness) map[string]int {
		n := map[string]int{}
		for _, name := range []string{Name, GuardName} {
			g, err := h.n.Context().Graph().Of(rmw.NodeName{Namespace: "/", Name: name})
			if err != nil {
				continue
			}
			for s := range g.Servers {
				n[s]++
			}
		}
		return n
	}
	for name, begin := range map[string]func(*testing.T) *harness{
		"inside": func(t *testing.T) *harness { return ready(t) },
		"beside": func(t *testing.T) *harness { return apart(t) }} {
		t.Run(name, func(t *testing.T) {
			h := begin(t)
			for _, s := range want {
				h.until(func() bool { return served(h)["/"+Name+"/"+s] == 1 })
			}
		})
	}
}

// A controller of other settings is refused, and says which one.
func TestControllerOfOtherSettingsIsRefused(t *testing.T) {
	a, b := defaults(t), defaults(t)
	b.Guard.MaxTilt, b.Rate = 0.5, 100
	d := a.differs(b.settings())
	if !strings.Contains(d, "parameter guard.max_tilt is 0.5, that of flight_guard is 1.2") {
		t.Error(d)
	}
	if d := a.differs(defaults(t).settings()); d != "" {
		t.Error(d)
	}
}

// A guard that is not there, or has ended, is an error on /diagnostics, and nothing commands in its place.
func TestControllerAloneCommandsNothing(t *testing.T) {
	h := apart(t)
	h.motion("mocap/pose", 0)
	h.flying()
	for _, id := range []lifecycle.ID{lifecycle.Deactivate, lifecycle.Cleanup} {
		if id == lifecycle.Deactivate {
			h.guard.ticker().stopped.Store(true) // it need not land
		}
		if err := h.guard.Change(id); err != nil {
			t.Fatal(err)
		}
	}
	h.logs("no command goes out: flight_guard is not heard")
	h.until(func() bool { return h.c.ticker().guard.Trouble() != "" })
	if n := len(publishers(h.n, "/command")); n != 0 {
		t.Errorf("%d publishers of commands", n)
	}
	for _, id := range []lifecycle.ID{lifecycle.Configure, lifecycle.Activate} {
		if err := h.guard.Change(id); err != nil {
			t.Fatal(err)
		}
	}
	h.flying()
}

// deciding is a guard's ticker under which a policy asks, without threads, and that policy's next request.
func deciding(t *testing.T) (*ticker, *sent, *control.Request) {
	t.Helper()
	p := defaults(t)
	f, s := active(t, p)
	p.GuardSocket = fmt.Sprintf("vnd_controller_%d_%s", os.Getpid(), t.Name())
	if err := (&Controller{}).expect(p, f); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.requester.Close() })
	f.requester.begun = true
	f.requester.expect(f.loop, "a")
	q := &control.Request{Bundle: "a", Command: quad.Command{Thrust: quad.Gravity}}
	q.Target.Z = 1
	return f, s, q
}

// ask has a robot measured at a stamp, ns, and a request answer that sample.
func ask(f *ticker, q *control.Request, stamp int64) {
	q.Seq++
	q.Stamp = stamp
	pose := bridge.Pose{Frame: "world", State: quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}}
	pose.Stamp, pose.State.P.X = stamp, 1e-4*float64(q.Seq%7)
	f.addSample(pose, ros.Time(stamp))
	f.accept(q)
}

// A request that answers a sample is there, even where simulated time has not come so far yet.
func TestRequestThatComesBeforeItsClock(t *testing.T) {
	f, _, q := deciding(t)
	f.sim = func() bool { return true }
	for range 200 { // a busy machine may be late for one
		time.Sleep(5 * time.Millisecond)
		ask(f, q, time.Now().Add(50*time.Millisecond).UnixNano())
		now := time.Now().UnixNano()
		f.takeSamples(now) // in a turn before, which was too soon for the request
		if f.decide(now); f.requester.decision.Seq == q.Seq {
			return
		}
	}
	t.Errorf("no request was answered, because %v", f.requester.decision.Cause)
}

// A turn of the guard's thread allocates nothing, from the sample to the command.
func TestDecidingAllocatesNothing(t *testing.T) {
	f, s, q := deciding(t)
	turn := func() {
		time.Sleep(5 * time.Millisecond)
		ask(f, q, time.Now().UnixNano())
		now, _ := f.takeSamples(int64(f.clock.Now()))
		f.decide(now)
		for x := f.ticks.Front(); x != nil; x = f.ticks.Front() {
			f.ticks.Pop()
		}
	}
	for range 20 {
		turn()
	}
	if n := testing.AllocsPerRun(50, turn); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if d := &f.requester.decision; d.Seq != q.Seq || len(s.commands) == 0 {
		t.Errorf("request %d was answered of %d, %d commands", d.Seq, q.Seq, len(s.commands))
	}
}
