package ddstest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
)

// wake: Wake ends the current Wait, or else the next one.
func wake(t *testing.T, h *harness) {
	p := h.participant()
	h.calm(p)
	p.Wake()
	if ready, err := p.Wait(-1, nil); err != nil || len(ready) != 0 {
		t.Errorf("Wake, then Wait: %v, %v", ready, err)
	}
	returned := make(chan int)
	go func() {
		for i := range 100 {
			if _, err := p.Wait(-1, nil); err != nil {
				t.Error(err)
			}
			returned <- i
		}
	}()
	for range 100 {
		p.Wake()
		select {
		case <-returned:
		case <-time.After(patience):
			t.Fatal("Wait does not return")
		}
	}
}

// timeouts: Wait returns after its timeout, and not before.
func timeouts(t *testing.T, h *harness) {
	p := h.participant()
	h.calm(p)
	for _, timeout := range []time.Duration{0, time.Nanosecond, 30 * time.Millisecond} {
		begun := time.Now()
		ready, err := p.Wait(timeout, []dds.Ready{{Owner: "mine"}})
		if err != nil || len(ready) != 1 || ready[0].Owner != "mine" {
			t.Errorf("Wait(%v) with nothing to report: %v, %v", timeout, ready, err)
		}
		if took := time.Since(begun); took < timeout {
			t.Errorf("Wait(%v) returned after %v", timeout, took)
		}
	}
}

// reportedUntilTaken: Wait reports samples as long as there are some, and wakes for
// those that arrive while it waits.
func reportedUntilTaken(t *testing.T, h *harness) {
	p := h.participant()
	w, r := h.writer(h.participant(), "reported", reliable()), h.reader(p, "reported", reliable())
	h.waitMatched(w, r)
	h.calm(p)
	data := func(r dds.Ready) bool { return r.Owner == "reported reader" && r.Data }
	written := make(chan error, 1)
	time.AfterFunc(20*time.Millisecond, func() { written <- w.Write(number(1), 0) })
	h.waitFor(p, "data", data)
	if err := <-written; err != nil {
		t.Fatal(err)
	}
	for range 3 {
		ready, err := p.Wait(-1, nil)
		if err != nil || !slices.ContainsFunc(ready, data) {
			t.Fatalf("Wait with a sample untaken: %v, %v", ready, err)
		}
	}
	h.take(r, 1)
	h.calm(p)
}

// eventsOnce: Wait reports each event once, whether Status is called or not.
func eventsOnce(t *testing.T, h *harness) {
	p, other := h.participant(), h.participant()
	h.reader(p, "events", reliable())
	h.calm(p)
	w := h.writer(other, "events", reliable())
	var matched, graph bool
	for end := time.Now().Add(patience); !(matched && graph); {
		if time.Now().After(end) {
			t.Fatalf("a writer appeared: match reported: %v, graph reported: %v", matched, graph)
		}
		ready, err := p.Wait(time.Second, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range ready {
			matched = matched || r.Owner == "events reader" && r.Event
			graph = graph || r.Owner == nil && r.Event
			if r.Data {
				t.Errorf("data without a sample: %v", r)
			}
		}
	}
	h.calm(p)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	h.waitFor(p, "the writer went", func(r dds.Ready) bool { return r.Owner == "events reader" && r.Event })
}

// orderOfMany: Wait reports each of many readers once in a call, and each reader gets
// its own samples.
func orderOfMany(t *testing.T, h *harness) {
	const n = 100 // more than a backend may report at once
	from, to := h.participant(), h.participant()
	var writers []dds.Writer
	readers := map[any]dds.Reader{}
	for i := range n {
		name := fmt.Sprint("many ", i)
		writers = append(writers, h.writer(from, name, reliable()))
		readers[name+" reader"] = h.reader(to, name, reliable())
	}
	for i, w := range writers {
		h.waitMatched(w, readers[fmt.Sprint("many ", i, " reader")])
		h.write(w, numbers(10*i, 10*i+2)...)
	}
	got := map[any][]int{}
	total := 0
	for end := time.Now().Add(patience); total < 3*n; {
		if time.Now().After(end) {
			t.Fatalf("%d samples of %d", total, 3*n)
		}
		ready, err := to.Wait(time.Second, nil)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[any]bool{}
		for _, one := range ready {
			if seen[one.Owner] {
				t.Fatalf("%v twice in one call of Wait", one.Owner)
			}
			seen[one.Owner] = true
			if one.Data {
				more := numbersOf(t, h.takeNow(readers[one.Owner], 2))
				got[one.Owner] = append(got[one.Owner], more...)
				total += len(more)
			}
		}
	}
	for i := range n {
		if g := got[fmt.Sprint("many ", i, " reader")]; !slices.Equal(g, []int{10 * i, 10*i + 1, 10*i + 2}) {
			t.Errorf("reader %d took %v", i, g)
		}
	}
}
