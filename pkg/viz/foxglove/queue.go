package foxglove

import "sync"

// mostWaiting is how many bytes of messages wait for a client at most, and how many of those that are not dropped.
const mostWaiting = 32 << 20

// frame is a message on its way.
type frame struct {
	binary bool
	data   []byte
	owed   bool // it is not dropped
}

// queue holds what a client has not taken yet. Messages of topics beyond its bound are dropped, and nobody waits.
// Where those that cannot be dropped exceed it, the queue is over.
type queue struct {
	mu      sync.Mutex
	frames  []frame
	bytes   int
	owed    int // bytes of frames that are not dropped
	over    bool
	dropped int
	ready   chan struct{} // holds one where there are frames
}

func newQueue() *queue { return &queue{ready: make(chan struct{}, 1)} }

// put adds a frame; it drops one of a topic that does not fit.
func (q *queue) put(f frame, droppable bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if droppable && q.bytes+len(f.data) > mostWaiting {
		q.dropped++
		return
	}
	if f.owed = !droppable; f.owed {
		if q.over = q.over || q.owed+len(f.data) > mostWaiting; q.over {
			return
		}
		q.owed += len(f.data)
	}
	q.frames = append(q.frames, f)
	q.bytes += len(f.data)
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// take returns the oldest frame; false: there is none.
func (q *queue) take() (f frame, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.frames) == 0 {
		return f, false
	}
	f = q.frames[0]
	q.frames[0] = frame{}
	q.frames = q.frames[1:]
	q.bytes -= len(f.data)
	if f.owed {
		q.owed -= len(f.data)
	}
	return f, true
}

// lags reports whether the queue is over: the client did not take what it has to.
func (q *queue) lags() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.over
}

// lost is how many were dropped since the last time.
func (q *queue) lost() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := q.dropped
	q.dropped = 0
	return n
}
