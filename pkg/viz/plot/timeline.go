package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Timeline is a flight in which something else blows now and then, and in which the bundle changes.
type Timeline struct {
	Title   string
	T       []float64   // s
	Error   []float64   // position error, m
	Latents [][]float64 // that the policy flew under; empty where it had none
	Spans   []Span      // grounds of the panels
	Marks   []Mark      // upright lines
}

// Span is a time in which one thing holds.
type Span struct {
	From, To float64 // s
	Name     string  // those of the same name have the same colour
	Pale     bool    // without a colour
}

// Mark is a moment.
type Mark struct {
	T    float64 // s
	Name string
}

// Write writes a PNG: error over time above, the latent's first two principal components below.
func (t *Timeline) Write(w io.Writer) error {
	n := len(t.T)
	if n == 0 || len(t.Error) != n || len(t.Latents) != n {
		return fmt.Errorf("plot: %d times, %d errors, %d latents", n, len(t.Error), len(t.Latents))
	}
	components, err := t.components()
	if err != nil {
		return err
	}
	errors, latents := newPanel("", "time, s", "position error, m"),
		newPanel("", "time, s", "latent, principal components")
	lo, hi := -1., 1.
	for _, c := range components {
		for _, x := range c {
			if x*0 == 0 {
				lo, hi = min(lo, x), max(hi, x)
			}
		}
	}
	lo, hi = widened(lo, hi)
	top := 1.08 * slices.Max(t.Error)
	t.grounds(errors, 0, top)
	entries := t.grounds(latents, lo, hi)
	ink := lineStyle(6)
	ink.Width = vg.Points(1)
	line(errors, t.T, t.Error, ink)
	for i, c := range components {
		line(latents, t.T, c, lineStyle([]int{0, 3}[i]))
	}
	for _, p := range []*plot.Plot{errors, latents} {
		p.X.Min, p.X.Max, p.X.Tick.Marker = t.T[0], t.T[n-1], linearTicks(10)
	}
	errors.Y.Min, errors.Y.Max, latents.Y.Min, latents.Y.Max = 0, top, lo, hi
	return write(w, t.Title, entries, [][]*plot.Plot{{errors}, {latents}}, vg.Points(210))
}

// components are the latents' first two principal ones, NaN where there is no latent; none where there are too few.
func (t *Timeline) components() (c [][]float64, err error) {
	g := LatentGroup{Name: t.Title}
	for _, z := range t.Latents {
		if len(z) > 0 {
			g.Latents = append(g.Latents, z)
		}
	}
	const least = 3 // of which components can be taken
	if len(g.Latents) < least {
		return nil, nil
	}
	plane, _, err := principalPlane([]LatentGroup{g})
	if err != nil {
		return nil, err
	}
	c = [][]float64{make([]float64, len(t.T)), make([]float64, len(t.T))}
	k := 0
	for i, z := range t.Latents {
		c[0][i], c[1][i] = math.NaN(), math.NaN()
		if len(z) > 0 {
			c[0][i], c[1][i] = plane[0][k].X, plane[0][k].Y
			k++
		}
	}
	return c, nil
}

// grounds colours the spans and draws the marks; it returns the legend.
func (t *Timeline) grounds(p *plot.Plot, lo, hi float64) (entries []entry) {
	var names []string
	for _, s := range t.Spans {
		if s.Pale {
			continue
		}
		k := slices.Index(names, s.Name)
		if k < 0 {
			k = len(names)
			names = append(names, s.Name)
			entries = append(entries, entry{s.Name, areaMark(faint(k))})
		}
		p.Add(&plotter.Polygon{XYs: []plotter.XYs{{{X: s.From, Y: lo}, {X: s.To, Y: lo}, {X: s.To, Y: hi},
			{X: s.From, Y: hi}}}, Color: faint(k)})
	}
	style := lineStyle(6)
	style.Width, style.Dashes = vg.Points(1.1), []vg.Length{5, 2}
	for _, m := range t.Marks {
		line(p, []float64{m.T, m.T}, []float64{lo, hi}, style)
		label := sans(tickSize, false)
		label.XAlign, label.YAlign = draw.XLeft, draw.YTop
		p.Add(&plotter.Labels{XYs: plotter.XYs{{X: m.T, Y: hi}}, Labels: []string{" " + m.Name},
			TextStyle: []draw.TextStyle{label}})
	}
	if len(t.Marks) > 0 {
		entries = append(entries, entry{"bundle swapped", lineMark(style)})
	}
	return entries
}

// faint is a colour for a ground.
func faint(i int) color.Color {
	const share = 0.22
	c := palette[i%len(palette)]
	pale := func(x uint8) uint8 { return uint8(255 - share*(255-float64(x))) }
	return color.RGBA{pale(c.R), pale(c.G), pale(c.B), 0xff}
}

// areaMark is a piece of a ground.
func areaMark(c color.Color) func(draw.Canvas) {
	return func(v draw.Canvas) {
		const inset = 3 * vg.Length(1)
		v.FillPolygon(c, []vg.Point{{X: v.Min.X, Y: v.Min.Y + inset}, {X: v.Max.X, Y: v.Min.Y + inset},
			{X: v.Max.X, Y: v.Max.Y - inset}, {X: v.Min.X, Y: v.Max.Y - inset}})
	}
}
