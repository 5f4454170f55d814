package rmwtest

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"vnd/pkg/ros2/rmw"
)

type names = map[string][]string

// graph: both processes see the same nodes, topics, services and endpoints.
func graph(t *testing.T, o Open, without features) {
	a, b := openIn(t, o, "/quads/one"), open(t, o)
	n := a.node("/drone1", "talker")
	_ = a.node("/", "idle")
	chatter := must(n.NewPublisher(rmw.Topic{Name: "/drone1/chatter", Type: stringType}, rmw.DefaultQoS(), "chatter"))(
		t)
	cmd := must(n.NewSubscription(rmw.Topic{Name: "/drone1/cmd", Type: stringType}, rmw.SensorDataQoS(), "cmd"))(t)
	_ = must(n.NewServer(arm, rmw.ServicesQoS(), "arm"))(t)
	_ = must(n.NewClient(rmw.Service{Name: "/kick", Type: "std_srvs/srv/Trigger"}, rmw.ServicesQoS(), "kick"))(t)
	_ = must(b.node("/", "listener").NewSubscription(rmw.Topic{Name: "/drone1/chatter", Type: stringType},
		rmw.DefaultQoS(), "chatter"))(t)

	talker := rmw.NodeName{Namespace: "/drone1", Name: "talker", Enclave: "/quads/one"}
	want := rmw.NodeGraph{
		Publishers:    names{"/drone1/chatter": {stringType}},
		Subscriptions: names{"/drone1/cmd": {stringType}},
		Servers:       names{"/drone1/arm": {setBoolType}},
		Clients:       names{"/kick": {"std_srvs/srv/Trigger"}},
	}
	for _, p := range []*peer{a, b} {
		until(t, "the talker", func() bool {
			of, err := p.Graph().Of(talker)
			return err == nil && gocmp.Equal(want, of)
		}, a, b)
		until(t, "all nodes", func() bool { return len(p.Graph().Nodes()) == 3 }, a, b)
		same(t, "nodes", []rmw.NodeName{{Namespace: "/", Name: "idle", Enclave: "/quads/one"},
			{Namespace: "/", Name: "listener", Enclave: "/"}, talker}, p.Graph().Nodes())
		same(t, "topics", names{"/drone1/chatter": {stringType}, "/drone1/cmd": {stringType}}, p.Graph().Topics())
		same(t, "services", names{"/drone1/arm": {setBoolType}, "/kick": {"std_srvs/srv/Trigger"}},
			p.Graph().Services())
		sameEndpoints(t, without, []rmw.Endpoint{{Node: talker, Type: stringType, GID: chatter.GID(),
			QoS: rmw.DefaultQoS()}}, p.Graph().Publishers("/drone1/chatter"))
		sameEndpoints(t, without, []rmw.Endpoint{{Node: talker, Type: stringType, GID: cmd.GID(),
			QoS: rmw.SensorDataQoS()}}, p.Graph().Subscriptions("/drone1/cmd"))
		until(t, "the listener", func() bool {
			got := p.Graph().Subscriptions("/drone1/chatter")
			return len(got) == 1 && got[0].Node.Name == "listener"
		}, a, b)
		if got := append(p.Graph().Publishers("/nothing"), p.Graph().Publishers("/drone1/cmd")...); len(got) != 0 {
			t.Errorf("publishers %+v", got)
		}
		if _, err := p.Graph().Of(rmw.NodeName{Namespace: "/", Name: "talker"}); !errors.Is(err, rmw.ErrNoNode) {
			t.Errorf("a node that is not there: %v", err)
		}
	}
}

// sameEndpoints compares endpoints without the parts that discovery may not carry.
func sameEndpoints(t testing.TB, without features, want, got []rmw.Endpoint) {
	t.Helper()
	for _, all := range [][]rmw.Endpoint{want, got} {
		for i := range all {
			q := &all[i].QoS
			q.MaxBlocking = 0
			if without.has(History) {
				q.History, q.Depth = 0, 0
			}
		}
	}
	same(t, "endpoints", want, got)
}

// graphEvents: Wait reports changes of the graph, also after a caller has read it.
func graphEvents(t *testing.T, o Open) {
	a, b := open(t, o), open(t, o)
	// Both have discovered each other, and Wait has reported so.
	_ = a.node("/", "first")
	until(t, "the first node", func() bool { return len(b.Graph().Nodes()) == 1 }, a, b)
	for i := range 3 {
		b.graph = 0
		n := a.node("/", fmt.Sprint("n", i))
		for end := time.Now().Add(patience); len(b.Graph().Nodes()) != 2 && time.Now().Before(end); {
			a.waitOnce(time.Millisecond) // b only reads its graph
		}
		until(t, "an event of the graph", func() bool { return b.graph > 0 }, b)
		check(t, n.Close())
		until(t, "the node gone", func() bool { return len(b.Graph().Nodes()) == 1 }, a, b)
	}
}

// nodesComeAndGo: the graph loses closed entities, nodes and processes.
func nodesComeAndGo(t *testing.T, o Open) {
	a, b := open(t, o), open(t, o)
	keep := b.node("/", "keep")
	_ = must(keep.NewPublisher(rmw.Topic{Name: "/keep", Type: stringType}, rmw.DefaultQoS(), "keep"))(t)
	first, second := a.node("/", "first"), a.node("/", "second")
	p := must(first.NewPublisher(rmw.Topic{Name: "/p", Type: stringType}, rmw.DefaultQoS(), "p"))(t)
	s := must(first.NewSubscription(rmw.Topic{Name: "/s", Type: stringType}, rmw.DefaultQoS(), "s"))(t)
	_ = must(first.NewServer(arm, rmw.ServicesQoS(), "arm"))(t)
	_ = must(second.NewClient(arm, rmw.ServicesQoS(), "arm"))(t)
	sees := func(nodes, topics, services int) {
		t.Helper()
		for _, x := range []*peer{a, b} {
			until(t, fmt.Sprintf("%d nodes, %d topics, %d services", nodes, topics, services), func() bool {
				g := x.Graph()
				return len(g.Nodes()) == nodes && len(g.Topics()) == topics && len(g.Services()) == services
			}, a, b)
		}
	}
	sees(3, 3, 1)
	check(t, p.Close())
	check(t, p.Close())
	sees(3, 2, 1)
	check(t, s.Close())
	sees(3, 1, 1)
	check(t, first.Close())
	check(t, first.Close())
	sees(2, 1, 1)
	check(t, a.Close())
	check(t, a.Close())
	until(t, "the process gone", func() bool {
		g := b.Graph()
		return len(g.Nodes()) == 1 && len(g.Topics()) == 1 && len(g.Services()) == 0
	}, b)
}

// sameName: the graph lists each of several nodes with one name.
func sameName(t *testing.T, o Open, without features) {
	a, b := open(t, o), open(t, o)
	same := []rmw.Node{a.node("/", "same"), a.node("/", "same"), b.node("/", "same")}
	topic := rmw.Topic{Name: "/second", Type: stringType}
	_ = must(same[1].NewPublisher(topic, rmw.DefaultQoS(), "p"))(t)
	count := func(n int) {
		t.Helper()
		for _, p := range []*peer{a, b} {
			until(t, fmt.Sprintf("%d nodes", n), func() bool {
				nodes := p.Graph().Nodes()
				return len(nodes) == n && !slices.ContainsFunc(nodes,
					func(x rmw.NodeName) bool { return x.Name != "same" })
			}, a, b)
		}
	}
	count(3)
	check(t, same[0].Close())
	count(2)
	until(t, "the publisher of the other", func() bool {
		p := b.Graph().Publishers("/second")
		return len(p) == 1 && (p[0].Node.Name == "same" || without.has(SameName))
	}, a, b)
	check(t, same[1].Close())
	count(1)
	until(t, "no publisher", func() bool { return len(b.Graph().Publishers("/second")) == 0 }, a, b)
}

// hidden: names that tools hide are in the graph, and Hidden says so.
func hidden(t *testing.T, o Open) {
	a, b := open(t, o), open(t, o)
	n := a.node("/", "_ros2cli_daemon_0")
	_ = must(n.NewPublisher(rmw.Topic{Name: "/fibo/_action/status", Type: "action_msgs/msg/GoalStatusArray"},
		rmw.ActionStatusQoS(), "status"))(t)
	const feedback = "example_interfaces/action/Fibonacci_FeedbackMessage"
	_ = must(n.NewPublisher(rmw.Topic{Name: "/fibo/_action/feedback", Type: feedback}, rmw.QoS{Depth: 10},
		"feedback"))(t)
	_ = must(n.NewServer(rmw.Service{Name: "/fibo/_action/send_goal",
		Type: "example_interfaces/action/Fibonacci_SendGoal"}, rmw.ServicesQoS(), "goal"))(t)
	until(t, "the action", func() bool {
		return len(b.Graph().Nodes()) == 1 && len(b.Graph().Topics()) == 2 && len(b.Graph().Services()) == 1
	}, a, b)
	same(t, "topics", names{"/fibo/_action/status": {"action_msgs/msg/GoalStatusArray"},
		"/fibo/_action/feedback": {feedback}}, b.Graph().Topics())
	same(t, "services", names{"/fibo/_action/send_goal": {"example_interfaces/action/Fibonacci_SendGoal"}},
		b.Graph().Services())
	for _, name := range []string{b.Graph().Nodes()[0].Name, "/fibo/_action/status", "/_x/y"} {
		if !rmw.Hidden(name) {
			t.Errorf("%s is not hidden", name)
		}
	}
	for _, name := range []string{"talker", "/drone1/chatter_", "/a_b/c"} {
		if rmw.Hidden(name) {
			t.Errorf("%s is hidden", name)
		}
	}
}

// types: a topic may have several types.
func types(t *testing.T, o Open, without features) {
	a, b := open(t, o), open(t, o)
	n := a.node("/", "confused")
	for i, typ := range []string{stringType, "std_msgs/msg/Bool", stringType} {
		if i > 0 && without.has(TwoTypes) {
			n = open(t, o).node("/", "confused")
		}
		_ = must(n.NewPublisher(rmw.Topic{Name: "/x", Type: typ}, rmw.DefaultQoS(), typ))(t)
	}
	// A publisher is known before its node: publishers are sorted by node first.
	until(t, "three publishers of the node", func() bool {
		p := b.Graph().Publishers("/x")
		return len(p) == 3 && !slices.ContainsFunc(p, func(e rmw.Endpoint) bool { return e.Node.Name != "confused" })
	}, a, b)
	same(t, "topics", names{"/x": {"std_msgs/msg/Bool", stringType}}, b.Graph().Topics())
	got := b.Graph().Publishers("/x")
	if !slices.IsSortedFunc(got, func(a, b rmw.Endpoint) int { return cmp.Compare(a.GID.String(), b.GID.String()) }) {
		t.Errorf("not sorted: %v", got)
	}
}

// badNames: errors name the malformed topic or service.
func badNames(t *testing.T, o Open) {
	p := open(t, o)
	n := p.node("/", "n")
	q := rmw.DefaultQoS()
	for _, c := range []struct{ name, typ string }{{"relative", stringType}, {"", stringType}, {"/typeless", "String"},
		{"/empty", ""}} {
		_, err1 := n.NewPublisher(rmw.Topic{Name: c.name, Type: c.typ}, q, "x")
		_, err2 := n.NewSubscription(rmw.Topic{Name: c.name, Type: c.typ}, q, "x")
		_, err3 := n.NewServer(rmw.Service{Name: c.name, Type: c.typ}, q, "x")
		_, err4 := n.NewClient(rmw.Service{Name: c.name, Type: c.typ}, q, "x")
		for _, err := range []error{err1, err2, err3, err4} {
			if err == nil || !strings.Contains(err.Error(), c.name) {
				t.Errorf("%q of type %q: %v", c.name, c.typ, err)
			}
		}
	}
	if _, err := n.NewSubscription(rmw.Topic{Name: "/x", Type: stringType}, q, nil); err == nil {
		t.Error("a subscription without an owner")
	}
	for _, c := range [][2]string{{"", "x"}, {"x", "y"}, {"/", ""}} {
		if _, err := p.NewNode(c[0], c[1]); err == nil {
			t.Errorf("a node %q in %q", c[1], c[0])
		}
	}
	if got := p.Graph().Nodes(); len(got) != 1 {
		t.Errorf("nodes %v", got)
	}
}
