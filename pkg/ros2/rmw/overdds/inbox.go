package overdds

import (
	"sync"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
)

// inbox takes requests or responses out of a reader.
type inbox struct {
	reader dds.Reader
	// wanted decides by header and writer; what it refuses does not count.
	wanted func(rmw.RequestID, rmw.GID) bool
	visits sync.Pool // of *visit
}

// visit is one call of take: such calls may nest and run side by side.
type visit struct {
	box      *inbox
	onSample func(*dds.Sample) // the method, bound once
	f        func(rmw.RequestID, *dds.Sample)
	taken    int
	sample   dds.Sample
	message  []byte
}

func newInbox(r dds.Reader, wanted func(rmw.RequestID, rmw.GID) bool) *inbox {
	b := &inbox{reader: r, wanted: wanted}
	b.visits.New = func() any {
		v := &visit{box: b}
		v.onSample = v.take
		return v
	}
	return b
}

// take calls f with up to max messages without their header. Samples that are
// none, or not wanted, do not count.
func (b *inbox) take(max int, f func(rmw.RequestID, *dds.Sample)) (int, error) {
	v := b.visits.Get().(*visit)
	defer b.visits.Put(v)
	v.f, v.taken = f, 0
	defer func() { v.f = nil }()
	for v.taken < max {
		ask := max - v.taken
		if n, err := b.reader.Take(ask, v.onSample); err != nil || n < ask {
			return v.taken, err
		}
	}
	return v.taken, nil
}

func (v *visit) take(s *dds.Sample) {
	id, message, ok := unwrap(v.message, s.Data)
	v.message = message
	if !ok || !v.box.wanted(id, s.Writer) {
		return
	}
	v.taken++
	v.sample = *s
	v.sample.Data = message
	v.f(id, &v.sample)
}
