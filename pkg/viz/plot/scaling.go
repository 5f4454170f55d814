package plot

import (
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Scaling is how long a work takes against one of its sizes, in several ways of doing it.
type Scaling struct {
	Size  string // what grows
	Sizes []float64
	Ways  []Series // times, ms; in all panels of a picture the same ways
}

// TimeAgainstSize writes a PNG with a panel for each size. Both axes begin at 0: what grows in proportion lies on a
// straight line through the corner.
func TimeAgainstSize(w io.Writer, title string, panels []Scaling) error {
	if len(panels) == 0 {
		return fmt.Errorf("plot: no times against sizes")
	}
	var entries []entry
	var row []*plot.Plot
	for i, s := range panels {
		p := newPanel("", s.Size, "time per epoch, ms")
		for j, way := range s.Ways {
			if len(s.Sizes) == 0 || len(way.Values) != len(s.Sizes) {
				return fmt.Errorf("plot: %s has %d times for %d of %s", way.Name, len(way.Values), len(s.Sizes), s.Size)
			}
			style, points := lineStyle(j), make(plotter.XYs, len(s.Sizes))
			for k, size := range s.Sizes {
				points[k] = plotter.XY{X: size, Y: way.Values[k]}
			}
			line(p, s.Sizes, way.Values, style)
			p.Add(&plotter.Scatter{XYs: points,
				GlyphStyle: draw.GlyphStyle{Color: style.Color, Radius: vg.Points(2.6), Shape: draw.CircleGlyph{}}})
			if i == 0 {
				entries = append(entries, entry{way.Name, lineMark(style)})
			}
		}
		p.X.Min, p.Y.Min = 0, 0
		p.X.Max, p.Y.Max = 1.03*p.X.Max, 1.03*p.Y.Max // no mark is cut at the frame
		row = append(row, p)
	}
	return write(w, title, entries, [][]*plot.Plot{row}, vg.Points(250))
}
