// Package rmwtest is the conformance suite of package rmw. Each middleware's tests run it.
package rmwtest

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/ros2/cdr"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// Open opens a Context in an enclave. Contexts of the same Open are one graph without
// others. The suite closes them.
type Open func(enclave string) (rmw.Context, error)

// Feature is a part of package rmw that some middleware cannot provide.
type Feature string

// Features that rcl lacks.
const (
	// Publish takes a source time.
	SourceTime Feature = "source time"
	// Discovery carries the depth of others' history.
	History Feature = "history"
	// A process may have a topic with two types.
	TwoTypes Feature = "two types"
	// The graph tells the endpoints of two nodes of one name in a process apart.
	SameName Feature = "same name"
)

// Run tests a middleware; without lists the features that it lacks. newOpen is called
// once per test.
func Run(t *testing.T, newOpen func(testing.TB) Open, without ...Feature) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Open, features)
	}{
		{"messages", messages}, {"graph", graph}, {"types and hashes", types}, {"same name", sameName},
		{"one context", all(oneContext)}, {"take in parts", all(takeInParts)}, {"late joiner", all(lateJoiner)},
		{"incompatible QoS", all(incompatible)}, {"matching", all(matching)},
		{"wait", all(wait)}, {"wait closed", all(waitClosed)}, {"allocations", all(allocations)},
		{"service", all(service)}, {"service of any length", all(anyLength)}, {"clients apart", all(clientsApart)},
		{"service out of order", all(outOfOrder)},
		{"nested", all(nested)}, {"availability", all(availability)}, {"client gone", all(clientGone)},
		{"service allocations", all(serviceAllocations)},
		{"graph events", all(graphEvents)}, {"nodes come and go", all(nodesComeAndGo)},
		{"hidden", all(hidden)}, {"bad names", all(badNames)},
		{"closed", all(closed)}, {"goroutines", all(goroutines)}, {"many nodes", all(manyNodes)},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, newOpen(t), without) })
	}
}

// all is a test that every middleware must pass.
func all(f func(*testing.T, Open)) func(*testing.T, Open, features) {
	return func(t *testing.T, o Open, _ features) { f(t, o) }
}

type features []Feature

func (f features) has(x Feature) bool { return slices.Contains(f, x) }

// patience is how long a condition may take to come true.
const patience = 30 * time.Second

// peer is a context and what its Wait reported.
type peer struct {
	rmw.Context
	t     testing.TB
	data  map[any]bool // owners with data, since the last reset
	event map[any]bool
	graph int // changes of the graph
}

func open(t testing.TB, o Open) *peer { return openIn(t, o, "/") }

func openIn(t testing.TB, o Open, enclave string) *peer {
	t.Helper()
	c, err := o(enclave)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	p := &peer{Context: c, t: t}
	p.reset()
	return p
}

func (p *peer) reset() { p.data, p.event = map[any]bool{}, map[any]bool{} }

// waitOnce waits once and records what is ready.
func (p *peer) waitOnce(timeout time.Duration) {
	p.t.Helper()
	ready, err := p.Wait(timeout, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	for _, r := range ready {
		switch {
		case r.Owner == nil && r.Event:
			p.graph++
		case r.Owner == nil || !r.Data && !r.Event:
			p.t.Errorf("Wait reports nothing: %+v", r)
		}
		p.data[r.Owner] = p.data[r.Owner] || r.Data
		p.event[r.Owner] = p.event[r.Owner] || r.Event
	}
}

// until waits on all of the peers, in turns, until a condition is true.
func until(t testing.TB, what string, condition func() bool, peers ...*peer) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not after %v", what, patience)
		}
		for _, p := range peers {
			p.waitOnce(2 * time.Millisecond)
		}
	}
}

func (p *peer) node(namespace, name string) rmw.Node {
	p.t.Helper()
	return must(p.NewNode(namespace, name))(p.t)
}

// must ends the test with an error.
func must[T any](v T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: (-want +got) %s", what, d)
	}
}

const stringType = "std_msgs/msg/String"

// text is a std_msgs/msg/String.
func text(format string, args ...any) []byte {
	b, err := cdr.Marshal(&stdmsgs.String{Data: fmt.Sprintf(format, args...)})
	if err != nil {
		panic(err) // strings without bounds have no errors
	}
	return b
}

// sameBytes compares messages; those that came over a network may be padded.
func sameBytes(t testing.TB, what string, want, got []byte) {
	t.Helper()
	if len(got) >= len(want) && len(got)-len(want) < 4 && len(bytes.Trim(got[len(want):], "\x00")) == 0 {
		got = got[:len(want)]
	}
	if !bytes.Equal(want, got) {
		t.Errorf("%s: got % x, want % x", what, got, want)
	}
}

// pair is a publisher and a subscription that are matched.
func pair(t testing.TB, from, to *peer, topic string, q rmw.QoS) (rmw.Publisher, rmw.Subscription) {
	t.Helper()
	pub := must(from.node("/", "from").NewPublisher(rmw.Topic{Name: topic, Type: stringType}, q, "pub"))(t)
	sub := must(to.node("/", "to").NewSubscription(rmw.Topic{Name: topic, Type: stringType}, q, "sub"))(t)
	until(t, "match on "+topic, func() bool { return pub.Status().Matched == 1 && sub.Status().Matched == 1 }, from, to)
	return pub, sub
}

// take takes n samples, each cloned.
func take(t testing.TB, p *peer, sub rmw.Subscription, n int) []dds.Sample {
	t.Helper()
	var got []dds.Sample
	until(t, fmt.Sprintf("%d messages", n), func() bool {
		_ = must(sub.Take(n-len(got), func(s *dds.Sample) {
			c := *s
			c.Data = bytes.Clone(s.Data)
			got = append(got, c)
		}))(t)
		return len(got) >= n
	}, p)
	return got
}
