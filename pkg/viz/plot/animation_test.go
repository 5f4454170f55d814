package plot

import (
	"bytes"
	"image"
	"image/draw"
	"image/gif"
	"io"
	"math"
	"testing"
)

// TestAnimate: a square that moves from panel's left to its right is there in each frame, and not in the other panel.
func TestAnimate(t *testing.T) {
	square := func(x float64) []Shape {
		return []Shape{{X: []float64{x - 0.1, x + 0.1, x + 0.1, x - 0.1}, Y: []float64{-0.1, -0.1, 0.1, 0.1}}}
	}
	var out bytes.Buffer
	err := Animate(&out, []string{"one", "other"}, 1, 4, [][][]Shape{{square(-0.5), nil}, {square(0.5), nil}})
	if err != nil {
		t.Fatal(err)
	}
	g, err := gif.DecodeAll(&out)
	if err != nil || len(g.Image) != 2 || g.Delay[1] != 4 {
		t.Fatalf("%v, %d frames", err, len(g.Image))
	}
	shown := image.NewRGBA(g.Image[0].Bounds())
	blue := func(x, y int) bool { return shown.At(x, y) == palette[0] }
	const y = headSize + panelSize/2
	for frame, x := range []int{panelSize / 4, 3 * panelSize / 4} {
		draw.Draw(shown, g.Image[frame].Bounds(), g.Image[frame], g.Image[frame].Bounds().Min, draw.Src)
		if !blue(x, y) || blue(panelSize-x, y) || blue(panelSize+x, y) || blue(x, y-panelSize/4) {
			t.Errorf("frame %d does not have the square where it belongs", frame)
		}
	}
	for _, bad := range []error{Animate(io.Discard, nil, 1, 4, [][][]Shape{{}}),
		Animate(io.Discard, []string{"a"}, 1, 4, [][][]Shape{{nil, nil}}),
		Animate(io.Discard, []string{"a"}, math.NaN(), 4, [][][]Shape{{nil}})} {
		if bad == nil {
			t.Error("drawn in any case")
		}
	}
}

// TestCurves: a picture of curves, however far apart they lie; what does not fit is refused.
func TestCurves(t *testing.T) {
	at := []float64{0, 1, 2}
	img := picture(t, func(w io.Writer) error {
		return Curves(w, "t", "x", "y", at, []Series{{"a", []float64{1, 2, 3}}, {"b", []float64{100, 200, 300}}})
	})
	for i := range 2 {
		if n := pixels(img, lineStyle(i).Color, 0.2, 1); n < 400 {
			t.Errorf("%d pixels of line %d", n, i)
		}
	}
	for _, bad := range [][]Series{nil, {{"a", []float64{1}}}, {{"a", []float64{1, 2, math.NaN()}}}} {
		if Curves(io.Discard, "t", "x", "y", at, bad) == nil {
			t.Errorf("%v is drawn", bad)
		}
	}
}
