package ros_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"vnd/msgs"
	geometrymsgs "vnd/msgs/geometry_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/rostest"
)

func TestPublishSubscribe(t *testing.T) {
	d := inproc.NewDomain()
	talker := newNode(t, join(t, d, nil, "--ros-args", "-r", "__ns:=/drone1", "-r", "chatter:=words"), "talker")
	listener := newNode(t, join(t, d, nil, "--ros-args", "-r", "__node:=ear"), "listener")
	pub := publisher(t, talker, "chatter")
	if pub.Topic() != "/drone1/words" || talker.FullName() != "/drone1/talker" || listener.FullName() != "/ear" {
		t.Fatal(pub.Topic(), talker.FullName(), listener.FullName())
	}
	type received struct {
		text string
		info ros.Info
	}
	ch := make(chan received, 10)
	sub := must(ros.NewSubscription(listener, "/drone1/words", ros.DefaultQoS(), func(m *stdmsgs.String, i ros.Info) {
		ch <- received{m.Data, i}
	}))(t)
	spin(t, listener.Context(), 0)
	if err := ros.WaitForMatched(within(t), pub, 1); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := pub.PublishAt(&stdmsgs.String{Data: fmt.Sprint(i)}, ros.Time(1000+i)); err != nil {
			t.Fatal(err)
		}
		got := receive(t, ch)
		if got.text != fmt.Sprint(i) || got.info.Source != ros.Time(1000+i) || got.info.Received == 0 {
			t.Errorf("message %d: %+v", i, got)
		}
	}
	if sub.Matched() != 1 || sub.Malformed() != 0 || sub.Overrun() != 0 {
		t.Error(sub.Matched(), sub.Malformed(), sub.Overrun())
	}
	if err := pub.Close(); err != nil {
		t.Error(err)
	}
	if err := ros.WaitForMatched(within(t), sub, 0); err != nil {
		t.Error(err)
	}
}

func TestRaw(t *testing.T) {
	n := alone(t)
	ch := make(chan []byte, 1)
	must(ros.NewRawSubscription(n, "x", "std_msgs/msg/String", ros.DefaultQoS(), func(data []byte, _ ros.Info) {
		ch <- slices.Clone(data)
	}))(t)
	pub := must(ros.NewRawPublisher(n, "x", "std_msgs/msg/String", ros.DefaultQoS()))(t)
	spin(t, n.Context(), 0)
	want := must(cdr.Marshal(&stdmsgs.String{Data: "raw"}))(t)
	if err := pub.PublishBytes(want); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, ch); !slices.Equal(got, want) {
		t.Errorf("% x, want % x", got, want)
	}
}

// Malformed messages are dropped and counted, and the next message arrives. The log has one
// of many in a row, with topic and publisher.
func TestMalformed(t *testing.T) {
	out := new(rostest.Console)
	n := newNode(t, joinLogged(t, inproc.NewDomain(), out, nil), "test")
	ch := make(chan geometrymsgs.Vector3, 1)
	sub := must(ros.NewSubscription(n, "v", ros.DefaultQoS(), func(m *geometrymsgs.Vector3, _ ros.Info) { ch <- *m }))(
		t)
	pub := must(ros.NewRawPublisher(n, "v", "geometry_msgs/msg/Vector3", ros.DefaultQoS()))(t)
	spin(t, n.Context(), 0)
	good := must(cdr.Marshal(&geometrymsgs.Vector3{X: 1}))(t)
	for _, bad := range [][]byte{good[:20], {0, 7, 0, 0}, append(slices.Clone(good), 1, 2, 3, 4)} {
		if err := pub.PublishBytes(bad); err != nil {
			t.Fatal(err)
		}
	}
	if err := pub.PublishBytes(good); err != nil {
		t.Fatal(err)
	}
	if got := receive(t, ch); got.X != 1 || sub.Malformed() != 3 {
		t.Errorf("%v, %d malformed, want 3", got, sub.Malformed())
	}
	n.Context().Log().Sync()
	want := "[test]: topic '/v': message from publisher " + pub.GID().String() +
		" of node /test dropped: geometry_msgs/msg/Vector3.z: expected 8 more bytes"
	if s := out.String(); !strings.Contains(s, want) || strings.Count(s, "\n") > 3 || !strings.HasPrefix(s, "[WARN]") {
		t.Errorf("%s\nwant %s", s, want)
	}
}

func TestNamesRefused(t *testing.T) {
	n := alone(t)
	for topic, want := range map[string]string{
		"a b": `node /test: topic "a b": `,
		"":    `node /test: topic "": `,
	} {
		t.Run(topic, func(t *testing.T) {
			_, err := ros.NewPublisher[stdmsgs.String](n, topic, ros.DefaultQoS())
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("got %v, want %s…", err, want)
			}
		})
	}
	if _, err := n.Context().NewNode("a/b"); err == nil {
		t.Error("a node called a/b")
	}
}

func TestBounds(t *testing.T) {
	n := alone(t)
	pub := must(ros.NewPublisher[msgs.Latent](n, "latent", ros.DefaultQoS()))(t)
	if err := pub.Publish(&msgs.Latent{}); err != nil {
		t.Error(err)
	}
	if err := pub.Close(); err != nil {
		t.Error(err)
	}
	if err := pub.Publish(&msgs.Latent{}); !errors.Is(err, dds.ErrClosed) ||
		!strings.HasPrefix(err.Error(), "topic /latent: ") {
		t.Errorf("after Close: %v", err)
	}
}

// What still publishes while the process ends is not told of an error: a clean stop logs none.
func TestPublishWhileLeaving(t *testing.T) {
	n := alone(t)
	pub := must(ros.NewPublisher[msgs.Latent](n, "latent", ros.DefaultQoS()))(t)
	if err := n.Context().Close(); err != nil {
		t.Fatal(err)
	}
	if err := pub.Publish(&msgs.Latent{}); err != nil {
		t.Error(err)
	}
}

func TestWaitForMatchedGivesUp(t *testing.T) {
	n := alone(t)
	pub := publisher(t, n, "x")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := ros.WaitForMatched(ctx, pub, 1)
	if want := "topic /x: 0 matching subscriptions, expected 1: context canceled"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Publishing, taking and decoding a message allocates nothing.
func TestNoAllocation(t *testing.T) {
	t.Run("ThrustRates", func(t *testing.T) {
		noAllocation(t, &msgs.ThrustRates{Header: stdmsgs.Header{FrameID: "quad"}, Thrust: 9.81})
	})
	t.Run("PoseStamped", func(t *testing.T) {
		noAllocation(t, &geometrymsgs.PoseStamped{Header: stdmsgs.Header{FrameID: "map"}})
	})
	t.Run("Latent", func(t *testing.T) {
		noAllocation(t, &msgs.Latent{Mean: make([]float32, 16), BundleID: "0123456789abcdef"})
	})
	t.Run("Step", func(t *testing.T) {
		noAllocation(t, &msgs.Step{Header: stdmsgs.Header{FrameID: "map"}, Reference: make([]float64, 7),
			Latent: make([]float32, 16), BundleID: "0123456789abcdef", Task: "hover"})
	})
}

func noAllocation[T any, P ros.Message[T]](t *testing.T, m *T) {
	n := alone(t)
	var received int
	must(ros.NewSubscription[T, P](n, "x", ros.DefaultQoS(), func(*T, ros.Info) { received++ }))(t)
	pub := must(ros.NewPublisher[T, P](n, "x", ros.DefaultQoS()))(t)
	x := ros.SpinOnce(n.Context())
	turn := func() {
		if err := pub.Publish(m); err != nil {
			t.Fatal(err)
		}
		x()
	}
	for range 100 {
		turn()
	}
	received = 0
	const runs = 1000
	if allocs := testing.AllocsPerRun(runs, turn); allocs != 0 {
		t.Errorf("%v allocations per message published, taken and decoded", allocs)
	}
	if received != runs+1 {
		t.Errorf("%d messages, want %d", received, runs+1)
	}
}
