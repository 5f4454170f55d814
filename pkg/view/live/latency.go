package live

import (
	"math"
	"slices"
	"time"
)

// pairs remembers when the newest samples of motion capture were sent, by their stamps.
type pairs struct {
	of   [128]struct{ stamp, source int64 } // a third of a second at 360 Hz
	next int
}

func (p *pairs) add(stamp, source int64) {
	p.of[p.next] = struct{ stamp, source int64 }{stamp, source}
	p.next = (p.next + 1) % len(p.of)
}

// since is how long after the sample of a stamp something was sent; false where that sample is not known.
func (p *pairs) since(stamp, source int64) (time.Duration, bool) {
	for i := range p.of {
		if q := &p.of[i]; q.stamp == stamp && q.source != 0 {
			return time.Duration(source - q.source), true
		}
	}
	return 0, false
}

// latencies are those of the newest ticks.
type latencies struct {
	of    [3000]time.Duration // a minute at 50 Hz
	count int
	seen  Latency
	taken int // count at the last look
}

func (l *latencies) add(d time.Duration, known bool) {
	if !known || d < 0 { // clocks of two computers
		return
	}
	l.of[l.count%len(l.of)] = d
	l.count++
}

// Buckets of a histogram of latencies: five per factor of ten from 10 µs; what is longer is in the last.
const (
	buckets       = 25
	bucketsFrom   = 10e-6 // s
	bucketsPerTen = 5
)

// Latency tells how long after a sample of motion capture was sent its step was, by the middleware's stamps of both.
type Latency struct {
	Count         int // ticks that it is of, the newest
	P50, P99, Max time.Duration
	Buckets       [buckets]int // of those ticks
}

// Edge is the upper end of a bucket, s.
func Edge(bucket int) float64 {
	return bucketsFrom * math.Pow(10, float64(bucket+1)/bucketsPerTen)
}

func (l *latencies) look() Latency {
	if l.taken == l.count {
		return l.seen
	}
	l.taken = l.count
	all := slices.Clone(l.of[:min(l.count, len(l.of))])
	slices.Sort(all)
	at := func(q float64) time.Duration { return all[int(math.Ceil(q*float64(len(all))))-1] }
	v := Latency{Count: len(all), P50: at(.5), P99: at(.99), Max: all[len(all)-1]}
	for _, d := range all {
		b := math.Ceil(bucketsPerTen*math.Log10(d.Seconds()/bucketsFrom)) - 1
		v.Buckets[int(min(max(b, 0), buckets-1))]++
	}
	l.seen = v
	return v
}
