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

// entity is a subscription, service or client: an owner that rmw's Wait reports. The
// holder of the executor's token calls its methods.
type entity interface {
	// take takes one message or response and returns its callback as a job, nil when
	// there is none. A response to Call is delivered at once, without a job.
	take() job
	// queueAll takes all that there is and queues the jobs of the entity's group.
	queueAll()
	// onEvent reads the status of the endpoint after an event.
	onEvent()
}

// burst is the most messages in a row of one entity before others get their turn.
const burst = 16

// executor runs the callbacks of ready entities and due timers. The goroutine that holds
// the token waits on the middleware and takes messages. Callbacks run without the token:
// a callback may itself wait for a response.
type executor struct {
	middleware rmw.Context
	queue      *queue
	token      chan struct{}
	wanted     atomic.Int32 // number of goroutines in acquire
	waiting    atomic.Bool  // a goroutine is in rmw's Wait, or is about to be
	spinning   atomic.Bool
	ready      []rmw.Ready // of the holder of the token

	// Of Spin alone: what is ready, and which entities may have more than was taken.
	serving            []rmw.Ready
	unfinished, before []entity

	timersMu sync.Mutex
	timers   []*Timer

	changed broadcast // of the graph or an endpoint
}

func newExecutor(m rmw.Context) *executor {
	x := &executor{middleware: m, token: make(chan struct{}, 1)}
	x.queue = newQueue(x.wakeWaiter)
	x.token <- struct{}{}
	return x
}

// wakeWaiter ends a wait under way, after the queue or the timers changed.
func (x *executor) wakeWaiter() {
	if x.waiting.Load() {
		x.middleware.Wake()
	}
}

// acquire takes the token. It ends a wait under way, whose goroutine holds it.
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

// release gives the token back and lets goroutines in acquire run.
func (x *executor) release() {
	x.token <- struct{}{}
	if x.wanted.Load() > 0 {
		runtime.Gosched()
	}
}

// errSpinning is the error of a second Spin of a Context.
var errSpinning = errors.New("the context is being spun already: one Spin at a time")

// spin runs callbacks on the calling goroutine until ctx is done.
func (x *executor) spin(ctx context.Context) error { return x.run(ctx, x.keepReady, x.runReady) }

// keepReady stores what is ready for runReady.
func (x *executor) keepReady(ready []rmw.Ready) { x.serving = append(x.serving[:0], ready...) }

// runReady runs queued jobs, ready entities and due timers.
func (x *executor) runReady() {
	x.queue.runAll()
	x.before, x.unfinished = x.unfinished, x.before[:0]
	for _, e := range x.before {
		x.serve(e)
	}
	for _, r := range x.serving {
		if e := readyEntity(r); e != nil {
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
	err := x.run(ctx, queueReady, func() { x.runTimers((*Timer).enqueue) })
	x.queue.end()
	workers.Wait()
	return err
}

// run waits, calls onReady with the token held and then runCallbacks without it. It does so
// until ctx is done or the middleware is closed.
func (x *executor) run(ctx context.Context, onReady func([]rmw.Ready), runCallbacks func()) error {
	if x.spinning.Swap(true) {
		return errSpinning
	}
	defer x.spinning.Store(false)
	stop := context.AfterFunc(ctx, x.middleware.Wake)
	defer stop()
	for ctx.Err() == nil {
		if err := x.once(onReady, runCallbacks); err != nil {
			if errors.Is(err, rmw.ErrClosed) {
				return nil
			}
			return err
		}
	}
	return nil
}

func (x *executor) once(onReady func([]rmw.Ready), runCallbacks func()) error {
	x.acquire()
	ready, err := x.wait(x.maxWait)
	onReady(ready)
	x.release()
	if err == nil {
		runCallbacks()
	}
	return err
}

// maxWait is how long Spin may wait until a job or timer is due; negative is for ever.
func (x *executor) maxWait() time.Duration {
	if len(x.unfinished) > 0 || !x.queue.idle() {
		return 0
	}
	return x.untilTimer()
}

// wait waits on the middleware. The caller holds the token. timeout is called when jobs
// that are queued from then on end the wait.
func (x *executor) wait(timeout func() time.Duration) ([]rmw.Ready, error) {
	x.waiting.Store(true)
	defer x.waiting.Store(false)
	limit := timeout()
	if x.wanted.Load() > 0 { // a goroutine in acquire, whose Wake may have ended an earlier wait
		limit = 0
	}
	ready, err := x.middleware.Wait(limit, x.ready[:0])
	x.ready = ready
	for _, r := range ready {
		if r.Event || r.Owner == nil {
			x.changed.notify()
			break
		}
	}
	return ready, err
}

func queueReady(ready []rmw.Ready) {
	for _, r := range ready {
		if e := readyEntity(r); e != nil {
			e.queueAll()
		}
	}
}

// readyEntity handles an entity's events and returns the entity if it has data.
func readyEntity(r rmw.Ready) entity {
	e, ok := r.Owner.(entity)
	if !ok {
		return nil
	}
	if r.Event {
		e.onEvent()
	}
	if !r.Data {
		return nil
	}
	return e
}

// serve takes and runs an entity's jobs, at most a burst of them.
func (x *executor) serve(e entity) {
	for range burst {
		x.acquire()
		j := e.take()
		x.release()
		if j == nil {
			return
		}
		j.run()
		if !x.queue.idle() { // a callback that waited has queued later jobs
			break
		}
	}
	x.unfinished = append(x.unfinished, e)
}

// await waits until done is closed, ctx is done, or limit has passed if it is not negative.
// While no goroutine holds the token, it waits on the middleware itself. Responses thus
// find their callers inside a callback and without any Spin; all else is queued.
func (x *executor) await(ctx context.Context, done <-chan struct{}, limit time.Duration) error {
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
		case <-after(limit):
			return nil
		case <-x.token:
			finished, err := x.pump(ctx, done, limit)
			x.release()
			if finished || err != nil {
				return err
			}
		}
	}
}

// after is time.After, without end for a negative duration.
func after(d time.Duration) <-chan time.Time {
	if d < 0 {
		return nil
	}
	return time.After(d)
}

// pump waits once on the middleware and queues what is ready. It is finished when done was
// closed, or limit has passed.
func (x *executor) pump(ctx context.Context, done <-chan struct{}, limit time.Duration) (finished bool, err error) {
	select {
	case <-done:
		return true, nil
	default:
	}
	if ctx.Err() != nil || x.wanted.Load() > 0 {
		return false, nil
	}
	ready, err := x.wait(func() time.Duration { return limit })
	if err != nil {
		return false, err
	}
	queueReady(ready)
	return limit >= 0, nil
}

// recheck is how often until checks its condition while no event comes.
const recheck = 50 * time.Millisecond

// until waits until holds returns true.
func (x *executor) until(ctx context.Context, holds func() bool) error {
	for {
		changed := x.changed.next()
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
