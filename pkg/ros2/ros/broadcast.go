package ros

import "sync"

// broadcast lets goroutines wait for the next change of something.
type broadcast struct {
	mu sync.Mutex
	ch chan struct{} // nil while no goroutine waits
}

// notify ends the present waits.
func (b *broadcast) notify() {
	b.mu.Lock()
	if b.ch != nil {
		close(b.ch)
		b.ch = nil
	}
	b.mu.Unlock()
}

// next is a channel that the next notify closes.
func (b *broadcast) next() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ch == nil {
		b.ch = make(chan struct{})
	}
	return b.ch
}
