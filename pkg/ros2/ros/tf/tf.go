// Package tf publishes transforms between frames, as tf2_ros' broadcasters do.
package tf

import (
	"slices"
	"sync"

	geometrymsgs "vnd/msgs/geometry_msgs"
	tf2msgs "vnd/msgs/tf2_msgs"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
)

// Broadcaster publishes changing transforms on /tf. Send may be called from any goroutine.
type Broadcaster struct{ broadcaster }

// broadcaster publishes its message.
type broadcaster struct {
	pub *ros.Publisher[tf2msgs.TFMessage]

	mu sync.Mutex
	m  tf2msgs.TFMessage
}

// NewBroadcaster makes a broadcaster. On a LifecycleNode it sends only while the node is
// active.
func NewBroadcaster(h ros.Host, options ...ros.Option) (*Broadcaster, error) {
	pub, err := ros.NewPublisher[tf2msgs.TFMessage](h, "/tf", rmw.TFQoS(), options...)
	if err != nil {
		return nil, err
	}
	return &Broadcaster{broadcaster{pub: pub}}, nil
}

// Send publishes transforms in one message. Each is the pose of a child frame in the frame
// of the header.
func (b *Broadcaster) Send(transforms ...geometrymsgs.TransformStamped) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.m.Transforms = append(b.m.Transforms[:0], transforms...)
	return b.pub.Publish(&b.m)
}

// StaticBroadcaster publishes constant transforms on /tf_static, where later nodes receive
// them. A later listener gets the last message only, which therefore holds all transforms.
type StaticBroadcaster struct{ broadcaster }

// NewStaticBroadcaster makes a static broadcaster.
func NewStaticBroadcaster(h ros.Host, options ...ros.Option) (*StaticBroadcaster, error) {
	pub, err := ros.NewPublisher[tf2msgs.TFMessage](h, "/tf_static", rmw.StaticTFBroadcasterQoS(), options...)
	if err != nil {
		return nil, err
	}
	return &StaticBroadcaster{broadcaster{pub: pub}}, nil
}

// Send publishes all transforms so far. A transform replaces the one of the same child
// frame.
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
