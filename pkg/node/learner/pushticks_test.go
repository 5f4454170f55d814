package learner

import (
	"context"
	"math"
	"path/filepath"
	"testing"
	"time"

	"vnd/msgs"
	"vnd/pkg/bridge/pushlog"
	"vnd/pkg/bridge/pushlog/pushlogtest"
	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/node"
	robotpusher "vnd/pkg/robot/pusher"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle/store"
)

// ticksOf are those of messages, in order.
func ticksOf(t *testing.T, all []*msgs.PushStep) (out []rounds.ControllerTick) {
	t.Helper()
	var w pushTicks
	stream := pushlog.Stream{Dt: pushlearning.Dt, Least: pushlearning.LeastRows}
	for _, m := range all {
		s, err := stream.Add(m)
		if err != nil {
			t.Fatal(err)
		}
		if x := w.add(m, s.Rows); x != nil {
			out = append(out, *x)
		}
	}
	return out
}

// TestPushTicks: each push that was seen as a whole is a tick, which knows the force that the box takes, and errs more
// where the push failed. What sensors ended says nothing.
func TestPushTicks(t *testing.T) {
	const length = 100
	heavy := robotpusher.Robot{Dt: pushlearning.Dt, Mass: 1.7, Friction: 0.9}
	all := pushlogtest.Pushes(heavy, 6, length)
	end := func(k int) *msgs.PushStep { return all[k*length+length-1] }
	end(2).There, end(2).Fault, end(2).PolicyFailed = false, "late", true
	end(3).There, end(3).Fault = false, "no place came"
	got := ticksOf(t, all)
	if len(got) != 4 { // the first has no tick before it
		t.Fatalf("%d ticks: %+v", len(got), got)
	}
	for i, x := range got {
		if x.Bundle != "a" || !x.Policy || x.Stamp != int64(i+1)*1e9 || !(math.Abs(x.Place[0]-heavy.Force()) < 1) {
			t.Errorf("%d: %+v, a force of %g N", i, x, heavy.Force())
		}
	}
	if there, late := got[0].Error, got[1].Error; !(there > 0.05 && there < 0.2 && late > 2*there) {
		t.Errorf("errors of %g m, and of %g where it was late", there, late)
	}
	for name, change := range map[string]func(){
		"one tick lost":             func() { all = append(all[:2*length+9], all[2*length+10:]...) },
		"another bundle came in it": func() { all[3*length+50].BundleID = "b" },
	} {
		all = pushlogtest.Pushes(heavy, 6, length)
		if change(); len(ticksOf(t, all)) != 4 {
			t.Errorf("%s: %d ticks", name, len(ticksOf(t, all)))
		}
	}
}

// TestPushTicksOfRollbacks: where the guard trips and another bundle is back, the one before was given up.
func TestPushTicksOfRollbacks(t *testing.T) {
	all := pushlogtest.Pushes(robotpusher.Robot{Dt: pushlearning.Dt, Mass: 1, Friction: 0.5}, 2, 80)
	last := all[len(all)-1]
	last.There, last.Fault, last.PolicyFailed, last.BundleID = false, "gone", true, "before"
	got := ticksOf(t, all)
	if n := len(got) - 1; n != 0 || got[n].Dropped != "a" || got[n].Fault != "gone" || got[n].Bundle != "before" ||
		got[n].Policy {
		t.Errorf("%+v", got)
	}
}

// TestBundlesThatPushWorseAreRolledBack: the learner's second bundle is late, where the first one was there. The first
// one is back, on that evidence.
func TestBundlesThatPushWorseAreRolledBack(t *testing.T) {
	dir := t.TempDir()
	var ids []string
	kept, _, err := store.Open(filepath.Join(dir, "bundles"), 5, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	for k := range 2 {
		p := must(vnd.NewActor(pushcontrol.Sees, 0, make([]float32, 2), []float32{1, 1}, []int{4}))(t)
		p.Net.Params[0] = float32(k)
		b := must(pushlearning.First(p, "a test"))(t)
		if ids = append(ids, b.ID); kept.Promote(b) != nil {
			t.Fatal(b.ID)
		}
	}
	kept.Close()
	d := inproc.NewDomain()
	p := join(t, d)
	steps := must(ros.NewPublisher[msgs.PushStep](p.n, node.PushStep, node.StepQoS()))(t)
	w := watch(p, d, append(tinyPusher[:len(tinyPusher):len(tinyPusher)], "directory:="+dir, "evidence.pushes:=5")...)
	if b := w.bundle(); b.ID != ids[1] {
		t.Fatalf("bundle %s, expected %s", b.ID, ids[1])
	}
	within, done := context.WithTimeout(t.Context(), patience)
	defer done()
	if err := ros.WaitForMatched(within, steps, 1); err != nil {
		t.Fatal(err)
	}
	const length, first = 80, 7 // ticks of a push, and pushes of the first bundle
	rows := uint64(0)
	for i, m := range pushlogtest.Pushes(robotpusher.Robot{Dt: pushlearning.Dt, Mass: 1, Friction: 0.5}, 16, length) {
		m.BundleID = ids[0]
		if rows++; i >= first*length {
			m.BundleID = ids[1]
			if m.There {
				m.There, m.PolicyFailed, m.Fault = false, true, "late"
				rows--
			}
		}
		if err := steps.Publish(m); err != nil {
			t.Fatal(err)
		}
		if i%length == length-1 {
			rows--
			w.rows(rows) // so that none is lost, however busy the machine is
		}
	}
	w.said("bundle " + ids[1] + " is taken back, " + ids[0] + " flies again: " + ids[1] + " errs more than its parent")
	if b := w.bundle(); b.ID != ids[0] {
		t.Errorf("bundle %s, expected %s", b.ID, ids[0])
	}
}
