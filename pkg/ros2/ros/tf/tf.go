// Package tf tells other nodes where frames are, as tf2_ros' broadcasters do.
package tf

import (
	"slices"
	"sync"

	geometrymsgs "vnd/msgs/geometry_msgs"
	tf2msgs "vnd/msgs/tf2_msgs"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

// Broadcaster publishes transforms that change on /tf. Send may be called from
// any goroutine.
type Broadcaster struct {
	pub *ros.Publisher[tf2msgs.TFMessage]

	mu sync.Mutex
	m  tf2msgs.TFMessage
}

// NewBroadcaster makes a broadcaster; on a LifecycleNode it is silent unless the
// node is active.
func NewBroadcaster(h ros.Host, options ...ros.Option) (*Broadcaster, error) {
	pub, err := ros.NewPublisher[tf2msgs.TFMessage](h, "/tf", rmw.TFQoS(), options...)
	if err != nil {
		return nil, err
	}
	return &Broadcaster{pub: pub}, nil
}

// Send publishes transforms in one message: of a child frame in its parent's,
// which the header names.
func (b *Broadcaster) Send(transforms ...geometrymsgs.TransformStamped) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.m.Transforms = append(b.m.Transforms[:0], transforms...)
	return b.pub.Publish(&b.m)
}

// Close ends the broadcaster.
func (b *Broadcaster) Close() error { return b.pub.Close() }

// StaticBroadcaster publishes transforms that hold for good on /tf_static, where
// those who come later find them.
type StaticBroadcaster struct {
	pub *ros.Publisher[tf2msgs.TFMessage]

	mu sync.Mutex
	m  tf2msgs.TFMessage // all so far: a late listener gets the last message only
}

// NewStaticBroadcaster makes a static broadcaster.
func NewStaticBroadcaster(h ros.Host, options ...ros.Option) (*StaticBroadcaster, error) {
	pub, err := ros.NewPublisher[tf2msgs.TFMessage](h, "/tf_static", rmw.StaticTFBroadcasterQoS(), options...)
	if err != nil {
		return nil, err
	}
	return &StaticBroadcaster{pub: pub}, nil
}

// Send publishes all transforms so far; one whose child frame was sent before
// takes its place.
func (b *StaticBroadcaster) Send(transforms ...geometrymsgs.TransformStamped) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, t := range transforms {
		same := func(o geometrymsgs.TransformStamped) bool { return o.ChildFrameID == t.ChildFrameID }
		if i := slices.IndexFunc(b.m.Transforms, same); i >= 0 {
			b.m.Transforms[i] = t
		} else {
			b.m.Transforms = append(b.m.Transforms, t)
		}
	}
	return b.pub.Publish(&b.m)
}

// Close ends the broadcaster.
func (b *StaticBroadcaster) Close() error { return b.pub.Close() }
