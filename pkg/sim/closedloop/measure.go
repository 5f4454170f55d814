package closedloop

import (
	"math"
	"slices"
)

// Figures of a flight.
type Figures struct {
	Mean    float64 `json:"mean_m"` // position error, m
	RMS     float64 `json:"rms_m"`
	P95     float64 `json:"p95_m"`
	Max     float64 `json:"max_m"`
	Seconds float64 `json:"seconds"`         // that were measured
	Crash   string  `json:"crash,omitempty"` // in words
}

// Measure returns the figures of the ticks from settle seconds on, or of all
// where the flight ended before.
func (t *Trace) Measure(settle float64) Figures {
	f := Figures{Crash: t.Crash}
	if n := len(t.Rows); n == 0 || t.Rows[n-1].T < settle {
		settle = 0
	}
	var errors []float64
	for i := range t.Rows {
		if t.Rows[i].T >= settle {
			e := t.Rows[i].Error()
			errors = append(errors, e)
			f.Mean += e
			f.RMS += e * e
		}
	}
	n := len(errors)
	if n == 0 {
		return f
	}
	slices.Sort(errors)
	f.Mean, f.RMS = f.Mean/float64(n), math.Sqrt(f.RMS/float64(n))
	f.P95, f.Max = errors[int(0.95*float64(n-1))], errors[n-1]
	if n > 1 {
		f.Seconds = t.Rows[len(t.Rows)-1].T - t.Rows[len(t.Rows)-n].T
	}
	return f
}
