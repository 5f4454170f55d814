package inproc

import (
	"slices"
	"time"

	"vnd/pkg/ros2/dds"
)

// reader implements dds.Reader.
type reader struct {
	endpoint
	writers []*writer
	queue   queue
}

// receive puts a sample into the queue; the domain is locked.
func (r *reader) receive(s *sample) {
	r.watchDeadline()
	r.queue.keep(r.domain(), s, &r.qos)
	r.participant.signal()
}

func (r *reader) hasData(now int64) bool {
	r.queue.expire(r.domain(), now)
	return r.queue.n > 0
}

func (r *reader) Take(most int, f func(*dds.Sample)) (int, error) {
	d := r.domain()
	for n := range most {
		s, err := r.next()
		if s == nil {
			return n, err
		}
		view := d.views.Get().(*dds.Sample)
		*view = dds.Sample{Data: s.data, Source: s.source, Received: s.received, Writer: s.writer,
			Sequence: s.number, Related: s.related}
		f(view)
		d.views.Put(view)
		d.release(s)
	}
	return max(most, 0), nil
}

// next takes the oldest sample out of the queue, nil when there is none.
func (r *reader) next() (*sample, error) {
	r.domain().mu.Lock()
	defer r.domain().mu.Unlock()
	if r.closed {
		return nil, dds.ErrClosed
	}
	r.queue.expire(r.domain(), time.Now().UnixNano())
	if r.queue.n == 0 {
		return nil, nil
	}
	s := r.queue.pop()
	if full := r.queue.bytes + len(s.data); full >= backlog && r.queue.bytes < backlog {
		for _, w := range r.writers {
			w.wake()
		}
	}
	return s, nil
}

func (r *reader) Matched(f func(dds.GUID)) { matched(r.domain(), &r.writers, f) }

func (r *reader) closing() {
	topic := r.domain().topicOf(r.topic)
	topic.readers = slices.DeleteFunc(topic.readers, func(x *reader) bool { return x == r })
	for _, w := range slices.Clone(r.writers) {
		part(w, r)
		w.wake()
	}
	r.queue.drop(r.domain())
}
