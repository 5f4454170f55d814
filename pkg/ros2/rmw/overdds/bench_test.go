package overdds_test

import (
	"fmt"
	"testing"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/rmw/overdds"
)

func newContext(b *testing.B, d *inproc.Domain) rmw.Context {
	b.Helper()
	c, err := overdds.New(d.Open(overdds.UserData("/")), overdds.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { c.Close() })
	return c
}

func newNode(b *testing.B, c rmw.Context, name string) rmw.Node {
	b.Helper()
	n, err := c.NewNode("/", name)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

// BenchmarkPublishTake publishes and takes 104 bytes, the size of a PoseStamped.
func BenchmarkPublishTake(b *testing.B) {
	n := newNode(b, newContext(b, inproc.NewDomain()), "n")
	topic := rmw.Topic{Name: "/pose", Type: "geometry_msgs/msg/PoseStamped"}
	pub, err1 := n.NewPublisher(topic, rmw.DefaultQoS(), nil)
	sub, err2 := n.NewSubscription(topic, rmw.DefaultQoS(), b)
	if err1 != nil || err2 != nil {
		b.Fatal(err1, err2)
	}
	message := append([]byte{0, 1, 0, 0}, make([]byte, 100)...)
	f := func(*dds.Sample) {}
	b.ReportAllocs()
	for b.Loop() {
		if err := pub.Publish(message, 0); err != nil {
			b.Fatal(err)
		}
		if n, err := sub.Take(1, f); n != 1 || err != nil {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	n := newNode(b, newContext(b, inproc.NewDomain()), "n")
	s := rmw.Service{Name: "/arm", Type: "std_srvs/srv/SetBool"}
	server, err1 := n.NewServer(s, rmw.ServicesQoS(), b)
	client, err2 := n.NewClient(s, rmw.ServicesQoS(), b)
	if err1 != nil || err2 != nil || !client.Available() {
		b.Fatal(err1, err2)
	}
	message := []byte{0, 1, 0, 0, 1, 0, 0, 0}
	var id rmw.RequestID
	onRequest := func(i rmw.RequestID, _ *dds.Sample) { id = i }
	onResponse := func(int64, *dds.Sample) {}
	b.ReportAllocs()
	for b.Loop() {
		_, err1 := client.Send(message)
		_, err2 := server.Take(1, onRequest)
		err3 := server.Respond(id, message)
		n, err4 := client.Take(1, onResponse)
		if n != 1 || err1 != nil || err2 != nil || err3 != nil || err4 != nil {
			b.Fatal(n, err1, err2, err3, err4)
		}
	}
}

// BenchmarkFiftyNodes makes fifty nodes with eight endpoints each, and reads the graph in
// another process.
func BenchmarkFiftyNodes(b *testing.B) {
	for b.Loop() {
		d := inproc.NewDomain()
		here, there := newContext(b, d), newContext(b, d)
		for i := range 50 {
			n := newNode(b, here, fmt.Sprint("n", i))
			for k := range 8 {
				if _, err := n.NewPublisher(rmw.Topic{Name: fmt.Sprintf("/n%d/t%d", i, k), Type: "std_msgs/msg/String"},
					rmw.DefaultQoS(), nil); err != nil {
					b.Fatal(err)
				}
			}
		}
		if g := there.Graph(); len(g.Nodes()) != 50 || len(g.Topics()) != 400 {
			b.Fatal("not all there")
		}
	}
}
