package node

import "sync"

// Latest keeps the newest value for a goroutine that must not wait: of the two sides one waits for the other, at most
// as long as a copy takes, and the other one tries.
type Latest[T any] struct {
	mu    sync.Mutex
	value T
	fresh bool
}

// Put has f write the value.
func (l *Latest[T]) Put(f func(*T)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.value)
	l.fresh = true
}

// TryPut is Put, unless a reader has it now.
func (l *Latest[T]) TryPut(f func(*T)) {
	if l.mu.TryLock() {
		f(&l.value)
		l.fresh = true
		l.mu.Unlock()
	}
}

// TryTake has f read a value that nobody took before, unless a writer has it now.
func (l *Latest[T]) TryTake(f func(*T)) {
	if !l.mu.TryLock() {
		return
	}
	if l.fresh {
		f(&l.value)
		l.fresh = false
	}
	l.mu.Unlock()
}

// Read has f read the value, the zero value before the first.
func (l *Latest[T]) Read(f func(*T)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(&l.value)
}
