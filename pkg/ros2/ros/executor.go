package ros

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"vnd/pkg/ros2/rmw"
)

// entity is what rmw's Wait names as ready: a subscription, service or client.
// Its methods are called by whoever holds the executor's token.
type entity interface {
	// take takes one piece of work, nil when there is none. Work that is not
	// the user's own is done there and then.
	take() job
	// fill takes all there is and queues it for the entity's group.
	fill()
	// news looks at what happened to the endpoint.
	news()
}

// burst is how many messages in a row of one subscription are run before others
// get their turn.
const burst = 16

// executor brings ready entities and due timers to their callbacks. One
// goroutine at a time, the one that has taken the token, waits on the middleware
// and takes messages; callbacks run without the token, so that a callback may
// itself wait for a response.
type executor struct {
	middleware rmw.Context
	queue      *queue
	token      chan struct{}
	wanted     atomic.Int32 // how many want the token
	waiting    atomic.Bool  // somebody is in rmw's Wait, or is about to be
	spinning   atomic.Bool
	ready      []rmw.Ready // of the holder of the token

	// Of Spin alone: what is ready, and what may have more than was taken.
	serving       []rmw.Ready
	again, before []entity

	timersMu sync.Mutex
	timers   []*Timer

	changedMu sync.Mutex
	changed   chan struct{} // closed on events; nil when nobody waits
}

func newExecutor(m rmw.Context) *executor {
	x := &executor{middleware: m, token: make(chan struct{}, 1)}
	x.queue = newQueue(x.pushed)
	x.token <- struct{}{}
	return x
}

// pushed lets a waiting executor look at the queue.
func (x *executor) pushed() {
	if x.waiting.Load() {
		x.middleware.Wake()
	}
}

// acquire takes the token, also from somebody in Wait.
func (x *executor) acquire() {
	select {
	case <-x.token:
		return
	default:
	}
	x.wanted.Add(1)
	x.middleware.Wake()
	<-x.token
	x.wanted.Add(-1)
}

// release gives the token back, to somebody who wants it first.
func (x *executor) release() {
	x.token <- struct{}{}
	if x.wanted.Load() > 0 {
		runtime.Gosched()
	}
}

// errSpinning is what a second Spin of a Context gets.
var errSpinning = errors.New("the context is being spun already: one Spin at a time")

// spin runs callbacks on the calling goroutine until ctx is done.
func (x *executor) spin(ctx context.Context) error { return x.run(ctx, x.keep, x.turn) }

// keep remembers what is ready for turn.
func (x *executor) keep(ready []rmw.Ready) { x.serving = append(x.serving[:0], ready...) }

// turn runs what is queued, ready and due.
func (x *executor) turn() {
	x.queue.runAll()
	x.before, x.again = x.again, x.before[:0]
	for _, e := range x.before {
		x.serve(e)
	}
	for _, r := range x.serving {
		if e := attend(r); e != nil {
			x.serve(e)
		}
	}
	x.runTimers((*Timer).run)
}

// spinThreads runs callbacks on n goroutines, while the calling one waits.
func (x *executor) spinThreads(ctx context.Context, n int) error {
	x.queue.begin()
	var workers sync.WaitGroup
	for range n {
		workers.Go(x.queue.work)
	}
	err := x.run(ctx, fillAll, func() { x.runTimers((*Timer).enqueue) })
	x.queue.end()
	workers.Wait()
	return err
}

// run waits and calls taken with what is ready, still holding the token, then
// turn without it; until ctx is done or the middleware is closed.
func (x *executor) run(ctx context.Context, taken func([]rmw.Ready), turn func()) error {
	if x.spinning.Swap(true) {
		return errSpinning
	}
	defer x.spinning.Store(false)
	stop := context.AfterFunc(ctx, x.middleware.Wake)
	defer stop()
	for ctx.Err() == nil {
		if err := x.once(taken, turn); err != nil {
			if errors.Is(err, rmw.ErrClosed) {
				return nil
			}
			return err
		}
	}
	return nil
}

func (x *executor) once(taken func([]rmw.Ready), turn func()) error {
	x.acquire()
	ready, err := x.wait(x.patience)
	taken(ready)
	x.release()
	if err == nil {
		turn()
	}
	return err
}

// patience is how long whoever spins may wait until something is to be done.
func (x *executor) patience() time.Duration {
	if len(x.again) > 0 || !x.queue.idle() {
		return 0
	}
	return x.untilTimer()
}

// wait waits on the middleware. The caller holds the token; timeout is asked
// once whatever is queued from now on ends the wait.
func (x *executor) wait(timeout func() time.Duration) ([]rmw.Ready, error) {
	x.waiting.Store(true)
	defer x.waiting.Store(false)
	patience := timeout()
	if x.wanted.Load() > 0 { // whose Wake may have ended an earlier wait
		patience = 0
	}
	ready, err := x.middleware.Wait(patience, x.ready[:0])
	x.ready = ready
	for _, r := range ready {
		if r.Event || r.Owner == nil {
			x.notify()
			break
		}
	}
	return ready, err
}

func fillAll(ready []rmw.Ready) {
	for _, r := range ready {
		if e := attend(r); e != nil {
			e.fill()
		}
	}
}

// attend looks at an entity's events and returns it if it has data.
func attend(r rmw.Ready) entity {
	e, ok := r.Owner.(entity)
	if !ok {
		return nil
	}
	if r.Event {
		e.news()
	}
	if !r.Data {
		return nil
	}
	return e
}

// serve takes and runs what an entity has, at most a burst of it.
func (x *executor) serve(e entity) {
	for range burst {
		x.acquire()
		j := e.take()
		x.release()
		if j == nil {
			return
		}
		j.run()
		if !x.queue.idle() { // a callback that waited has queued what came after
			break
		}
	}
	x.again = append(x.again, e)
}

// await waits until done is closed, and takes the part of the executor while
// nobody else does: responses find their callers also inside a callback and
// without any Spin; what else arrives is queued.
func (x *executor) await(ctx context.Context, done <-chan struct{}, patience time.Duration) error {
	stop := context.AfterFunc(ctx, x.middleware.Wake)
	defer stop()
	for {
		select {
		case <-done:
			return nil
		default:
		}
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-after(patience):
			return nil
		case <-x.token:
			finished, err := x.pump(ctx, done, patience)
			x.release()
			if finished || err != nil {
				return err
			}
		}
	}
}

func after(d time.Duration) <-chan time.Time {
	if d < 0 {
		return nil
	}
	return time.After(d)
}

// pump waits once on the middleware and queues what is ready. It is finished
// when there was nothing to wait for, or patience has passed.
func (x *executor) pump(ctx context.Context, done <-chan struct{}, patience time.Duration) (finished bool, err error) {
	select {
	case <-done:
		return true, nil
	default:
	}
	if ctx.Err() != nil || x.wanted.Load() > 0 {
		return false, nil
	}
	ready, err := x.wait(func() time.Duration { return patience })
	if err != nil {
		return false, err
	}
	fillAll(ready)
	return patience >= 0, nil
}

// notify tells those who wait for a change of the graph or of an endpoint.
func (x *executor) notify() {
	x.changedMu.Lock()
	if x.changed != nil {
		close(x.changed)
		x.changed = nil
	}
	x.changedMu.Unlock()
}

func (x *executor) change() <-chan struct{} {
	x.changedMu.Lock()
	defer x.changedMu.Unlock()
	if x.changed == nil {
		x.changed = make(chan struct{})
	}
	return x.changed
}

// recheck is how often a condition is looked at while no event tells of it.
const recheck = 50 * time.Millisecond

// until waits until holds does.
func (x *executor) until(ctx context.Context, holds func() bool) error {
	for {
		changed := x.change()
		if holds() {
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := x.await(ctx, changed, recheck); err != nil {
			return err
		}
	}
}
