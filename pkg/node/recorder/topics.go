package recorder

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"vnd/msgs"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/bag/metadata"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

// Depths of the subscriptions: some seconds of a fast topic; bundles are large and rare.
const (
	depth       = 2000
	bundleDepth = 4
)

// contract has the types and QoS of topics that are subscribed to before there is a publisher.
var contract = map[string]struct {
	typeName string
	qos      ros.QoS
}{
	"step":       {"vnd/msg/Step", ros.QoS{Reliability: dds.Reliable, Depth: 50}},
	"mocap/pose": {"geometry_msgs/msg/PoseStamped", ros.SensorDataQoS()},
	"mocap/odom": {"nav_msgs/msg/Odometry", ros.SensorDataQoS()},
	"command":    {"vnd/msg/ThrustRates", ros.QoS{Reliability: dds.Reliable, Depth: 1}},
	"features":   {"vnd/msg/Features", ros.SensorDataQoS()},
	"latent":     {"vnd/msg/Latent", ros.QoS{Depth: 1}},
	"bundle":     {"vnd/msg/Bundle", ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal, Depth: 1}},
	"learner/status": {"vnd/msg/LearnerStatus", ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal,
		Depth: 1}},
	"reference/path": {"nav_msgs/msg/Path", ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal,
		Depth: 1}},
}

// listener is a topic that is recorded.
type listener struct {
	r        *recorder
	topic    string // as the parameter has it
	full     string // as the graph has it
	typeName string
	qos      ros.QoS
	sub      *ros.RawSubscription
	handle   func(data []byte, i ros.Info) // called with every message; may be nil
	known    bool                          // the bags have the topic
	received atomic.Uint64
	overrun  uint64 // of closed subscriptions
	warned   string // the last warning
}

// update subscribes once the type is known, and again when the publishers' QoS has changed. A topic of our own nodes is
// subscribed to at once.
func (l *listener) update() {
	all := l.r.Context().Graph().Publishers(l.full)
	typeName, qos := l.typeName, l.qos
	if c, ok := contract[l.topic]; ok && l.sub == nil {
		typeName, qos = c.typeName, c.qos
	}
	for _, p := range all {
		if typeName == "" {
			typeName = p.Type
		}
		if p.Type != typeName {
			l.warn(fmt.Sprintf("topic %s: published as %s too, recorded as %s", l.full, p.Type, typeName))
		}
	}
	if typeName == "" {
		return
	}
	if _, ok := msgs.Lookup(typeName); !ok {
		l.warn(fmt.Sprintf("topic %s: type %s is not known here, so it is not recorded", l.full, typeName))
		return
	}
	if len(all) > 0 {
		qos = compatibleQoS(all)
	}
	qos.Depth = depth
	if typeName == contract["bundle"].typeName {
		qos.Depth = bundleDepth
	}
	if l.sub != nil && qos.Reliability == l.qos.Reliability && qos.Durability == l.qos.Durability {
		return
	}
	if err := l.subscribe(typeName, qos); err != nil {
		l.warn(err.Error())
	}
}

// compatibleQoS is the strictest QoS that matches all publishers.
func compatibleQoS(all []rmw.Endpoint) ros.QoS {
	q := ros.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal}
	for _, p := range all {
		if p.QoS.Reliability != dds.Reliable {
			q.Reliability = dds.BestEffort
		}
		if p.QoS.Durability != dds.TransientLocal {
			q.Durability = dds.Volatile
		}
	}
	return q
}

func (l *listener) subscribe(typeName string, q ros.QoS) error {
	if l.sub != nil {
		l.overrun = l.lost()
		if err := l.sub.Close(); err != nil {
			return err
		}
	}
	sub, err := ros.NewRawSubscription(l.r.Node, l.topic, typeName, q, l.take)
	if err != nil {
		return err
	}
	l.sub, l.typeName, l.qos = sub, typeName, q
	return nil
}

// lost counts messages that were received and not taken.
func (l *listener) lost() uint64 {
	n := l.overrun
	if l.sub != nil {
		n += l.sub.Overrun() + uint64(l.sub.Status().SamplesLost)
	}
	return n
}

func (l *listener) warn(text string) {
	if text != l.warned {
		l.warned = text
		l.r.Log().Warn().Msg(text)
	}
}

// take is the subscription's callback.
func (l *listener) take(data []byte, i ros.Info) {
	l.received.Add(1)
	if l.r.stopped.Load() {
		return
	}
	if l.handle != nil {
		l.handle(data, i)
	}
	if !l.known {
		if err := l.r.recording.AddTopic(l.described()); err != nil {
			l.warn(err.Error())
		}
		l.known = true
	}
	at := i.Received
	if l.r.Clock().Simulated() {
		at = l.r.Now()
	}
	l.r.recording.Write(&bag.Message{Topic: l.full, LogTime: int64(at), PublishTime: int64(i.Source), Data: data})
}

// described is the topic for a bag, with its schema and each publisher's QoS.
func (l *listener) described() bag.Topic {
	t, _ := msgs.Lookup(l.typeName)
	out := bag.Topic{Name: l.full, Type: l.typeName, TypeHash: t.Hash, Definition: t.Definition()}
	for _, p := range l.r.Context().Graph().Publishers(l.full) {
		out.QoS = append(out.QoS, offered(p.QoS))
	}
	if len(out.QoS) == 0 { // the publisher is gone already
		out.QoS = []bag.QoS{offered(l.qos)}
	}
	return out
}

// offered converts a QoS to rosbag2's names.
func offered(q ros.QoS) bag.QoS {
	out := bag.QoS{History: "keep_last", Depth: max(q.Depth, 1), Reliability: "best_effort", Durability: "volatile",
		Deadline: q.Deadline, Lifespan: q.Lifespan, Liveliness: "automatic", LivelinessLease: q.Lease}
	if q.History == dds.KeepAll {
		out.History = "keep_all"
	}
	if q.Reliability == dds.Reliable {
		out.Reliability = "reliable"
	}
	if q.Durability == dds.TransientLocal {
		out.Durability = "transient_local"
	}
	if q.Liveliness == dds.ManualByTopic {
		out.Liveliness = "manual_by_topic"
	}
	for _, d := range []*time.Duration{&out.Deadline, &out.Lifespan, &out.LivelinessLease} {
		if *d == 0 {
			*d = metadata.Infinite
		}
	}
	return out
}

// listeners creates those of step and of the parameter's topics.
func (r *recorder) listeners() error {
	topics := append([]string{"step"}, r.params.Load().Topics...)
	slices.Sort(topics[1:])
	for i, topic := range slices.Compact(topics) {
		if i > 0 && topic == "step" {
			continue
		}
		full, err := r.ResolveTopic(topic)
		if err != nil {
			return fmt.Errorf("parameter topics: %w", err)
		}
		r.topics = append(r.topics, &listener{r: r, topic: topic, full: full})
	}
	r.topics[0].handle = r.step
	for _, l := range r.topics[1:] {
		if l.topic == r.params.Load().Spread {
			l.handle = func(data []byte, _ ros.Info) { r.spread.take(l, data) }
		}
	}
	return nil
}
