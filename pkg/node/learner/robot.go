package learner

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/guard"
	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/node"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/names"
)

// fleet are the namespaces of robots that are learned from together: that of the node where none is named.
func fleet(namespaces []string) []string {
	if len(namespaces) == 0 {
		return []string{""}
	}
	return namespaces
}

// checkFleet refuses namespaces that are none, and those that are named twice.
func checkFleet(namespaces []string) error {
	seen := map[string]bool{}
	for _, space := range namespaces {
		name := robotName(space)
		if err := names.CheckTopic("/" + name); err != nil {
			return fmt.Errorf("parameter namespaces: %q: %w", space, err)
		}
		if seen[name] {
			return fmt.Errorf("parameter namespaces: %q is named twice", space)
		}
		seen[name] = true
	}
	return nil
}

// apart refuses namespaces that are the same to the node: of a relative name its own comes first.
func (n *learnerNode) apart(namespaces []string) error {
	seen := map[string]string{}
	for _, space := range namespaces {
		topic, err := n.ResolveTopic(in(space, "step"))
		if err != nil {
			return fmt.Errorf("parameter namespaces: %q: %w", space, err)
		}
		if other, ok := seen[topic]; ok {
			return fmt.Errorf("parameter namespaces: %q and %q are one robot, with the topic %s", other, space, topic)
		}
		seen[topic] = space
	}
	return nil
}

// robotName is that of a robot in a namespace; of the only one it is empty.
func robotName(namespace string) string { return strings.TrimPrefix(namespace, "/") }

// in is a topic in a namespace; "" is that of the node.
func in(namespace, topic string) string {
	if namespace == "" {
		return topic
	}
	return names.Join(namespace, topic)
}

// robot is one that a learner learns from.
type robot struct {
	*learnerNode
	namespace string             // of its topics; "": that of the node
	collector *dataset.Collector // with source topic
	seen      atomic.Uint64      // steps

	controller  *node.PeerParameters // nil: it is not watched
	differences node.LogOnce         // of the gate's flights from its own

	// Of the group steps:
	ticks      bundleTicks
	looked     time.Time // for somebody who commands motors
	motored    bool      // there was one
	complained bool      // of that
}

// listen subscribes to what the robot is learned by.
func (r *robot) listen(p *Params) error {
	if p.Judge.Use {
		r.watchController(p, 10*time.Second)
	}
	if p.Source != fromTopic {
		if err := r.announcements(p); err != nil {
			return err
		}
	}
	q := node.StepQoS()
	q.Depth = depth
	_, err := ros.NewSubscription(r.Node, in(r.namespace, "step"), q, r.step, ros.InGroup(r.steps))
	return err
}

// collect keeps what robots fly on disk. Segments that are there are announced in the order in which they were flown,
// whoever flew them: those that come last are the newest, and some were not learned from. Those of a robot stay in
// their order, also where its clock was set back.
func (n *learnerNode) collect(p *Params) error {
	type flown struct {
		dataset.SegmentFile
		at int64 // ns
	}
	var there []flown
	for _, r := range n.robots {
		opening, at := true, int64(0)
		if err := r.collect(p, func(a dataset.SegmentFile) {
			if a.Robot = robotName(r.namespace); !opening {
				n.announced(a)
				return
			}
			at = max(at, a.Stamp)
			there = append(there, flown{a, at})
		}); err != nil {
			return err
		}
		opening = false
	}
	slices.SortStableFunc(there, func(a, b flown) int { return cmp.Compare(a.at, b.at) })
	for i := range there {
		n.announced(there[i].SegmentFile)
	}
	return nil
}

// collect keeps what the robot flies, with its share of the rows.
func (r *robot) collect(p *Params, announced func(dataset.SegmentFile)) (err error) {
	cfg := p.Buffer
	cfg.MaxRows = max(dataset.LeastMaxRows, cfg.MaxRows/len(fleet(p.Namespaces)))
	r.collector, err = dataset.OpenCollector(cfg, dataset.CollectorOptions{Finished: announced,
		Dir: filepath.Join(p.Directory, "collected", filepath.FromSlash(robotName(r.namespace)))})
	if err != nil {
		return fmt.Errorf("parameter directory: %w", err)
	}
	for _, loss := range r.collector.Losses() {
		r.log(true, "damaged: segment "+loss.String())
	}
	return nil
}

// announcements takes segments that a recorder announces.
func (r *robot) announcements(p *Params) error {
	root, err := p.segments()
	if err != nil {
		return err
	}
	topic := in(r.namespace, "buffer")
	_, err = ros.NewSubscription(r.Node, topic, node.BufferQoS(), func(m *msgs.BufferSegment, _ ros.Info) {
		if err := inside(root, m.Directory); err != nil {
			r.log(true, fmt.Sprintf("topic %s: %v", topic, err))
			return
		}
		r.announced(dataset.SegmentFile{Robot: robotName(r.namespace), Dir: m.Directory, File: m.File, Rows: m.Rows,
			SHA256: m.Sha256})
	}, ros.InGroup(r.slow))
	return err
}

// step takes a tick of the controller: as evidence, and to learn from where nobody else records.
func (r *robot) step(m *msgs.Step, _ ros.Info) {
	stage := guard.Stage(m.GuardState)
	r.flying.Step(stage)
	r.seen.Add(1)
	s := node.ControllerStep(m)
	if r.byMotors() {
		return
	}
	if r.collector != nil {
		r.collector.Add(s)
	}
	at, ok := bridge.ReferenceOf(m)
	if !ok {
		return
	}
	t := rounds.ControllerTick{Robot: robotName(r.namespace), Stamp: s.Stamp, Bundle: m.BundleID, Task: m.Task,
		Error: s.State.P.Sub(at.P).Norm(), Policy: stage.PolicyFlies(), Whole: stage == guard.Policy,
		Row: quad.Row{State: s.State, Command: s.Sent}, Reference: at}
	if t.Dropped = r.ticks.dropped(m.Seq, m.BundleID, stage.HoldsAuthority()); t.Dropped != "" {
		t.Fault = "the guard tripped"
		if t.Robot != "" {
			t.Fault += " of " + t.Robot
		}
	}
	if bridge.Nanoseconds(m.LatentStamp) != 0 { // else the policy flew under the prior mean, for want of another
		t.Latent = append([]float32(nil), m.Latent...)
	}
	if !r.learner.Tick(t) {
		r.dropped.Add(1)
	}
}

// motorsPeriod is how often the learner looks whether somebody commands motors.
const motorsPeriod = time.Second / 2

// byMotors reports whether the vehicle is flown by its motors, and says so once. Nothing is learned from that.
func (r *robot) byMotors() bool {
	if now := time.Now(); now.Sub(r.looked) > motorsPeriod {
		r.looked, r.motored = now, node.FlownByMotors(r.Node, in(r.namespace, node.MotorsTopic))
	}
	if r.motored && !r.complained {
		r.complained = true
		r.log(true, fmt.Sprintf("topic %s: %s", in(r.namespace, "step"), node.ByMotors))
	}
	return r.motored
}
