package plot

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/plot"
	"pgregory.net/rapid"
)

// picture draws twice, wants the same bytes, and returns the decoded PNG.
func picture(t *testing.T, drawTo func(io.Writer) error) image.Image {
	t.Helper()
	var first, second bytes.Buffer
	for _, w := range []io.Writer{&first, &second} {
		if err := drawTo(w); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same data made different pictures")
	}
	img, err := png.Decode(&first)
	if err != nil {
		t.Fatal(err)
	}
	if w := img.Bounds().Dx(); w != 1600 {
		t.Errorf("%d pixels wide, want 1600", w)
	}
	return img
}

// pixels counts those of exactly this colour between two rows, as shares of the height.
func pixels(img image.Image, c color.Color, from, to float64) int {
	want := color.RGBAModel.Convert(c)
	b := img.Bounds()
	n := 0
	for y := int(from * float64(b.Dy())); y < int(to*float64(b.Dy())); y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if color.RGBAModel.Convert(img.At(x, y)) == want {
				n++
			}
		}
	}
	return n
}

// power is a curve of n errors that ends at last.
func power(n int, last float64) []float64 {
	y := make([]float64, n)
	for i := range y {
		y[i] = last * math.Pow(float64(i+1)/float64(n), 1.5)
	}
	return y
}

func TestErrorOverHorizon(t *testing.T) {
	var curves []ErrorCurves
	for i, name := range []string{"prior", "recent mean", "VND"} {
		f := 1 / float64(i+1)
		curves = append(curves, ErrorCurves{name, power(50, .6*f), power(50, 1.5*f), power(50, 9*f)})
	}
	img := picture(t, func(w io.Writer) error { return ErrorOverHorizon(w, "Error", 0.02, curves) })
	for i := range curves {
		if n := pixels(img, palette[i], 0.3, 1); n < 500 {
			t.Errorf("%s: %d pixels of its line in the panels", curves[i].Name, n)
		}
		if n := pixels(img, palette[i], 0, 0.3); n < 50 {
			t.Errorf("%s: %d pixels of its line in the legend", curves[i].Name, n)
		}
	}
	if n := pixels(img, palette[len(curves)], 0, 1); n != 0 {
		t.Errorf("%d pixels of a predictor that is not there", n)
	}
}

func TestErrorOverHorizonRefuses(t *testing.T) {
	ok := ErrorCurves{"ok", power(5, 1), power(5, 1), power(5, 1)}
	nan := ErrorCurves{"nan", power(5, 1), []float64{1, 2, math.NaN(), 4, 5}, power(5, 1)}
	negative := ErrorCurves{"negative", []float64{1, -0.5, 1, 1, 1}, power(5, 1), power(5, 1)}
	short := ErrorCurves{"short", power(5, 1), power(5, 1), power(4, 1)}
	for want, c := range map[string]struct {
		dt     float64
		curves []ErrorCurves
	}{
		"0 predictors":                                   {0.02, nil},
		"steps of 0 s":                                   {0, []ErrorCurves{ok}},
		"short has 4 steps of attitude":                  {0.02, []ErrorCurves{ok, short}},
		"empty has 0 steps of position":                  {0.02, []ErrorCurves{{Name: "empty"}}},
		"nan: velocity error is NaN after 3 steps":       {0.02, []ErrorCurves{ok, nan}},
		"negative: position error is -0.5 after 2 steps": {0.02, []ErrorCurves{negative}},
	} {
		err := ErrorOverHorizon(io.Discard, "", c.dt, c.curves)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestAxisChoice: curves far apart get a logarithmic axis, unless one of them is zero.
func TestAxisChoice(t *testing.T) {
	for _, c := range []struct {
		curves [][]float64
		log    bool
	}{
		{[][]float64{power(9, 1), power(9, 2)}, false},
		{[][]float64{power(9, 1), power(9, 10)}, true},
		{[][]float64{make([]float64, 9), power(9, 10)}, false},
		{[][]float64{make([]float64, 9)}, false},
	} {
		s := newSpan()
		for _, y := range c.curves {
			if err := s.add(y); err != nil {
				t.Fatal(err)
			}
		}
		p := plot.New()
		s.set(p)
		if _, log := p.Y.Scale.(plot.LogScale); log != c.log {
			t.Errorf("curves that end at %g and %g: logarithmic is %v", s.lastLo, s.lastHi, log)
		}
		if !(p.Y.Max > p.Y.Min) || c.log && !(p.Y.Min > 0) {
			t.Errorf("axis from %g to %g", p.Y.Min, p.Y.Max)
		}
	}
}

func TestResidualAcceleration(t *testing.T) {
	n := 400
	time := make([]float64, n)
	var measured, predicted [3][]float64
	for i := range time {
		time[i] = float64(i) * 0.02
		for axis := range 3 {
			predicted[axis] = append(predicted[axis], math.Sin(time[i]+float64(axis)))
			measured[axis] = append(measured[axis], 1.5*math.Sin(time[i]+float64(axis)))
		}
	}
	whole := picture(t, func(w io.Writer) error {
		return ResidualAcceleration(w, "Residual", time, measured,
			predicted)
	})
	for i := 100; i < 300; i++ {
		predicted[1][i] = math.NaN()
	}
	broken := picture(t, func(w io.Writer) error {
		return ResidualAcceleration(w, "Residual", time, measured,
			predicted)
	})
	all, left := pixels(whole, palette[0], 0.4, 0.65), pixels(broken, palette[0], 0.4, 0.65)
	if all < 1000 || left > all*6/10 || left < all*4/10 {
		t.Errorf("%d pixels of the line, %d with half of it missing", all, left)
	}
	for i := range predicted[1] {
		predicted[1][i], measured[1][i] = math.NaN(), math.NaN()
	}
	picture(t, func(w io.Writer) error { return ResidualAcceleration(w, "No y at all", time, measured, predicted) })
	predicted[2] = predicted[2][1:]
	err := ResidualAcceleration(io.Discard, "", time, measured, predicted)
	if err == nil || !strings.Contains(err.Error(), "400 measured and 399 predicted accelerations along z") {
		t.Errorf("error %v", err)
	}
	if err := ResidualAcceleration(io.Discard, "", nil, measured, predicted); err == nil {
		t.Error("accepted without times")
	}
}

func TestRMS(t *testing.T) {
	nan := math.NaN()
	if got := rmsOf([]float64{3, nan, -3}, nil); got != 3 {
		t.Errorf("got %g, want 3", got)
	}
	if got := rmsOf([]float64{3, 9, 5}, []float64{1, nan, 3}); got != 2 {
		t.Errorf("got %g, want 2", got)
	}
}

// cloud is n latents with the given standard deviations along rotated axes.
func cloud(r *rand.Rand, n int, centre, a, b float64) [][]float64 {
	var out [][]float64
	for range n {
		u, v := a*r.NormFloat64(), b*r.NormFloat64()
		out = append(out, []float64{centre + 0.6*u - 0.8*v, 5, centre + 0.8*u + 0.6*v})
	}
	return out
}

// TestPrincipalPlane finds the axes and variances of a known cloud.
func TestPrincipalPlane(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	plane, share, err := principalPlane([]LatentGroup{{"a", cloud(r, 3000, 7, 4, 1)}, {"none", nil},
		{"b", cloud(r, 1000, 7, 4, 1)}})
	if err != nil {
		t.Fatal(err)
	}
	if len(plane[0]) != 3000 || len(plane[1]) != 0 || len(plane[2]) != 1000 {
		t.Fatalf("%d, %d, %d points", len(plane[0]), len(plane[1]), len(plane[2]))
	}
	if math.Abs(share[0]-16.0/17) > 0.01 || math.Abs(share[0]+share[1]-1) > 1e-9 {
		t.Errorf("shares of variance %v, want 16/17 and 1/17", share)
	}
	var sx, sy, xx, yy, xy float64
	for _, p := range append(plane[0], plane[2]...) {
		sx, sy, xx, yy, xy = sx+p.X, sy+p.Y, xx+p.X*p.X, yy+p.Y*p.Y, xy+p.X*p.Y
	}
	if math.Abs(sx)+math.Abs(sy) > 1e-8 || math.Abs(xy) > 1e-6*xx {
		t.Errorf("scores have sums %g, %g and covariance %g", sx, sy, xy)
	}
	if math.Abs(math.Sqrt(xx/4000)-4) > 0.15 || math.Abs(math.Sqrt(yy/4000)-1) > 0.04 {
		t.Errorf("standard deviations %g, %g, want 4, 1", math.Sqrt(xx/4000), math.Sqrt(yy/4000))
	}
}

func TestLatentPlane(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var groups []LatentGroup
	for i := range maxGroups + 3 {
		groups = append(groups, LatentGroup{strings.Repeat("x", i), cloud(r, 5+i, float64(i), 0.1, 0.1)})
	}
	named := largest(groups)
	if _, ok := named[2]; ok || len(named) != maxGroups || named[3] != 0 || named[maxGroups+2] != maxGroups-1 {
		t.Errorf("named %v, want all but the three smallest, in their order", named)
	}
	img := picture(t, func(w io.Writer) error { return LatentPlane(w, "Latents", groups) })
	grey := color.Gray{Y: 0xc4} // a few pixels of letters have this colour, too
	if n := pixels(img, grey, 0, 1); n < 300 {
		t.Errorf("%d grey pixels of the groups without a name", n)
	}
	few := picture(t, func(w io.Writer) error { return LatentPlane(w, "Latents", groups[:2]) })
	if n := pixels(few, grey, 0, 1); n > 100 {
		t.Errorf("%d grey pixels, though every group has a name", n)
	}
	same := []LatentGroup{{"same", [][]float64{{1, 2}, {1, 2}, {1, 2}}}}
	picture(t, func(w io.Writer) error { return LatentPlane(w, "Without variance", same) })
}

func TestLatentPlaneRefuses(t *testing.T) {
	for want, latents := range map[string][][]float64{
		"2 latents, want at least 3":             {{1, 2}, {3, 4}},
		"a latent of g has 1 numbers, want 2":    {{1, 2}, {3, 4}, {5}},
		"a latent of g has 1 numbers, want 1, a": {{1}, {2}, {3}},
		"has the number NaN":                     {{1, 2}, {3, 4}, {5, math.NaN()}},
	} {
		if err := LatentPlane(io.Discard, "", []LatentGroup{{"g", latents}}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk is full") }

func TestFullDisk(t *testing.T) {
	err := ErrorOverHorizon(full{}, "", 1, []ErrorCurves{{"a", []float64{1}, []float64{1}, []float64{1}}})
	if err == nil || !strings.Contains(err.Error(), "disk is full") {
		t.Errorf("error %v", err)
	}
}

// TestLinearTicks: few, even, inside, and with labels that tell them apart.
func TestLinearTicks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		lo := rapid.Float64Range(-1000, 1000).Draw(rt, "lo")
		hi := lo + math.Pow(10, rapid.Float64Range(-3, 4).Draw(rt, "log range"))
		ticks := linearTicks(5)(lo, hi)
		if len(ticks) < 2 || len(ticks) > 6 {
			rt.Fatalf("%d ticks from %g to %g", len(ticks), lo, hi)
		}
		seen := map[string]bool{}
		for _, tick := range ticks {
			if slack := 1e-6 * (hi - lo); tick.Value < lo-slack || tick.Value > hi+slack || seen[tick.Label] {
				rt.Fatalf("tick %+v from %g to %g", tick, lo, hi)
			}
			seen[tick.Label] = true
		}
	})
	if got := linearTicks(5)(-1, 1); got[0].Label != "−1.0" || got[2].Label != "0.0" {
		t.Errorf("labels %+v", got)
	}
	if got := linearTicks(5)(0, 0); len(got) != 1 {
		t.Errorf("ticks of an empty range %+v", got)
	}
}

func TestLogTicks(t *testing.T) {
	labels := func(lo, hi float64) (s []string) {
		for _, tick := range logTicks(lo, hi) {
			if tick.Label != "" {
				s = append(s, tick.Label)
			}
		}
		return s
	}
	if got := strings.Join(labels(0.03, 2.5), " "); got != "0.05 0.1 0.2 0.5 1 2" {
		t.Errorf("labels %s", got)
	}
	if got := strings.Join(labels(1e-4, 1), " "); got != "0.0001 0.001 0.01 0.1 1" {
		t.Errorf("labels of a wide range %s", got)
	}
}

// TestLegendFits: no entry leaves the picture or meets another, however many and however long.
func TestLegendFits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var entries []entry
		for range rapid.IntRange(0, 30).Draw(rt, "entries") {
			entries = append(entries, entry{strings.Repeat("w", rapid.IntRange(0, 80).Draw(rt, "letters")), nil})
		}
		l := newLegend(entries)
		rows := int(math.Round(float64(l.height() / rowHeight)))
		if l.columns < 1 || rows*l.columns < len(entries) {
			rt.Fatalf("%d entries in %d rows of %d", len(entries), rows, l.columns)
		}
		if width := float64(l.columns) * float64(l.column); l.columns > 1 && width > float64(figureWidth-2*margin) {
			rt.Fatalf("%d columns are %g points wide", l.columns, width)
		}
	})
}

// TestLineBreaks: a lone point makes no line, and no line spans what is missing.
func TestLineBreaks(t *testing.T) {
	p := plot.New()
	nan := math.NaN()
	line(p, []float64{0, 1, 2, 3, 4, 5, 6}, []float64{nan, 1, 2, nan, 9, nan, 6}, lineStyle(0))
	if p.X.Min != 1 || p.X.Max != 2 || p.Y.Max != 2 {
		t.Errorf("lines from x = %g to %g, up to y = %g, want 1, 2, 2", p.X.Min, p.X.Max, p.Y.Max)
	}
}

// A title is broken between words, and none of it is wider than the picture.
func TestLongTitlesAreBroken(t *testing.T) {
	style := sans(titleSize, true)
	width := figureWidth - 2*margin
	rapid.Check(t, func(t *rapid.T) {
		words := rapid.SliceOf(rapid.StringMatching(`[a-z,.]{1,20}`)).Draw(t, "words")
		text := broken(style, strings.Join(words, " "), width)
		if strings.Join(strings.Fields(text), " ") != strings.Join(words, " ") {
			t.Fatalf("%q has other words", text)
		}
		lines := strings.Split(text, "\n")
		for i, line := range lines {
			if style.Width(line) > width {
				t.Fatalf("%q is too wide", line)
			}
			if i > 0 && style.Width(lines[i-1]+" "+strings.Fields(line)[0]) <= width {
				t.Fatalf("%q is broken too soon", text)
			}
		}
	})
}
