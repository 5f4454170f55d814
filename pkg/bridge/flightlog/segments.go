package flightlog

import (
	"fmt"
	"math"
	"slices"

	"vnd/pkg/core/quad"
)

const (
	gapSteps      = 1.5  // more Δt than this between two rows is a gap, as quad.Follows has it
	spacingRefuse = 0.1  // the usual spacing may be off Δt by this share,
	spacingWarn   = 0.01 // and beyond this one with a warning: velocities and rollouts are wrong by as much
)

// spacing is the median time between rows that are at most longest apart, s; 0 without any.
func spacing(rows []row, longest float64) float64 {
	var spacings []float64
	for i := 1; i < len(rows); i++ {
		if d := rows[i].step.T - rows[i-1].step.T; d <= longest {
			spacings = append(spacings, d)
		}
	}
	if len(spacings) == 0 {
		return 0
	}
	slices.Sort(spacings)
	return spacings[len(spacings)/2]
}

// thinned makes rows Δt apart of rows that come several times as often: the state at each, and the mean command until
// the next. A piece of a row before a gap is left out. Other rows stay.
func thinned(name string, rows []row, o Options) ([]row, []Warning) {
	step := spacing(rows, gapSteps*o.Delta)
	each := math.Round(o.Delta / step)
	if step == 0 || each < 2 || math.Abs(each*step/o.Delta-1) > spacingRefuse {
		return rows, nil
	}
	gap := max(gapSteps*step, o.Delta/2)
	follows := func(i int) bool { return i < len(rows) && rows[i].step.T-rows[i-1].step.T < gap }
	var out []row
	for i := 0; i < len(rows); {
		r, n, until := rows[i], 0., rows[i].step.T+(each-.5)*step
		sum := quad.Command{}
		for ; n == 0 || follows(i) && rows[i].step.T < until; i++ {
			c := rows[i].step.Command
			sum.Thrust, sum.Rates, n = sum.Thrust+c.Thrust, sum.Rates.Add(c.Rates), n+1
		}
		r.step.Command = quad.Command{Thrust: sum.Thrust / n, Rates: sum.Rates.Scale(1 / n)}
		if n >= each || follows(i) {
			r.index = len(out)
			out = append(out, r)
		}
	}
	text := fmt.Sprintf("rows come every %.4g s: one of %g s has the state of every %.0fth, and the mean of commands",
		step, o.Delta, each)
	return out, []Warning{{File: name, Column: columnNames[colT], Text: text}}
}

// checkSpacing compares the median time between rows, gaps left out, with Δt.
func checkSpacing(name string, rows []row, o Options) ([]Warning, error) {
	median := spacing(rows, gapSteps*o.Delta)
	if median == 0 {
		return nil, nil // too short, or all gaps: checkLength says it
	}
	off := median/o.Delta - 1
	if off < -spacingRefuse || off > spacingRefuse {
		return nil, fmt.Errorf("%srows come every %.4g s, expected Δt = %g s, or a whole part of it: --config sets "+
			"it, parameter dt of the block assemble", where(name, 0, columnNames[colT]), median, o.Delta)
	}
	if off < -spacingWarn || off > spacingWarn {
		text := fmt.Sprintf("rows come every %.4g s and are read as %g s", median, o.Delta)
		return []Warning{{File: name, Column: columnNames[colT], Text: text}}, nil
	}
	return nil, nil
}

// checkLength wants one segment with a window of context and the row to predict from.
func checkLength(name string, f quad.Flight, rows []row, o Options) error {
	longest := 0
	for _, s := range f.Segments {
		longest = max(longest, len(s))
	}
	if longest > o.Window {
		return nil
	}
	text := fmt.Sprintf("the longest stretch without a gap has %d rows, expected at least %d, %g s apart", longest,
		o.Window+1, o.Delta)
	if len(rows) > o.Window {
		mean := (rows[len(rows)-1].step.T - rows[0].step.T) / float64(len(rows)-1)
		text += fmt.Sprintf(" (they are %.3g s apart on average)", mean)
	}
	return fmt.Errorf("%s%s", where(name, 0, columnNames[colT]), text)
}

// segments cuts the rows at gaps and puts each on the grid of its segment. first is nil where no row is left out.
func segments(rows []row, delta float64) (out [][]quad.Row, first []int) {
	begin := 0
	for i := 1; i <= len(rows); i++ {
		if i < len(rows) && !rows[i].cut && quad.Follows(rows[i-1].step.T, rows[i].step.T, delta) {
			continue
		}
		segment := make([]quad.Row, i-begin)
		for k := range segment {
			segment[k] = rows[begin+k].step
			segment[k].T = rows[begin].step.T + float64(k)*delta
		}
		out = append(out, segment)
		first = append(first, rows[begin].index)
		begin = i
	}
	if n := len(rows); n == 0 || rows[n-1].index == n-1 {
		return out, nil
	}
	return out, first
}

// estimateVelocity fills the velocities from the positions. Rows that no fit reaches, between two gaps, are left out.
func estimateVelocity(name string, rows []row, o Options) ([]row, []Warning, error) {
	t, err := newTracker(o.Estimate, gapSteps*o.Delta)
	if err != nil {
		return nil, nil, err
	}
	var samples []sample
	jumps, firstJump := 0, 0
	for _, r := range rows {
		samples = t.add(r.step.State.P, r.step.State.Q, nil, sample{t: r.step.T}, samples)
		if n := t.estimator.Counts().Jumps; n > jumps {
			if jumps == 0 {
				firstJump = r.line
			}
			jumps = n
		}
	}
	t.finish()
	kept := make([]row, len(samples))
	for i, s := range samples {
		kept[i] = rows[s.index]
		kept[i].step.State.V = s.state.V
		kept[i].cut = s.cut
	}
	var warnings []Warning
	if jumps > 0 {
		text := fmt.Sprintf("the position jumps, here first of %d times: the flight is cut at each", jumps)
		warnings = append(warnings, Warning{File: name, Line: firstJump, Column: columnNames[colPX], Text: text})
	}
	if lost := len(rows) - len(kept); lost > 0 {
		text := fmt.Sprintf("%d rows left out: too few between gaps for a velocity", lost)
		warnings = append(warnings, Warning{File: name, Column: columnNames[colVX], Text: text})
	}
	return kept, warnings, nil
}
