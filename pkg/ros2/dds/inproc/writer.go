package inproc

import (
	"encoding/binary"
	"slices"
	"time"

	"vnd/pkg/ros2/dds"
)

// backlog is how many bytes a reader that keeps all may hold before its reliable
// writers wait.
const backlog = 16 << 20

// writer implements dds.Writer.
type writer struct {
	endpoint
	readers []*reader
	history queue // for readers that come later
	space   chan struct{}
	lease   alarm
	lost    bool // it has not written within its lease
	written int64
}

// Handle is unique within the domain: participant and entity.
func (w *writer) Handle() uint64 { return binary.LittleEndian.Uint64(w.guid[8:]) }

func (w *writer) hasData(int64) bool { return false }

func (w *writer) Write(data []byte, stamp int64) error {
	_, err := w.write(data, stamp, dds.Identity{})
	return err
}

// WriteRelated implements dds.RelatedWriter.
func (w *writer) WriteRelated(data []byte, related dds.Identity) (sequence int64, err error) {
	return w.write(data, 0, related)
}

func (w *writer) write(data []byte, stamp int64, related dds.Identity) (sequence int64, err error) {
	if err := dds.CheckSample(w.topic.Name, data); err != nil {
		return 0, err
	}
	d := w.domain()
	s := d.newSample(w, data, stamp)
	defer d.release(s)
	d.mu.Lock()
	defer d.mu.Unlock()
	if w.congested() {
		if err := w.awaitSpace(); err != nil {
			return 0, err
		}
	}
	if w.closed {
		return 0, dds.ErrClosed
	}
	w.written++
	s.number, s.related = w.written, related
	w.watchDeadline()
	w.assert()
	if w.qos.Durability == dds.TransientLocal {
		w.history.expire(d, s.received)
		w.history.keep(d, s, &w.qos)
	}
	for _, r := range w.readers {
		r.receive(s)
	}
	return s.number, nil
}

// congested reports whether a reliable reader that keeps all is beyond backlog.
func (w *writer) congested() bool {
	return !w.closed && slices.ContainsFunc(w.readers, func(r *reader) bool {
		return r.qos.Reliability == dds.Reliable && r.qos.History == dds.KeepAll && r.queue.bytes >= backlog
	})
}

// awaitSpace unlocks the domain until readers have space, at most for MaxBlocking.
func (w *writer) awaitSpace() error {
	d := w.domain()
	var expired <-chan time.Time
	if w.qos.MaxBlocking != dds.Infinite {
		timer := time.NewTimer(w.qos.MaxBlocking)
		defer timer.Stop()
		expired = timer.C
	}
	for w.congested() {
		d.mu.Unlock()
		var late bool
		select {
		case <-w.space:
		case <-expired:
			late = true
		}
		d.mu.Lock()
		if late && w.congested() {
			return dds.ErrTimeout
		}
	}
	w.wake() // another Write that waits too
	return nil
}

// wake makes a waiting Write check again.
func (w *writer) wake() {
	select {
	case w.space <- struct{}{}:
	default:
	}
}

// startLease starts a lease that only Write renews. A writer of automatic liveliness
// is alive as long as the process.
func (w *writer) startLease() {
	if w.qos.Liveliness == dds.ManualByTopic && w.qos.Lease != 0 {
		w.lease.set(w.qos.Lease, w.loseLease)
	}
}

// assert renews the lease; a writer that was lost is alive again.
func (w *writer) assert() {
	w.startLease()
	if !w.lost {
		return
	}
	w.lost = false
	for _, r := range w.readers {
		r.status.NotAlive--
		r.status.Alive++
		r.notify()
	}
}

func (w *writer) loseLease() {
	w.domain().mu.Lock()
	defer w.domain().mu.Unlock()
	if w.closed || w.lost || !w.lease.due() {
		return
	}
	w.lost = true
	w.status.LivelinessLost++
	w.notify()
	for _, r := range w.readers {
		r.status.Alive--
		r.status.NotAlive++
		r.notify()
	}
}

func (w *writer) Matched(f func(dds.GUID)) { matched(w.domain(), &w.readers, f) }

func (w *writer) closing() {
	w.lease.stop()
	w.wake()
	topic := w.domain().topicOf(w.topic)
	topic.writers = slices.DeleteFunc(topic.writers, func(x *writer) bool { return x == w })
	for _, r := range slices.Clone(w.readers) {
		part(w, r)
	}
	w.history.drop(w.domain())
}
