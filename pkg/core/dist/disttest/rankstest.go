// Package disttest has groups of ranks within one process, for tests.
package disttest

import (
	"fmt"
	"sync"

	"vnd/pkg/core/dist"
)

// Threads returns a group of n ranks, one for each of n goroutines.
func Threads(n int) []dist.Group {
	h := &hub{parts: make([][]byte, n)}
	h.met.L = &h.mu
	out := make([]dist.Group, n)
	for rank := range out {
		out[rank] = &member{h, rank}
	}
	return out
}

// Run calls f once for each of n ranks, all at once, and returns what they return.
func Run[T any](n int, f func(g dist.Group) T) []T {
	out := make([]T, n)
	var wg sync.WaitGroup
	for rank, g := range Threads(n) {
		wg.Go(func() { out[rank] = f(g) })
	}
	wg.Wait()
	return out
}

// hub is where the ranks meet.
type hub struct {
	mu      sync.Mutex
	met     sync.Cond
	round   int
	waiting int
	parts   [][]byte
	err     error // of the last round
}

type member struct {
	*hub
	rank int
}

// Rank implements dist.Group.
func (m *member) Rank() int { return m.rank }

// Size implements dist.Group.
func (m *member) Size() int { return len(m.parts) }

// Allgather implements dist.Group. Ranks that bring buffers of different lengths have lost step with each other, which
// is an error on all.
func (m *member) Allgather(all []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	round := m.round
	m.parts[m.rank] = all
	if m.waiting++; m.waiting == len(m.parts) {
		m.err = m.exchange()
		m.waiting, m.round = 0, round+1
		m.met.Broadcast()
	}
	for m.round == round {
		m.met.Wait()
	}
	return m.err
}

func (h *hub) exchange() error {
	n := len(h.parts[0]) / len(h.parts)
	for rank, all := range h.parts {
		if len(all) != n*len(h.parts) {
			return fmt.Errorf("rank %d brings %d bytes, rank 0 %d for %d ranks", rank, len(all), len(h.parts[0]),
				len(h.parts))
		}
	}
	for from, part := range h.parts {
		for _, to := range h.parts {
			copy(to[from*n:(from+1)*n], part[from*n:])
		}
	}
	return nil
}
