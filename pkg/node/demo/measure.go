package demo

import (
	"math"
	"slices"

	"vnd/pkg/sim/closedloop"
)

// Calm is the condition in which nothing blows: no wind that returns.
const Calm = "calm"

// Result is what a demo came to.
type Result struct {
	World   string        `json:"world"`
	Task    string        `json:"task"`
	Seconds float64       `json:"seconds"` // of flight
	Visits  []Visit       `json:"visits"`
	Winds   []Return      `json:"winds"`   // that came back
	Late    []Return      `json:"late"`    // winds that were first met under a learned bundle, and came back
	Base    float64       `json:"base_m"`  // mean error in those winds when they first came, under the first bundle
	End     float64       `json:"end_m"`   // the same the last time that they came
	Factor  float64       `json:"factor"`  // Base over End
	Recover Recover       `json:"t_rec"`   // at winds that returned, under learned bundles
	Bundles []Version     `json:"bundles"` // that flew or were published
	Refused int           `json:"refused"` // candidates that the gate kept back
	Latency Latency       `json:"latency"`
	Losses  []CounterLoss `json:"losses"`
	Guarded float64       `json:"guarded_s"` // that the guard flew
	Trips   []string      `json:"trips"`     // of the guard, each with its cause

	Bag    string `json:"bag"`
	Report string `json:"report"`
}

// Visit is one stay of a condition.
type Visit struct {
	Condition string   `json:"condition"`
	Number    int      `json:"number"` // 1 is the first time
	Start     float64  `json:"start_s"`
	End       float64  `json:"end_s"`
	Bundles   []string `json:"bundles"` // that flew in it, in order
	closedloop.Figures
	Guarded  bool                 `json:"guarded,omitempty"`  // the guard flew a part of it: not counted
	Recovery *closedloop.Recovery `json:"recovery,omitempty"` // from the switch; nil at the start and in what is not counted
}

// Return is a wind that came back.
type Return struct {
	Condition string  `json:"condition"`
	Base      float64 `json:"first_m"` // mean error when it first came
	End       float64 `json:"last_m"`  // when it last came
}

// Recover are the times of recovery at returns, s.
type Recover struct {
	Returns int    `json:"returns"`
	Wide    Spread `json:"t_rec_2cm_s"` // to within 2 cm more than the envelope, for good
	Literal Spread `json:"t_rec_s"`     // to within the envelope
}

// Spread of some numbers.
type Spread struct {
	Median float64 `json:"median"`
	Worst  float64 `json:"worst"`
}

func spread(x []float64) Spread {
	slices.Sort(x)
	n := len(x)
	return Spread{(x[(n-1)/2] + x[n/2]) / 2, x[n-1]}
}

// Version is a bundle.
type Version struct {
	ID      string  `json:"id"`
	Parent  string  `json:"parent"`
	Data    float64 `json:"data_to_flight_s"` // from its newest data on disk to its first step; NaN never comes: 0 for the first bundle
	Flew    bool    `json:"flew"`
	Ticks   int     `json:"ticks"`
	Seconds float64 `json:"seconds"`
	Mean    float64 `json:"mean_m"`
}

// Latency from a sample published to its command published, ms.
type Latency struct {
	Ticks int     `json:"ticks"`
	P50   float64 `json:"p50_ms"`
	P99   float64 `json:"p99_ms"`
	P999  float64 `json:"p999_ms"`
	Max   float64 `json:"max_ms"`
}

// CounterLoss is a counter of what got lost.
type CounterLoss struct {
	What  string `json:"what"`
	Count uint64 `json:"count"`
}

// steady is the time before a switch and before the next one that sets what is steady, s.
const steady = 4

// Measure says what a flight came to.
func (r *Record) Measure() *Result {
	rows := r.rows()
	f := &Result{}
	if len(rows) == 0 {
		return f
	}
	f.Seconds = rows[len(rows)-1].T
	first := rows[0].step.Bundle
	f.Visits = visits(rows)
	f.returns(first)
	f.recover(first)
	r.versions(f, rows)
	f.Refused = r.refused()
	f.Latency = r.latency()
	f.Losses = r.losses()
	for i := 1; i < len(rows); i++ {
		if rows[i].step.Guarded {
			f.Guarded += rows[i].T - rows[i-1].T
		}
	}
	return f
}

// visits cuts a flight at its switches.
func visits(rows []row) (out []Visit) {
	trace := &closedloop.Trace{}
	for i := range rows {
		trace.Rows = append(trace.Rows, rows[i].TraceRow)
	}
	recoveries := trace.Recoveries(steady)
	met := map[string]int{}
	for lo, hi := 0, 0; lo < len(rows); lo = hi {
		for hi = lo; hi < len(rows) && rows[hi].wind == rows[lo].wind; hi++ {
		}
		name := rows[lo].Condition
		met[name]++
		v := Visit{Condition: name, Number: met[name], Start: rows[lo].T, End: rows[hi-1].T,
			Figures: (&closedloop.Trace{Rows: trace.Rows[lo:hi]}).Measure(0)}
		for _, w := range rows[lo:hi] {
			v.Guarded = v.Guarded || w.step.Guarded
			if !slices.Contains(v.Bundles, w.step.Bundle) {
				v.Bundles = append(v.Bundles, w.step.Bundle)
			}
		}
		for i := range recoveries {
			if recoveries[i].Time == v.Start && !v.Guarded {
				v.Recovery = &recoveries[i]
			}
		}
		out = append(out, v)
	}
	return out
}

// returns compares the first stay of each wind with its last, which learned bundles flew. Before counts where it was
// under the first bundle alone.
func (f *Result) returns(first string) {
	for i := range f.Visits {
		a := &f.Visits[i]
		if a.Condition == Calm || a.Number != 1 || a.Guarded {
			continue
		}
		var last *Visit
		for k := i + 1; k < len(f.Visits); k++ {
			if b := &f.Visits[k]; b.Condition == a.Condition && !b.Guarded && !slices.Contains(b.Bundles, first) {
				last = b
			}
		}
		switch r := (Return{Condition: a.Condition, Base: a.Mean}); {
		case last == nil:
		case slices.Equal(a.Bundles, []string{first}):
			r.End = last.Mean
			f.Winds = append(f.Winds, r)
			f.Base += r.Base
			f.End += r.End
		case !slices.Contains(a.Bundles, first):
			r.End = last.Mean
			f.Late = append(f.Late, r)
		}
	}
	if n := float64(len(f.Winds)); n > 0 {
		f.Base, f.End = f.Base/n, f.End/n
		f.Factor = f.Base / f.End
	}
}

// recover sums up the recoveries at winds that returned under learned bundles.
func (f *Result) recover(first string) {
	var literal, wide []float64
	for i := range f.Visits {
		v := &f.Visits[i]
		if v.Recovery == nil || v.Condition == Calm || v.Number == 1 || slices.Contains(v.Bundles, first) {
			continue
		}
		literal, wide = append(literal, v.Recovery.Literal), append(wide, v.Recovery.Wide)
	}
	if len(literal) > 0 {
		f.Recover = Recover{len(literal), spread(wide), spread(literal)}
	}
}

// versions tells of every bundle.
func (r *Record) versions(f *Result, rows []row) {
	for _, b := range r.Bundles {
		v := Version{ID: b.ID, Parent: b.Parent, Flew: !b.Flew.IsZero()}
		if at, ok := r.newestData(&b); ok && v.Flew {
			v.Data = b.Flew.Sub(at).Seconds()
		}
		for i := range rows {
			if rows[i].step.Bundle == b.ID {
				v.Ticks++
				v.Mean += rows[i].Error()
				if i > 0 {
					v.Seconds += rows[i].T - rows[i-1].T
				}
			}
		}
		v.Mean /= math.Max(float64(v.Ticks), 1)
		f.Bundles = append(f.Bundles, v)
	}
}
