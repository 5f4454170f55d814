package learner

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/control"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/node"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

// TestFleet: one learner learns from two robots that fly at once, and sends what passed to both. What one of them gives
// up it takes back from both.
func TestFleet(t *testing.T) {
	d, dir := inproc.NewDomain(), t.TempDir()
	f := joinFleet(t, d, "/lab/cf1", "/quad/cf2") // the second is named by its relative name
	stop := begin(t, d, "directory:="+dir, "source:=topic", "namespaces:=[/lab/cf1, cf2]")
	first := f.all("")
	m := msgs.NewStep()
	for k, s := range hovering(t, 12) {
		bridge.PutStep(m, &control.TickRecord{Seq: uint64(k), Stamp: 1e18 + int64(k)*20e6, State: s.State,
			Sent: s.Command, Bundle: first, Task: "hover", Reference: make([]quad.Reference, 1)}, "world")
		for i := range f.robots {
			m.Pose.Position.X += float64(i)
			f.publish(i, m)
		}
	}
	second := f.all(first)
	for k, id := range []string{second, first} { // the second robot's guard trips, and its controller goes back
		m.Seq, m.BundleID, m.GuardState = uint64(1000+k), id, [...]uint8{msgs.StepGuardPolicy, msgs.StepGuardHold}[k]
		f.publish(1, m)
	}
	if again := f.all(second); again != first {
		t.Errorf("%s flies, expected %s again", again, first)
	}
	stop()
	for _, name := range []string{"lab/cf1", "cf2"} {
		all, losses, err := dataset.ReadDir(filepath.Join(dir, "collected", name), 0.02)
		rows := 0
		for _, s := range all {
			rows += len(s.Rows)
		}
		if err != nil || len(losses) > 0 || rows < 550 {
			t.Errorf("%s: %d rows of 600; %v, %v", name, rows, losses, err)
		}
	}
}

// fleetRobots are robots that listen to a learner.
type fleetRobots struct {
	t      *testing.T
	robots []fleetMember
}

type fleetMember struct {
	steps   *ros.Publisher[msgs.Step]
	bundles chan string
	phases  chan string
}

func joinFleet(t *testing.T, d *inproc.Domain, namespaces ...string) *fleetRobots {
	f, c := &fleetRobots{t: t}, must(ros.NewContext(options(d)))(t)
	n := must(c.NewNode("robots"))(t)
	for _, space := range namespaces {
		r := fleetMember{steps: must(ros.NewPublisher[msgs.Step](n, space+"/step", node.StepQoS()))(t),
			bundles: make(chan string, 100), phases: make(chan string, 10000)}
		must(ros.NewSubscription(n, space+"/bundle", node.LatchedQoS(),
			func(m *msgs.Bundle, _ ros.Info) { r.bundles <- m.ID }))(t)
		must(ros.NewSubscription(n, space+"/learner/status", node.LatchedQoS(),
			func(m *msgs.LearnerStatus, _ ros.Info) { r.phases <- m.Phase }))(t)
		f.robots = append(f.robots, r)
	}
	rostest.Spin(t, c, 1)
	return f
}

// all is the bundle that all get next, which is not that of before. Each has heard what the learner does.
func (f *fleetRobots) all(before string) string {
	f.t.Helper()
	id := f.next(0)
	for i := range f.robots {
		if i > 0 {
			if other := f.next(i); other != id {
				f.t.Errorf("robot %d gets %s, expected %s", i, other, id)
			}
		}
		if len(f.robots[i].phases) == 0 {
			f.t.Errorf("robot %d: no learner/status", i)
		}
	}
	if id == before {
		f.t.Errorf("%s comes again", id)
	}
	return id
}

// next is the bundle that a robot gets next.
func (f *fleetRobots) next(robot int) string {
	f.t.Helper()
	select {
	case id := <-f.robots[robot].bundles:
		return id
	case <-time.After(patience):
		f.t.Fatalf("robot %d: no bundle came", robot)
		panic("not reached")
	}
}

func (f *fleetRobots) publish(robot int, m *msgs.Step) {
	f.t.Helper()
	if err := f.robots[robot].steps.Publish(m); err != nil {
		f.t.Fatal(err)
	}
}

func TestCheckFleet(t *testing.T) {
	for want, namespaces := range map[string][]string{
		"":                                  {"cf1", "/cf2", "lab/cf1"},
		`parameter namespaces: "cf 1": `:    {"cf 1"},
		`parameter namespaces: "": `:        {""},
		`parameter namespaces: "/": `:       {"/"},
		`namespaces: "/cf1" is named twice`: {"cf1", "/cf1"},
	} {
		err := checkFleet(namespaces)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, expected %q", namespaces, err, want)
		}
	}
}
