package layers

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func normal(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// checkGradient compares grad with central differences of loss at every number
// of x.
func checkGradient(t *testing.T, name string, x, grad []float64, loss func() float64) {
	t.Helper()
	const eps = 1e-5
	for i, keep := range x {
		x[i] = keep + eps
		up := loss()
		x[i] = keep - eps
		down := loss()
		x[i] = keep
		want := (up - down) / (2 * eps)
		if math.Abs(grad[i]-want) > 1e-8*(1+math.Abs(want)) {
			t.Fatalf("%s[%d]: gradient %.9g, central difference %.9g", name, i, grad[i], want)
		}
	}
}

func inner(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += x[i] * y[i]
	}
	return sum
}

func TestDenseGradient(t *testing.T) {
	const B = 3
	rng := rand.New(rand.NewPCG(1, 1))
	d := Dense[float64]{In: 4, Out: 5, Weight: 2, Bias: 22}
	params, x, dy := normal(rng, 27), normal(rng, B*4), normal(rng, B*5)
	y, dx, grad := make([]float64, B*5), normal(rng, B*4), make([]float64, 27)
	loss := func() float64 {
		d.Refresh(params)
		d.Forward(params, B, x, y)
		return inner(y, dy)
	}
	d.Refresh(params)
	d.BackwardInput(B, dy, nil, dx)
	d.BackwardParams(grad, B, x, dy)
	checkGradient(t, "params", params, grad, loss)
	checkGradient(t, "x", x, dx, loss)
	twice := append([]float64(nil), dx...)
	d.BackwardInput(B, dy, twice, twice)
	for i := range twice {
		if math.Abs(twice[i]-2*dx[i]) > 1e-12 {
			t.Fatalf("add does not add: %v, %v", twice[i], dx[i])
		}
	}
}

func TestGRUGradient(t *testing.T) {
	const T, B, I, H = 4, 3, 2, 5
	rng := rand.New(rand.NewPCG(2, 2))
	g := GRU[float64]{
		Input:  Dense[float64]{In: I, Out: 3 * H, Weight: 0, Bias: I * 3 * H},
		Hidden: Dense[float64]{In: H, Out: 3 * H, Weight: (I + 1) * 3 * H, Bias: (I + 1 + H) * 3 * H},
	}
	params, dlast := normal(rng, (I+H+2)*3*H), normal(rng, B*H)
	x := normal(rng, T*B*I)
	gi, gh, h := make([]float64, T*B*3*H), make([]float64, T*B*3*H), make([]float64, (T+1)*B*H)
	loss := func() float64 {
		g.Input.Refresh(params)
		g.Hidden.Refresh(params)
		g.Input.Product(T*B, x, gi)
		g.Run(params, T, B, gi, gh, h)
		return inner(h[T*B*H:], dlast)
	}
	loss()
	grad, dh, dx := make([]float64, len(params)), append([]float64(nil), dlast...), make([]float64, len(x))
	g.Backward(T, B, gi, gh, h, dh, make([]float64, B*H), grad)
	g.Input.BackwardParams(grad, T*B, x, gi)
	g.Input.BackwardInput(T*B, gi, nil, dx)
	checkGradient(t, "x", x, dx, loss)
	checkGradient(t, "params", params, grad, loss)
}

func TestLossGradients(t *testing.T) {
	const B, O = 5, 4
	rng := rand.New(rand.NewPCG(3, 3))
	y, target, weight := normal(rng, B*O), normal(rng, B*O), []float64{0.5, 1, 0, 2, 1}
	dy := make([]float64, B*O)
	for name, w := range map[string][]float64{"weighted": weight, "plain": nil} {
		huber := func() float64 { return Huber(B, O, y, target, w, 0.7, 0.3, dy) }
		huber()
		checkGradient(t, name+" Huber", y, append([]float64(nil), dy...), huber)
		squares := func() float64 { return SquaredError(B, O, y, target, w, 0.3, dy) }
		squares()
		checkGradient(t, name+" SquaredError", y, append([]float64(nil), dy...), squares)
	}
}

// TestLossNaN: a NaN in the prediction or the target reaches loss and gradient.
func TestLossNaN(t *testing.T) {
	dy := make([]float64, 2)
	for _, pair := range [][2][]float64{{{1, math.NaN()}, {0, 0}}, {{0, 0}, {0, math.NaN()}}} {
		if loss := Huber(1, 2, pair[0], pair[1], nil, 1, 1, dy); loss == loss || dy[1] == dy[1] {
			t.Errorf("Huber swallows a NaN: %v, %v", loss, dy)
		}
		if loss := SquaredError(1, 2, pair[0], pair[1], nil, 1, dy); loss == loss || dy[1] == dy[1] {
			t.Errorf("SquaredError swallows a NaN: %v, %v", loss, dy)
		}
	}
}

// TestMMDGradient uses more points than a tile, in two unequal shares.
func TestMMDGradient(t *testing.T) {
	const N, Z, cut = mmdTile + 7, 2, 30
	rng := rand.New(rand.NewPCG(4, 4))
	z, samples := normal(rng, N*Z), normal(rng, N*Z)
	m := NewMMD[float64](N+1, Z)
	run := func(dz []float64) float64 {
		return m.Rows(N, 0, cut, z, samples, 1.5, 100, dz) + m.Rows(N, cut, N, z, samples, 1.5, 100, dz)
	}
	dz, scratch := make([]float64, N*Z), make([]float64, N*Z)
	run(dz)
	checkGradient(t, "z", z, dz, func() float64 { return run(scratch) })
}

// TestMMDLaws: not negative, 0 between equal sets, the same whatever the shares.
func TestMMDLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, dim := rapid.IntRange(1, 90).Draw(t, "n"), rapid.IntRange(1, 4).Draw(t, "dim")
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		sigma := rapid.Float64Range(0.5, 4).Draw(t, "sigma")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		z, samples, dz := normal(rng, n*dim), normal(rng, n*dim), make([]float64, n*dim)
		m := NewMMD[float64](n, dim)
		whole := m.Rows(n, 0, n, z, samples, sigma, 1, dz)
		parts := m.Rows(n, 0, cut, z, samples, sigma, 1, dz) + m.Rows(n, cut, n, z, samples, sigma, 1, dz)
		if whole < -1e-12 || math.Abs(whole-parts) > 1e-12 {
			t.Fatalf("whole %v, in parts %v", whole, parts)
		}
		clear(dz)
		if self := m.Rows(n, 0, n, z, z, sigma, 1, dz); math.Abs(self) > 1e-12 {
			t.Fatalf("a set is %v from itself", self)
		}
	})
}

// BenchmarkMMD is the loss and gradient of 2048 latents of 12 numbers.
func BenchmarkMMD(b *testing.B) {
	const N, Z = 2048, 12
	rng := rand.New(rand.NewPCG(5, 5))
	z, samples, dz := make([]float32, N*Z), make([]float32, N*Z), make([]float32, N*Z)
	for i := range z {
		z[i], samples[i] = float32(rng.NormFloat64()), float32(rng.NormFloat64())
	}
	m := NewMMD[float32](N, Z)
	for b.Loop() {
		m.Rows(N, 0, N, z, samples, 2, 1, dz)
	}
}

// BenchmarkAdam is one update of 400 000 parameters.
func BenchmarkAdam(b *testing.B) {
	const n = 400000
	a, p, g := NewAdam[float32](n), make([]float32, n), make([]float32, n)
	for i := range g {
		g[i] = float32(i%101) - 50
	}
	for b.Loop() {
		a.Update(p, g, 1e-3)
	}
}
