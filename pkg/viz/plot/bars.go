package plot

import (
	"fmt"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Series is one figure of several things that are compared.
type Series struct {
	Name   string
	Values []float64 // of each thing
}

// Bars writes a PNG of horizontal bars, a group for each of the names from the top down, a bar for each series.
func Bars(w io.Writer, title string, names []string, series []Series) error {
	if len(names) == 0 || len(series) == 0 {
		return fmt.Errorf("plot: bars of %d things in %d series", len(names), len(series))
	}
	p := newPanel("", "", "")
	width := vg.Points(14) / vg.Length(len(series))
	var entries []entry
	for i, s := range series {
		if len(s.Values) != len(names) {
			return fmt.Errorf("plot: series %s has %d values for %d names", s.Name, len(s.Values), len(names))
		}
		values := make(plotter.Values, len(names))
		for j, v := range s.Values {
			values[len(names)-1-j] = v
		}
		b, err := plotter.NewBarChart(values, width)
		if err != nil {
			return fmt.Errorf("plot: series %s: %w", s.Name, err)
		}
		b.Horizontal, b.Color, b.LineStyle.Width = true, palette[i%len(palette)], 0
		b.Offset = width * (vg.Length(len(series)-1)/2 - vg.Length(i))
		p.Add(b)
		entries = append(entries, entry{s.Name,
			glyphMark(draw.GlyphStyle{Color: palette[i%len(palette)], Radius: vg.Points(3.2), Shape: draw.BoxGlyph{}})})
	}
	labels := make([]string, len(names))
	for j, name := range names {
		labels[len(names)-1-j] = name
	}
	p.NominalY(labels...)
	p.X.Min = 0
	return write(w, title, entries, [][]*plot.Plot{{p}}, vg.Points(40)+vg.Points(22)*vg.Length(len(names)))
}
