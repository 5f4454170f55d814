package plot

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Range is one figure of several things that are compared, measured more than once.
type Range struct {
	Name                string
	Median, Least, Most []float64 // of each thing, above 0; a median beyond the picture's top is drawn at it
}

// Ranges writes a PNG with a group for each of the names: of each series the median as a mark, and a line from the
// least to the greatest. The axis is logarithmic and ends at top; label is what it measures.
func Ranges(w io.Writer, title, label string, names []string, top float64, series []Range) error {
	if len(names) == 0 || len(series) == 0 {
		return fmt.Errorf("plot: ranges of %d things in %d series", len(names), len(series))
	}
	p := newPanel("", "", label)
	var entries []entry
	lo := top
	for i, s := range series {
		if len(s.Median) != len(names) || len(s.Least) != len(names) || len(s.Most) != len(names) {
			return fmt.Errorf("plot: series %s has other than %d values", s.Name, len(names))
		}
		style := lineStyle(i)
		style.Dashes = nil
		mark := draw.GlyphStyle{Color: style.Color, Radius: vg.Points(3), Shape: glyphOf(i)}
		for j := range names {
			if !(s.Least[j] > 0) {
				return fmt.Errorf("plot: series %s, %s: %g, expected more than 0", s.Name, names[j], s.Least[j])
			}
			x := float64(j) + 0.8*((float64(i)+0.5)/float64(len(series))-0.5)
			median, least, most := math.Min(s.Median[j], top), math.Min(s.Least[j], top), math.Min(s.Most[j], top)
			lo = min(lo, least)
			line(p, []float64{x, x}, []float64{least, most}, style)
			p.Add(&plotter.Scatter{XYs: plotter.XYs{{X: x, Y: median}}, GlyphStyle: mark})
		}
		entries = append(entries, entry{s.Name, glyphMark(mark)})
	}
	p.NominalX(names...)
	p.X.Min, p.X.Max = -0.5, float64(len(names))-0.5
	p.Y.Min, p.Y.Max = 0.8*lo, 1.1*top
	p.Y.Scale = plot.LogScale{}
	p.Y.Tick.Marker = plot.TickerFunc(logTicks)
	return write(w, title, entries, [][]*plot.Plot{{p}}, vg.Points(280))
}

// glyphOf returns the i-th shape: colours come again with another one.
func glyphOf(i int) draw.GlyphDrawer {
	shapes := []draw.GlyphDrawer{draw.CircleGlyph{}, draw.BoxGlyph{}, draw.PyramidGlyph{}}
	return shapes[i/len(palette)%len(shapes)]
}
