package torture

import (
	"slices"
	"syscall"
	"testing"
	"time"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
)

// TestStopped stops recorder, encoder and visualizer for a while: no tick is late. The short test is in lockstep, where
// a tick that is held up would hold up time; the long one is in real time, 10 s for each.
func TestStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("four processes")
	}
	f := newField(t)
	file, sim := "bundle_file:="+bundleFile(t), "use_sim_time:=true"
	if long() {
		sim = "use_sim_time:=false"
		f.start("quad_sim")
	} else {
		f.start("quad_sim", "lockstep:=true", "lockstep_patience:=20.0")
	}
	stopped := []*process{f.start("transition_recorder", sim, "directory:="+f.data, "bag.least_free:=0"),
		f.start("latent_encoder", sim, file)}
	if long() && there("visualizer") {
		stopped = append(stopped, f.start("visualizer", sim))
	}
	f.start("policy_controller", sim, file, "autostart:=true", "diagnostic_updater.period:=0.2")
	f.until("flight under the policy and its latents",
		func() bool { return f.flies(0, 100) && f.steps[len(f.steps)-1].latent })
	if !long() {
		for _, p := range stopped {
			p.signal(syscall.SIGSTOP)
		}
		f.flown(600) // twelve times the depth of the topic step
		for _, p := range stopped {
			p.signal(syscall.SIGCONT)
		}
	}
	if long() {
		took := f.latencies()
		for _, p := range stopped {
			before := f.ticksMissed()
			f.note(func() { f.starved = 0 })
			p.signal(syscall.SIGSTOP)
			f.flown(500)
			p.signal(syscall.SIGCONT)
			after, starved := f.ticksMissed(), f.late()
			t.Logf("%s stopped for 10 s: ticks missed %s before and %s after; from a sample sent to its command "+
				"sent: %v; the machine had no time for us for %v",
				p.name, before, after, worst(took), starved)
			switch {
			case after == before:
			case starved < tick/2:
				t.Errorf("%s stopped: ticks missed", p.name)
			default:
				t.Logf("%s stopped: not shown that no tick is missed, the machine was late itself", p.name)
			}
		}
	}
	i := f.count()
	f.until("latents again", func() bool { return f.flies(i, 10) && f.steps[len(f.steps)-1].latent })
}

// tick is the time between two.
const tick = 20 * time.Millisecond

// flown waits for so many steps more: the policy's, one every 20 ms.
func (f *field) flown(n int) {
	f.t.Helper()
	i := f.count()
	f.until("flight goes on", func() bool { return len(f.steps) > i+n })
	f.mu.Lock()
	defer f.mu.Unlock()
	first := f.steps[i]
	for _, s := range f.steps[i:] {
		const jitter = 6 * time.Millisecond // samples are 5 ms apart
		late := time.Duration(s.stamp-first.stamp) - time.Duration(s.seq-first.seq)*tick
		if !s.stage.PolicyFlies() || late.Abs() > jitter+f.starved {
			f.t.Fatalf("step %d is %v late, %v, after step %d; the machine had no time for us for %v", s.seq, late,
				s.stage, first.seq, f.starved)
		}
	}
}

// late is for how long this process did not get the processor at worst.
func (f *field) late() time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.starved
}

// ticksMissed is what the controller counts now.
func (f *field) ticksMissed() (n string) {
	f.t.Helper()
	f.note(func() { f.missed = "" })
	f.until("counts of ticks", func() bool { n = f.missed; return n != "" })
	return n
}

// latencies listens from now on: the times from a sample sent to its command sent, by the middleware's stamps.
func (f *field) latencies() <-chan time.Duration {
	took, sent := make(chan time.Duration, 100_000), map[int64]ros.Time{} // of the spinning goroutine
	must(ros.NewSubscription(f.n, "/quad/mocap/pose", ros.QoS{Depth: 100},
		func(m *geometrymsgs.PoseStamped, i ros.Info) {
			if len(sent) > 1000 {
				clear(sent)
			}
			sent[bridge.Nanoseconds(m.Header.Stamp)] = i.Source
		}))(f.t)
	deep := node.CommandQoS()
	deep.Depth = 100
	must(ros.NewSubscription(f.n, "/quad/command", deep, func(m *msgs.ThrustRates, i ros.Info) {
		if at, ok := sent[bridge.Nanoseconds(m.Header.Stamp)]; ok {
			select {
			case took <- time.Duration(i.Source - at):
			default:
			}
		}
	}))(f.t)
	return took
}

// worst of what came.
func worst(took <-chan time.Duration) time.Duration {
	var all []time.Duration
	for len(took) > 0 {
		all = append(all, <-took)
	}
	if len(all) == 0 {
		return 0
	}
	return slices.Max(all)
}
