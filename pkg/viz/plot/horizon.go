package plot

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// ErrorCurves are one predictor's open-loop errors over the horizon: element h-1 after h steps.
type ErrorCurves struct {
	Name     string
	Position []float64 // m
	Velocity []float64 // m/s
	Attitude []float64 // degrees
}

func (c *ErrorCurves) channels() [3][]float64 {
	return [3][]float64{c.Position, c.Velocity, c.Attitude}
}

// ErrorOverHorizon writes a PNG of the predictors' errors over time since the start, in three panels:
// position, velocity, attitude. A panel's errors are on a logarithmic axis where predictors lie too far
// apart to be compared on a linear one. dt is the time of a step in s.
func ErrorOverHorizon(w io.Writer, title string, dt float64, curves []ErrorCurves) error {
	if len(curves) == 0 || !(dt > 0) {
		return fmt.Errorf("plot: %d predictors at steps of %g s, want at least one and a positive step", len(curves),
			dt)
	}
	n := len(curves[0].Position)
	time := make([]float64, n)
	for i := range time {
		time[i] = float64(i+1) * dt
	}
	names := []string{"position", "velocity", "attitude"}
	var panels []*plot.Plot
	for j, unit := range []string{"m", "m/s", "degrees"} {
		panels = append(panels, newPanel("", "time since start, s", names[j]+" error, "+unit))
	}
	var entries []entry
	ranges := [3]span{newSpan(), newSpan(), newSpan()}
	for i, c := range curves {
		entries = append(entries, entry{c.Name, lineMark(lineStyle(i))})
		for j, y := range c.channels() {
			if n == 0 || len(y) != n {
				return fmt.Errorf("plot: %s has %d steps of %s, want %d", c.Name, len(y), names[j], n)
			}
			if err := ranges[j].add(y); err != nil {
				return fmt.Errorf("plot: %s: %s %w", c.Name, names[j], err)
			}
			line(panels[j], time, y, lineStyle(i))
		}
	}
	for j, p := range panels { // last, because every line widens the range
		ranges[j].set(p)
		p.X.Min, p.X.Max = 0, time[n-1]
	}
	return write(w, title, entries, [][]*plot.Plot{panels}, vg.Points(250))
}

// farApart is the ratio of errors at the end of the horizon above which their axis is logarithmic.
const farApart = 6

// span is the range of several curves, and of their last values.
type span struct {
	lo, hi         float64
	lastLo, lastHi float64
}

func newSpan() span { return span{lo: math.Inf(1), lastLo: math.Inf(1)} }

// add takes a curve of errors in.
func (s *span) add(y []float64) error {
	for i, v := range y {
		if v*0 != 0 || v < 0 {
			return fmt.Errorf("error is %g after %d steps, want a finite number of at least 0", v, i+1)
		}
		s.lo, s.hi = min(s.lo, v), max(s.hi, v)
	}
	last := y[len(y)-1]
	s.lastLo, s.lastHi = min(s.lastLo, last), max(s.lastHi, last)
	return nil
}

// set chooses a panel's axis.
func (s *span) set(p *plot.Plot) {
	if s.lo > 0 && s.lastHi > farApart*s.lastLo {
		p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.TickerFunc(logTicks)
		p.Y.Min, p.Y.Max = s.lo/1.15, s.hi*1.15
		return
	}
	p.Y.Min, p.Y.Max = 0, s.hi*1.04
	if s.hi == 0 {
		p.Y.Max = 1
	}
}
