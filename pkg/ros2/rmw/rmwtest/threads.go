package rmwtest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// closed: the entities of a closed node or context return ErrClosed.
func closed(t *testing.T, o Open) {
	p := open(t, o)
	n := p.node("/", "n")
	q := rmw.DefaultQoS()
	topic := rmw.Topic{Name: "/x", Type: stringType}
	pub := must(n.NewPublisher(topic, q, "pub"))(t)
	sub := must(n.NewSubscription(topic, q, "sub"))(t)
	server := must(n.NewServer(arm, q, "server"))(t)
	client := must(n.NewClient(arm, q, "client"))(t)
	check(t, n.Close())
	all := map[string]error{"Publish": pub.Publish(text("x"), 0),
		"Respond": server.Respond(rmw.RequestID{}, answer(t, ""))}
	_, all["Subscription.Take"] = sub.Take(1, func(*dds.Sample) {})
	_, all["Server.Take"] = server.Take(1, func(rmw.RequestID, *dds.Sample) {})
	_, all["Client.Take"] = client.Take(1, func(int64, *dds.Sample) {})
	_, all["Send"] = client.Send(setBool(t, true))
	_, all["NewPublisher"] = n.NewPublisher(topic, q, "x")
	_, all["NewSubscription"] = n.NewSubscription(topic, q, "x")
	_, all["NewServer"] = n.NewServer(arm, q, "x")
	_, all["NewClient"] = n.NewClient(arm, q, "x")
	if client.Available() {
		t.Error("available to a closed client")
	}
	for _, c := range []interface{ Close() error }{pub, sub, server, client} {
		check(t, c.Close())
	}
	check(t, p.Close())
	_, all["NewNode"] = p.NewNode("/", "x")
	for what, err := range all {
		if !errors.Is(err, rmw.ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
	p.Graph().Nodes() // the last state, whatever it is
	p.Wake()
}

// goroutines: all methods but Wait may be called from several goroutines.
func goroutines(t *testing.T, o Open) {
	a, b := open(t, o), open(t, o)
	stop := make(chan struct{})
	var waiters, workers sync.WaitGroup
	for _, p := range []*peer{a, b} {
		waiters.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if _, err := p.Wait(time.Millisecond, nil); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for i := range 6 {
		workers.Go(func() { worker(t, []*peer{a, b}[i%2], i) })
	}
	workers.Wait()
	close(stop)
	waiters.Wait()
	until(t, "an empty graph", func() bool { return len(a.Graph().Nodes())+len(b.Graph().Nodes()) == 0 }, a, b)
}

// worker makes, uses and closes nodes.
func worker(t *testing.T, p *peer, i int) {
	for round := range 5 {
		n, err := p.NewNode("/", fmt.Sprintf("worker%d", i))
		if err != nil {
			t.Error(err)
			return
		}
		topic := rmw.Topic{Name: "/shared", Type: stringType}
		pub, err1 := n.NewPublisher(topic, rmw.DefaultQoS(), "pub")
		sub, err2 := n.NewSubscription(topic, rmw.SensorDataQoS(), "sub")
		server, err3 := n.NewServer(rmw.Service{Name: fmt.Sprint("/service", i), Type: setBoolType}, rmw.ServicesQoS(),
			"server")
		client, err4 := n.NewClient(arm, rmw.ServicesQoS(), "client")
		if err := errors.Join(err1, err2, err3, err4); err != nil {
			t.Error(err)
			return
		}
		for k := range 10 {
			err := pub.Publish(text("%d %d %d", i, round, k), 0)
			_, err2 := sub.Take(10, func(*dds.Sample) {})
			_, err3 := server.Take(10, func(rmw.RequestID, *dds.Sample) {})
			_, err4 := client.Send(setBool(t, true))
			if err := errors.Join(err, err2, err3, err4); err != nil {
				t.Error(err)
			}
			client.Available()
			p.Graph().Topics()
			p.Graph().Publishers("/shared")
		}
		p.Wake()
		if err := errors.Join(pub.Close(), n.Close()); err != nil {
			t.Error(err)
		}
	}
}

// manyNodes: another process sees all of fifty nodes and their entities.
func manyNodes(t *testing.T, o Open) {
	a, b := open(t, o), open(t, o)
	const n = 50
	for i := range n {
		node := a.node(fmt.Sprint("/robot", i), "pilot")
		_ = must(node.NewPublisher(rmw.Topic{Name: fmt.Sprintf("/robot%d/step", i), Type: stringType}, rmw.DefaultQoS(),
			i))(t)
		_ = must(node.NewSubscription(rmw.Topic{Name: fmt.Sprintf("/robot%d/pose", i), Type: stringType},
			rmw.SensorDataQoS(), i))(t)
		_ = must(node.NewServer(rmw.Service{Name: fmt.Sprintf("/robot%d/arm", i), Type: setBoolType}, rmw.ServicesQoS(),
			i))(t)
	}
	until(t, "fifty nodes", func() bool {
		g := b.Graph()
		return len(g.Nodes()) == n && len(g.Topics()) == 2*n && len(g.Services()) == n
	}, a, b)
	for i := range n {
		name := rmw.NodeName{Namespace: fmt.Sprint("/robot", i), Name: "pilot"}
		want := rmw.NodeGraph{
			Publishers:    names{name.Namespace + "/step": {stringType}},
			Subscriptions: names{name.Namespace + "/pose": {stringType}},
			Servers:       names{name.Namespace + "/arm": {setBoolType}},
			Clients:       names{},
		}
		same(t, name.Namespace, want, must(b.Graph().Of(name))(t))
	}
}
