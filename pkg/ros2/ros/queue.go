package ros

import "sync"

// job is a callback that an executor runs.
type job interface{ run() }

// jobFunc is a posted function.
type jobFunc func()

func (f jobFunc) run() { f() }

// fifo is a queue that reuses its memory.
type fifo[T any] struct {
	items []T
	head  int
}

func (q *fifo[T]) len() int { return len(q.items) - q.head }

func (q *fifo[T]) push(v T) {
	if q.head > 0 && len(q.items) == cap(q.items) {
		n := copy(q.items, q.items[q.head:])
		clear(q.items[n:])
		q.items, q.head = q.items[:n], 0
	}
	q.items = append(q.items, v)
}

func (q *fifo[T]) pop() (v T, ok bool) {
	if q.len() == 0 {
		return v, false
	}
	var zero T
	v, q.items[q.head] = q.items[q.head], zero
	if q.head++; q.head == len(q.items) {
		q.items, q.head = q.items[:0], 0
	}
	return v, true
}

// GroupKind says whether a group's callbacks may run at the same time.
type GroupKind uint8

// Kinds of callback groups.
const (
	Exclusive GroupKind = iota // one after the other, also on several threads
	Reentrant
)

// Group is a set of callbacks. Its kind matters to SpinThreads; Spin runs one callback at a
// time.
type Group struct {
	kind  GroupKind
	queue *queue
	jobs  fifo[job]
	// listed: the group is in the queue's list, or its one job is running and done will
	// list it again.
	listed bool
}

// Post runs f on the executor as one of the group's callbacks. It may be called from any
// goroutine.
func (g *Group) Post(f func()) { g.push(jobFunc(f)) }

func (g *Group) push(j job) {
	q := g.queue
	q.mu.Lock()
	g.jobs.push(j)
	q.list(g)
	q.mu.Unlock()
	q.wake()
}

// queue holds the jobs of all groups of a Context.
type queue struct {
	mu       sync.Mutex
	runnable fifo[*Group] // groups with a job that may run now
	more     *sync.Cond   // signalled for workers when runnable grows
	workers  bool         // SpinThreads' workers run
	wake     func()       // ends a wait on the middleware
}

func newQueue(wake func()) *queue {
	q := &queue{wake: wake}
	q.more = sync.NewCond(&q.mu)
	return q
}

// list makes g runnable if it has jobs and is not listed. The caller holds mu.
func (q *queue) list(g *Group) {
	if g.listed || g.jobs.len() == 0 {
		return
	}
	g.listed = true
	q.runnable.push(g)
	q.more.Signal()
}

// next takes a job. After it has run, done must be called with the group, which may be nil.
// The caller holds mu.
func (q *queue) next() (job, *Group) {
	g, ok := q.runnable.pop()
	if !ok {
		return nil, nil
	}
	j, _ := g.jobs.pop()
	if g.kind == Exclusive {
		return j, g
	}
	g.listed = false
	q.list(g)
	return j, nil
}

// done lists an exclusive group again after its job.
func (q *queue) done(g *Group) {
	if g == nil {
		return
	}
	q.mu.Lock()
	g.listed = false
	q.list(g)
	q.mu.Unlock()
}

// runAll runs jobs until none is queued.
func (q *queue) runAll() {
	for {
		q.mu.Lock()
		j, g := q.next()
		q.mu.Unlock()
		if j == nil {
			return
		}
		j.run()
		q.done(g)
	}
}

// idle says that the goroutine that spins has no job to run. SpinThreads' workers run their
// own.
func (q *queue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.workers || q.runnable.len() == 0
}

// work runs jobs until end. It is one goroutine of SpinThreads.
func (q *queue) work() {
	for {
		q.mu.Lock()
		for q.runnable.len() == 0 && q.workers {
			q.more.Wait()
		}
		if !q.workers {
			q.mu.Unlock()
			return
		}
		j, g := q.next()
		q.mu.Unlock()
		j.run()
		q.done(g)
	}
}

// begin allows workers to run, and end makes them return.
func (q *queue) begin() {
	q.mu.Lock()
	q.workers = true
	q.mu.Unlock()
}

func (q *queue) end() {
	q.mu.Lock()
	q.workers = false
	q.more.Broadcast()
	q.mu.Unlock()
}
