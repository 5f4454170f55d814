package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// gru is a GRU of n units and the products of its inputs.
type gru struct {
	n, steps            int
	gi, bi, bh, weights []float32
}

func drawGru(n int) gru {
	rng := rand.New(rand.NewPCG(uint64(n), 3))
	draw := func(size int) []float32 {
		x := make([]float32, size)
		for i := range x {
			x[i] = float32(rng.NormFloat64() / math.Sqrt(float64(n)))
		}
		return x
	}
	const steps = 7
	return gru{n, steps, draw(steps * 3 * n), draw(3 * n), draw(3 * n), draw(n * 3 * n)}
}

// sequence is GruSequence with scratch that holds anything.
func (g *gru) sequence(w *Weights[float32]) []float32 {
	gh, h := make([]float32, 3*g.n), make([]float32, 2*g.n)
	for i := range gh {
		gh[i] = float32(math.NaN())
	}
	copy(h, gh)
	return GruSequence(g.steps, slices.Clone(g.gi), g.bi, w, gh, g.bh, h)
}

// stepped is the last h by a call for each step's product and one for its gates.
func (g *gru) stepped(w *Weights[float32]) []float32 {
	n, gi, gh := g.n, slices.Clone(g.gi), make([]float32, 3*g.n)
	now, next := make([]float32, n), make([]float32, n)
	for t := range g.steps {
		Dense(1, now, w, nil, nil, gh)
		GruGates(1, n, gi[t*3*n:], g.bi, gh, g.bh, now, next)
		now, next = next, now
	}
	return now
}

// TestGruSequence: it has the bits of its steps one by one, in bfloat16 too, and the reference's numbers but for
// rounding.
func TestGruSequence(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		for _, n := range []int{1, 5, 16, 33, 64, 128} {
			t.Run(fmt.Sprint(n), func(t *testing.T) { testGruSequence(t, n) })
		}
	})
}

func testGruSequence(t *testing.T, n int) {
	g := drawGru(n)
	var whole, reduced Weights[float32]
	whole.Set(false, false, n, 3*n, g.weights, 3*n)
	reduced.Set(true, false, n, 3*n, g.weights, 3*n)
	for name, w := range map[string]*Weights[float32]{"float32": &whole, "bfloat16": &reduced} {
		if got, want := g.sequence(w), g.stepped(w); !slices.Equal(got, want) {
			t.Errorf("%s: %v, step by step %v", name, got, want)
		}
	}
	plain, h := Weights[float32]{K: n, N: 3 * n, panels: g.weights}, make([]float32, 2*n)
	gruSequenceGo(g.steps, slices.Clone(g.gi), g.bi, &plain, make([]float32, 3*n), g.bh, h)
	for j, got := range g.sequence(&whole) {
		if want := h[g.steps%2*n+j]; math.Abs(float64(got-want)) > 2e-6 {
			t.Fatalf("h[%d] = %v, want %v", j, got, want)
		}
	}
}
