package plot

import (
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Curves writes a PNG of figures against what they depend on, which rises. Their axis is logarithmic where they lie too
// far apart to be compared on a linear one.
func Curves(w io.Writer, title, x, y string, at []float64, series []Series) error {
	if len(series) == 0 || len(at) == 0 {
		return fmt.Errorf("plot: %d curves of %d values", len(series), len(at))
	}
	p, all := newPanel("", x, y), newSpan()
	var entries []entry
	for i, s := range series {
		if len(s.Values) != len(at) {
			return fmt.Errorf("plot: series %s has %d values, expected %d", s.Name, len(s.Values), len(at))
		}
		if err := all.add(s.Values); err != nil {
			return fmt.Errorf("plot: series %s: %w", s.Name, err)
		}
		line(p, at, s.Values, lineStyle(i))
		entries = append(entries, entry{s.Name, lineMark(lineStyle(i))})
	}
	all.set(p)
	p.X.Min, p.X.Max = at[0], at[len(at)-1]
	return write(w, title, entries, [][]*plot.Plot{{p}}, vg.Points(250))
}
