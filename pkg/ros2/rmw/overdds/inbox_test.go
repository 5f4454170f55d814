package overdds

import (
	"strings"
	"testing"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// given is a reader of samples that are given.
type given struct {
	dds.Reader
	samples []dds.Sample
}

func (g *given) Take(n int, f func(*dds.Sample)) (int, error) {
	n = min(n, len(g.samples))
	for i := range n {
		f(&g.samples[i])
	}
	g.samples = g.samples[n:]
	return n, nil
}

// A request of a vendor with another mapping of services is dropped by the vendor's name, and not read as one of ours:
// its first bytes as header would make a string of 1.6 GB of the rest. Those of others are taken.
func TestRequestsOfOtherVendors(t *testing.T) {
	fast := []byte("\x00\x01\x00\x00\x05\x00\x00\x00hover\x00\x00\x00\x02\x00\x00\x00{}\x00\x00") // no header
	ours, _ := wrap(nil, rmw.RequestID{Client: 7, Sequence: 1}, []byte{0, 1, 0, 0, 1})
	r := &given{samples: []dds.Sample{
		{Data: ours, Writer: rmw.GID{1, 0x10, 9}},
		{Data: fast, Writer: rmw.GID{1, 0x0f, 9}},
		{Data: []byte{0, 1, 0, 0, 0}, Writer: rmw.GID{1, 0x12, 9}},
		{Data: ours, Writer: rmw.GID{2, 0x0f, 9}},
		{Data: ours},
	}}
	b := newInbox(&serviceEnd{service: "/quad/set_task", reader: r}, nil,
		func(rmw.RequestID, rmw.GID) bool { return true })
	taken := 0
	take := func(want int, says string) {
		t.Helper()
		n, err := b.take(1, func(id rmw.RequestID, m *dds.Sample) {
			taken++
			if id.Client != 7 || len(m.Data) != 5 {
				t.Errorf("request %v of %d bytes", id, len(m.Data))
			}
		})
		if n != want || (err == nil) != (says == "") || err != nil && !strings.Contains(err.Error(), says) {
			t.Errorf("%d taken and %v, expected %d and %q", n, err, want, says)
		}
	}
	take(1, "")
	take(0, "service /quad/set_task: dropped a message of Fast DDS, whose services have another mapping")
	take(0, "dropped a message of RustDDS")
	take(1, "")
	take(1, "")
	take(0, "")
	if taken != 3 {
		t.Errorf("%d requests", taken)
	}
}
