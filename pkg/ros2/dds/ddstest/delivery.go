package ddstest

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
)

// sizes: samples of every size from a bare header on, and a large one, arrive bit for
// bit.
func sizes(t *testing.T, h *harness) {
	w, r := h.pair("sizes", reliable(), reliable())
	random := rand.New(rand.NewPCG(1, 2))
	lengths := []int{65_535, 65_536, 65_537, 1 << 20, 1<<20 + 1}
	for n := range 40 {
		lengths = append(lengths, 4+n)
	}
	for _, n := range lengths {
		sample := make([]byte, n)
		for i := range sample {
			sample[i] = byte(random.Uint32())
		}
		copy(sample, []byte{0, 1, 0, 0})
		h.write(w, sample)
		got := h.take(r, 1)[0]
		if !bytes.Equal(got.Data, sample) {
			t.Fatalf("%d bytes were written, %d came back or others", n, len(got.Data))
		}
	}
}

// stamps: a sample has the writer's source time and GUID.
func stamps(t *testing.T, h *harness) {
	w, r := h.pair("stamps", reliable(), reliable())
	random := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		stamp := random.Int64N(2_000_000_000_000_000_000)
		if err := w.Write(number(1), stamp); err != nil {
			t.Fatal(err)
		}
		if got := h.take(r, 1)[0].Source; got != stamp {
			t.Errorf("a sample stamped %d came with %d", stamp, got)
		}
	}
	before := time.Now().UnixNano()
	h.write(w, number(1), number(2))
	got := h.take(r, 2)
	if now := time.Now().UnixNano(); got[1].Source < before || got[1].Source > now {
		t.Errorf("a sample stamped now came with %d, written between %d and %d", got[1].Source, before, now)
	}
	for _, s := range got {
		if s.Writer != w.GUID() {
			t.Errorf("sample of writer %v came from %v", w.GUID(), s.Writer)
		}
		if s.Received != 0 && (s.Received < before-int64(time.Hour) || s.Received > time.Now().UnixNano()) {
			t.Errorf("received at %d", s.Received)
		}
	}
}

// burst: reliable samples arrive completely and in order.
func burst(t *testing.T, h *harness) {
	w, r := h.pair("burst", reliable(), reliable())
	const n = 2000
	go func() {
		for i := range n {
			if err := w.Write(number(i), 0); err != nil {
				t.Errorf("sample %d: %v", i, err)
			}
		}
	}()
	for i, s := range h.take(r, n) {
		if got := numberOf(t, s); got != i {
			t.Fatalf("sample %d is %d", i, got)
		}
	}
}

// bestEffort: samples arrive in order, perhaps not all.
func bestEffort(t *testing.T, h *harness) {
	w, r := h.pair("best effort", dds.QoS{Depth: 5}, dds.QoS{Depth: 5})
	last := -1
	i := 0
	h.eventually("twenty samples arrive", func() bool {
		h.write(w, number(i))
		for _, s := range h.takeNow(r, 10) {
			if got := numberOf(t, s); got <= last || got > i {
				t.Fatalf("sample %d after %d, %d written", got, last, i)
			} else {
				last = got
			}
		}
		i++
		return last >= 20
	})
}

// takeMax: Take returns at most max samples and loses none.
func takeMax(t *testing.T, h *harness) {
	w, r := h.pair("take max", reliable(), reliable())
	h.write(w, numbers(1, 50)...)
	var got []int
	for most := 0; len(got) < 50; most = (most + 1) % 20 {
		samples := h.takeNow(r, most)
		if len(samples) > most {
			t.Fatalf("Take of at most %d gave %d", most, len(samples))
		}
		got = append(got, numbersOf(t, samples)...)
		if len(samples) < most { // not all are here yet
			h.eventually("another sample", func() bool {
				more := h.takeNow(r, 1)
				got = append(got, numbersOf(t, more)...)
				return len(more) == 1 || len(got) == 50
			})
		}
	}
	for i, n := range got {
		if n != i+1 {
			t.Fatalf("sample %d is %d", i+1, n)
		}
	}
	if n := len(h.takeNow(r, -1)); n != 0 {
		t.Errorf("Take(-1) gave %d samples", n)
	}
}

// reentrantTake: within Take every other method works, Take too.
func reentrantTake(t *testing.T, h *harness) {
	w, r := h.pair("reentrant", reliable(), reliable())
	p := h.participant()
	local, err := p.NewWriter(topic("other"), reliable(), nil)
	if err != nil {
		t.Fatal(err)
	}
	back, err := p.NewReader(topic("other"), reliable(), nil)
	if err != nil {
		t.Fatal(err)
	}
	h.waitMatched(local, back)
	h.write(w, numbers(1, 4)...)
	var got []int
	nested := 0
	var f func(*dds.Sample)
	f = func(s *dds.Sample) {
		mine := bytes.Clone(s.Data)
		if nested++; nested < 3 {
			if _, err := r.Take(1, f); err != nil {
				t.Error(err)
			}
		}
		r.Status()
		r.Matched(func(dds.GUID) {})
		h.write(local, mine)
		if !bytes.Equal(mine, s.Data) {
			t.Errorf("the sample changed from % x to % x while it was shown", mine, s.Data)
		}
		got = append(got, numberOf(t, *s))
	}
	h.eventually("four samples", func() bool {
		if _, err := r.Take(10, f); err != nil {
			t.Fatal(err)
		}
		return len(got) >= 4
	})
	slices.Sort(got)
	if !slices.Equal(got, []int{1, 2, 3, 4}) {
		t.Errorf("took %v", got)
	}
	h.take(back, 4)
}

// badSamples: malformed samples are refused with a clear error, and others arrive.
func badSamples(t *testing.T, h *harness) {
	w, r := h.pair("bad", reliable(), reliable())
	for _, c := range []struct {
		sample []byte
		want   error
	}{
		{nil, dds.ErrShort}, {[]byte{0}, dds.ErrShort}, {[]byte{0, 1}, dds.ErrShort}, {[]byte{0, 1, 0}, dds.ErrShort},
		{[]byte{0xff, 0xff, 0, 0, 1}, dds.ErrEncapsulation}, {[]byte{0, 4, 0, 0}, dds.ErrEncapsulation},
		{[]byte{0, 12, 0, 0}, dds.ErrEncapsulation}, {[]byte{1, 0, 0, 0}, dds.ErrEncapsulation},
	} {
		err := w.Write(c.sample, 0)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), "rt/bad") {
			t.Errorf("sample % x: error %v; expected %v and the topic's name", c.sample, err, c.want)
		}
	}
	h.write(w, number(7))
	if got := numbersOf(t, h.take(r, 1)); got[0] != 7 {
		t.Errorf("took %v, wrote 7", got)
	}
}

// truncated: DDS delivers any bytes after the header.
func truncated(t *testing.T, h *harness) {
	w, r := h.pair("truncated", reliable(), reliable())
	for _, sample := range [][]byte{
		{0, 1, 0, 0, 0xff, 0xff, 0xff, 0x7f},    // a string of 2 GiB
		{0, 1, 0, 0, 5, 0, 0, 0, 'a'},           // a string cut off
		{0, 3, 0, 0, 1, 0x3f, 0xff, 0xff, 0xff}, // a parameter list that is none
	} {
		h.write(w, sample)
		if got := h.take(r, 1)[0].Data; !bytes.Equal(got, sample) {
			t.Errorf("wrote % x, took % x", sample, got)
		}
	}
}

// allocations: neither Write nor Take allocates.
func allocations(t *testing.T, h *harness) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	p := h.participant()
	q := dds.QoS{Reliability: dds.Reliable, Depth: 10}
	w, r := h.writer(p, "allocations", q), h.reader(p, "allocations", q)
	h.waitMatched(w, r)
	sample := make([]byte, 104)
	sample[1] = 1
	var bytesRead int
	f := func(s *dds.Sample) { bytesRead += len(s.Data) }
	got := testing.AllocsPerRun(200, func() {
		if err := w.Write(sample, 0); err != nil {
			t.Error(err)
		}
		for n := 0; n == 0; {
			var err error
			if n, err = r.Take(4, f); err != nil {
				t.Error(err)
			}
		}
	})
	if got != 0 || bytesRead != 201*104 {
		t.Errorf("write and take of %d samples allocate %v times each; %d bytes read", 201, got, bytesRead)
	}
	ready := make([]dds.Ready, 0, 8)
	got = testing.AllocsPerRun(200, func() {
		h.write(w, sample)
		if _, err := p.Wait(-1, ready[:0]); err != nil {
			t.Error(err)
		}
	})
	if got != 0 {
		t.Errorf("write and wait allocate %v times", got)
	}
}

// related: a sample has its number and the identity of another, where writers send that.
func related(t *testing.T, h *harness) {
	w, r := h.pair("related", reliable(), reliable())
	first := dds.Identity{Writer: r.GUID()}
	about, ok := w.(dds.RelatedWriter)
	if !ok {
		t.Skip("these writers send none")
	}
	if _, err := about.WriteRelated([]byte{0, 1}, first); !errors.Is(err, dds.ErrShort) {
		t.Errorf("a short sample: %v", err)
	}
	n, err := about.WriteRelated(number(1), first)
	if err != nil && strings.Contains(err.Error(), "no identity") {
		t.Skip(err)
	} else if err != nil {
		t.Fatal(err)
	}
	h.write(w, number(2))
	second := dds.Identity{Writer: w.GUID(), Sequence: 1<<40 + 7}
	m, err := about.WriteRelated(number(3), second)
	if err != nil || m != n+2 {
		t.Errorf("samples %d and %d, with one between: %v", n, m, err)
	}
	for i, want := range []dds.Identity{first, {}, second} {
		s := h.take(r, 1)[0]
		if s.Sequence != n+int64(i) || s.Related != want || numberOf(t, s) != i+1 {
			t.Errorf("sample %d has number %d and is about %v; expected %d, %v", i+1, s.Sequence, s.Related,
				n+int64(i), want)
		}
	}
}
