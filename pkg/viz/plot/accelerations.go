package plot

import (
	"fmt"
	"image/color"
	"io"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"vnd/pkg/core/so3"
)

// Accelerations writes a PNG of what latents cause, from above, m/s²: those sampled from the prior, those encoded from
// windows by condition, and the true winds.
func Accelerations(w io.Writer, title string, sampled []so3.Vec3, encoded [][]so3.Vec3, winds []so3.Vec3) error {
	if len(sampled) == 0 || len(winds) == 0 {
		return fmt.Errorf("plot: %d accelerations of samples, %d winds", len(sampled), len(winds))
	}
	p := newPanel("", "acceleration along x, m/s²", "along y, m/s²")
	add := func(points []so3.Vec3, style draw.GlyphStyle) {
		xy := make(plotter.XYs, len(points))
		for i, v := range points {
			xy[i] = plotter.XY{X: v.X, Y: v.Y}
		}
		if len(xy) > 0 {
			p.Add(&plotter.Scatter{XYs: xy, GlyphStyle: style})
		}
	}
	grey := draw.GlyphStyle{Color: color.Gray{Y: 0xc4}, Radius: vg.Points(1.1), Shape: draw.CircleGlyph{}}
	blue := draw.GlyphStyle{Color: palette[0], Radius: vg.Points(1.6), Shape: draw.CircleGlyph{}}
	cross := draw.GlyphStyle{Color: color.Black, Radius: vg.Points(5), Shape: draw.CrossGlyph{}}
	add(sampled, grey)
	thin := blue
	thin.Color = translucent(palette[0])
	for _, group := range encoded {
		add(group, thin)
	}
	add(winds, cross)
	square(p)
	entries := []entry{{"samples", glyphMark(larger(grey))}, {"z of windows", glyphMark(larger(blue))},
		{"true winds", glyphMark(cross)}}
	return write(w, title, entries, [][]*plot.Plot{{p}}, vg.Points(420))
}
