package inproc

import (
	"errors"
	"testing"
	"time"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/dds/ddstest"
)

func TestConformance(t *testing.T) {
	ddstest.Run(t, func(testing.TB) ddstest.Open {
		d := NewDomain()
		return func(_ testing.TB, userData []byte) dds.Participant { return d.Open(userData) }
	})
}

// A pair that does not match is counted once at both ends.
func TestIncompatiblePairCountsOnce(t *testing.T) {
	d := NewDomain()
	p := d.Open(nil)
	defer p.Close()
	topic := dds.Topic{Name: "rt/refused", Type: "a::msg::dds_::B_"}
	w, err := p.NewWriter(topic, dds.QoS{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.NewReader(topic, dds.QoS{Reliability: dds.Reliable}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []dds.Status{w.Status(), r.Status()} {
		if s.Incompatible != 1 || s.IncompatiblePolicy != dds.ReliabilityPolicy {
			t.Errorf("%+v", s)
		}
	}
}

// A reader that keeps all and takes nothing blocks reliable writers.
func TestFullReaderBlocksReliableWriters(t *testing.T) {
	d := NewDomain()
	p := d.Open(nil)
	defer p.Close()
	topic := dds.Topic{Name: "rt/congestion", Type: "a::msg::dds_::B_"}
	q := dds.QoS{Reliability: dds.Reliable, History: dds.KeepAll, MaxBlocking: 10 * time.Millisecond}
	w, err := p.NewWriter(topic, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.NewReader(topic, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	sample := make([]byte, 1<<20)
	written := 0
	for ; err == nil; written++ {
		err = w.Write(sample, 0)
	}
	if !errors.Is(err, dds.ErrTimeout) || written != 17 {
		t.Fatalf("write %d: %v; expected the 17th to time out", written, err)
	}
	q.MaxBlocking = dds.Infinite
	patient, err := p.NewWriter(topic, q, nil)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- patient.Write(sample, 0) }()
	if n, err := r.Take(1, func(*dds.Sample) {}); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	go func() { done <- patient.Write(sample, 0) }()
	time.Sleep(5 * time.Millisecond) // likely waiting by now; either way Close must end it
	patient.Close()
	if err := <-done; !errors.Is(err, dds.ErrClosed) {
		t.Errorf("a write that waits while its writer is closed: %v", err)
	}
}

func BenchmarkWriteTake(b *testing.B) {
	p := NewDomain().Open(nil)
	defer p.Close()
	topic := dds.Topic{Name: "rt/bench", Type: "a::msg::dds_::B_"}
	q := dds.QoS{Reliability: dds.Reliable, Depth: 10}
	w, err := p.NewWriter(topic, q, nil)
	if err != nil {
		b.Fatal(err)
	}
	r, err := p.NewReader(topic, q, nil)
	if err != nil {
		b.Fatal(err)
	}
	sample := make([]byte, 104)
	b.ReportAllocs()
	for b.Loop() {
		if err := w.Write(sample, 0); err != nil {
			b.Fatal(err)
		}
		if n, err := r.Take(1, func(*dds.Sample) {}); n != 1 || err != nil {
			b.Fatal(n, err)
		}
	}
}
