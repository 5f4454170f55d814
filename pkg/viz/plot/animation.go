package plot

import (
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// Shape is a filled outline seen from above, m, or a line of some width. Its colour is that of a series with a number.
type Shape struct {
	X, Y  []float64
	Width float64 // m; 0: it is filled
	Color int
}

// Sizes of an animation, pixels.
const (
	panelSize = 320
	headSize  = 24
)

// Animate writes a GIF that begins anew in the end: panels with names, side by side, from −reach to reach, m. frames
// are the shapes of each panel, one frame after the other; each stays for some hundredths of a second.
func Animate(w io.Writer, names []string, reach float64, hundredths int, frames [][][]Shape) error {
	if len(names) == 0 || len(frames) == 0 || !(reach > 0) {
		return fmt.Errorf("plot: an animation of %d frames of %d panels over %g m", len(frames), len(names), reach)
	}
	out, colors := &gif.GIF{}, blends()
	var before *image.Paletted
	for k, panels := range frames {
		if len(panels) != len(names) {
			return fmt.Errorf("plot: frame %d has %d panels, expected %d", k, len(panels), len(names))
		}
		all := image.NewRGBA(image.Rect(0, 0, panelSize*len(names), headSize+panelSize))
		draw.Draw(all, all.Bounds(), image.White, image.Point{}, draw.Src)
		for i, shapes := range panels {
			(&font.Drawer{Dst: all, Src: image.NewUniform(ink), Face: basicfont.Face7x13,
				Dot: fixed.P(panelSize*i+8, headSize-8)}).DrawString(names[i])
			at := image.Rect(panelSize*i+2, headSize, panelSize*(i+1)-2, headSize+panelSize)
			draw.Draw(all, at, image.NewUniform(color.Gray{Y: 0xf4}), image.Point{}, draw.Src)
			for _, s := range shapes {
				s.draw(all, at, reach)
			}
		}
		frame := image.NewPaletted(all.Bounds(), colors)
		draw.Draw(frame, frame.Bounds(), all, image.Point{}, draw.Src)
		out.Image, out.Delay = append(out.Image, changed(before, frame)), append(out.Delay, hundredths)
		before = frame
	}
	return gif.EncodeAll(w, out)
}

// changed is the part of a frame that differs from the one before; the others stay as they are.
func changed(before, now *image.Paletted) *image.Paletted {
	if before == nil {
		return now
	}
	var part image.Rectangle
	for i, c := range now.Pix {
		if c != before.Pix[i] {
			x, y := i%now.Stride, i/now.Stride
			part = part.Union(image.Rect(x, y, x+1, y+1))
		}
	}
	if part.Empty() {
		part = image.Rect(0, 0, 1, 1)
	}
	return now.SubImage(part).(*image.Paletted)
}

// blends are the colours of series, and those between them and the ground.
func blends() (p color.Palette) {
	const levels = 8
	p = append(p, color.White, ink)
	for _, c := range palette {
		for k := range levels {
			mix := func(x uint8) uint8 { return uint8(0xf4 + (int(x)-0xf4)*(k+1)/levels) }
			p = append(p, color.RGBA{mix(c.R), mix(c.G), mix(c.B), 0xff})
		}
	}
	return append(p, color.Gray{Y: 0xf4})
}

// draw draws a shape into a panel of the picture.
func (s *Shape) draw(on *image.RGBA, at image.Rectangle, reach float64) {
	scale := float64(at.Dx()) / (2 * reach)
	r := vector.NewRasterizer(at.Dx(), at.Dy())
	polygon := func(x, y []float64) {
		for i := range x {
			px, py := float32((x[i]+reach)*scale), float32((reach-y[i])*scale)
			if i == 0 {
				r.MoveTo(px, py)
			} else {
				r.LineTo(px, py)
			}
		}
		r.ClosePath()
	}
	if s.Width == 0 {
		polygon(s.X, s.Y)
	}
	for i := 1; i < len(s.X) && s.Width > 0; i++ {
		x0, y0, x1, y1 := s.X[i-1], s.Y[i-1], s.X[i], s.Y[i]
		long := math.Hypot(x1-x0, y1-y0)
		if long == 0 {
			continue
		}
		nx, ny := s.Width/2*(y0-y1)/long, s.Width/2*(x1-x0)/long
		polygon([]float64{x0 + nx, x1 + nx, x1 - nx, x0 - nx}, []float64{y0 + ny, y1 + ny, y1 - ny, y0 - ny})
	}
	r.Draw(on, at, image.NewUniform(palette[s.Color%len(palette)]), image.Point{})
}
