package layers

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestAdamFirstStep: the first step of Adam is the learning rate, whatever the
// size of the gradient, against its sign.
func TestAdamFirstStep(t *testing.T) {
	a := NewAdam[float64](3)
	p := []float64{1, 1, 1}
	if norm := a.Update(p, []float64{3, -4e3, 0}, 0.1); math.Abs(norm-math.Hypot(3, 4e3)) > 1e-9 {
		t.Errorf("norm %v", norm)
	}
	for i, want := range []float64{0.9, 1.1, 1} {
		if math.Abs(p[i]-want) > 1e-8 {
			t.Errorf("p[%d] = %v, want %v", i, p[i], want)
		}
	}
}

// TestAdamClip: a gradient beyond the clip moves as if scaled onto it.
func TestAdamClip(t *testing.T) {
	clipped, plain := NewAdam[float64](2), NewAdam[float64](2)
	clipped.Clip = 1
	p, q := []float64{0, 0}, []float64{0, 0}
	for _, g := range [][]float64{{30, 40}, {0.1, 0.2}} {
		if norm := clipped.Update(p, g, 0.1); math.Abs(norm-math.Hypot(g[0], g[1])) > 1e-12 {
			t.Errorf("norm %v is not that before clipping", norm)
		}
		scale := min(1, 1/math.Hypot(g[0], g[1]))
		plain.Update(q, []float64{scale * g[0], scale * g[1]}, 0.1)
	}
	if math.Abs(p[0]-q[0]) > 1e-12 || math.Abs(p[1]-q[1]) > 1e-12 {
		t.Errorf("clipped %v, scaled %v", p, q)
	}
}

// TestAdamDecay: weight decay shrinks a parameter without gradient by rate·decay.
func TestAdamDecay(t *testing.T) {
	a := NewAdam[float64](1)
	a.WeightDecay = 0.5
	p := []float64{2}
	a.Update(p, []float64{0}, 0.1)
	if math.Abs(p[0]-2*(1-0.05)) > 1e-12 {
		t.Errorf("decayed to %v", p[0])
	}
}

// TestAdamRefuses: a gradient that is not finite moves nothing.
func TestAdamRefuses(t *testing.T) {
	for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(-1))} {
		a := NewAdam[float32](40)
		p, g := make([]float32, 40), make([]float32, 40)
		g[37] = bad
		norm := a.Update(p, g, 0.1)
		if !math.IsNaN(norm) && !math.IsInf(norm, 1) || a.Steps != 0 {
			t.Errorf("%v: norm %v, steps %d", bad, norm, a.Steps)
		}
		for i := range p {
			if p[i] != 0 || a.M[i] != 0 || a.V[i] != 0 {
				t.Fatalf("%v moved parameter %d", bad, i)
			}
		}
	}
}

// TestAdamFinds the minimum of a badly scaled parabola.
func TestAdamFinds(t *testing.T) {
	a := NewAdam[float32](2)
	p, g := []float32{3, -2}, make([]float32, 2)
	s := Schedule{Rate: 0.1, Warmup: 10, Total: 600}
	for step := range 600 {
		g[0], g[1] = 2*(p[0]-1), 2000*(p[1]-0.5)
		a.Update(p, g, s.At(step))
	}
	if math.Abs(float64(p[0]-1)) > 1e-3 || math.Abs(float64(p[1]-0.5)) > 1e-3 {
		t.Errorf("ended at %v", p)
	}
}

func TestSchedule(t *testing.T) {
	constant := Schedule{Rate: 2}
	cosine := Schedule{Rate: 2, Warmup: 4, Total: 14, Final: 0.1}
	cases := []struct {
		s    Schedule
		step int
		want float64
	}{
		{constant, 0, 2}, {constant, 1e6, 2},
		{cosine, 0, 0.5}, {cosine, 3, 2}, {cosine, 4, 2}, {cosine, 9, 1.1}, {cosine, 14, 0.2}, {cosine, 99, 0.2},
		{Schedule{Rate: 2, Warmup: 4}, 1, 1}, {Schedule{Rate: 2, Warmup: 4}, 50, 2},
	}
	for _, c := range cases {
		if got := c.s.At(c.step); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v at %d: %v, want %v", c.s, c.step, got, c.want)
		}
	}
}

func TestInitialisers(t *testing.T) {
	const n, in, out = 200000, 50, 150
	draws := map[string]struct {
		draw func(rng *rand.Rand, w []float64)
		want float64 // variance
	}{
		"LeCun":  {func(rng *rand.Rand, w []float64) { LeCunUniform(rng, w, in, 0.5) }, 0.25 / in},
		"Glorot": {func(rng *rand.Rand, w []float64) { GlorotUniform(rng, w, in, out, 2) }, 4 * 2.0 / (in + out)},
	}
	for name, d := range draws {
		w := make([]float64, n)
		d.draw(rand.New(rand.NewPCG(5, 5)), w)
		mean, variance := 0.0, 0.0
		for _, v := range w {
			mean += v / n
			variance += v * v / n
		}
		if sd := math.Sqrt(d.want); math.Abs(mean) > 0.01*sd || math.Abs(variance-d.want) > 0.02*d.want {
			t.Errorf("%s: mean %v, variance %v, want 0, %v", name, mean, variance, d.want)
		}
	}
}
