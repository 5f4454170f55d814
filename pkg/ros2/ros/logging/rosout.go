package logging

import (
	"strings"
	"sync"

	rclinterfaces "vnd/msgs/rcl_interfaces"
)

// rosoutDepth is the most messages in the queue of one publisher of /rosout.
const rosoutDepth = 256

// topics are the publishers of /rosout, one per node, by the name of its logger.
type topics struct {
	mu     sync.Mutex
	byName map[string]*topic
}

// topic is one node's publisher of /rosout.
type topic struct {
	queue chan rclinterfaces.Log
	done  chan struct{}
}

// Publish calls publish with the messages of the logger of this name and those below it, on
// a goroutine of its own. While its queue is full, messages are dropped and counted. stop
// publishes the queued messages and ends it. publish may be slow, but must return.
func (l *Log) Publish(name string, publish func(*rclinterfaces.Log)) (stop func()) {
	if l.o.NoTopic {
		return func() {}
	}
	t := &topic{make(chan rclinterfaces.Log, rosoutDepth), make(chan struct{})}
	l.topics.mu.Lock()
	l.topics.byName[name] = t
	l.topics.mu.Unlock()
	go t.run(publish)
	return sync.OnceFunc(func() {
		l.Sync()
		l.topics.mu.Lock()
		if l.topics.byName[name] == t {
			delete(l.topics.byName, name)
		}
		close(t.queue)
		l.topics.mu.Unlock()
		<-t.done
	})
}

func (t *topic) run(publish func(*rclinterfaces.Log)) {
	defer close(t.done)
	for m := range t.queue {
		publish(&m)
	}
}

// offer queues a record for its node. It returns false if the record was dropped.
func (ts *topics) offer(r *record) bool {
	ts.mu.Lock()
	defer ts.mu.Unlock()
	t := ts.of(r.name)
	if t == nil {
		return true
	}
	m := rclinterfaces.Log{Level: uint8(r.level), Name: r.name, Msg: r.message, File: r.file, Function: r.function,
		Line: uint32(r.line)}
	m.Stamp.Sec, m.Stamp.Nanosec = int32(r.time/1e9), uint32(r.time%1e9)
	select {
	case t.queue <- m:
		return true
	default:
		return false
	}
}

// of returns the topic of a logger or of its nearest parent.
func (ts *topics) of(name string) *topic {
	for {
		if t := ts.byName[name]; t != nil {
			return t
		}
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 {
			return nil
		}
		name = name[:dot]
	}
}
