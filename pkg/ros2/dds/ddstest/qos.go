package ddstest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
)

// lateJoiners: a late reader gets what a transient local writer keeps, if it requests
// that.
func lateJoiners(t *testing.T, h *harness) {
	q := dds.QoS{Reliability: dds.Reliable, Durability: dds.TransientLocal, Depth: 2, MaxBlocking: time.Second}
	w := h.writer(h.participant(), "late", q)
	h.write(w, numbers(1, 5)...)
	asking := reliable()
	asking.Durability = dds.TransientLocal
	late := h.reader(h.participant(), "late", asking)
	// In a participant of its own: Cyclone DDS passes what it fetches for one reader
	// to others of the same participant.
	volatile := h.reader(h.participant(), "late", reliable())
	h.waitMatched(w, late, volatile)
	if got := numbersOf(t, h.take(late, 2)); !slices.Equal(got, []int{4, 5}) {
		t.Errorf("a writer that keeps 2 of 1 to 5 gave a late reader %v", got)
	}
	h.write(w, number(6))
	if got := numbersOf(t, h.take(late, 1)); got[0] != 6 {
		t.Errorf("then it gave %v, expected 6", got)
	}
	if got := numbersOf(t, h.take(volatile, 1)); got[0] != 6 {
		t.Errorf("a late reader that does not ask for more took %v first, expected 6", got)
	}
}

// lateKeepAll: a writer may keep all samples for late readers.
func lateKeepAll(t *testing.T, h *harness) {
	q := reliable()
	q.Durability = dds.TransientLocal
	w := h.writer(h.participant(), "late all", q)
	h.write(w, numbers(1, 100)...)
	late := h.reader(h.participant(), "late all", q)
	for i, n := range numbersOf(t, h.take(late, 100)) {
		if n != i+1 {
			t.Fatalf("sample %d is %d", i+1, n)
		}
	}
}

// keepLast: a reader keeps the last samples that were not taken.
func keepLast(t *testing.T, h *harness) {
	p := h.participant()
	w := h.writer(h.participant(), "keep last", reliable())
	three := h.reader(p, "keep last", dds.QoS{Reliability: dds.Reliable, Depth: 3})
	one := h.reader(p, "keep last", dds.QoS{Reliability: dds.Reliable})
	all := h.reader(p, "keep last", reliable())
	h.waitMatched(w, three, one, all)
	h.eventually("three matches", func() bool { return w.Status().Matched == 3 })
	h.write(w, numbers(1, 11)...)
	h.take(all, 11) // so that number 10 is with everyone
	got := numbersOf(t, h.takeNow(three, 20))
	if !slices.Equal(got, []int{8, 9, 10}) && !slices.Equal(got, []int{9, 10, 11}) {
		t.Errorf("a reader of depth 3 kept %v of 1 to 11", got)
	}
	if got = numbersOf(t, h.takeNow(one, 20)); !slices.Equal(got, []int{10}) && !slices.Equal(got, []int{11}) {
		t.Errorf("a reader of depth 0, which is 1, kept %v of 1 to 11", got)
	}
}

// deadline: both sides count missed deadlines.
func deadline(t *testing.T, h *harness) {
	q := reliable()
	q.Deadline = 30 * time.Millisecond
	asking := reliable()
	asking.Deadline = 60 * time.Millisecond
	p := h.participant()
	w, r := h.writer(h.participant(), "deadline", q), h.reader(p, "deadline", asking)
	h.waitMatched(w, r)
	h.write(w, number(1))
	h.eventually("the writer misses its deadline", func() bool { return w.Status().DeadlineMissed > 1 })
	h.eventually("the reader sees a deadline missed", func() bool { return r.Status().DeadlineMissed > 1 })
	h.waitFor(p, "a deadline was missed", func(r dds.Ready) bool { return r.Owner == "deadline reader" && r.Event })
}

// liveliness: a writer of manual liveliness that does not write is lost until it
// writes.
func liveliness(t *testing.T, h *harness) {
	q := reliable()
	q.Liveliness, q.Lease = dds.ManualByTopic, 100*time.Millisecond
	asking := q
	asking.Lease = 200 * time.Millisecond
	p := h.participant()
	w, r := h.writer(h.participant(), "liveliness", q), h.reader(p, "liveliness", asking)
	h.waitMatched(w, r)
	h.write(w, number(1))
	h.eventually("the writer knows that it is lost", func() bool { return w.Status().LivelinessLost > 0 })
	h.eventually("the reader loses the writer", func() bool {
		s := r.Status()
		return s.Alive == 0 && s.NotAlive == 1
	})
	h.eventually("the reader has the writer back", func() bool {
		h.write(w, number(2))
		s := r.Status()
		return s.Alive == 1 && s.NotAlive == 0
	})
	h.waitFor(p, "liveliness changed", func(r dds.Ready) bool { return r.Owner == "liveliness reader" && r.Event })
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	h.eventually("nobody is left", func() bool {
		s := r.Status()
		return s.Matched == 0 && s.Alive == 0 && s.NotAlive == 0
	})
}

// lifespan: samples that are too old are not delivered.
func lifespan(t *testing.T, h *harness) {
	brief := reliable()
	brief.Durability, brief.Lifespan = dds.TransientLocal, 40*time.Millisecond
	long := brief
	long.Lifespan = time.Hour
	asking := reliable()
	asking.Durability = dds.TransientLocal
	p := h.participant()
	passing, lasting := h.writer(p, "lifespan", brief), h.writer(p, "lifespan", long)
	there := h.reader(p, "lifespan", asking)
	h.eventually("both match", func() bool { return there.Status().Matched == 2 })
	h.write(passing, number(1))
	h.write(lasting, number(2))
	time.Sleep(120 * time.Millisecond) // now 1 is over, wherever it is
	if got := numbersOf(t, h.take(there, 1)); got[0] != 2 {
		t.Errorf("a sample of 40 ms was taken after 120 ms")
	}
	late := h.reader(h.participant(), "lifespan", asking)
	h.eventually("both match", func() bool { return late.Status().Matched == 2 })
	h.write(lasting, number(3))
	if got := numbersOf(t, h.take(late, 2)); !slices.Equal(got, []int{2, 3}) {
		t.Errorf("a late reader took %v, of which 1 was over; expected 2 and 3", got)
	}
}

// incompatible: both sides report the incompatible policy, perhaps twice where they
// discover each other at the same moment.
func incompatible(t *testing.T, h *harness) {
	both := func(change func(q *dds.QoS)) dds.QoS {
		q := reliable()
		change(&q)
		return q
	}
	left, right := h.participant(), h.participant()
	for i, c := range []struct {
		policy  dds.Policy
		offered dds.QoS
		asked   dds.QoS
	}{
		{dds.ReliabilityPolicy, dds.QoS{}, reliable()},
		{dds.DurabilityPolicy, reliable(), both(func(q *dds.QoS) { q.Durability = dds.TransientLocal })},
		{dds.DeadlinePolicy, reliable(), both(func(q *dds.QoS) { q.Deadline = time.Second })},
		{dds.DeadlinePolicy, both(func(q *dds.QoS) { q.Deadline = 2 * time.Second }),
			both(func(q *dds.QoS) { q.Deadline = time.Second })},
		{dds.LivelinessPolicy, reliable(),
			both(func(q *dds.QoS) { q.Liveliness, q.Lease = dds.ManualByTopic, time.Hour })},
		{dds.LivelinessPolicy, reliable(), both(func(q *dds.QoS) { q.Lease = time.Hour })},
	} {
		if got := dds.Compatible(c.offered, c.asked); got != c.policy {
			t.Errorf("Compatible returns %v for %+v and %+v; expected %v", got, c.offered, c.asked, c.policy)
		}
		name := fmt.Sprint("incompatible ", i)
		w, r := h.writer(left, name, c.offered), h.reader(right, name, c.asked)
		h.waitFor(left, name, func(r dds.Ready) bool { return r.Owner == name+" writer" && r.Event })
		h.waitFor(right, name, func(r dds.Ready) bool { return r.Owner == name+" reader" && r.Event })
		for _, s := range []dds.Status{w.Status(), r.Status()} {
			if (s.Incompatible != 1 && s.Incompatible != 2) || s.IncompatiblePolicy != c.policy || s.Matched != 0 {
				t.Errorf("%v: status %+v", c.policy, s)
			}
		}
	}
}

// badQoS: invalid topics and QoS are refused with an error that names the topic.
func badQoS(t *testing.T, h *harness) {
	p := h.participant()
	for _, c := range []struct {
		topic dds.Topic
		qos   dds.QoS
		want  string
	}{
		{topic("bad"), dds.QoS{Depth: -1}, "rt/bad"},
		{topic("bad"), dds.QoS{Deadline: -1}, "rt/bad"},
		{topic("bad"), dds.QoS{Reliability: 7}, "rt/bad"},
		{dds.Topic{Name: "rt/typeless"}, dds.QoS{}, "rt/typeless"},
		{dds.Topic{Type: "a::msg::dds_::B_"}, dds.QoS{}, "a::msg::dds_::B_"},
		{dds.Topic{Name: "rt/a\x00b", Type: "a::msg::dds_::B_"}, dds.QoS{}, "zero byte"},
	} {
		_, err := p.NewWriter(c.topic, c.qos, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a writer of %q, %+v: error %v, expected one with %q", c.topic, c.qos, err, c.want)
		}
		if _, err = p.NewReader(c.topic, c.qos, nil); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a reader of %q, %+v: error %v, expected one with %q", c.topic, c.qos, err, c.want)
		}
	}
}
