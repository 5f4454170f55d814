package quadrotor

import (
	"math"
	"math/rand/v2"
	"testing"
)

// flown is a batch of robots with weights of their own, some of them 0, and errors on both branches of the penalty.
type flown struct {
	tr             Transition[float64]
	g              Gradient[float64]
	weights, scale []float64
}

func newFlown(rng *rand.Rand, B, S int) *flown {
	draw := func(n int) []float64 {
		x := make([]float64, B*n)
		for i := range x {
			x[i] = float64(float32(math.Pow(10, float64(i%3-1)) * rng.NormFloat64()))
		}
		return x
	}
	f := &flown{Transition[float64]{B: B, S: S, S0: draw(S), S1: draw(S), A: draw(nA), Last: draw(nA),
		Ref: draw(RowSize), Dt: 0.02},
		Gradient[float64]{draw(S), draw(S), draw(nA), draw(nA)}, draw(WeightsSize), draw(1)}
	for i := range f.weights {
		f.weights[i] = math.Abs(f.weights[i])
		if rng.IntN(4) == 0 && i%WeightsSize != wDelta {
			f.weights[i] = 0
		}
	}
	return f
}

func float32s(x []float64) []float32 {
	y := make([]float32, len(x))
	for i, v := range x {
		y[i] = float32(v)
	}
	return y
}

// TestCostBatch: a batch in float32, which is priced many robots at a time where the machine can, costs what float64
// says robot by robot, and its gradients too. One robot has an infinite number where its weight is 0, another no scale.
func TestCostBatch(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for B := 1; B <= 40; B++ {
		f := newFlown(rng, B, 14)
		if B > 3 {
			f.weights[WeightsSize+wChange], f.tr.Last[nA+2] = 0, math.Inf(1)
			f.scale[2], f.tr.S1[2*f.tr.S+8] = 0, math.NaN()
			f.tr.S1[2*f.tr.S+4] = math.Inf(1)
		}
		tr := Transition[float32]{B: B, S: f.tr.S, S0: float32s(f.tr.S0), S1: float32s(f.tr.S1), A: float32s(f.tr.A),
			Last: float32s(f.tr.Last), Ref: float32s(f.tr.Ref), Dt: f.tr.Dt}
		g := Gradient[float32]{float32s(f.g.S0), float32s(f.g.S1), float32s(f.g.A), float32s(f.g.Last)}
		cost, off, cost32, off32 := make([]float64, B), make([]float64, B), make([]float32, B), make([]float32, B)
		Costs(&f.tr, f.weights, cost, off)
		Costs(&tr, float32s(f.weights), cost32, off32)
		sameCosts(t, "cost", 1, cost, cost32)
		sameCosts(t, "off", 1, off, off32)
		CostsVJP(&f.tr, f.weights, f.scale, &f.g)
		CostsVJP(&tr, float32s(f.weights), float32s(f.scale), &g)
		sameCosts(t, "s0", f.tr.S, f.g.S0, g.S0)
		sameCosts(t, "s1", f.tr.S, f.g.S1, g.S1)
		sameCosts(t, "a", nA, f.g.A, g.A)
		sameCosts(t, "last", nA, f.g.Last, g.Last)
	}
}

// same allows for rounding in float32, by the greatest number of a row: errors are differences, and divided by Δt.
func sameCosts(t *testing.T, what string, n int, want []float64, got []float32) {
	t.Helper()
	for i := 0; i < len(want); i += n {
		size := 1.
		for _, v := range want[i : i+n] {
			size = max(size, math.Abs(v))
		}
		for j, w := range want[i : i+n] {
			if g := float64(got[i+j]); g != w && !(math.Abs(g-w) <= 3e-5*size) && !(g != g && w != w) {
				t.Fatalf("%s of robot %d [%d]: %v in the batch, %v alone", what, i/n, j, g, w)
			}
		}
	}
}

// TestFarOff: an error whose square is beyond float32 costs more than any, in C too.
func TestFarOff(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for _, far := range []float32{1e15, 3e19, 1e30} {
		f := newFlown(rng, 3, 14)
		tr := Transition[float32]{B: 3, S: 14, S0: float32s(f.tr.S0), S1: float32s(f.tr.S1), A: float32s(f.tr.A),
			Last: float32s(f.tr.Last), Ref: float32s(f.tr.Ref), Dt: f.tr.Dt}
		f.weights[WeightsSize+wPosition], tr.S1[tr.S] = 1, far
		cost, off := make([]float32, 3), make([]float32, 3)
		Costs(&tr, float32s(f.weights), cost, off)
		if !(cost[1] > 1e12) {
			t.Errorf("%g m off cost %g", far, cost[1])
		}
	}
}

// TestOffNamesWhatIsNotFinite: any number of the state that is not finite is told.
func TestOffNamesWhatIsNotFinite(t *testing.T) {
	const B, S = 5, 14
	rng := rand.New(rand.NewPCG(6, 6))
	for j := range S {
		for _, bad := range []float32{float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))} {
			f := newFlown(rng, B, S)
			tr := Transition[float32]{B: B, S: S, S0: float32s(f.tr.S0), S1: float32s(f.tr.S1), A: float32s(f.tr.A),
				Last: float32s(f.tr.Last), Ref: float32s(f.tr.Ref), Dt: f.tr.Dt}
			tr.S1[3*S+j] = bad
			cost, off := make([]float32, B), make([]float32, B)
			Costs(&tr, float32s(f.weights), cost, off)
			for b, x := range off {
				if (x != x) != (b == 3) {
					t.Fatalf("number %d of robot 3 is %v: off[%d] is %v", j, bad, b, x)
				}
			}
		}
	}
}

// BenchmarkCosts prices 64 robots, forth and back.
func BenchmarkCosts(b *testing.B) {
	f := newFlown(rand.New(rand.NewPCG(7, 7)), 64, 30)
	tr := Transition[float32]{B: 64, S: 30, S0: float32s(f.tr.S0), S1: float32s(f.tr.S1), A: float32s(f.tr.A),
		Last: float32s(f.tr.Last),
		Ref:  float32s(f.tr.Ref), Dt: f.tr.Dt}
	g := Gradient[float32]{float32s(f.g.S0), float32s(f.g.S1), float32s(f.g.A), float32s(f.g.Last)}
	weights, scale, cost, off := float32s(f.weights), float32s(f.scale), make([]float32, 64), make([]float32, 64)
	for b.Loop() {
		Costs(&tr, weights, cost, off)
		CostsVJP(&tr, weights, scale, &g)
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e9/64, "ns/robot")
}
