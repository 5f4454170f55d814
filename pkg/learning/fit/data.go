package fit

import (
	"fmt"
	"math/rand/v2"
	"slices"
)

// segment is a recording with the number of its flight.
type segment struct {
	Recording
	flight int
}

// trainingSet is the recordings as the fit sees them.
type trainingSet struct {
	flights  []string
	segments []segment
}

func newTrainingSet(recordings []Recording) *trainingSet {
	d := &trainingSet{}
	index := map[string]int{}
	for _, r := range recordings {
		f, ok := index[r.Name]
		if !ok {
			f = len(d.flights)
			index[r.Name] = f
			d.flights = append(d.flights, r.Name)
		}
		d.segments = append(d.segments, segment{r, f})
	}
	return d
}

// start is one context: its window is rows At−T … At−1 of the segment, its rollout begins at row At.
type start struct {
	Segment, At int32
}

// starts lists every context of the given flights that has T rows before it and H transitions after it. Of those that
// nobody trusts nothing is learned.
func (d *trainingSet) starts(T, H, stride int, flight func(int) bool) []start {
	var out []start
	for i, s := range d.segments {
		if !flight(s.flight) {
			continue
		}
		for k := T; k+H < s.rows(); k += stride {
			if slices.Min(s.Weight[k-T:k+1]) > 0 {
				out = append(out, start{int32(i), int32(k)})
			}
		}
	}
	return out
}

// unused says which flights have no stretch that holds a context, which somebody trusts, and a rollout.
func (d *trainingSet) unused(T, H int) []bool {
	out := make([]bool, len(d.flights))
	for f := range out {
		out[f] = true
	}
	for _, st := range d.starts(T, H, 1, func(int) bool { return true }) {
		out[d.segments[st.Segment].flight] = false
	}
	return out
}

// split holds out flights for validation: those that are held out already, or else some: whole flights, never rows, and
// only ones that hold a context.
func (d *trainingSet) split(share float64, T, H int, rng *rand.Rand) (validation []bool) {
	validation = make([]bool, len(d.flights))
	for _, s := range d.segments {
		validation[s.flight] = s.HeldOut
	}
	if slices.Contains(validation, true) {
		return validation
	}
	var usable []int
	for f, no := range d.unused(T, H) {
		if !no {
			usable = append(usable, f)
		}
	}
	n := int(share*float64(len(usable)) + .5)
	if share > 0 && n == 0 && len(usable) >= 5 {
		n = 1
	}
	for _, i := range rng.Perm(len(usable))[:min(n, len(usable)-1)] {
		validation[usable[i]] = true
	}
	return validation
}

// need refuses data that cannot hold one context.
func (d *trainingSet) need(T, H int) error {
	longest := 0
	for _, s := range d.segments {
		longest = max(longest, s.rows())
	}
	if longest < T+H+1 {
		return fmt.Errorf("the longest unbroken stretch has %d rows, a fit needs at least %d (model.context %d + "+
			"loss.steps %d + 1)", longest, T+H+1, T, H)
	}
	return nil
}

// flightNames returns the names for which keep holds, sorted.
func (d *trainingSet) flightNames(keep []bool) []string {
	out := []string{}
	for i, k := range keep {
		if k {
			out = append(out, d.flights[i])
		}
	}
	slices.Sort(out)
	return out
}
