package overrcl_test

import (
	"context"
	"io"
	"testing"
	"time"

	geometrymsgs "vnd/msgs/geometry_msgs"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros"
	"vnd/rclgo/overrcl"
)

// TestNoAllocation: publishing, waiting for, taking and decoding a message and calling its
// callback allocate nothing in Go, from package ros to rcl.
func TestNoAllocation(t *testing.T) {
	c, err := ros.NewContext(ros.Options{Args: []string{"--ros-args", "--disable-external-lib-logs"},
		Stdout: io.Discard, Stderr: io.Discard,
		Backend: func(ros.Settings) (rmw.Context, error) {
			return overrcl.Open(overrcl.Options{Domain: domain()})
		}})
	if err != nil {
		t.Fatal(err)
	}
	n, err := c.NewNode("alone")
	if err != nil {
		t.Fatal(err)
	}
	received := make(chan struct{}, 1)
	_, err = ros.NewSubscription(n, "x", ros.DefaultQoS(),
		func(*geometrymsgs.PoseStamped, ros.Info) { received <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	pub, err := ros.NewPublisher[geometrymsgs.PoseStamped](n, "x", ros.DefaultQoS())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := ros.WaitForMatched(ctx, pub, 1); err != nil {
		t.Fatal(err)
	}
	spun := make(chan error)
	go func() { spun <- c.Spin(ctx) }()
	m := &geometrymsgs.PoseStamped{}
	m.Header.FrameID = "world"
	exchange := func() {
		if err := pub.Publish(m); err != nil {
			t.Fatal(err)
		}
		<-received
	}
	for range 200 {
		exchange()
	}
	time.Sleep(2 * time.Second) // the last look at matches after the graph changed
	if n := testing.AllocsPerRun(1000, exchange); n != 0 {
		t.Errorf("%v allocations per message", n)
	}
	cancel()
	if err := <-spun; err != nil {
		t.Error(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
