package learner

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/dataset/datasettest"
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
	rows := hovering(t, 12)
	for k, s := range rows {
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
	f.says("Steps of cf2", fmt.Sprint(len(rows)+2))
	stop()
	for _, name := range []string{"lab/cf1", "cf2"} {
		all, losses, err := dataset.ReadDir(filepath.Join(dir, "collected", name), 0.02)
		kept := 0
		for _, s := range all {
			kept += len(s.Rows)
		}
		if err != nil || len(losses) > 0 || kept < 550 {
			t.Errorf("%s: %d rows of 600; %v, %v", name, kept, losses, err)
		}
	}
}

// fleetRobots are robots that listen to a learner.
type fleetRobots struct {
	t      *testing.T
	robots []fleetMember
	health chan diagnosticmsgs.KeyValue
}

type fleetMember struct {
	steps   *ros.Publisher[msgs.Step]
	bundles chan string
	phases  chan string
}

func joinFleet(t *testing.T, d *inproc.Domain, namespaces ...string) *fleetRobots {
	f, c := &fleetRobots{t: t, health: make(chan diagnosticmsgs.KeyValue, 10000)}, must(ros.NewContext(options(d)))(t)
	n := must(c.NewNode("robots"))(t)
	must(ros.NewSubscription(n, "/diagnostics", ros.DefaultQoS(),
		func(m *diagnosticmsgs.DiagnosticArray, _ ros.Info) {
			for i := range m.Status {
				for _, v := range m.Status[i].Values {
					f.health <- v
				}
			}
		}))(t)
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

// says waits until the learner says something on its diagnostics.
func (f *fleetRobots) says(key, value string) {
	f.t.Helper()
	for end := time.After(patience / 5); ; {
		select {
		case v := <-f.health:
			if v.Key == key && v.Value == value {
				return
			}
		case <-end:
			f.t.Fatalf("%s does not come to %s", key, value)
		}
	}
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

// TestFleetApart: one robot is not two because of what it is called.
func TestFleetApart(t *testing.T) {
	n := &learnerNode{roundsNode: must(newRoundsNode(must(ros.NewContext(options(inproc.NewDomain())))(t)))(t)}
	if err := n.apart([]string{"/cf1", "cf2", "/lab/cf1"}); err != nil {
		t.Error(err)
	}
	if err := n.apart([]string{"/quad/cf1", "cf1"}); err == nil || !strings.Contains(err.Error(),
		`"/quad/cf1" and "cf1" are one robot`) {
		t.Error(err)
	}
}

// TestFleetBeginsInOrder: what robots flew before the start comes in the order in which they flew, and that of a robot
// whose clock was set back stays in its order. Each is named.
func TestFleetBeginsInOrder(t *testing.T) {
	var p Params
	param.Default(&p)
	p.Directory, p.Namespaces = t.TempDir(), []string{"a", "b"}
	for robot, begins := range map[string][]int64{"a": {10, 30, 1}, "b": {20, 40}} { // s
		for _, s := range begins {
			datasettest.Segment(t, filepath.Join(p.Directory, "collected", robot), dataset.FlightName(s*1e9),
				[]dataset.WeightedRow{{Row: quad.Row{State: quad.State{Q: so3.Identity()}}, Confidence: 1}})
		}
	}
	n, order := &learnerNode{}, ""
	n.announced = func(a dataset.SegmentFile) { order += a.Robot + strings.Trim(a.File, "0.seg") + " " }
	for _, name := range p.Namespaces {
		n.robots = append(n.robots, &robot{learnerNode: n, namespace: name})
	}
	if err := n.collect(&p); err != nil || order != "a1 b1 a2 a3 b2 " {
		t.Errorf("%q, %v", order, err)
	}
	for _, r := range n.robots {
		if err := r.collector.Close(); err != nil {
			t.Error(err)
		}
	}
}
