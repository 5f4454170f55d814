package bag

import (
	"fmt"
	"maps"
	"sync"
	"time"
)

// DefaultQueue is the size of a Recorder's queue in bytes.
const DefaultQueue = 32 << 20

// Recorder writes a bag from its own goroutine. Write never waits for the disk:
// messages go into a queue of bounded size, while a second one of that size is
// written. Messages that do not fit are dropped and counted. Sequence numbers
// count every message of a topic, so that dropped ones show as gaps. A Recorder
// is safe for concurrent use.
type Recorder struct {
	w     *Writer
	limit int

	mu      sync.Mutex
	queue   batch
	known   map[string]*channel
	dropped map[string]uint64
	stats   Stats // of the writer, as of the last batch
	closing bool

	wake chan struct{}
	done chan struct{}
}

// channel is the state of a topic.
type channel struct {
	typeName string
	sequence uint32 // of the last message, dropped ones counted
}

// batch is the queue's content: topics to add, then messages with their data one
// after the other.
type batch struct {
	topics   []Topic
	messages []queued
	data     []byte
}

type queued struct {
	topic        string
	log, publish int64
	sequence     uint32
	length       int
}

const queuedSize = 64 // bytes counted for a message in addition to its data

func (b *batch) size() int { return len(b.data) + queuedSize*len(b.messages) }

// keptSpace is how many bytes a batch keeps for the next one. What a flood took beyond that is given back.
const keptSpace = 1 << 20

func (b *batch) clear() {
	if cap(b.data)+queuedSize*cap(b.messages) > keptSpace {
		*b = batch{}
		return
	}
	b.topics, b.messages, b.data = b.topics[:0], b.messages[:0], b.data[:0]
}

// NewRecorder starts recording into w, and owns it from then on. limit is the
// queue's size in bytes, DefaultQueue when 0. Old messages are flushed at each
// tick; nil makes ticks at twice the rate of the writer's FlushEvery.
func NewRecorder(w *Writer, limit int, ticks <-chan time.Time) *Recorder {
	if limit <= 0 {
		limit = DefaultQueue
	}
	r := &Recorder{
		w: w, limit: limit, known: map[string]*channel{}, dropped: map[string]uint64{},
		wake: make(chan struct{}, 1), done: make(chan struct{}),
	}
	for _, t := range w.topics {
		r.known[t.Name] = &channel{typeName: t.Type}
	}
	stop := func() {}
	if ticks == nil {
		t := time.NewTicker(w.opts.FlushEvery / 2)
		ticks, stop = t.C, t.Stop
	}
	go func() {
		defer close(r.done)
		defer stop()
		r.run(ticks)
	}()
	return r
}

// AddTopic adds a topic, before its messages are written. It fails for a topic
// that has another type already.
func (r *Recorder) AddTopic(t Topic) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c := r.known[t.Name]; c != nil {
		if c.typeName != t.Type {
			return errType(r.w.dir, t, c.typeName)
		}
		return nil
	}
	r.known[t.Name] = &channel{typeName: t.Type}
	r.queue.topics = append(r.queue.topics, t)
	return nil
}

// Write puts a message, with a copy of its data, into the queue. It returns false
// when the message is dropped: the queue is full, the topic was not added, or the
// recording has ended. The recorder sets the message's Sequence.
func (r *Recorder) Write(m *Message) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := r.known[m.Topic]
	if c != nil {
		c.sequence++
	}
	q := &r.queue
	if c == nil || r.closing || r.stats.Err != nil || q.size()+len(m.Data)+queuedSize > r.limit {
		r.dropped[m.Topic]++
		return false
	}
	q.messages = append(q.messages, queued{m.Topic, m.LogTime, m.PublishTime, c.sequence, len(m.Data)})
	q.data = append(q.data, m.Data...)
	select {
	case r.wake <- struct{}{}:
	default:
	}
	return true
}

// run writes batches until the recorder is closed.
func (r *Recorder) run(ticks <-chan time.Time) {
	var work batch
	for {
		select {
		case <-r.wake:
		case <-ticks:
		}
		r.mu.Lock()
		work, r.queue = r.queue, work
		closing := r.closing
		r.mu.Unlock()

		r.write(&work)
		_ = r.w.Tick() // the error stays in Stats
		work.clear()
		r.publish()
		if closing {
			return
		}
	}
}

func (r *Recorder) write(b *batch) {
	for _, t := range b.topics {
		if err := r.w.AddTopic(t); err != nil {
			_ = r.w.fail(err)
		}
	}
	at := 0
	for _, q := range b.messages {
		m := Message{Topic: q.topic, LogTime: q.log, PublishTime: q.publish, Sequence: q.sequence,
			Data: b.data[at : at+q.length]}
		at += q.length
		if r.w.Write(&m) != nil && r.w.err == nil {
			// A message the bag cannot take, such as one from before 1970.
			r.mu.Lock()
			r.dropped[q.topic]++
			r.mu.Unlock()
		}
	}
}

func (r *Recorder) publish() {
	s := r.w.Stats()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stats = s
	for topic, n := range r.dropped {
		r.w.SetCustom(droppedKey+topic, fmt.Sprint(n))
	}
}

// Stats returns the state of the recording, as of the last batch.
func (r *Recorder) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stats
	s.Dropped = maps.Clone(r.dropped)
	s.Queued = r.queue.size()
	return s
}

// Close writes the queue and finishes the bag.
func (r *Recorder) Close() error {
	r.mu.Lock()
	if r.closing {
		r.mu.Unlock()
		<-r.done
		return r.w.err
	}
	r.closing = true
	r.mu.Unlock()
	select {
	case r.wake <- struct{}{}:
	default:
	}
	<-r.done
	r.publish()
	err := r.w.Close()
	r.publish()
	return err
}
