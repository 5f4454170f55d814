package logging

import (
	"strings"
	"sync"

	rclinterfaces "vnd/msgs/rcl_interfaces"
)

// rosoutDepth is how many messages may wait for a publisher of /rosout.
const rosoutDepth = 256

// topics hand records to the publishers of /rosout, one per node.
type topics struct {
	mu     sync.Mutex
	byName map[string]*topic
}

// topic is one node's /rosout.
type topic struct {
	queue chan rclinterfaces.Log
	done  chan struct{}
}

// Publish has publish called, on a goroutine of its own, with what the logger of
// this name and those under it log. Messages that find too many waiting are dropped
// and counted. stop ends it, after what waits has been published: publish may be
// slow, but must return.
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

// offer gives a record to the node that it belongs to; false means it was dropped.
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

// of returns the topic of the logger or of its nearest parent.
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
