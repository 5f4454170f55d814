package recorder

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/msgs"
	diagnosticmsgs "vnd/msgs/diagnostic_msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

// robot publishes what a controller and a motion capture system publish.
type robot struct {
	t        testing.TB
	n        *ros.Node
	steps    *ros.Publisher[msgs.Step]
	poses    *ros.Publisher[geometrymsgs.PoseStamped]
	bundles  *ros.Publisher[msgs.Bundle]
	segments chan msgs.BufferSegment
	health   chan diagnosticmsgs.DiagnosticArray
	seq      uint64
}

func newRobot(t testing.TB, d *inproc.Domain) *robot {
	t.Helper()
	c := must(ros.NewContext(options(d)))(t)
	r := &robot{t: t, n: must(c.NewNode("robot"))(t), segments: make(chan msgs.BufferSegment, 1000),
		health: make(chan diagnosticmsgs.DiagnosticArray, 1000)}
	r.steps = must(ros.NewPublisher[msgs.Step](r.n, "step", ros.QoS{Reliability: dds.Reliable, Depth: 50}))(t)
	r.poses = must(ros.NewPublisher[geometrymsgs.PoseStamped](r.n, "mocap/pose", ros.SensorDataQoS()))(t)
	latched := ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal, Depth: 1}
	r.bundles = must(ros.NewPublisher[msgs.Bundle](r.n, "bundle", latched))(t)
	if err := r.bundles.Publish(&msgs.Bundle{ID: "first"}); err != nil {
		t.Fatal(err)
	}
	latched.Depth = 100
	must(ros.NewSubscription(r.n, "buffer", latched, func(m *msgs.BufferSegment, _ ros.Info) { r.segments <- *m }))(t)
	must(ros.NewSubscription(r.n, "/diagnostics", ros.DefaultQoS(),
		func(m *diagnosticmsgs.DiagnosticArray, _ ros.Info) {
			kept := *m
			kept.Status = slices.Clone(m.Status)
			for i := range kept.Status {
				kept.Status[i].Values = slices.Clone(m.Status[i].Values)
			}
			r.health <- kept
		}))(t)
	rostest.Spin(t, c, 1)
	return r
}

// matched waits until every publisher has a subscriber.
func (r *robot) matched() {
	r.t.Helper()
	for _, p := range []interface{ Matched() int }{r.steps, r.poses, r.bundles} {
		for begin := time.Now(); p.Matched() == 0; time.Sleep(time.Millisecond) {
			if time.Since(begin) > patience {
				r.t.Fatal("a publisher has no subscriber")
			}
		}
	}
}

const begin = int64(1_700_000_000_000_000_000)

// fly publishes ticks at 50 Hz of simulated flight.
func (r *robot) fly(ticks int) {
	r.t.Helper()
	for range ticks {
		at := begin + int64(r.seq)*20e6
		m := msgs.NewStep()
		m.Header.Stamp, m.Header.FrameID = ros.Time(at).Msg(), "map"
		m.Seq, m.Pose.Position.X, m.CommandSent[0], m.BundleID = r.seq, float64(r.seq), 9.81, "first"
		p := &geometrymsgs.PoseStamped{Pose: m.Pose}
		p.Header = m.Header
		if err := errors.Join(r.poses.Publish(p), r.steps.Publish(m)); err != nil {
			r.t.Fatal(err)
		}
		r.seq++
	}
}

func (r *robot) segment() msgs.BufferSegment {
	r.t.Helper()
	select {
	case s := <-r.segments:
		return s
	case <-time.After(patience):
		r.t.Fatal("no segment was announced")
		panic("not reached")
	}
}

func (r *robot) call(service string) *stdsrvs.TriggerResponse {
	r.t.Helper()
	c := must(ros.NewClient[stdsrvs.TriggerRequest, stdsrvs.TriggerResponse](r.n,
		"/quad/transition_recorder/"+service))(r.t)
	defer c.Close()
	ctx := within(r.t)
	if err := c.WaitForService(ctx); err != nil {
		r.t.Fatal(err)
	}
	return must(c.Call(ctx, &stdsrvs.TriggerRequest{}))(r.t)
}

// diagnostic waits for a status of a task whose message contains a text, and returns its values.
func (r *robot) diagnostic(task, text string) map[string]string {
	r.t.Helper()
	deadline, last := time.After(patience), ""
	for {
		select {
		case m := <-r.health:
			k := slices.IndexFunc(m.Status, func(s diagnosticmsgs.DiagnosticStatus) bool {
				return strings.HasSuffix(s.Name, ": "+task)
			})
			if k < 0 {
				continue
			}
			if last = m.Status[k].Message; strings.Contains(last, text) {
				values := map[string]string{}
				for _, v := range m.Status[k].Values {
					values[v.Key] = v.Value
				}
				return values
			}
		case <-deadline:
			r.t.Fatalf("%s: %q, expected %q", task, last, text)
		}
	}
}

// received waits until the node has received as many steps and poses.
func (r *robot) received(n string) {
	r.t.Helper()
	for {
		v := r.diagnostic("bag", "")
		if v["Messages of /quad/step"] == n && v["Messages of /quad/mocap/pose"] == n {
			return
		}
	}
}

// steps reads the sequence numbers of a bag's steps, and its topics.
func steps(t *testing.T, dir string) (seqs []uint64, topics map[string]bag.Topic) {
	t.Helper()
	b := must(bag.Open(dir))(t)
	defer b.Close()
	topics = map[string]bag.Topic{}
	for _, x := range b.Topics() {
		topics[x.Name] = x
	}
	for m, err := range b.Messages("/quad/step") {
		if err != nil {
			t.Fatal(err)
		}
		var d cdr.Decoder
		var s msgs.Step
		d.Reset(m.Data)
		s.UnmarshalCDR(&d)
		if err := d.Finish(); err != nil {
			t.Fatal(err)
		}
		seqs = append(seqs, s.Seq)
	}
	return seqs, topics
}
