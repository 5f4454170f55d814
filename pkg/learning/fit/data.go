package fit

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
)

// segment is one stretch of a flight, flat.
type segment struct {
	flight            int
	rows              int
	measured, actions []float32 // [N][M], [N][A]
	weight            []float32 // [N] confidence of the transition from row n to n+1
}

// trainingSet is the buffer as the fit sees it.
type trainingSet struct {
	origin   so3.Vec3 // of positions, so that float32 holds them finely
	flights  []string
	segments []segment
}

func newTrainingSet(segs []dataset.Segment, dims robot.Dims) *trainingSet {
	d := &trainingSet{}
	if len(segs) > 0 && len(segs[0].Rows) > 0 {
		d.origin = segs[0].Rows[0].State.P
	}
	index := map[string]int{}
	for _, s := range segs {
		f, ok := index[s.Flight]
		if !ok {
			f = len(d.flights)
			index[s.Flight] = f
			d.flights = append(d.flights, s.Flight)
		}
		n := len(s.Rows)
		g := segment{flight: f, rows: n, measured: make([]float32, n*dims.Measured),
			actions: make([]float32, n*dims.Action), weight: make([]float32, n)}
		for i := range s.Rows {
			r := &s.Rows[i]
			s := r.State
			s.P = s.P.Sub(d.origin)
			quadrotor.Measured(&s, g.measured[i*dims.Measured:])
			quadrotor.Action(&r.Command, g.actions[i*dims.Action:])
			g.weight[i] = r.Confidence
		}
		d.segments = append(d.segments, g)
	}
	return d
}

// start is one context: its window is rows At−T … At−1 of the segment, its rollout begins at row At.
type start struct {
	Segment, At int32
}

// starts lists every context of the given flights that has T rows before it and H transitions after it.
func (d *trainingSet) starts(T, H, stride int, flight func(int) bool) []start {
	var out []start
	for i, s := range d.segments {
		if !flight(s.flight) {
			continue
		}
		for k := T; k+H < s.rows; k += stride {
			out = append(out, start{int32(i), int32(k)})
		}
	}
	return out
}

// unused says which flights have no stretch that holds a context and a rollout.
func (d *trainingSet) unused(T, H int) []bool {
	out := make([]bool, len(d.flights))
	for f := range out {
		out[f] = true
	}
	for _, s := range d.segments {
		out[s.flight] = out[s.flight] && s.rows <= T+H
	}
	return out
}

// split holds out flights for validation: whole flights, never rows, and only ones that hold a context.
func (d *trainingSet) split(share float64, T, H int, rng *rand.Rand) (validation []bool) {
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
	validation = make([]bool, len(d.flights))
	for _, i := range rng.Perm(len(usable))[:min(n, len(usable)-1)] {
		validation[usable[i]] = true
	}
	return validation
}

// need refuses data that cannot hold one context.
func (d *trainingSet) need(T, H int) error {
	longest := 0
	for _, s := range d.segments {
		longest = max(longest, s.rows)
	}
	if longest < T+H+1 {
		return fmt.Errorf("the longest unbroken stretch has %d rows, a fit needs at least %d (model.context %d + loss.steps %d + 1)",
			longest, T+H+1, T, H)
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

// steps returns the rows of the segments without their confidences.
func steps(segs []dataset.Segment) [][]quad.Step {
	out := make([][]quad.Step, len(segs))
	for i := range segs {
		out[i] = segs[i].Steps()
	}
	return out
}
