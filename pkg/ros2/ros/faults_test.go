package ros_test

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"testing"
	"time"

	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
)

// A callback may close its own entity; the others go on.
func TestCloseInCallback(t *testing.T) {
	for threads := range 3 {
		n := alone(t)
		calls := make(chan string, 100)
		var sub *ros.Subscription[stdmsgs.String]
		sub = must(ros.NewSubscription(n, "x", ros.DefaultQoS(), func(m *stdmsgs.String, _ ros.Info) {
			calls <- "closing"
			if err := sub.Close(); err != nil {
				t.Error(err)
			}
		}))(t)
		received := listen(t, n, "x")
		pub := publisher(t, n, "x")
		for i := range 3 {
			if err := pub.Publish(&stdmsgs.String{Data: fmt.Sprint(i)}); err != nil {
				t.Fatal(err)
			}
		}
		spin(t, n.Context(), threads)
		for i := range 3 {
			if s := receive(t, received); s != fmt.Sprint(i) {
				t.Errorf("heard %s, want %d", s, i)
			}
		}
		if len(calls) != 1 {
			t.Errorf("%d threads: %d calls of a subscription that closed itself in the first", threads, len(calls))
		}
		// The context too.
		ended := make(chan error, 1)
		n.Post(func() { ended <- n.Context().Close() })
		if err := receive(t, ended); err != nil {
			t.Error(err)
		}
	}
}

// Malformed messages of a peer are dropped; other peers are served.
func TestMalformedRequest(t *testing.T) {
	d := inproc.NewDomain()
	n := newNode(t, join(t, d, nil), "server")
	arm(t, n, "arm")
	spin(t, n.Context(), 0)
	client := newNode(t, join(t, d, nil), "client")
	c := newArmClient(t, client, "arm")
	if err := c.WaitForService(within(t)); err != nil {
		t.Fatal(err)
	}
	hostile := d.Open(nil)
	defer hostile.Close()
	w := must(hostile.NewWriter(dds.Topic{Name: "rq/armRequest", Type: "std_srvs::srv::dds_::SetBool_Request_"},
		dds.QoS{Reliability: dds.Reliable, Depth: 10}, nil))(t)
	header := binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64([]byte{0, 1, 0, 0}, w.Handle()), 1)
	for _, sample := range [][]byte{header, append(header, 7), append(header, make([]byte, 60)...), {0, 1, 0, 0}} {
		if err := w.Write(sample, 0); err != nil {
			t.Error(err)
		}
		call(t, c, true)
	}
}

// Close leaves no goroutine and nothing in the graph.
func TestNothingLeft(t *testing.T) {
	before := runtime.NumGoroutine()
	for threads := range 3 {
		t.Run(fmt.Sprint(threads), func(t *testing.T) {
			n := alone(t)
			arm(t, n, "arm")
			received := listen(t, n, "x")
			must(n.NewTimer(time.Millisecond, func() {}))(t)
			pub := publisher(t, n, "x")
			spin(t, n.Context(), threads)
			if err := pub.Publish(&stdmsgs.String{}); err != nil {
				t.Fatal(err)
			}
			receive(t, received)
		})
	}
	deadline := time.Now().Add(patience)
	for runtime.NumGoroutine() > before {
		if time.Now().After(deadline) {
			buffer := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, %d before\n%s", runtime.NumGoroutine(), before,
				buffer[:runtime.Stack(buffer, true)])
		}
		time.Sleep(time.Millisecond)
	}
}
