package inproc

import (
	"iter"
	"sync/atomic"
	"time"

	"vnd/pkg/ros2/dds"
)

// sample is one written sample, shared by all queues that hold it.
type sample struct {
	refs             atomic.Int32
	data             []byte
	source, received int64 // ns since 1970
	expires          int64 // ns since 1970, 0 never
	writer           dds.GUID
	number           int64 // among those of the writer
	related          dds.Identity
}

// newSample copies the data; the caller holds one reference.
func (d *Domain) newSample(w *writer, data []byte, stamp int64) *sample {
	s := d.samples.Get().(*sample)
	s.refs.Store(1)
	s.data = append(s.data[:0], data...)
	s.received = time.Now().UnixNano()
	s.source, s.expires, s.writer = stamp, 0, w.guid
	if stamp == 0 {
		s.source = s.received
	}
	if w.qos.Lifespan != 0 {
		s.expires = s.source + int64(w.qos.Lifespan)
	}
	return s
}

// release gives a reference back.
func (d *Domain) release(s *sample) {
	if s.refs.Add(-1) == 0 {
		d.samples.Put(s)
	}
}

// expired reports whether the sample's lifespan is over.
func (s *sample) expired(now int64) bool { return s.expires != 0 && now >= s.expires }

// queue holds samples, oldest first, in a ring that grows as needed.
type queue struct {
	ring   []*sample
	first  int
	n      int
	bytes  int
	mortal int // samples with a lifespan
}

func (q *queue) push(s *sample) {
	if q.n == len(q.ring) {
		grown := make([]*sample, max(4, 2*q.n))
		for i := range q.n {
			grown[i] = q.at(i)
		}
		q.ring, q.first = grown, 0
	}
	q.ring[(q.first+q.n)%len(q.ring)] = s
	q.n++
	q.bytes += len(s.data)
	if s.expires != 0 {
		q.mortal++
	}
}

func (q *queue) pop() *sample {
	s := q.ring[q.first]
	q.ring[q.first] = nil
	q.first = (q.first + 1) % len(q.ring)
	q.n--
	q.bytes -= len(s.data)
	if s.expires != 0 {
		q.mortal--
	}
	return s
}

func (q *queue) at(i int) *sample { return q.ring[(q.first+i)%len(q.ring)] }

func (q *queue) all() iter.Seq[*sample] {
	return func(yield func(*sample) bool) {
		for i := range q.n {
			if !yield(q.at(i)) {
				return
			}
		}
	}
}

// keep pushes a sample and drops old ones by the history policy.
func (q *queue) keep(d *Domain, s *sample, qos *dds.QoS) {
	if qos.History == dds.KeepLast {
		for q.n >= max(qos.Depth, 1) {
			d.release(q.pop())
		}
	}
	s.refs.Add(1)
	q.push(s)
}

// expire drops samples whose lifespan is over. It checks every sample: source times
// may be in any order.
func (q *queue) expire(d *Domain, now int64) {
	if q.mortal == 0 {
		return
	}
	for range q.n {
		if s := q.pop(); s.expired(now) {
			d.release(s)
		} else {
			q.push(s)
		}
	}
}

// drop empties the queue.
func (q *queue) drop(d *Domain) {
	for q.n > 0 {
		d.release(q.pop())
	}
}
