package plot

import (
	"fmt"
	"image/color"
	"io"
	"sort"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// LatentGroup are the latents of one flight, or of whatever else shares a colour.
type LatentGroup struct {
	Name    string
	Latents [][]float64 // each of the model's latent size
}

// glyphs tell groups of the same colour apart.
var glyphs = []draw.GlyphDrawer{draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}}

// maxGroups is how many groups colours and glyphs can tell apart.
var maxGroups = len(palette) * len(glyphs)

// LatentPlane writes a PNG of the latents' first two principal components, coloured by group. Of more
// groups than can be told apart, the largest are named and the others are grey.
func LatentPlane(w io.Writer, title string, groups []LatentGroup) error {
	plane, share, err := principalPlane(groups)
	if err != nil {
		return err
	}
	p := newPanel("", fmt.Sprintf("first principal component (%.0f %% of variance)", 100*share[0]),
		fmt.Sprintf("second principal component (%.0f %%)", 100*share[1]))
	p.X.Tick.Marker, p.Y.Tick.Marker = linearTicks(8), linearTicks(8)
	entries := scatter(p, groups, plane)
	p.X.Min, p.X.Max = widened(p.X.Min, p.X.Max)
	p.Y.Min, p.Y.Max = widened(p.Y.Min, p.Y.Max)
	return write(w, title, entries, [][]*plot.Plot{{p}}, vg.Points(420))
}

// scatter adds the groups' points, those of unnamed groups beneath, and returns the legend.
func scatter(p *plot.Plot, groups []LatentGroup, plane []plotter.XYs) []entry {
	named := largest(groups)
	var others plotter.XYs
	total := 0
	for i, points := range plane {
		total += len(points)
		if _, ok := named[i]; !ok {
			others = append(others, points...)
		}
	}
	radius := pointRadius(total)
	grey := draw.GlyphStyle{Color: color.Gray{Y: 0xc4}, Radius: radius, Shape: draw.CircleGlyph{}}
	if len(others) > 0 {
		p.Add(&plotter.Scatter{XYs: others, GlyphStyle: grey})
	}
	var entries []entry
	for i, g := range groups {
		rank, ok := named[i]
		if !ok || len(plane[i]) == 0 {
			continue
		}
		c := palette[rank%len(palette)]
		style := draw.GlyphStyle{Color: c, Radius: radius, Shape: glyphs[rank/len(palette)]}
		entries = append(entries, entry{g.Name, glyphMark(larger(style))})
		style.Color = translucent(c)
		p.Add(&plotter.Scatter{XYs: plane[i], GlyphStyle: style})
	}
	if n := len(groups) - len(named); n > 0 {
		entries = append(entries, entry{fmt.Sprintf("%d others", n), glyphMark(larger(grey))})
	}
	return entries
}

// principalPlane projects the latents, about their mean, on their first two principal components, and
// says which share of the variance each of them has.
func principalPlane(groups []LatentGroup) ([]plotter.XYs, [2]float64, error) {
	var data []float64
	size, n := 0, 0
	for _, g := range groups {
		for _, z := range g.Latents {
			if n == 0 {
				size = len(z)
			}
			if len(z) != size || size < 2 {
				return nil, [2]float64{}, fmt.Errorf("plot: a latent of %s has %d numbers, want %d, at least 2", g.Name,
					len(z), size)
			}
			for _, v := range z {
				if v*0 != 0 {
					return nil, [2]float64{},
						fmt.Errorf("plot: a latent of %s has the number %g, want finite ones", g.Name, v)
				}
			}
			data = append(data, z...)
			n++
		}
	}
	if n < 3 {
		return nil, [2]float64{}, fmt.Errorf("plot: %d latents, want at least 3", n)
	}
	x := mat.NewDense(n, size, data)
	var pc stat.PC
	if !pc.PrincipalComponents(x, nil) {
		return nil, [2]float64{}, fmt.Errorf("plot: the principal components of %d latents were not found", n)
	}
	var vectors, scores mat.Dense
	pc.VectorsTo(&vectors)
	for j := range size {
		column := mat.Col(nil, j, x)
		mean := stat.Mean(column, nil)
		for i := range n {
			x.Set(i, j, x.At(i, j)-mean)
		}
	}
	scores.Mul(x, vectors.Slice(0, size, 0, 2))
	sum := 0.0
	vars := pc.VarsTo(nil)
	for _, v := range vars {
		sum += v
	}
	var share [2]float64
	if sum > 0 {
		share = [2]float64{vars[0] / sum, vars[1] / sum}
	}
	plane := make([]plotter.XYs, len(groups))
	row := 0
	for i, g := range groups {
		for range g.Latents {
			plane[i] = append(plane[i], plotter.XY{X: scores.At(row, 0), Y: scores.At(row, 1)})
			row++
		}
	}
	return plane, share, nil
}

// largest returns the indices of the groups to name, each with its place in their order.
func largest(groups []LatentGroup) map[int]int {
	order := make([]int, len(groups))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool {
		return len(groups[order[a]].Latents) > len(groups[order[b]].Latents)
	})
	chosen := order[:min(len(order), maxGroups)]
	sort.Ints(chosen)
	named := make(map[int]int, len(chosen))
	for rank, i := range chosen {
		named[i] = rank
	}
	return named
}

// pointRadius shrinks with the number of points, so that a crowd stays readable.
func pointRadius(n int) vg.Length {
	switch {
	case n > 5000:
		return vg.Points(1.1)
	case n > 1000:
		return vg.Points(1.6)
	default:
		return vg.Points(2.4)
	}
}

// larger is a glyph at the size of a legend.
func larger(s draw.GlyphStyle) draw.GlyphStyle {
	s.Radius = vg.Points(3.2)
	return s
}

// translucent lets points beneath show through. Colours of package image are premultiplied.
func translucent(c color.RGBA) color.RGBA {
	part := func(v uint8) uint8 { return uint8(int(v) * 2 / 3) }
	return color.RGBA{part(c.R), part(c.G), part(c.B), part(c.A)}
}
