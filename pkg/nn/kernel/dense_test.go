package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// layer is one of the kernels around a product with weights: the lengths of its arguments besides weights, which of
// them it writes, which may be nil, and its two forms.
type layer struct {
	name      string
	lengths   func(rows, k, n int) []int
	written   []bool
	optional  int // index of an argument that may be nil, -1: none
	run       func(rows int, w *Weights[float32], x [][]float32)
	reference func(rows int, w *Weights[float64], x [][]float64)
	tol       float64
}

var layers = []layer{
	{name: "Dense", lengths: func(r, k, n int) []int { return []int{r * k, n, r * n, r * n} },
		written: []bool{false, false, false, true}, optional: 2,
		run:       func(r int, w *Weights[float32], x [][]float32) { Dense(r, x[0], w, x[1], x[2], x[3]) },
		reference: func(r int, w *Weights[float64], x [][]float64) { denseGo(r, w, x[0], x[1], x[2], x[3]) },
		tol:       2e-6},
	{name: "Dense without bias", lengths: func(r, k, n int) []int { return []int{r * k, r * n} },
		written: []bool{false, true}, optional: -1,
		run:       func(r int, w *Weights[float32], x [][]float32) { Dense(r, x[0], w, nil, x[1], x[1]) },
		reference: func(r int, w *Weights[float64], x [][]float64) { denseGo(r, w, x[0], nil, x[1], x[1]) }, tol: 2e-6},
	{name: "DenseTanh", lengths: func(r, k, n int) []int { return []int{r * k, n, r * n} },
		written: []bool{false, false, true}, optional: -1,
		run:       func(r int, w *Weights[float32], x [][]float32) { DenseTanh(r, x[0], w, x[1], x[2]) },
		reference: func(r int, w *Weights[float64], x [][]float64) { denseTanhGo(r, w, x[0], x[1], x[2]) }, tol: 2e-6},
	{name: "DenseGelu", lengths: func(r, k, n int) []int { return []int{r * k, n, r * n, r * n, r * n} },
		written: []bool{false, false, false, true, true}, optional: 2,
		run:       func(r int, w *Weights[float32], x [][]float32) { DenseGelu(r, x[0], w, x[1], x[2], x[3], x[4]) },
		reference: func(r int, w *Weights[float64], x [][]float64) { denseGeluGo(r, w, x[0], x[1], x[2], x[3], x[4]) },
		tol:       4e-6},
	{name: "DenseFilm", lengths: func(r, k, n int) []int { return []int{r * k, n, 2 * r * n, r * n, r * n, r * n} },
		written: []bool{false, false, false, true, true, true}, optional: 3,
		run: func(r int, w *Weights[float32], x [][]float32) { DenseFilm(r, x[0], w, x[1], x[2], x[3], x[4], x[5]) },
		reference: func(r int, w *Weights[float64], x [][]float64) {
			denseFilmGo(r, w, x[0], x[1], x[2], x[3], x[4], x[5])
		}, tol: 8e-6},
	{name: "DenseGeluBackward", lengths: func(r, k, n int) []int { return []int{r * k, r * n} },
		written: []bool{false, true}, optional: -1,
		run:       func(r int, w *Weights[float32], x [][]float32) { DenseGeluBackward(r, x[0], w, x[1]) },
		reference: func(r int, w *Weights[float64], x [][]float64) { denseGeluBackwardGo(r, w, x[0], x[1]) },
		tol:       4e-6},
	{name: "DenseFilmBackward", lengths: func(r, k,
		n int) []int {
		return []int{r * k, 2 * r * n, r * n, r * n, 2 * r * n}
	},
		written: []bool{false, false, false, true, true}, optional: 2,
		run: func(r int, w *Weights[float32], x [][]float32) { DenseFilmBackward(r, x[0], w, x[1], x[2], x[3], x[4]) },
		reference: func(r int, w *Weights[float64], x [][]float64) {
			denseFilmBackwardGo(r, w, x[0], x[1], x[2], x[3], x[4])
		}, tol: 8e-6},
}

// layerShapes meet every tail of rows and columns, panels of both widths, and rows alone.
func layerShapes() [][3]int {
	var s [][3]int
	for i := 1; i <= 35; i++ {
		s = append(s, [3]int{i % 19, 7, i}, [3]int{i, 5, 17}, [3]int{1, i, 3 * i})
	}
	for n := 60; n <= 600; n += 45 {
		s = append(s, [3]int{1, 33, n}, [3]int{9, 12, n})
	}
	return append(s, [3]int{0, 3, 4}, [3]int{3, 0, 4}, [3]int{64, 256, 256}, [3]int{1, 256, 256}, [3]int{1, 128, 384})
}

func (l layer) arguments(rng *rand.Rand, rows, k, n int) [][]float32 {
	x := make([][]float32, len(l.written))
	for i, length := range l.lengths(rows, k, n) {
		x[i] = make([]float32, length)
		for j := range x[i] {
			x[i][j] = float32(rng.NormFloat64())
		}
	}
	return x
}

// matrix draws W [k×n] with its rows ld apart, or its transpose.
func matrix(rng *rand.Rand, trans bool, k, n int) (b []float32, ld int, plain *Weights[float64]) {
	rows, cols := k, n
	if trans {
		rows, cols = n, k
	}
	ld, plain = cols+3, &Weights[float64]{K: k, N: n, panels: make([]float64, k*n)}
	b = make([]float32, extent(false, rows, cols, ld))
	for i := range rows {
		for j := range cols {
			v := float32(rng.NormFloat64() / math.Sqrt(float64(k)))
			b[i*ld+j] = v
			if trans {
				plain.panels[j*n+i] = float64(v)
			} else {
				plain.panels[i*n+j] = float64(v)
			}
		}
	}
	return b, ld, plain
}

// roundLike makes plain what w is rounded to.
func roundLike(w *Weights[float32], plain *Weights[float64]) {
	if plain.reduced = w.reduced; w.reduced {
		for i, x := range plain.panels {
			plain.panels[i] = rounded(x)
		}
	}
}

func (l layer) compare(t *testing.T, w *Weights[float32], plain *Weights[float64], rows int, args [][]float32) {
	t.Helper()
	want, guards, got := make([][]float64, len(args)), make([]guarded, len(args)), make([][]float32, len(args))
	for i, x := range args {
		if x == nil {
			continue
		}
		for _, v := range x {
			want[i] = append(want[i], float64(v))
		}
		guards[i] = guard(x)
		got[i] = guards[i].x
	}
	l.reference(rows, plain, want)
	l.run(rows, w, got)
	for i, x := range args {
		if x == nil {
			continue
		}
		what := fmt.Sprintf("%s %d×%d×%d argument %d", l.name, rows, w.K, w.N, i)
		guards[i].check(t, what, !l.written[i])
		for j, v := range got[i] {
			if v, w := float64(v), want[i][j]; !(math.Abs(v-w) <= l.tol*(1+math.Abs(w))) && !(v != v && w != w) {
				t.Fatalf("%s [%d]: %v, reference %v", what, j, v, w)
			}
		}
	}
}

// TestLayers compares the kernels around a product with their reference in float64, between guard bands, also without
// their optional arguments and with weights that were stored transposed.
func TestLayers(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(11, 11))
		w := new(Weights[float32])
		for i, s := range layerShapes() {
			b, ld, plain := matrix(rng, i%2 == 1, s[1], s[2])
			w.Set(false, i%2 == 1, s[1], s[2], b, ld)
			for _, l := range layers {
				args := l.arguments(rng, s[0], s[1], s[2])
				l.compare(t, w, plain, s[0], args)
				if l.optional >= 0 {
					args[l.optional] = nil
					if strings.HasSuffix(l.name, "FilmBackward") {
						args[4] = nil
					}
					l.compare(t, w, plain, s[0], args)
				}
			}
		}
	})
}

// TestLayersBFloat16 compares products in bfloat16 with their reference, whose sums are of float64: the same numbers
// rounded the same way, so that only the order of additions is left.
func TestLayersBFloat16(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(18, 18))
		w := new(Weights[float32])
		for i, s := range append(layerShapes(), [3]int{70, 255, 65}, [3]int{33, 1024, 40}, [3]int{0, 1026, 33}) {
			b, ld, plain := matrix(rng, i%2 == 1, s[1], s[2])
			w.Set(true, i%2 == 1, s[1], s[2], b, ld)
			roundLike(w, plain)
			if want := reduces() && s[1] > 0 && s[1] <= 1024 && s[2] > 0; w.reduced != want {
				t.Fatalf("weights of %d×%d are reduced: %v", s[1], s[2], w.reduced)
			}
			for _, l := range layers {
				l.compare(t, w, plain, s[0], l.arguments(rng, s[0], s[1], s[2]))
			}
		}
	})
}

// reduces says whether kernels of this name multiply bfloat16.
func reduces() bool { return strings.HasSuffix(name, "bf16") || strings.HasSuffix(name, "amx") }

// TestGradient compares the gradient of weights with its reference in float64, over operands that are rounded where the
// weights are, between guard bands, and with what was there before it.
func TestGradient(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(19, 19))
		shapes := append(layerShapes(), [3]int{255, 100, 33}, [3]int{513, 257, 31}, [3]int{170, 1024, 40},
			[3]int{2, 1040, 33}, [3]int{3, 2, 33000}, [3]int{5, 16, 2016}, [3]int{5, 16, 2080})
		for i := range 2 * len(shapes) {
			rows, k, n := shapes[i/2][0], shapes[i/2][1], shapes[i/2][2]
			b, ld, _ := matrix(rng, false, k, n)
			w := new(Weights[float32])
			if i%2 == 0 {
				w.Set(false, false, k, n, b, ld)
			} else {
				w.Set(true, false, k, n, b, ld)
			}
			rounds := w.reduced && reducesGradient(k, n)
			args := make([]guarded, 4)
			want := make([][]float64, 4)
			for j, length := range []int{rows * k, rows * n, k * n, n} {
				x := make([]float32, length)
				for l := range x {
					x[l] = float32(rng.NormFloat64())
					want[j] = append(want[j], float64(x[l]))
				}
				args[j] = guard(x)
			}
			columnSumsGo(rows, n, want[1], want[3]) // of what is not rounded
			for j := range want[:2] {
				for l, x := range want[j] {
					if rounds {
						want[j][l] = rounded(x)
					}
				}
			}
			gemmGo(true, false, k, n, rows, want[0], k, want[1], n, 1, want[2], n)
			Gradient(w.reduced, rows, k, n, args[0].x, args[1].x, args[2].x, args[3].x)
			for j, a := range args {
				a.check(t, fmt.Sprintf("gradient of %d×%d over %d rows, argument %d", k, n, rows, j), j < 2)
			}
			for i := 2; i < 4; i++ {
				for j, v := range args[i].x {
					if w := want[i][j]; math.Abs(float64(v)-w) > 1e-5*(10+math.Abs(w)) {
						t.Fatalf("gradient of %d×%d over %d rows [%d]: %v, reference %v", k, n, rows, j, v, w)
					}
				}
			}
		}
	})
}

// reducesGradient says whether both operands of a gradient have space at a time: a pair of rows, or 16 pairs in tiles.
func reducesGradient(k, n int) bool {
	pairs := 32768 / ((k+15)/16*16 + (n+31)/32*32)
	return pairs >= 16 || pairs >= 1 && !strings.HasSuffix(name, "amx")
}

// TestRounded: 8 bits to the nearest, of two the even one.
func TestRounded(t *testing.T) {
	for x, want := range map[float32]float32{0: 0, 1: 1, -1.00390625: -1, 1.01171875: 1.015625, 1.005: 1.0078125,
		3.4e38: float32(math.Inf(1)), 1e-40: 0,
		float32(math.Inf(-1)): float32(math.Inf(-1))} {
		if got := rounded(x); got != want {
			t.Errorf("%v is rounded to %v, want %v", x, got, want)
		}
	}
	if x := rounded(math.NaN()); x == x {
		t.Errorf("what is not a number is rounded to %v", x)
	}
}

// TestLayersExtremes drives the exponentials far out of range on both sides.
func TestLayersExtremes(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(17, 17))
		const rows, k, n = 9, 3, 37
		b, ld, plain := matrix(rng, false, k, n)
		w := new(Weights[float32])
		w.Set(false, false, k, n, b, ld)
		for _, l := range layers {
			if strings.HasSuffix(l.name, "Backward") { // no exponential
				continue
			}
			for _, far := range []float32{-1e4, -60, -9, 0, 9, 60, 1e4} {
				args := l.arguments(rng, rows, k, n)
				for j := range args[1] { // the bias
					args[1][j] = far
				}
				l.compare(t, w, plain, rows, args)
			}
		}
	})
}

// TestLayersNaN: a NaN of one row fills that row of what is written, and no other.
func TestLayersNaN(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(12, 12))
		const rows, k, n = 13, 9, 50
		b, ld, plain := matrix(rng, false, k, n)
		w := new(Weights[float32])
		w.Set(true, false, k, n, b, ld)
		roundLike(w, plain)
		for _, l := range layers {
			args := l.arguments(rng, rows, k, n)
			args[0][7*k+3] = float32(math.NaN())
			l.compare(t, w, plain, rows, args)
			l.run(rows, w, args)
			for i, written := range l.written {
				per := len(args[i]) / rows
				for j, v := range args[i] {
					if written && (v != v) != (j/per == 7) {
						t.Fatalf("%s argument %d: row %d is %v", l.name, i, j/per, v)
					}
				}
			}
		}
	})
}

// TestLayersRowByRow: a row's numbers have the same bits alone and among others.
func TestLayersRowByRow(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(13, 13))
		const rows, k = 11, 37
		for _, n := range []int{9, 64, 300} {
			b, ld, _ := matrix(rng, true, k, n)
			w := new(Weights[float32])
			if n == 64 {
				w.Set(true, true, k, n, b, ld)
			} else {
				w.Set(false, true, k, n, b, ld)
			}
			for _, l := range layers {
				args := l.arguments(rng, rows, k, n)
				var alone [][][]float32
				for r := range rows {
					one := make([][]float32, len(args))
					for i, x := range args {
						one[i] = x
						if len(x) != n {
							per := len(x) / rows
							one[i] = x[r*per : (r+1)*per]
						}
					}
					one = clone(one)
					l.run(1, w, one)
					alone = append(alone, one)
				}
				l.run(rows, w, args)
				for i, x := range args {
					for r, one := range alone {
						if per := len(x) / rows; l.written[i] && !slices.Equal(x[r*per:(r+1)*per], one[i]) {
							t.Fatalf("%s n = %d argument %d: row %d is otherwise alone", l.name, n, i, r)
						}
					}
				}
			}
		}
	})
}

func TestLayersShortSlice(t *testing.T) {
	w := new(Weights[float32])
	w.Set(false, false, 4, 5, make([]float32, 20), 5)
	rng := rand.New(rand.NewPCG(14, 14))
	for _, l := range layers {
		for i := range l.written {
			args := l.arguments(rng, 3, 4, 5)
			short := len(args[i]) - 1
			args[i] = args[i][:short:short]
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s took a short argument %d", l.name, i)
					}
				}()
				l.run(3, w, args)
			}()
		}
	}
}

func TestLayersNoAllocation(t *testing.T) {
	w := new(Weights[float32])
	w.Set(false, false, 4, 5, make([]float32, 20), 5)
	rng := rand.New(rand.NewPCG(15, 15))
	for _, l := range layers {
		args := l.arguments(rng, 3, 4, 5)
		if n := testing.AllocsPerRun(10, func() { l.run(3, w, args) }); n != 0 {
			t.Errorf("%s allocates %v times", l.name, n)
		}
	}
}

// BenchmarkLayers times the kernels on 64 rows of 256 by 256, counted by the products alone and by the processor time
// of this process: other processes then matter less.
func BenchmarkLayers(b *testing.B) {
	rng := rand.New(rand.NewPCG(16, 16))
	const rows, k, n = 64, 256, 256
	spent := func() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	eachSetBench(b, func(b *testing.B) {
		m, ld, _ := matrix(rng, false, k, n)
		w, reduced := new(Weights[float32]), new(Weights[float32])
		w.Set(false, false, k, n, m, ld)
		reduced.Set(true, false, k, n, m, ld)
		for _, l := range layers {
			args := l.arguments(rng, rows, k, n)
			run := func(name string, w *Weights[float32]) {
				b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
					began := spent()
					for b.Loop() {
						if strings.HasSuffix(l.name, "Backward") { // what is multiplied onto must not fade away
							copy(args[len(args)/2][:rows*n], args[0])
						}
						l.run(rows, w, args)
					}
					b.ReportMetric(2*rows*k*n*float64(b.N)/float64(spent()-began), "GFLOP/cpu-s")
				})
			}
			if run(l.name, w); reduced.reduced {
				run(l.name+" bfloat16", reduced)
			}
		}
		const many = 125 * rows
		x, dy, dw, db := make([]float32, many*k), make([]float32, many*n), make([]float32, k*n), make([]float32, n)
		for i := range x {
			x[i], dy[i] = float32(rng.NormFloat64()), float32(rng.NormFloat64())
		}
		for name, w := range map[string]*Weights[float32]{"Gradient": w, "Gradient-bfloat16": reduced} {
			if w == reduced && !w.reduced {
				continue
			}
			b.Run(name, func(b *testing.B) {
				began := spent()
				for b.Loop() {
					Gradient(w.reduced, many, k, n, x, dy, dw, db)
				}
				b.ReportMetric(2*many*k*n*float64(b.N)/float64(spent()-began), "GFLOP/cpu-s")
			})
		}
	})
}
