package kernel

import (
	"runtime"
	"sync/atomic"
)

// spare is how many processors Go is told of beside those that compute. A thread that is in C for 20 µs loses its
// processor unless another one is idle, and then waits to be given it back: training with two threads was a tenth
// slower.
const spare = 2

var workers atomic.Int32

// Workers is how many goroutines are to compute side by side: the processors that Go would use by itself, or
// GOMAXPROCS.
func Workers() int { return int(workers.Load()) }

// Pause is for workers to call between kernels, at least every few milliseconds. A goroutine that has not let go for 10
// ms is taken off its processor in the middle of a kernel, and Go then looks after all of them every 20 µs for a while:
// another tenth.
func Pause() {
	runtime.Gosched()
	if modest.Load() {
		yield()
	}
}

var modest atomic.Bool

// GiveWay has every Pause offer the processor to other processes. The least priority does not by itself: who wakes and
// has had more than its share lately, by microseconds, is not taken up before the next tick of Linux, after up to 4 ms.
func GiveWay() { modest.Store(true) }

// SetWorkers bounds them.
func SetWorkers(n int) {
	workers.Store(int32(n))
	if native {
		n += spare
	}
	runtime.GOMAXPROCS(n)
}
