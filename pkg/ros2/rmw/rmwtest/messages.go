package rmwtest

import (
	"errors"
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// messages: messages arrive in order, with their writer and source time.
func messages(t *testing.T, o Open, without features) {
	a, b := open(t, o), open(t, o)
	pub, sub := pair(t, a, b, "/chatter", rmw.DefaultQoS())
	const stamp = 1_700_000_000_123_456_789
	for i := range 5 {
		check(t, pub.Publish(text("message %d", i), stamp+int64(i)))
	}
	check(t, pub.Publish(text("now"), 0))
	got := take(t, b, sub, 6)
	for i, s := range got[:5] {
		sameBytes(t, "message", text("message %d", i), s.Data)
		if s.Source != stamp+int64(i) && !without.has(SourceTime) {
			t.Errorf("source time %d, want %d", s.Source, stamp+int64(i))
		}
		if s.Writer != pub.GID() && s.Writer != (rmw.GID{}) {
			t.Errorf("writer %v, want %v", s.Writer, pub.GID())
		}
	}
	for i, s := range got {
		d := time.Since(time.Unix(0, s.Source))
		if now := i == 5 || without.has(SourceTime); now && (d < -time.Hour || d > time.Hour) {
			t.Errorf("message %d is published now and has a source time %v ago", i, d)
		}
	}
	if pub.GID() == sub.GID() || pub.GID() == a.GID() || a.GID() == b.GID() {
		t.Errorf("GIDs %v, %v of %v, %v", pub.GID(), sub.GID(), a.GID(), b.GID())
	}
}

// oneContext: a process receives its own messages, each subscription its own copy.
func oneContext(t *testing.T, o Open) {
	p := open(t, o)
	pub, sub := pair(t, p, p, "/chatter", rmw.DefaultQoS())
	other := must(p.node("/", "other").NewSubscription(rmw.Topic{Name: "/chatter", Type: stringType},
		rmw.SensorDataQoS(), "other"))(t)
	until(t, "second match", func() bool { return pub.Status().Matched == 2 }, p)
	check(t, pub.Publish(text("hello"), 0))
	for _, s := range []rmw.Subscription{sub, other} {
		sameBytes(t, "message", text("hello"), take(t, p, s, 1)[0].Data)
	}
	check(t, other.Close())
	until(t, "part", func() bool { return pub.Status().Matched == 1 }, p)
	if s := pub.Status(); s.MatchedTotal != 2 {
		t.Errorf("%d matches ever, want 2", s.MatchedTotal)
	}
}

// takeInParts: Take takes at most max messages, and Wait reports the rest.
func takeInParts(t *testing.T, o Open) {
	p := open(t, o)
	pub, sub := pair(t, p, p, "/chatter", rmw.DefaultQoS())
	for i := range 5 {
		check(t, pub.Publish(text("%d", i), 0))
	}
	next := 0
	for _, n := range []int{2, 1, 2} {
		p.reset()
		until(t, "data", func() bool { return p.data["sub"] }, p)
		for _, s := range take(t, p, sub, n) {
			sameBytes(t, "message", text("%d", next), s.Data)
			next++
		}
	}
	if n, err := sub.Take(10, func(*dds.Sample) { t.Error("a sixth message") }); n != 0 || err != nil {
		t.Errorf("%d more, %v", n, err)
	}
}

// lateJoiner: only transient local messages reach a later subscription.
func lateJoiner(t *testing.T, o Open) {
	a, b := open(t, o), open(t, o)
	n := a.node("/", "early")
	latched := must(n.NewPublisher(rmw.Topic{Name: "/latched", Type: stringType}, rmw.StaticTFBroadcasterQoS(),
		"latched"))(t)
	plain := must(n.NewPublisher(rmw.Topic{Name: "/plain", Type: stringType}, rmw.DefaultQoS(), "plain"))(t)
	for i := range 3 {
		check(t, latched.Publish(text("latched %d", i), 0))
		check(t, plain.Publish(text("plain %d", i), 0))
	}
	m := b.node("/", "late")
	sub := must(m.NewSubscription(rmw.Topic{Name: "/latched", Type: stringType}, rmw.StaticTFListenerQoS(), "sub"))(t)
	sameBytes(t, "latched", text("latched 2"), take(t, b, sub, 1)[0].Data)
	sub = must(m.NewSubscription(rmw.Topic{Name: "/plain", Type: stringType}, rmw.DefaultQoS(), "sub"))(t)
	until(t, "match", func() bool { return plain.Status().Matched == 1 && sub.Status().Matched == 1 }, a, b)
	check(t, plain.Publish(text("plain 3"), 0))
	sameBytes(t, "plain", text("plain 3"), take(t, b, sub, 1)[0].Data)
}

// incompatible: both ends report the policy that keeps them from matching.
func incompatible(t *testing.T, o Open) {
	a, b := open(t, o), open(t, o)
	n, m := a.node("/", "from"), b.node("/", "to")
	volatile := rmw.DefaultQoS()
	for topic, c := range map[string]struct {
		offered, requested rmw.QoS
		policy             dds.Policy
	}{
		"/reliability": {rmw.SensorDataQoS(), rmw.DefaultQoS(), dds.ReliabilityPolicy},
		"/durability":  {volatile, rmw.ActionStatusQoS(), dds.DurabilityPolicy},
		"/deadline":    {volatile, rmw.QoS{Deadline: time.Hour}, dds.DeadlinePolicy},
		"/liveliness":  {volatile, rmw.QoS{Lease: time.Hour}, dds.LivelinessPolicy},
	} {
		pub := must(n.NewPublisher(rmw.Topic{Name: topic, Type: stringType}, c.offered, "pub"+topic))(t)
		sub := must(m.NewSubscription(rmw.Topic{Name: topic, Type: stringType}, c.requested, "sub"+topic))(t)
		until(t, "events of "+topic, func() bool { return a.event["pub"+topic] && b.event["sub"+topic] }, a, b)
		until(t, "refusals of "+topic, func() bool {
			return pub.Status().Incompatible > 0 &&
				sub.Status().Incompatible > 0
		}, a, b)
		for _, s := range []dds.Status{pub.Status(), sub.Status()} {
			if s.IncompatiblePolicy != c.policy || s.Matched != 0 {
				t.Errorf("%s: %+v, want policy %v", topic, s, c.policy)
			}
		}
	}
}

// matching: Wait reports an event when the other end comes and goes.
func matching(t *testing.T, o Open) {
	a, b := open(t, o), open(t, o)
	pub := must(a.node("/", "from").NewPublisher(rmw.Topic{Name: "/x", Type: stringType}, rmw.DefaultQoS(), "pub"))(t)
	quiet := must(a.node("/", "from").NewPublisher(rmw.Topic{Name: "/x", Type: stringType}, rmw.DefaultQoS(), nil))(t)
	sub := must(b.node("/", "to").NewSubscription(rmw.Topic{Name: "/x", Type: stringType}, rmw.DefaultQoS(), "sub"))(t)
	until(t, "events", func() bool { return a.event["pub"] && b.event["sub"] }, a, b)
	until(t, "matches", func() bool {
		return pub.Status().Matched == 1 && quiet.Status().Matched == 1 && sub.Status().Matched == 2
	}, a, b)
	if s := sub.Status(); s.Alive != 2 || s.NotAlive != 0 {
		t.Errorf("writers alive %d, not alive %d", s.Alive, s.NotAlive)
	}
	a.reset()
	check(t, sub.Close())
	until(t, "part", func() bool { return a.event["pub"] && pub.Status().Matched == 0 && quiet.Status().Matched == 0 },
		a, b)
	if s := pub.Status(); s.MatchedTotal != 1 {
		t.Errorf("%d matches ever, want 1", s.MatchedTotal)
	}
}

// wait: without a reason Wait lasts as long as its timeout. Wake ends the Wait under
// way, or the next one.
func wait(t *testing.T, o Open) {
	p := open(t, o)
	quiet := func() bool {
		begin := time.Now()
		ready := must(p.Wait(20*time.Millisecond, nil))(t)
		return len(ready) == 0 && time.Since(begin) >= 20*time.Millisecond
	}
	woken := func() {
		t.Helper()
		back := make(chan error, 1)
		go func() {
			_, err := p.Wait(-1, nil)
			back <- err
		}()
		select {
		case err := <-back:
			check(t, err)
		case <-time.After(patience):
			t.Fatal("Wake is lost")
		}
	}
	until(t, "quiet", quiet)
	p.Wake()
	woken()
	go p.Wake()
	woken()
	until(t, "quiet again", quiet)
	before := []rmw.Ready{{Owner: "kept", Data: true}}
	if ready := must(p.Wait(0, before))(t); ready[0] != before[0] {
		t.Errorf("Wait does not append: %v", ready)
	}
}

// waitClosed: Close ends the Wait under way and later ones.
func waitClosed(t *testing.T, o Open) {
	p := open(t, o)
	back := make(chan error, 1)
	go func() {
		for {
			if _, err := p.Wait(-1, nil); err != nil {
				back <- err
				return
			}
		}
	}()
	check(t, p.Close())
	select {
	case err := <-back:
		if !errors.Is(err, rmw.ErrClosed) {
			t.Errorf("Wait: %v", err)
		}
	case <-time.After(patience):
		t.Fatal("Close does not end Wait")
	}
	if _, err := p.Wait(-1, nil); !errors.Is(err, rmw.ErrClosed) {
		t.Errorf("Wait after Close: %v", err)
	}
}

// allocations: Publish and Take allocate nothing.
func allocations(t *testing.T, o Open) {
	p := open(t, o)
	pub, sub := pair(t, p, p, "/chatter", rmw.DefaultQoS())
	message := text("a message of some length, such as those of flight have")
	taken := 0
	f := func(*dds.Sample) { taken++ }
	round := func() {
		check(t, pub.Publish(message, 0))
		for before := taken; taken == before; {
			if _, err := sub.Take(1, f); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 10 {
		round()
	}
	if n := testing.AllocsPerRun(1000, round); n > 0 && !raceDetector {
		t.Errorf("%v allocations per message", n)
	}
}
