package controller

import (
	"context"
	"strings"
	"testing"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
	"vnd/pkg/node"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/diagnostics"
	"vnd/pkg/ros2/ros/lifecycle"
)

func TestSoleWriterTrustsTheFirst(t *testing.T) {
	const ms = int64(time.Millisecond)
	a, b, none := rmw.GID{1}, rmw.GID{2}, rmw.GID{}
	s := soleWriter{within: recently}
	for _, c := range []struct {
		name string
		from rmw.GID
		at   int64
		want bool
	}{
		{"the first", a, 10 * ms, true},
		{"it again", a, 20 * ms, true},
		{"a second beside it", b, 25 * ms, false},
		{"the first goes on", a, 30 * ms, true},
		{"a middleware without ids", none, 31 * ms, true},
		{"any behind that", a, 40 * ms, true},
		{"another when it is gone", b, 541 * ms, true},
		{"the first comes back beside it", a, 550 * ms, false},
	} {
		if got := s.accept(c.from, c.at); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// A second publisher of the state trips the guard within 100 ms, and one line names both.
func TestSecondMocapTripsTheGuard(t *testing.T) {
	h := ready(t)
	h.motion("mocap/pose", 0)
	h.flying()
	f := h.c.ticker()
	pub := must(ros.NewPublisher[geometrymsgs.PoseStamped](h.second("spoofer"), "mocap/pose", node.MocapQoS()))(t)
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	if err := ros.WaitForMatched(ctx, pub, 1); err != nil {
		t.Fatal(err)
	}
	var m geometrymsgs.PoseStamped
	s := hovering
	s.P.X += 0.01
	bridge.PutPoseStamped(&m, int64(h.c.Now()), "world", s)
	begun := time.Now()
	if err := pub.Publish(&m); err != nil {
		t.Fatal(err)
	}
	tripped := func() (is bool) {
		h.c.last.Read(func(t *control.TickRecord) { is = t.Stage.HoldsAuthority() && t.Cause == guard.Requested })
		return is
	}
	for !tripped() && time.Since(begun) < long {
		time.Sleep(time.Millisecond)
	}
	took := time.Since(begun)
	t.Logf("the guard has control authority %v after the first sample", took)
	const bound = 500 * time.Millisecond // for machines that are busy with other tests; 100 ms are asked for
	if took > bound {
		t.Errorf("after %v", took)
	}
	h.logs("topic /mocap/pose has two publishers, /tester (")
	if f.samples.Dropped() > 0 {
		t.Error("samples dropped")
	}
}

// second is another node beside the tester.
func (h *harness) second(name string) *ros.Node {
	h.t.Helper()
	return must(h.n.Context().NewNode(name))(h.t)
}

// An order that nobody waits for any more is never carried out.
func TestOrderIsDroppedWithItsCaller(t *testing.T) {
	h := newHarness(t)
	h.change(lifecycle.Configure)
	f := h.c.ticker()
	release, begun := make(chan struct{}), make(chan struct{})
	f.orders <- func(*ticker) { close(begun); <-release }
	signal(f.wake)
	<-begun
	done := false
	err := h.c.order(func(*ticker) error { done = true; return nil })
	if err == nil || !strings.Contains(err.Error(), "does not answer") {
		t.Error(err)
	}
	close(release)
	if err := h.c.order(func(*ticker) error { return nil }); err != nil { // behind the one that was given up
		t.Fatal(err)
	}
	if done {
		t.Error("it was carried out")
	}
}

func TestLateOrders(t *testing.T) {
	for _, c := range []struct {
		name         string
		queued, sent time.Duration
		stalled      bool
		any, urgent  string
	}{
		{"fresh", 0, 0, false, "", ""},
		{"waited", 3 * time.Second, 0, false, "waited 3.0 s", "waited 3.0 s"},
		{"old by its stamp", 0, 5 * time.Second, false, "sent 5.0 s ago", ""},
		{"old, after a stall", 0, 5 * time.Second, true, "sent 5.0 s ago", "sent 5.0 s ago"},
		{"stamped in the future", 0, -time.Hour, true, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s stalls
			s.beat.Store(monotonic())
			if c.stalled {
				s.ended.Store(monotonic())
			}
			for want, err := range map[*string]error{&c.any: late(c.queued, c.sent),
				&c.urgent: s.late(c.queued, c.sent)} {
				if (err == nil) != (*want == "") || err != nil && !strings.Contains(err.Error(), *want) {
					t.Errorf("%v, expected %q", err, *want)
				}
			}
		})
	}
	stood := stalls{}
	stood.beat.Store(monotonic() - int64(2*time.Second))
	if !stood.lately() {
		t.Error("a stall that watch has not seen yet is not known")
	}
}

// ~/emergency is there where it is asked for. From then on no thrust goes out, until the node is configured anew.
func TestEmergencyTurnsTheMotorsOff(t *testing.T) {
	h := ready(t, "-p", "emergency_service:=true")
	h.motion("mocap/pose", 0)
	h.flying()
	call := func(name string) *stdsrvs.TriggerResponse {
		c := must(ros.NewClient[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](h.n, "/policy_controller/"+name))(t)
		ctx, cancel := context.WithTimeout(context.Background(), long)
		defer cancel()
		if err := c.WaitForService(ctx); err != nil {
			t.Fatal(err)
		}
		return must(c.Call(ctx, &stdsrvs.TriggerRequest{}))(t)
	}
	if r := call("emergency"); !r.Success {
		t.Fatal(r.Message)
	}
	h.says(diagnostics.Error, "the motors are off by ~/emergency")
	if r := call("reset_guard"); r.Success || r.Message != errStopped.Error() {
		t.Errorf("%+v", r)
	}
	h.c.last.Read(func(tick *control.TickRecord) {
		if tick.Sent != (quad.Command{}) {
			t.Errorf("sent %+v", tick.Sent)
		}
	})
	h.change(lifecycle.Deactivate, lifecycle.Cleanup, lifecycle.Configure, lifecycle.Activate)
	h.flying()
}

func TestEmergencyOnlyWhereAskedFor(t *testing.T) {
	h := newHarness(t)
	ctx, cancel := context.WithTimeout(context.Background(), long)
	defer cancel()
	has := func(g rmw.Graph, name string) bool { _, ok := g.Services()["/policy_controller/"+name]; return ok }
	if err := h.n.Context().WaitForGraph(ctx, func(g rmw.Graph) bool { return has(g, "land") }); err != nil {
		t.Fatal(err)
	}
	if has(h.n.Context().Graph(), "emergency") {
		t.Error("~/emergency is offered unasked")
	}
}

// Commands of another one that were there before keep a controller silent; when they end, its own go out.
func TestLaterControllerIsSilentWhileOthersCommand(t *testing.T) {
	h := ready(t)
	f := h.c.ticker()
	h.motion("mocap/pose", 0)
	h.flying()
	r := f.rivals
	f.sending.Store(monotonic()) // it has just begun
	r.receive(nil, ros.Info{})
	if !f.silent.Load() {
		t.Fatal("it commands beside another one")
	}
	h.says(diagnostics.Error, "no command goes out")
	h.logs("ours go out again")
	f.sending.Store(monotonic() - int64(2*time.Second))
	r.receive(nil, ros.Info{})
	if f.silent.Load() {
		t.Error("the earlier one is silent")
	}
}
