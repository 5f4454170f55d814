package closedloop

import (
	"math"
	"slices"

	"vnd/pkg/core/so3"
)

// Figures of a flight.
type Figures struct {
	Mean    float64 `json:"mean_m"` // position error, m
	RMS     float64 `json:"rms_m"`
	P95     float64 `json:"p95_m"`
	Max     float64 `json:"max_m"`
	Swing   float64 `json:"swing_rad_s"`     // of roll and pitch rates, root mean square
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
	f.Swing = swing(t.Rows[len(t.Rows)-n:])
	return f
}

// swing is the root mean square of roll and pitch rates, rad/s, beside their mean over half a second: of a limit cycle
// of 2 Hz and more, and not of the turns that a path asks for.
func swing(rows []TraceRow) float64 {
	const window = 0.5 // s
	sums := make([]so3.Vec3, 1, len(rows)+1)
	for i := 1; i < len(rows); i++ {
		w := so3.Log(rows[i-1].Truth.Q.Conj().Mul(rows[i].Truth.Q)).Scale(1 / (rows[i].T - rows[i-1].T))
		sums = append(sums, sums[i-1].Add(w))
	}
	half, square, n := 0, 0., 0
	if len(rows) > 1 {
		half = int(window/(rows[1].T-rows[0].T)+0.5) / 2
	}
	for i := half; i+half+1 < len(sums); i++ {
		mean := sums[i+half+1].Sub(sums[i-half]).Scale(1 / float64(2*half+1))
		off := sums[i+1].Sub(sums[i]).Sub(mean)
		square, n = square+off.X*off.X+off.Y*off.Y, n+1
	}
	return math.Sqrt(square / float64(max(n, 1)))
}
