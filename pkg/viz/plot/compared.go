package plot

import (
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"

	"vnd/pkg/core/so3"
)

// Compared are two flights under the same condition.
type Compared struct {
	Name          string
	Reference     []so3.Vec3 // p_W, m
	Before, After Flown      // time since the condition set in
}

// BeforeAfter writes a PNG with a row for each condition: from above, and the errors over time on one scale for all.
func BeforeAfter(w io.Writer, title string, all []Compared) error {
	if len(all) == 0 {
		return fmt.Errorf("plot: nothing to compare")
	}
	ground := lineStyle(6)
	ground.Dashes = []vg.Length{4, 3}
	entries := []entry{{"reference", lineMark(ground)}, {"before", lineMark(lineStyle(3))},
		{"after", lineMark(lineStyle(0))}}
	var rows [][]*plot.Plot
	top, end := 0., 0.
	for _, c := range all {
		above, errors := newPanel(c.Name, "x, m", "y, m"),
			newPanel("", "time since the wind set in, s", "position error, m")
		x, y := fromAbove(c.Reference)
		line(above, x, y, ground)
		for _, f := range []struct {
			Flown
			style int
		}{{c.Before, 3}, {c.After, 0}} {
			if len(f.T) == 0 || len(f.P) != len(f.T) || len(f.Error) != len(f.T) {
				return fmt.Errorf("plot: %s has %d times, %d positions, %d errors", c.Name, len(f.T), len(f.P),
					len(f.Error))
			}
			x, y := fromAbove(f.P)
			line(above, x, y, lineStyle(f.style))
			line(errors, f.T, f.Error, lineStyle(f.style))
			for i, e := range f.Error {
				top, end = max(top, e), max(end, f.T[i])
			}
		}
		square(above)
		rows = append(rows, []*plot.Plot{above, errors})
	}
	for _, row := range rows {
		row[1].X.Min, row[1].X.Max, row[1].Y.Min, row[1].Y.Max = 0, end, 0, top
	}
	return write(w, title, entries, rows, vg.Points(230))
}

func fromAbove(points []so3.Vec3) (x, y []float64) {
	for _, v := range points {
		x, y = append(x, v.X), append(y, v.Y)
	}
	return x, y
}
