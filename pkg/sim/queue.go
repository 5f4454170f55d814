package sim

const pending = 1024 // samples that wait

// queue holds the newest samples that nobody has taken.
type queue[T any] struct {
	ring, out [pending]T
	first, n  int
}

func (q *queue[T]) empty() { q.first, q.n = 0, 0 }

func (q *queue[T]) push(s T) {
	if q.n == pending {
		q.first, q.n = (q.first+1)%pending, q.n-1
	}
	q.ring[(q.first+q.n)%pending] = s
	q.n++
}

// pop returns the oldest samples that are there already.
func (q *queue[T]) pop(there func(*T) bool) []T {
	k := 0
	for q.n > 0 && there(&q.ring[q.first]) {
		q.out[k] = q.ring[q.first]
		q.first, q.n = (q.first+1)%pending, q.n-1
		k++
	}
	return q.out[:k]
}
