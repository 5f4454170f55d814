// Package rmwtest holds a middleware to what package rmw promises of every one.
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

// Open opens a Context in an enclave. Contexts opened with the same Open hear
// each other, and nobody else; whoever opens one closes it.
type Open func(enclave string) (rmw.Context, error)

// Lack is something of package rmw that a middleware has no way to do. All else of
// it is held to.
type Lack string

// Lacks of rcl.
const (
	// Publish cannot give a message another source time than now.
	SourceTime Lack = "source time"
	// Discovery does not tell how many messages others keep.
	History Lack = "history"
	// A process cannot have a topic with two types.
	TwoTypes Lack = "two types"
	// Of two nodes of one name in a process, endpoints are shown as the first's.
	Twins Lack = "twins"
)

// Run holds a middleware to the contract, but for what it lacks. newOpen is called
// once per test.
func Run(t *testing.T, newOpen func(testing.TB) Open, lacks ...Lack) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, Open, lacking)
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
		t.Run(c.name, func(t *testing.T) { c.run(t, newOpen(t), lacks) })
	}
}

// all is a test of what nobody lacks.
func all(f func(*testing.T, Open)) func(*testing.T, Open, lacking) {
	return func(t *testing.T, o Open, _ lacking) { f(t, o) }
}

type lacking []Lack

func (l lacking) has(x Lack) bool { return slices.Contains(l, x) }

// patience is how long a condition may take to come true: nothing here is late.
const patience = 30 * time.Second

// peer is a context, and what its Wait said so far.
type peer struct {
	rmw.Context
	t     testing.TB
	data  map[any]bool // owners with something to take, since the last forget
	event map[any]bool
	graph int // times that the graph changed
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
	p.forget()
	return p
}

func (p *peer) forget() { p.data, p.event = map[any]bool{}, map[any]bool{} }

// turn waits once.
func (p *peer) turn(timeout time.Duration) {
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
			p.t.Errorf("Wait tells nothing: %+v", r)
		}
		p.data[r.Owner] = p.data[r.Owner] || r.Data
		p.event[r.Owner] = p.event[r.Owner] || r.Event
	}
}

// until turns all of the peers until a condition is true.
func until(t testing.TB, what string, condition func() bool, peers ...*peer) {
	t.Helper()
	for end := time.Now().Add(patience); !condition(); {
		if time.Now().After(end) {
			t.Fatalf("%s: not after %v", what, patience)
		}
		for _, p := range peers {
			p.turn(2 * time.Millisecond)
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

// samesBytes compares messages; what came over a network may be padded.
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
