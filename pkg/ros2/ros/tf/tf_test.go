package tf_test

import (
	"context"
	"io"
	"slices"
	"testing"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	tf2msgs "vnd/msgs/tf2_msgs"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
	"vnd/pkg/ros2/ros/tf"
)

func newNode(t *testing.T, d *inproc.Domain, name string) *ros.Node {
	t.Helper()
	c, err := ros.NewContext(ros.Options{
		Args:    []string{"--ros-args", "--disable-external-lib-logs", "-r", "__ns:=/quad"},
		Backend: ros.InProcess(d), Getenv: func(string) string { return "" }, Stderr: io.Discard,
	})
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.NewNode(name)
	if err != nil {
		t.Fatal(err)
	}
	rostest.Spin(t, c, 1)
	return n
}

func transform(parent, child string, x float64) geometrymsgs.TransformStamped {
	return geometrymsgs.TransformStamped{
		Header: stdmsgs.Header{FrameID: parent}, ChildFrameID: child,
		Transform: geometrymsgs.Transform{Translation: geometrymsgs.Vector3{X: x},
			Rotation: geometrymsgs.Quaternion{W: 1}},
	}
}

// listen subscribes as tf2_ros' listener does.
func listen(t *testing.T, n *ros.Node, topic string, q ros.QoS) <-chan []geometrymsgs.TransformStamped {
	t.Helper()
	ch := make(chan []geometrymsgs.TransformStamped, 10)
	sub, err := ros.NewSubscription(n, topic, q,
		func(m *tf2msgs.TFMessage, _ ros.Info) { ch <- slices.Clone(m.Transforms) })
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 30*time.Second)
	defer stop()
	if err := ros.WaitForMatched(ctx, sub, 1); err != nil {
		t.Fatal(err)
	}
	return ch
}

func expect(t *testing.T, ch <-chan []geometrymsgs.TransformStamped, want ...geometrymsgs.TransformStamped) {
	t.Helper()
	select {
	case got := <-ch:
		if !slices.Equal(got, want) {
			t.Errorf("got %v\nwant %v", got, want)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("nothing came")
	}
}

func TestBroadcaster(t *testing.T) {
	d := inproc.NewDomain()
	b, err := tf.NewBroadcaster(newNode(t, d, "talker"))
	if err != nil {
		t.Fatal(err)
	}
	ch := listen(t, newNode(t, d, "rviz"), "/tf", rmw.TFQoS())
	first, second := transform("world", "quad", 1), transform("quad", "imu", 2)
	for _, batch := range [][]geometrymsgs.TransformStamped{{first, second}, {second}} {
		if err := b.Send(batch...); err != nil {
			t.Fatal(err)
		}
		expect(t, ch, batch...)
	}
}

// A later listener gets the last form of every static transform.
func TestStaticBroadcaster(t *testing.T) {
	d := inproc.NewDomain()
	b, err := tf.NewStaticBroadcaster(newNode(t, d, "talker"))
	if err != nil {
		t.Fatal(err)
	}
	for _, send := range []geometrymsgs.TransformStamped{
		transform("world", "map", 1), transform("quad", "imu", 2), transform("world", "map", 3),
	} {
		if err := b.Send(send); err != nil {
			t.Fatal(err)
		}
	}
	ch := listen(t, newNode(t, d, "rviz"), "/tf_static", rmw.StaticTFListenerQoS())
	expect(t, ch, transform("world", "map", 3), transform("quad", "imu", 2))
}
