// Package plot draws what was learned and how well it predicts, as PNG pictures 1600 pixels wide.
//
// Colours are those of M. Okabe and K. Ito, "Color Universal Design" (2008), told apart by colour-blind
// readers; where there are more things than colours, dashes and glyphs tell them apart. Legends stand
// above the panels, where they cover nothing.
package plot

import (
	"bufio"
	"fmt"
	"image/color"
	"io"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
)

const (
	figureWidth = 720 * vg.Length(1) // points; 1600 px at dpi
	dpi         = 160
	margin      = 10 * vg.Length(1)
	gap         = 14 * vg.Length(1) // between panels

	titleSize  = font.Length(13)
	labelSize  = font.Length(10.5)
	tickSize   = font.Length(9.5)
	legendSize = font.Length(10)
)

var (
	ink  = color.Gray{Y: 0x22}
	soft = color.Gray{Y: 0x88}
	grid = color.Gray{Y: 0xe4}
)

// palette is Okabe and Ito's without its yellow, which is too pale for a line on white.
var palette = []color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0x22, 0x22, 0x22, 0xff}, // black
}

// lineStyle returns the i-th style: colours first, then the same colours dashed.
func lineStyle(i int) draw.LineStyle {
	dashes := [][]vg.Length{nil, {6, 2}, {2, 2}}
	return draw.LineStyle{
		Color: palette[i%len(palette)], Width: vg.Points(1.6), Dashes: dashes[i/len(palette)%len(dashes)],
	}
}

// sans is the one typeface of a picture.
func sans(size font.Length, bold bool) text.Style {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
	if bold {
		f.Weight = xfont.WeightBold
	}
	return text.Style{Color: ink, Font: f, Handler: plot.DefaultTextHandler, XAlign: draw.XCenter, YAlign: draw.YTop}
}

// newPanel returns an empty plot in the picture's style.
func newPanel(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.Title.TextStyle = sans(labelSize, true)
	p.Title.Padding = vg.Points(4)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		rotation, xAlign, yAlign := a.Label.TextStyle.Rotation, a.Tick.Label.XAlign, a.Tick.Label.YAlign
		labelX, labelY := a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign
		a.Label.TextStyle = sans(labelSize, false)
		a.Label.TextStyle.Rotation, a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign = rotation, labelX, labelY
		a.Tick.Label = sans(tickSize, false)
		a.Tick.Label.XAlign, a.Tick.Label.YAlign = xAlign, yAlign
		a.LineStyle = draw.LineStyle{Color: soft, Width: vg.Points(0.6)}
		a.Tick.LineStyle, a.Tick.Length = a.LineStyle, vg.Points(3)
		a.Label.Padding, a.Padding = vg.Points(3), 0
		a.Tick.Marker = linearTicks(5)
	}
	g := plotter.NewGrid()
	g.Horizontal = draw.LineStyle{Color: grid, Width: vg.Points(0.6)}
	g.Vertical = g.Horizontal
	p.Add(g)
	return p
}

// entry is one name of a legend with the mark that it explains.
type entry struct {
	name string
	mark func(c draw.Canvas) // draws into a cell
}

// lineMark is a short piece of a line.
func lineMark(style draw.LineStyle) func(draw.Canvas) {
	return func(c draw.Canvas) {
		y := (c.Min.Y + c.Max.Y) / 2
		c.StrokeLine2(style, c.Min.X, y, c.Max.X, y)
	}
}

// glyphMark is a single point.
func glyphMark(style draw.GlyphStyle) func(draw.Canvas) {
	return func(c draw.Canvas) { c.DrawGlyph(style, c.Center()) }
}

const (
	markWidth = 20 * vg.Length(1)
	rowHeight = 15 * vg.Length(1)
	textLift  = 1.2 * vg.Length(1) // centres small letters, not the line, on the mark
)

// legend lays entries out in equal columns, as many as fit into the picture's width.
type legend struct {
	entries []entry
	columns int
	column  vg.Length // width
}

func newLegend(entries []entry) legend {
	style := sans(legendSize, false)
	l := legend{entries: entries}
	for _, e := range entries {
		l.column = max(l.column, markWidth+vg.Points(6)+style.Width(e.name)+vg.Points(14))
	}
	l.columns = max(1, min(len(entries), int((figureWidth-2*margin)/max(l.column, 1))))
	return l
}

func (l *legend) height() vg.Length {
	return rowHeight * vg.Length((len(l.entries)+l.columns-1)/l.columns)
}

// draw writes the legend from the top left of c, row by row.
func (l *legend) draw(c draw.Canvas) {
	style := sans(legendSize, false)
	style.XAlign, style.YAlign = draw.XLeft, draw.YCenter
	for i, e := range l.entries {
		x := c.Min.X + vg.Length(i%l.columns)*l.column
		top := c.Max.Y - vg.Length(i/l.columns)*rowHeight
		cell := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
			Min: vg.Point{X: x, Y: top - rowHeight}, Max: vg.Point{X: x + markWidth, Y: top},
		}}
		e.mark(cell)
		c.FillText(style, vg.Point{X: x + markWidth + vg.Points(6), Y: top - rowHeight/2 + textLift}, e.name)
	}
}

// broken has a text in lines no wider than width, as far as its words are.
func broken(style draw.TextStyle, text string, width vg.Length) string {
	words := strings.Fields(text)
	if len(words) == 0 {
		return ""
	}
	lines, line := "", words[0]
	for _, word := range words[1:] {
		if longer := line + " " + word; style.Width(longer) <= width {
			line = longer
			continue
		}
		lines, line = lines+line+"\n", word
	}
	return lines + line
}

// write draws title, legend and panels, in rows of equal height, and writes the PNG.
func write(w io.Writer, title string, entries []entry, panels [][]*plot.Plot, panelHeight vg.Length) error {
	style := sans(titleSize, true)
	style.XAlign = draw.XLeft
	title = broken(style, title, figureWidth-2*margin)
	l := newLegend(entries)
	head := style.Height(title) + vg.Points(8) + l.height() + vg.Points(8)
	rows := vg.Length(len(panels))
	height := 2*margin + head + rows*panelHeight + (rows-1)*gap
	img := vgimg.NewWith(vgimg.UseWH(figureWidth, height), vgimg.UseDPI(dpi), vgimg.UseBackgroundColor(color.White))
	c := draw.Crop(draw.New(img), margin, -margin, margin, -margin)
	c.FillText(style, vg.Point{X: c.Min.X, Y: c.Max.Y}, title)
	l.draw(draw.Crop(c, 0, 0, 0, -(style.Height(title) + vg.Points(8))))

	tiles := draw.Tiles{Rows: len(panels), Cols: len(panels[0]), PadX: gap, PadY: gap}
	canvases := plot.Align(panels, tiles, draw.Crop(c, 0, 0, 0, -head))
	for i, row := range panels {
		for j, p := range row {
			p.Draw(canvases[i][j])
		}
	}
	out := bufio.NewWriter(w)
	if _, err := (vgimg.PngCanvas{Canvas: img}).WriteTo(out); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// line adds a line through the points; a y that is not finite breaks it.
func line(p *plot.Plot, x, y []float64, style draw.LineStyle) {
	var run plotter.XYs
	flush := func() {
		if len(run) > 1 {
			p.Add(&plotter.Line{XYs: run, LineStyle: style})
		}
		run = nil
	}
	for i := range x {
		if y[i]*0 != 0 {
			flush()
			continue
		}
		run = append(run, plotter.XY{X: x[i], Y: y[i]})
	}
	flush()
}

// widened is a range with a little margin at both ends, so that no mark is cut at the frame. Where nothing
// was drawn, there is no range.
func widened(lo, hi float64) (float64, float64) {
	if !(lo <= hi) {
		return -1, 1
	}
	margin := 0.03 * (hi - lo)
	return lo - margin, hi + margin
}
