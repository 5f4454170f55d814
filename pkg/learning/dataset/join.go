package dataset

import (
	"cmp"
	"math"
	"slices"

	"vnd/pkg/core/quad"
)

const (
	bridged = 0.1 // s between two rows, up to which Join bridges them: the age up to which latents are flown by
	slack   = 0.6 // of Δt by which a row's stamp may be off its place
)

// Join makes one segment of neighbours of a flight whose rows, dt seconds apart, go on soon after: a sample was lost,
// or stamps jitter. The rows come to lie on one clock. A place that no row is near is filled as the encoder fills it in
// flight, on the way from the row before to the next; a row whose place is taken gives its command to the one there.
// Flights that took place at once come one after another. What was handed in stays as it is.
func Join(dt float64, segments []Segment) (out []Segment) {
	own, begin := false, 0. // the rows of the newest are ours; where its clock begins, s
	for _, s := range byFlight(segments) {
		n := len(out)
		if n == 0 || !goesOn(dt, &out[n-1], &s) {
			out, own = append(out, s), false
			continue
		}
		newest := &out[n-1]
		if k := len(newest.Rows) - 1; !own {
			newest.Rows, newest.Smoothed, own = slices.Clone(newest.Rows), nil, true
			begin = newest.Rows[k].T - float64(k)*dt
		}
		for i := range s.Rows {
			newest.Rows = place(newest.Rows, &s.Rows[i], (s.Rows[i].T-begin)/dt)
		}
	}
	return out
}

// byFlight are segments with those of each flight together, flights in the order in which they began.
func byFlight(segments []Segment) []Segment {
	begun := map[string]int{}
	for i := range segments {
		if _, ok := begun[segments[i].Flight]; !ok {
			begun[segments[i].Flight] = i
		}
	}
	sorted := slices.Clone(segments)
	slices.SortStableFunc(sorted, func(a, b Segment) int { return cmp.Compare(begun[a.Flight], begun[b.Flight]) })
	return sorted
}

// goesOn reports whether a segment is the rest of the one before, behind a short gap.
func goesOn(dt float64, before, s *Segment) bool {
	if before.Flight != s.Flight || len(before.Rows) == 0 || len(s.Rows) == 0 {
		return false
	}
	last, next := before.Rows[len(before.Rows)-1].T, s.Rows[0].T
	return next > last && next-last <= bridged+dt/2 && !quad.Follows(last, next, dt)
}

// place appends a row which belongs at some place, counted in rows, behind those on the way to it.
func place(rows []WeightedRow, r *WeightedRow, at float64) []WeightedRow {
	n, last := len(rows), rows[len(rows)-1]
	if math.Abs(at-float64(n)) > slack {
		n = int(math.Round(at))
	}
	if n < len(rows) {
		c := &rows[len(rows)-1].Command
		c.Thrust, c.Rates = (c.Thrust+r.Command.Thrust)/2, c.Rates.Add(r.Command.Rates).Scale(0.5)
		return rows
	}
	for k, steps := 1., float64(n-len(rows)+1); k < steps; k++ {
		between := WeightedRow{Confidence: last.Confidence, Missed: true}
		between.T, between.Command = last.T+k/steps*(r.T-last.T), last.Command
		between.State = last.State.Between(r.State, k/steps)
		rows = append(rows, between)
	}
	return append(rows, *r)
}

// Gaps are how often joined segments, dt seconds a row, had no state, and for how long: mean time from the end of a gap
// to the next and mean length, s, of exponential ones that take as much of the time, with lengths of the same second
// moment. So many short gaps do not hide a few long ones. Both are 0 where there was none. What follows after a second
// is another flight.
func Gaps(dt float64, segments []Segment) (every, length float64) {
	const most = 1 // s
	var flown, sum, squares, run float64
	end := func() { sum, squares, run = sum+run, squares+run*run, 0 }
	for i := range segments {
		rows := segments[i].Rows
		if i > 0 && len(rows) > 0 && len(segments[i-1].Rows) > 0 && segments[i-1].Flight == segments[i].Flight {
			before := segments[i-1].Rows
			if gap := rows[0].T - before[len(before)-1].T - dt; gap > dt/2 && gap < most {
				flown, run = flown+gap, gap
				end()
			}
		}
		flown += float64(len(rows)) * dt
		for k := range rows {
			if rows[k].Missed {
				run += dt
			} else {
				end()
			}
		}
		end()
	}
	if sum == 0 {
		return 0, 0
	}
	length = squares / sum / 2
	return (flown - sum) / sum * length, length
}
