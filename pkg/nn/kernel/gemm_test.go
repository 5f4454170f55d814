package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// gemmShapes meet every tail of the register tiles, and more than one block of
// each dimension.
func gemmShapes() [][3]int {
	var s [][3]int
	for i := 0; i <= 33; i++ {
		s = append(s, [3]int{i, 7, 5}, [3]int{5, i, 7}, [3]int{7, 5, i}, [3]int{i, i, i})
	}
	for n := 1; n <= 300; n += 7 { // one row: whole vectors, eight to one at a time, and the rest
		s = append(s, [3]int{1, n, 1 + n%37})
	}
	return append(s, [3]int{64, 256, 24}, [3]int{64, 9, 256}, [3]int{37, 270, 515}, [3]int{131, 40, 257},
		[3]int{1, 384, 128})
}

func TestGemm(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(4, 4))
		for _, s := range gemmShapes() {
			for flags := range 4 {
				for _, beta := range []float32{0, 1, 0.5} {
					compareGemm(t, rng, flags&1 != 0, flags&2 != 0, s[0], s[1], s[2], beta)
				}
			}
		}
	})
}

func compareGemm(t *testing.T, rng *rand.Rand, transA, transB bool, m, n, k int, beta float32) {
	t.Helper()
	matrix := func(trans bool, rows, cols int) (guarded, int) {
		if trans {
			rows, cols = cols, rows
		}
		ld := cols + 3
		x := make([]float32, extent(false, rows, cols, ld))
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		return guard(x), ld
	}
	a, lda := matrix(transA, m, k)
	b, ldb := matrix(transB, k, n)
	c, ldc := matrix(false, m, n)
	want := make([]float64, len(c.x))
	wide := func(x []float32) []float64 {
		w := make([]float64, len(x))
		for i, v := range x {
			w[i] = float64(v)
		}
		return w
	}
	copy(want, wide(c.x))
	if m > 0 && n > 0 {
		gemmGo(transA, transB, m, n, k, wide(a.x), lda, wide(b.x), ldb, float64(beta), want, ldc)
	}
	for i := range c.x { // between rows and, with beta = 0, everywhere: not to be read
		if beta == 0 && i%ldc < n {
			c.x[i] = float32(math.NaN())
		}
	}
	Gemm(transA, transB, m, n, k, a.x, lda, b.x, ldb, beta, c.x, ldc)
	what := fmt.Sprintf("Gemm %v %v %d×%d×%d beta %v", transA, transB, m, n, k, beta)
	a.check(t, what, true)
	b.check(t, what, true)
	c.check(t, what, false)
	for i := range want {
		if tol := 3e-7 * float64(1+k); !(math.Abs(float64(c.x[i])-want[i]) <= tol*(1+math.Abs(want[i]))) {
			t.Fatalf("%s [%d]: %v, want %v", what, i, c.x[i], want[i])
		}
	}
}

// TestGemmNaN: a NaN of A fills its row of C, even against zeros in B.
func TestGemmNaN(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		const m, n, k = 20, 35, 19
		a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n)
		a[7*k+11] = float32(math.NaN())
		Gemm(false, false, m, n, k, a, k, b, n, 0, c, n)
		for i, v := range c {
			if (v != v) != (i/n == 7) {
				t.Fatalf("row %d: %v", i/n, v)
			}
		}
	})
}

// TestGemmTogether: products on several threads at once have the bits of one
// alone; no library shares them out among threads of its own.
func TestGemmTogether(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		const m, n, k, workers = 96, 160, 300, 4
		rng := rand.New(rand.NewPCG(8, 8))
		a, b := make([]float32, m*k), make([]float32, k*n)
		for i := range a {
			a[i] = float32(rng.NormFloat64())
		}
		for i := range b {
			b[i] = float32(rng.NormFloat64())
		}
		want := make([]float32, m*n)
		Gemm(false, false, m, n, k, a, k, b, n, 0, want, n)
		var group sync.WaitGroup
		got := make([][]float32, workers)
		for w := range workers {
			got[w] = make([]float32, m*n)
			group.Go(func() {
				for range 20 {
					Gemm(false, false, m, n, k, a, k, b, n, 0, got[w], n)
				}
			})
		}
		group.Wait()
		for w := range workers {
			if !slices.Equal(got[w], want) {
				t.Errorf("worker %d has other numbers", w)
			}
		}
	})
}

// BenchmarkGemm times the products of one training step on a shard of 64
// contexts: the residual forward, its inputs' gradients, its weights' gradients
// over 50 steps at once, and one row in flight.
func BenchmarkGemm(b *testing.B) {
	shapes := []struct {
		transA, transB bool
		m, n, k        int
	}{
		{false, false, 64, 256, 24}, {false, false, 64, 256, 256}, {false, false, 64, 9, 256},
		{false, false, 64, 384, 128},
		{false, true, 64, 256, 256}, {false, true, 64, 24, 256}, {false, true, 64, 128, 384},
		{true, false, 256, 256, 3200}, {true, false, 24, 256, 3200}, {false, false, 1, 256, 256},
	}
	eachSetBench(b, func(b *testing.B) {
		for _, s := range shapes {
			lda, ldb := s.k, s.n
			if s.transA {
				lda = s.m
			}
			if s.transB {
				ldb = s.k
			}
			x, y, c := make([]float32, s.m*s.k), make([]float32, s.k*s.n), make([]float32, s.m*s.n)
			for i := range x {
				x[i] = float32(i%17)/8 - 1
			}
			for i := range y {
				y[i] = float32(i%13)/8 - 1
			}
			b.Run(fmt.Sprintf("%v_%v_%dx%dx%d", s.transA, s.transB, s.m, s.n, s.k), func(b *testing.B) {
				for b.Loop() {
					Gemm(s.transA, s.transB, s.m, s.n, s.k, x, lda, y, ldb, 0, c, s.n)
				}
				flops := 2 * float64(s.m) * float64(s.n) * float64(s.k) * float64(b.N)
				b.ReportMetric(flops/b.Elapsed().Seconds()/1e9, "GFLOP/s")
			})
		}
	})
}
