package diagnostics

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// parts is how many buckets each power of two of nanoseconds has: a quantile is
// known to 1/parts of itself.
const (
	parts     = 16
	partsBits = 4
	buckets   = (64 - partsBits) * parts
)

// histogram counts durations. Everything but take may be called from any
// goroutine; nothing allocates.
type histogram struct {
	counts   [buckets]atomic.Uint64
	zeros    atomic.Uint64
	min, max atomic.Int64
}

func (h *histogram) reset() {
	h.min.Store(math.MaxInt64)
	h.max.Store(math.MinInt64)
}

// bucket of a duration; what is negative is in the first.
func bucket(d time.Duration) int {
	x := uint64(max(d, 0))
	if x < parts {
		return int(x)
	}
	shift := bits.Len64(x) - 1 - partsBits
	return shift*parts + int(x>>shift)
}

// upper is the largest duration of a bucket.
func upper(b int) time.Duration {
	if b < parts {
		return time.Duration(b)
	}
	shift := b/parts - 1
	return time.Duration((uint64(b%parts+parts)+1)<<shift - 1)
}

func (h *histogram) add(d time.Duration) {
	h.counts[bucket(d)].Add(1)
	for x := h.min.Load(); int64(d) < x && !h.min.CompareAndSwap(x, int64(d)); x = h.min.Load() {
	}
	for x := h.max.Load(); int64(d) > x && !h.max.CompareAndSwap(x, int64(d)); x = h.max.Load() {
	}
}

// summary is what a histogram counted between two takes.
type summary struct {
	counts       [buckets]uint64
	total, zeros uint64
	min, max     time.Duration
}

// take empties the histogram.
func (h *histogram) take() *summary {
	s := &summary{zeros: h.zeros.Swap(0)}
	for i := range h.counts {
		s.counts[i] = h.counts[i].Swap(0)
		s.total += s.counts[i]
	}
	s.min, s.max = time.Duration(h.min.Swap(math.MaxInt64)), time.Duration(h.max.Swap(math.MinInt64))
	return s
}

// quantile q of at least one duration, at most 1/parts above the true one.
func (s *summary) quantile(q float64) time.Duration {
	rank := uint64(math.Ceil(q * float64(s.total)))
	var seen uint64
	for b, n := range s.counts {
		if seen += n; n > 0 && seen >= rank {
			return min(upper(b), s.max)
		}
	}
	return s.max
}
