package ros_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
)

func TestPost(t *testing.T) {
	for threads := range 3 {
		t.Run(fmt.Sprintf("threads=%d", threads), func(t *testing.T) {
			n := alone(t)
			var order []int // without a lock: the node's group is exclusive
			done := make(chan struct{})
			for i := range 50 {
				n.Post(func() { order = append(order, i) })
			}
			spin(t, n.Context(), threads)
			for i := range 50 {
				n.Post(func() { order = append(order, 50+i) })
			}
			n.Post(func() { close(done) })
			receive(t, done)
			if len(order) != 100 || !slices.IsSorted(order) {
				t.Error(order)
			}
		})
	}
}

func TestSpinEnds(t *testing.T) {
	n := alone(t)
	ctx, cancel := context.WithCancel(context.Background())
	n.Post(func() {
		if err := n.Context().Spin(ctx); err == nil {
			t.Error("a second Spin")
		}
		cancel()
	})
	if err := n.Context().Spin(ctx); err != nil {
		t.Error(err)
	}
	if err := n.Context().SpinThreads(ctx, 0); err == nil {
		t.Error("zero threads")
	}
	// Closing the context ends Spin too.
	ended := make(chan error, 1)
	started := make(chan struct{})
	n.Post(func() { close(started) })
	go func() { ended <- n.Context().Spin(context.Background()) }()
	receive(t, started)
	if err := n.Context().Close(); err != nil {
		t.Error(err)
	}
	if err := receive(t, ended); err != nil {
		t.Error(err)
	}
}

// TestPanicGoesThrough: a panic of a callback ends the goroutine that spins.
func TestPanicGoesThrough(t *testing.T) {
	n := alone(t)
	must(ros.NewSubscription(n, "x", ros.DefaultQoS(), func(*stdmsgs.String, ros.Info) { panic("of the user") }))(t)
	pub := publisher(t, n, "x")
	if err := pub.Publish(&stdmsgs.String{}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r := recover(); r != "of the user" {
			t.Errorf("recovered %v", r)
		}
	}()
	t.Errorf("Spin returned %v", n.Context().Spin(within(t)))
}

// Callbacks of an exclusive group never run at the same time. Those of a reentrant group and
// of two groups do.
func TestGroups(t *testing.T) {
	n := alone(t)
	c := n.Context()
	reentrant, other := c.NewGroup(ros.Reentrant), c.NewGroup(ros.Exclusive)
	var meet sync.WaitGroup
	meet.Add(4)
	met := make(chan struct{})
	go func() { meet.Wait(); close(met) }()
	together := func() { meet.Done(); receive(t, met) }
	must(ros.NewSubscription(n, "x", ros.DefaultQoS(), func(*stdmsgs.String, ros.Info) { together() },
		ros.InGroup(reentrant)))(t)
	must(ros.NewSubscription(n, "x", ros.DefaultQoS(), func(*stdmsgs.String, ros.Info) {}, ros.InGroup(other)))(t)
	pub := publisher(t, n, "x")
	spin(t, c, 4)
	n.Post(together)
	other.Post(together)
	for range 2 { // two messages of one subscription at once
		if err := pub.Publish(&stdmsgs.String{}); err != nil {
			t.Fatal(err)
		}
	}
	receive(t, met)

	running, most := 0, 0 // no lock: the race detector and the count see who is not alone
	done := make(chan struct{})
	for i := range 200 {
		n.Post(func() {
			running++
			most = max(most, running)
			running--
			if i == 199 {
				close(done)
			}
		})
	}
	receive(t, done)
	if most != 1 {
		t.Errorf("%d callbacks of an exclusive group at once", most)
	}
}

// While callbacks are busy, the newest messages are kept, up to the depth.
func TestOverrun(t *testing.T) {
	d := inproc.NewDomain()
	n, talker := newNode(t, join(t, d, nil), "busy"), newNode(t, join(t, d, nil), "talker")
	q := ros.DefaultQoS()
	q.Depth = 3
	got, busy, free := make(chan string, 20), make(chan struct{}), make(chan struct{})
	sub := must(ros.NewSubscription(n, "x", q, func(m *stdmsgs.String, _ ros.Info) {
		if m.Data == "first" {
			close(busy)
			receive(t, free)
		}
		got <- m.Data
	}))(t)
	pub := publisher(t, talker, "x")
	pulse := n.Context().NewGroup(ros.Exclusive)
	spin(t, n.Context(), 2)
	if err := ros.WaitForMatched(within(t), pub, 1); err != nil {
		t.Fatal(err)
	}
	send := func(text string) {
		t.Helper()
		if err := pub.Publish(&stdmsgs.String{Data: text}); err != nil {
			t.Fatal(err)
		}
	}
	send("first")
	receive(t, busy)
	echoed := make(chan string, 20)
	must(ros.NewSubscription(n, "x", q, func(m *stdmsgs.String, _ ros.Info) { echoed <- m.Data }, ros.InGroup(pulse)))(
		t)
	for i := range 10 {
		send(fmt.Sprint(i))
		receive(t, echoed) // has been taken
	}
	send("last")
	receive(t, echoed)
	// Messages that were ready at the same time are queued by the next turn.
	settled := make(chan struct{})
	must(ros.NewSubscription(n, "y", q, func(*stdmsgs.String, ros.Info) { close(settled) }, ros.InGroup(pulse)))(t)
	if err := publisher(t, n, "y").Publish(&stdmsgs.String{}); err != nil {
		t.Fatal(err)
	}
	receive(t, settled)
	close(free)
	for _, want := range []string{"first", "8", "9", "last"} {
		if s := receive(t, got); s != want {
			t.Errorf("%s, want %s", s, want)
		}
	}
	if sub.Overrun() != 8 {
		t.Errorf("%d overrun, want 8", sub.Overrun())
	}
}

// Entities can be made while others of the context are served.
func TestMadeWhileSpinning(t *testing.T) {
	for threads := range 3 {
		d := inproc.NewDomain()
		n, peer := newNode(t, join(t, d, nil), "n"), newNode(t, join(t, d, nil), "peer")
		spin(t, n.Context(), threads)
		spin(t, peer.Context(), threads)
		for i := range 50 {
			topic := fmt.Sprint("x", i)
			pub := publisher(t, peer, topic)
			received := listen(t, n, topic)
			if err := ros.WaitForMatched(within(t), pub, 1); err != nil {
				t.Fatal(err)
			}
			if err := pub.Publish(&stdmsgs.String{Data: topic}); err != nil {
				t.Fatal(err)
			}
			if got := receive(t, received); got != topic {
				t.Fatal(got)
			}
		}
	}
}
