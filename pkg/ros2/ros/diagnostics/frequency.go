package diagnostics

import (
	"math"
	"sync/atomic"
	"time"

	"vnd/pkg/ros2/ros"
)

// Frequency watches how often something happens, as diagnostic_updater's
// FrequencyStatus. Tick and Run may be called from different goroutines.
type Frequency struct {
	// Min and Max in Hz; 0 and +Inf do not bound.
	Min, Max float64
	// Tolerance widens the bounds by this part of them.
	Tolerance float64

	count  atomic.Uint64
	window []mark // oldest first
}

// mark is what had been counted at the time of a run.
type mark struct {
	at    ros.Time
	count uint64
}

// windows is how many runs of a task the frequency is taken over.
const windows = 5

// NewFrequency watches for min … max Hz, within a tenth.
func NewFrequency(min, max float64) *Frequency {
	f := &Frequency{Min: min, Max: max, Tolerance: 0.1}
	f.window = append(f.window, mark{at: steady.Now()})
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
	first, last := f.window[0], mark{now, f.count.Load()}
	if f.window = append(f.window, last); len(f.window) > windows {
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

// Latency watches how old data is, as diagnostic_updater's TimeStampStatus, and
// tells the percentiles since the last run. Observe and Run may be called from
// different goroutines.
type Latency struct {
	// Min and Max are what is acceptable. Data from the future has a negative age.
	Min, Max time.Duration

	histogram         histogram
	early, late, zero int // runs that were not acceptable
}

// NewLatency watches for ages of min … max.
func NewLatency(min, max time.Duration) *Latency {
	l := &Latency{Min: min, Max: max}
	l.histogram.reset()
	return l
}

// Observe takes the age of one piece of data. It allocates nothing.
func (l *Latency) Observe(age time.Duration) { l.histogram.add(age) }

// ObserveStamp takes the age, at now, of data with a stamp; a stamp of zero is a
// sender that knows no time.
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
