package demo

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Phases of the learner that count here, as learner/status names them.
const (
	fitting = "fit"
	gating  = "gate"
)

// newestData is when the newest data were on disk that a bundle was learned from: those that were there as its round
// began. There are none for the first bundle.
func (r *Record) newestData(b *Bundle) (at time.Time, ok bool) {
	var began time.Time
	for _, l := range r.Learning {
		if l.Phase == fitting && l.At.Before(b.At) {
			began = l.At
		}
	}
	for _, s := range r.Segments {
		if !s.After(began) {
			at, ok = s, true
		}
	}
	return at, ok && !began.IsZero()
}

// refused counts the candidates that came to the gate and were kept back; a round may also fail there, or end with
// the bundle that it began with.
func (r *Record) refused() (n int) {
	for i := 1; i < len(r.Learning); i++ {
		if r.Learning[i-1].Phase == gating && strings.Contains(r.Learning[i].Message, " is refused: ") {
			n++
		}
	}
	return n
}

// latency is taken over all commands whose sample was heard too.
func (r *Record) latency() Latency {
	var ms []float64
	last := int64(math.MinInt64)
	for _, c := range r.commands {
		sent, ok := r.sent[c.stamp]
		if !ok || c.stamp <= last { // a guard's command without a new sample
			continue
		}
		last = c.stamp
		ms = append(ms, float64(c.sent-sent)/1e6)
	}
	if len(ms) == 0 {
		return Latency{}
	}
	slices.Sort(ms)
	at := func(q float64) float64 { return ms[int(math.Ceil(q*float64(len(ms))))-1] }
	return Latency{Ticks: len(ms), P50: at(0.5), P99: at(0.99), P999: at(0.999), Max: ms[len(ms)-1]}
}

// counters of /diagnostics that should stay 0, and what they count.
var counters = []struct{ gauge, what string }{
	{controller + ": control: ticks missed", "ticks missed"},
	{controller + ": control: samples dropped", "mocap samples dropped by the controller"},
	{controller + ": control: commands not sent", "commands not sent"},
	{controller + ": control: steps dropped", "steps dropped by the controller"},
	{recorder + ": steps: Steps lost (gaps of seq)", "steps lost on the way to the recorder"},
	{recorder + ": steps: Steps dropped (queue)", "steps dropped by the recorder"},
	{recorder + ": buffer: Rows lost", "rows lost to learning"},
	{recorder + ": bag: Messages dropped (queue)", "messages dropped from the bag"},
	{recorder + ": bag: Messages lost (disk)", "messages lost to the disk"},
	{recorder + ": bag: Messages overrun (subscriptions)", "messages overrun before the bag"},
}

// losses are the counters that the nodes told.
func (r *Record) losses() (out []CounterLoss) {
	for _, c := range counters {
		if n, err := strconv.ParseUint(r.gauges[c.gauge], 10, 64); err == nil {
			out = append(out, CounterLoss{c.what, n})
		}
	}
	return out
}
