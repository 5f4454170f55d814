package diagnostics

import (
	"math"
	"sync/atomic"
	"time"

	"vnd/pkg/ros2/ros"
)

// Frequency monitors the rate of events, as diagnostic_updater's FrequencyStatus. Tick and
// Run may be called from different goroutines.
type Frequency struct {
	// Min and Max in Hz; 0 and +Inf do not bound.
	Min, Max float64
	// Tolerance widens the bounds by this fraction.
	Tolerance float64

	count  atomic.Uint64
	window []countAt // oldest first
}

// countAt is the number of events at the time of a run.
type countAt struct {
	at    ros.Time
	count uint64
}

// windowRuns is the number of runs that a rate is averaged over.
const windowRuns = 5

// NewFrequency monitors a rate of min … max Hz, with a tolerance of a tenth.
func NewFrequency(min, max float64) *Frequency {
	f := &Frequency{Min: min, Max: max, Tolerance: 0.1}
	f.window = append(f.window, countAt{at: steady.Now()})
	return f
}

var steady = ros.NewClock(ros.SteadyTime)

// Tick counts one event. It allocates nothing.
func (f *Frequency) Tick() { f.count.Add(1) }

// Count is the number of events so far.
func (f *Frequency) Count() uint64 { return f.count.Load() }

// Run is the Task.
func (f *Frequency) Run(s *Status) { f.run(s, steady.Now()) }

func (f *Frequency) run(s *Status, now ros.Time) {
	first, last := f.window[0], countAt{now, f.count.Load()}
	if f.window = append(f.window, last); len(f.window) > windowRuns {
		f.window = append(f.window[:0], f.window[1:]...)
	}
	events, window := last.count-first.count, last.at.Sub(first.at)
	rate := float64(events) / window.Seconds()
	switch {
	case events == 0:
		s.Summary(Error, "No events recorded.")
	case rate < f.Min*(1-f.Tolerance):
		s.Summary(Warn, "Frequency too low.")
	case rate > f.Max*(1+f.Tolerance):
		s.Summary(Warn, "Frequency too high.")
	default:
		s.Summary(OK, "Desired frequency met")
	}
	s.Add("Events in window", events)
	s.Add("Events since startup", last.count)
	s.Addf("Duration of window (s)", "%f", window.Seconds())
	s.Addf("Actual frequency (Hz)", "%f", rate)
	if f.Min == f.Max {
		s.Addf("Target frequency (Hz)", "%f", f.Min)
	}
	if f.Min > 0 {
		s.Addf("Minimum acceptable frequency (Hz)", "%f", f.Min*(1-f.Tolerance))
	}
	if !math.IsInf(f.Max, 1) {
		s.Addf("Maximum acceptable frequency (Hz)", "%f", f.Max*(1+f.Tolerance))
	}
}

// Latency monitors the age of data, as diagnostic_updater's TimeStampStatus, and reports the
// percentiles since the last run. Observe and Run may be called from different goroutines.
type Latency struct {
	// Min and Max are the acceptable ages. Data from the future has a negative age.
	Min, Max time.Duration

	histogram         histogram
	early, late, zero int // runs that were not acceptable
}

// NewLatency monitors ages of min … max.
func NewLatency(min, max time.Duration) *Latency {
	l := &Latency{Min: min, Max: max}
	l.histogram.reset()
	return l
}

// Observe adds the age of one message. It allocates nothing.
func (l *Latency) Observe(age time.Duration) { l.histogram.add(age) }

// ObserveStamp adds the age at now of a message with a stamp. A zero stamp is counted by
// itself: its sender has no time.
func (l *Latency) ObserveStamp(stamp, now ros.Time) {
	if stamp == 0 {
		l.histogram.zeros.Add(1)
		return
	}
	l.histogram.add(now.Sub(stamp))
}

// Run is the Task.
func (l *Latency) Run(s *Status) {
	h := l.histogram.take()
	s.Summary(OK, "Timestamps are reasonable.")
	switch {
	case h.total == 0 && h.zeros == 0:
		s.Summary(Warn, "No data since last update.")
	default:
		if h.total > 0 && h.min < l.Min {
			s.Merge(Error, "Timestamps too far in future seen.")
			l.early++
		}
		if h.total > 0 && h.max > l.Max {
			s.Merge(Error, "Timestamps too far in past seen.")
			l.late++
		}
		if h.zeros > 0 {
			s.Merge(Error, "Zero timestamp seen.")
			l.zero++
		}
	}
	if h.total > 0 {
		s.Addf("Earliest timestamp delay:", "%f", h.min.Seconds())
		s.Addf("Latest timestamp delay:", "%f", h.max.Seconds())
		s.Addf("p50 (ms)", "%.3f", h.quantile(0.5).Seconds()*1e3)
		s.Addf("p99 (ms)", "%.3f", h.quantile(0.99).Seconds()*1e3)
	}
	s.Addf("Earliest acceptable timestamp delay:", "%f", l.Min.Seconds())
	s.Addf("Latest acceptable timestamp delay:", "%f", l.Max.Seconds())
	s.Add("Late diagnostic update count:", l.late)
	s.Add("Early diagnostic update count:", l.early)
	s.Add("Zero seen diagnostic update count:", l.zero)
}
