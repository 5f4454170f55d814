package logs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Suspect is a run of rows that were not measured.
type Suspect struct {
	Channel  Channel
	What     string // repeated, interpolated, extrapolated
	From, To float64
	Rows     int
}

// String names the rows.
func (s Suspect) String() string {
	return fmt.Sprintf("%s: %d rows %s from %.3f to %.3f s", s.Channel, s.Rows, s.What, s.From, s.To)
}

const (
	suspectTime = 0.02 // s, a shorter run of such rows is chance and no harm
	lineSlack   = 1e-6 // share of the change between neighbours that a row on their line may be off
)

// checked are the channels whose noise makes a row on a line, or one like its neighbour, no measurement.
var checked = []Channel{Position, Attitude, Rates, Motors}

// Suspects finds, in flight, runs of rows that repeat the one before and runs that lie on a straight line.
func (l *Log) Suspects() (found []Suspect) {
	for _, c := range checked {
		s := &l.Series[c]
		if c != Motors { // a command may stand still
			again := func(i int) bool { return i > 0 && slices.Equal(s.Row(i-1), s.Row(i)) }
			found = append(found, l.runs(c, "repeated", again)...)
		}
		if c == Attitude { // between attitudes a straight line is no line
			continue
		}
		for _, run := range l.runs(c, "interpolated", func(i int) bool { return onLine(s, i) }) {
			if run.From <= s.T[1] || run.To >= s.T[len(s.T)-2] {
				run.What = "extrapolated"
			}
			found = append(found, run)
		}
	}
	return found
}

// runs lists stretches of rows with a property that last.
func (l *Log) runs(c Channel, what string, has func(i int) bool) (found []Suspect) {
	s := &l.Series[c]
	for i := 0; i < len(s.T); i++ {
		if !has(i) {
			continue
		}
		from := i
		for i+1 < len(s.T) && has(i+1) {
			i++
		}
		before := max(0, from-1)
		if s.T[i]-s.T[before] >= suspectTime && i > from && l.flying(s.T[from]) {
			found = append(found, Suspect{Channel: c, What: what, From: s.T[from], To: s.T[i], Rows: i - from + 1})
		}
	}
	return found
}

// onLine reports whether a row lies between its neighbours on a straight line, in every number, while most of them
// change.
func onLine(s *Series, i int) bool {
	if i == 0 || i+1 == len(s.T) {
		return false
	}
	a, b, c := s.Row(i-1), s.Row(i), s.Row(i+1)
	share := (s.T[i] - s.T[i-1]) / (s.T[i+1] - s.T[i-1])
	changing := 0
	for j := range b {
		change := math.Abs(c[j] - a[j])
		if math.Abs(a[j]+share*(c[j]-a[j])-b[j]) > lineSlack*change+1e-12*math.Abs(b[j]) {
			return false
		}
		if change > 1e-9*math.Abs(b[j]) && change > 0 {
			changing++
		}
	}
	return changing >= min(3, len(b))
}

// Drop takes the rows of suspects out of their channels, so that nothing is made from them.
func (l *Log) Drop(found []Suspect) {
	slices.SortStableFunc(found, func(a, b Suspect) int { return cmp.Compare(a.From, b.From) })
	for _, c := range checked {
		s, next, until := &l.Series[c], 0, math.Inf(-1)
		s.keep(func(i int) bool {
			for ; next < len(found) && found[next].From <= s.T[i]; next++ {
				if found[next].Channel == c {
					until = max(until, found[next].To)
				}
			}
			return s.T[i] > until
		})
	}
}
