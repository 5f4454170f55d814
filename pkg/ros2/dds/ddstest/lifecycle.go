package ddstest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
)

// within fails the test when f does not return.
func (h *harness) within(what string, f func()) {
	h.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		h.t.Fatalf("%s does not return", what)
	}
}

// closeWhileWaiting: Close ends Wait.
func closeWhileWaiting(t *testing.T, h *harness) {
	for range 2 {
		p := h.participant()
		h.reader(p, "waiting", reliable())
		h.calm(p)
		ended := make(chan error)
		entered := make(chan struct{})
		go func() {
			close(entered)
			for {
				if _, err := p.Wait(-1, nil); err != nil {
					ended <- err
					return
				}
			}
		}()
		<-entered
		time.Sleep(5 * time.Millisecond) // likely inside by now; either way Close must end it
		h.within("Close", func() {
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
		h.within("Wait", func() {
			if err := <-ended; !errors.Is(err, dds.ErrClosed) {
				t.Errorf("Wait of a closed participant: %v", err)
			}
		})
	}
}

// closeWhileWriting: writers and their participant may be closed at any time.
func closeWhileWriting(t *testing.T, h *harness) {
	r := h.reader(h.participant(), "writing", reliable())
	for i := range 6 {
		p := h.open(t, nil)
		w := h.writer(p, "writing", reliable())
		h.eventually("a match", func() bool { return w.Status().Matched == 1 })
		var group sync.WaitGroup
		for range 3 {
			group.Go(func() {
				h.untilClosed("writing", func() error { return w.Write(number(1), 0) })
			})
		}
		h.eventually("samples arrive", func() bool { return len(h.takeNow(r, 100)) > 0 })
		h.within("Close", func() {
			if i%2 == 0 {
				if err := w.Close(); err != nil {
					t.Error(err)
				}
			}
			if err := p.Close(); err != nil {
				t.Error(err)
			}
		})
		h.within("Write", group.Wait)
	}
}

// untilClosed repeats f until it fails, which must be with ErrClosed.
func (h *harness) untilClosed(what string, f func() error) {
	for {
		if err := f(); err != nil {
			if !errors.Is(err, dds.ErrClosed) {
				h.t.Errorf("%s while closing: %v", what, err)
			}
			return
		}
	}
}

// closeWhileTaking: readers may be closed at any time, from within Take too.
func closeWhileTaking(t *testing.T, h *harness) {
	p, other := h.participant(), h.participant()
	w := h.writer(p, "taking", reliable())
	for range 5 {
		r := h.reader(other, "taking", reliable())
		h.waitMatched(w, r)
		h.write(w, numbers(1, 100)...)
		closeAt50 := func(s *dds.Sample) {
			if numberOf(t, *s) != 50 {
				return
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
		var group sync.WaitGroup
		for range 2 {
			group.Go(func() {
				h.untilClosed("taking", func() error {
					_, err := r.Take(10, closeAt50)
					return err
				})
			})
		}
		h.within("Take of a closed reader", group.Wait)
	}
}

// closed: methods of closed things return ErrClosed, but Close, which may be repeated.
func closed(t *testing.T, h *harness) {
	p := h.participant()
	w, r := h.writer(p, "closed", reliable()), h.reader(p, "closed", reliable())
	end := func(c interface{ Close() error }) {
		for range 2 {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	is := func(what string, err error) {
		t.Helper()
		if !errors.Is(err, dds.ErrClosed) {
			t.Errorf("%s: %v, expected ErrClosed", what, err)
		}
	}
	check := func() {
		t.Helper()
		is("Write", w.Write(number(1), 0))
		_, err := r.Take(1, func(*dds.Sample) {})
		is("Take", err)
		w.Status()
		r.Status()
		w.Matched(func(dds.GUID) { t.Error("a closed writer has a match") })
		r.Matched(func(dds.GUID) { t.Error("a closed reader has a match") })
	}
	h.waitMatched(w, r)
	guid := w.GUID()
	end(w)
	end(r)
	check()
	if w.GUID() != guid {
		t.Error("the GUID went with the writer")
	}
	w, r = h.writer(p, "closed", reliable()), h.reader(p, "closed", reliable())
	end(p)
	check()
	end(w)
	end(r)
	_, err := p.NewWriter(topic("closed"), reliable(), nil)
	is("NewWriter", err)
	if err != nil && !strings.Contains(err.Error(), "rt/closed") {
		t.Errorf("NewWriter: %v, without the topic's name", err)
	}
	_, err = p.NewReader(topic("closed"), reliable(), nil)
	is("NewReader", err)
	_, err = p.Wait(0, nil)
	is("Wait", err)
	is("Changes", p.Changes(func(dds.Change) {}))
	p.Wake()
}

// vanishingWriter: a writer that is closed leaves the samples that it sent, and no
// other.
func vanishingWriter(t *testing.T, h *harness) {
	p := h.participant()
	r := h.reader(p, "vanishing", reliable())
	for i := range 5 {
		other := h.open(t, nil)
		w := h.writer(other, "vanishing", reliable())
		h.waitMatched(w, r)
		h.write(w, number(i))
		h.waitFor(p, "data", func(r dds.Ready) bool { return r.Data })
		if err := other.Close(); err != nil {
			t.Fatal(err)
		}
		h.eventually("the writer is gone", func() bool { return r.Status().Matched == 0 })
		if got := numbersOf(t, h.takeNow(r, 10)); len(got) != 1 || got[0] != i {
			t.Errorf("a writer wrote %d and was closed; took %v", i, got)
		}
	}
}

// everythingAtOnce: every method is called by many goroutines.
func everythingAtOnce(t *testing.T, h *harness) {
	const writers, samples = 4, 200
	left, right := h.participant(), h.participant()
	r := h.reader(right, "at once", reliable())
	var group sync.WaitGroup
	stop := make(chan struct{})
	for _, p := range []dds.Participant{left, right} {
		group.Go(func() { h.pester(p, r, stop) })
	}
	var writing sync.WaitGroup
	for i := range writers {
		w := h.writer(left, "at once", reliable())
		h.eventually("a match", func() bool { return w.Status().Matched >= 1 })
		writing.Go(func() { h.writeAndWake(w, right, numbers(i*samples, (i+1)*samples-1)) })
	}
	seen := map[int]bool{}
	last := [writers]int{}
	for end := time.Now().Add(patience); len(seen) < writers*samples; {
		if time.Now().After(end) {
			t.Fatalf("%d samples of %d", len(seen), writers*samples)
		}
		if _, err := right.Wait(time.Second, nil); err != nil {
			t.Fatal(err)
		}
		for _, n := range numbersOf(t, h.takeNow(r, 16)) {
			if i := n / samples; n < last[i] {
				t.Errorf("writer %d: sample %d after %d", i, n, last[i])
			} else {
				last[i] = n
			}
			seen[n] = true
		}
	}
	close(stop)
	h.within("the rest", group.Wait)
	h.within("writing", writing.Wait)
}

// writeAndWake writes samples, and calls other methods now and then.
func (h *harness) writeAndWake(w dds.Writer, p dds.Participant, samples [][]byte) {
	for k, sample := range samples {
		if err := w.Write(sample, 0); err != nil {
			h.t.Error(err)
		}
		if k%50 == 0 {
			w.Matched(func(dds.GUID) {})
			p.Wake()
		}
	}
}

// pester creates, uses and closes endpoints until stop.
func (h *harness) pester(p dds.Participant, r dds.Reader, stop chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		default:
		}
		w, err := p.NewWriter(topic(fmt.Sprint("pester ", i%3)), reliable(), i)
		if err != nil {
			h.t.Error(err)
			return
		}
		if err := w.Write(number(i), 0); err != nil {
			h.t.Error(err)
		}
		if err := p.Changes(func(dds.Change) {}); err != nil {
			h.t.Error(err)
		}
		r.Status()
		r.Matched(func(dds.GUID) {})
		if err := w.Close(); err != nil {
			h.t.Error(err)
		}
	}
}
