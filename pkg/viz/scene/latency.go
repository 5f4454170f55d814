package scene

import (
	"math"
	"slices"
	"time"
)

// sent is when messages of a kind were sent, by their stamps, the newest ones.
type sent struct {
	of   [128]struct{ stamp, source int64 } // a third of a second at 360 Hz
	next int
}

func (p *sent) add(stamp, source int64) {
	p.of[p.next] = struct{ stamp, source int64 }{stamp, source}
	p.next = (p.next + 1) % len(p.of)
}

// take is when the message of a stamp was sent, once; 0 where it is not known.
func (p *sent) take(stamp int64) (source int64) {
	for i := range p.of {
		if q := &p.of[i]; q.stamp == stamp && q.source != 0 {
			source, q.source = q.source, 0
			return source
		}
	}
	return 0
}

// latencies are those of the newest ticks.
type latencies struct {
	samples, steps sent

	of    [3000]time.Duration // a minute at 50 Hz
	count int
	seen  Latency
	taken int // count at the last look
}

// sample and step take when a sample of motion capture and its step were sent; whichever is heard of first waits for
// the other.
func (l *latencies) sample(stamp, source int64) {
	if step := l.steps.take(stamp); step != 0 {
		l.add(time.Duration(step - source))
	} else {
		l.samples.add(stamp, source)
	}
}

func (l *latencies) step(stamp, source int64) {
	if sample := l.samples.take(stamp); sample != 0 {
		l.add(time.Duration(source - sample))
	} else if source != 0 {
		l.steps.add(stamp, source)
	}
}

func (l *latencies) add(d time.Duration) {
	if d < 0 { // clocks of two computers
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
