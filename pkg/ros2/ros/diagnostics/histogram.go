package diagnostics

import (
	"math"
	"math/bits"
	"sync/atomic"
	"time"
)

// octaveBuckets is the number of buckets for each power of two of nanoseconds. A quantile
// has a relative error of at most 1/octaveBuckets.
const (
	octaveBuckets = 16
	octaveBits    = 4
	buckets       = (64 - octaveBits) * octaveBuckets
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

// bucket of a duration; negative ones are in the first.
func bucket(d time.Duration) int {
	x := uint64(max(d, 0))
	if x < octaveBuckets {
		return int(x)
	}
	shift := bits.Len64(x) - 1 - octaveBits
	return shift*octaveBuckets + int(x>>shift)
}

// upper is the largest duration of a bucket.
func upper(b int) time.Duration {
	if b < octaveBuckets {
		return time.Duration(b)
	}
	shift := b/octaveBuckets - 1
	return time.Duration((uint64(b%octaveBuckets+octaveBuckets)+1)<<shift - 1)
}

func (h *histogram) add(d time.Duration) {
	h.counts[bucket(d)].Add(1)
	for x := h.min.Load(); int64(d) < x && !h.min.CompareAndSwap(x, int64(d)); x = h.min.Load() {
	}
	for x := h.max.Load(); int64(d) > x && !h.max.CompareAndSwap(x, int64(d)); x = h.max.Load() {
	}
}

// summary is the counts of a histogram between two takes.
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

// quantile q of at least one duration, at most 1/octaveBuckets above the true one.
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
