package closedloop

import (
	"math"
	"slices"
)

// Recovery after a switch of the condition.
type Recovery struct {
	Time     float64 `json:"t"` // of the switch, s
	From     string  `json:"from"`
	To       string  `json:"to"`
	Envelope float64 `json:"envelope_m"` // ε: the larger of the steady maxima before the switch and long after it
	Peak     float64 `json:"peak_m"`     // greatest error after the switch
	// Literal is the time from the switch until the error is within ε for good, s; Wide the same within ε + 2 cm.
	// Later peaks of a periodic reference pass ε by millimetres, which makes the literal figure ill-posed.
	Literal float64 `json:"t_rec_s"`
	Wide    float64 `json:"t_rec_2cm_s"`
}

// wide is what Wide allows beyond the envelope, m.
const wide = 0.02

// Recoveries measures every switch of a flight. steady (s) is how long before a
// switch the envelope is taken, and how long before the next one again.
func (t *Trace) Recoveries(steady float64) []Recovery {
	var at []int // first rows of conditions
	for i := range t.Rows {
		if i == 0 || t.Rows[i].Condition != t.Rows[i-1].Condition {
			at = append(at, i)
		}
	}
	at = append(at, len(t.Rows))
	var out []Recovery
	for k := 1; k+1 < len(at); k++ {
		lo, hi := at[k], at[k+1]
		r := Recovery{Time: t.Rows[lo].T, From: t.Rows[lo-1].Condition, To: t.Rows[lo].Condition}
		errors := make([]float64, 0, hi-lo)
		for i := lo; i < hi; i++ {
			errors = append(errors, t.Rows[i].Error())
		}
		r.Envelope = max(t.greatest(at[k-1], lo, t.Rows[lo].T-steady), t.greatest(lo, hi, t.Rows[hi-1].T-steady))
		r.Peak = slices.Max(errors)
		r.Literal, r.Wide = t.within(lo, errors, r.Envelope), t.within(lo, errors, r.Envelope+wide)
		if t.Crash != "" && hi == len(t.Rows) {
			r.Literal, r.Wide = math.MaxFloat64, math.MaxFloat64 // whatever was near before the end
		}
		out = append(out, r)
	}
	return out
}

// greatest is the greatest error of the rows lo … hi−1 from a time on.
func (t *Trace) greatest(lo, hi int, from float64) (e float64) {
	for i := lo; i < hi; i++ {
		if t.Rows[i].T >= from {
			e = max(e, t.Rows[i].Error())
		}
	}
	return e
}

// within is the time after row lo from which on the errors stay within a bound.
func (t *Trace) within(lo int, errors []float64, bound float64) float64 {
	for i := len(errors) - 1; i >= 0; i-- {
		if errors[i] > bound {
			if i+1 == len(errors) {
				return math.MaxFloat64 // never
			}
			return t.Rows[lo+i+1].T - t.Rows[lo].T
		}
	}
	return 0
}
