package plot

import (
	"image/color"
	"io"
	"strings"
	"testing"

	"vnd/pkg/core/so3"
)

// TestTimeline: grounds where the spans are, lines of error and latents, marks at the swaps.
func TestTimeline(t *testing.T) {
	tl := Timeline{Title: "flight", Spans: []Span{{0, 4, "calm", true}, {4, 7, "east", false}, {7, 10, "west", false}},
		Marks: []Mark{{5, "ab12"}}}
	for i := range 500 {
		tl.T, tl.Error = append(tl.T, float64(i)/50), append(tl.Error, 0.1+0.05*float64(i%7))
		var z []float64
		if i > 250 {
			z = []float64{3 * float64(i/20%2), float64(i / 25 % 2), 0}
		}
		tl.Latents = append(tl.Latents, z)
	}
	img := picture(t, tl.Write)
	for i, name := range []string{"east", "west"} {
		if n := pixels(img, faint(i), 0.2, 0.5); n < 10000 {
			t.Errorf("%d pixels of the ground of %s behind the error", n, name)
		}
		if n := pixels(img, faint(i), 0.6, 1); n < 10000 {
			t.Errorf("%d pixels of the ground of %s behind the latent", n, name)
		}
		style := []int{0, 3}[i]
		if n := pixels(img, palette[style], 0.6, 1); n < 300 {
			t.Errorf("%d pixels of component %d", n, i)
		}
		if n := pixels(img, palette[style], 0, 0.5); n != 0 {
			t.Errorf("%d pixels of component %d above the latent", n, i)
		}
	}
	if n := pixels(img, faint(2), 0, 1); n != 0 {
		t.Errorf("%d pixels of a third ground", n)
	}
	left, right := 0, 0 // calm has no ground, and no latent is drawn before there is one
	b := img.Bounds()
	for x := b.Min.X; x < b.Max.X; x++ {
		for y := b.Dy() / 2; y < b.Dy(); y++ {
			if color.RGBAModel.Convert(img.At(x, y)) == color.RGBAModel.Convert(palette[0]) {
				if x < b.Min.X+b.Dx()/2 {
					left++
				} else {
					right++
				}
			}
		}
	}
	if left > 10 || right < 300 {
		t.Errorf("latent: %d pixels in the half without one, %d in the other", left, right)
	}
	calm := Timeline{T: tl.T, Error: tl.Error, Latents: make([][]float64, len(tl.T)), Spans: tl.Spans[:1]}
	if err := calm.Write(io.Discard); err != nil { // without a latent, and with nothing to name
		t.Errorf("of calm alone: %v", err)
	}
	tl.Error = tl.Error[1:]
	if err := tl.Write(io.Discard); err == nil || !strings.Contains(err.Error(), "500 times, 499 errors, 500 latents") {
		t.Errorf("error %v", err)
	}
}

func TestBeforeAfter(t *testing.T) {
	circle := func(r float64) (f Flown) {
		for i := range 200 {
			f.T, f.P, f.Error = append(f.T, float64(i)/50),
				append(f.P, so3.Vec3{X: r * float64(i%20) / 20, Y: r * float64(i%13) / 13}), append(f.Error, r/10)
		}
		return f
	}
	all := []Compared{{"east", circle(1).P, circle(1.5), circle(1.1)}, {"west", circle(1).P, circle(1.6), circle(1.2)}}
	img := picture(t, func(w io.Writer) error { return BeforeAfter(w, "learning", all) })
	for _, half := range [][2]float64{{0.15, 0.55}, {0.55, 1}} {
		for _, style := range []int{0, 3} {
			if n := pixels(img, palette[style], half[0], half[1]); n < 500 {
				t.Errorf("%d pixels of colour %d from %g to %g", n, style, half[0], half[1])
			}
		}
	}
	all[1].After.T = nil
	for want, c := range map[string][]Compared{"nothing to compare": nil, "west has 0 times, 200 positions": all} {
		if err := BeforeAfter(io.Discard, "", c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
