package kernel

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// operation is one kernel on a matrix of rows×n: the shapes of its arguments,
// which of them it writes, and its two forms.
type operation struct {
	name     string
	lengths  func(rows, n int) []int
	written  []bool
	positive []bool  // arguments that must not be negative
	scale    float64 // of the arguments; 0: 2
	run, ref func(rows, n int, x [][]float32)
	tol      float64 // relative to 1 + |value|
}

func flat(count int) func(rows, n int) []int {
	return func(rows, n int) []int {
		l := make([]int, count)
		for i := range l {
			l[i] = rows * n
		}
		return l
	}
}

var testStep = AdamStep{Rate: 2e-3, Beta1: 0.9, Beta2: 0.99, Correct2: 20, Epsilon: 1e-8, Decay: 1e-3, GradScale: 0.7}

var operations = []operation{
	{name: "ColumnSums", lengths: func(r, n int) []int { return []int{r * n, n} }, written: []bool{false, true},
		tol: 1e-6,
		run: func(r, n int, x [][]float32) { ColumnSums(r, n, x[0], x[1]) },
		ref: func(r, n int, x [][]float32) { columnSumsGo(r, n, x[0], x[1]) }},
	{name: "GruGates", lengths: func(r, n int) []int { return []int{3 * r * n, 3 * n, 3 * r * n, 3 * n, r * n, r * n} },
		written: []bool{true, false, true, false, false, true}, tol: 1e-6,
		run: func(r, n int, x [][]float32) { GruGates(r, n, x[0], x[1], x[2], x[3], x[4], x[5]) },
		ref: func(r, n int, x [][]float32) { gruGatesGo(r, n, x[0], x[1], x[2], x[3], x[4], x[5]) }},
	{name: "GruGatesBackward", lengths: func(r,
		n int) []int {
		return []int{3 * r * n, 3 * r * n, r * n, r * n, r * n}
	},
		written: []bool{true, true, false, false, true}, scale: 0.4, tol: 5e-6,
		run: func(r, n int, x [][]float32) { GruGatesBackward(r, n, x[0], x[1], x[2], x[3], x[4]) },
		ref: func(r, n int, x [][]float32) { gruGatesBackwardGo(r, n, x[0], x[1], x[2], x[3], x[4]) }},
	{name: "Axpy", lengths: flat(2), written: []bool{false, true}, tol: 2e-7,
		run: func(r, n int, x [][]float32) { Axpy(1.7, x[0], x[1]) },
		ref: func(r, n int, x [][]float32) { axpyGo(1.7, x[0], x[1]) }},
	{name: "SquaredNorm", lengths: func(r, n int) []int { return []int{r * n, 1} }, written: []bool{false, true},
		tol: 2e-7,
		run: func(r, n int, x [][]float32) { x[1][0] = float32(SquaredNorm(x[0])) },
		ref: func(r, n int, x [][]float32) { x[1][0] = float32(squaredNormGo(x[0])) }},
	{name: "Rbf", lengths: func(r, n int) []int { return []int{r * n, r, n, r} },
		written: []bool{true, false, false, true}, tol: 2e-6,
		run: func(r, n int, x [][]float32) { Rbf(r, n, x[0], x[1], x[2], 0.3, x[3]) },
		ref: func(r, n int, x [][]float32) { rbfGo(r, n, x[0], x[1], x[2], 0.3, x[3]) }},
	{name: "Normalise", lengths: func(r, n int) []int { return []int{n, n, r * n} },
		written: []bool{false, false, true}, tol: 2e-7,
		run: func(r, n int, x [][]float32) { Normalise(r, x[0], x[1], x[2]) },
		ref: func(r, n int, x [][]float32) { normaliseGo(r, n, x[0], x[1], x[2]) }},
	{name: "ScaleRows", lengths: func(r, n int) []int { return []int{n, r * n} }, written: []bool{false, true},
		tol: 2e-7,
		run: func(r, n int, x [][]float32) { ScaleRows(r, x[0], x[1]) },
		ref: func(r, n int, x [][]float32) { scaleRowsGo(r, n, x[0], x[1]) }},
	{name: "Adam", lengths: flat(4), written: []bool{true, false, true, true},
		positive: []bool{false, false, false, true}, tol: 1e-6,
		run: func(r, n int, x [][]float32) { Adam(testStep, x[0], x[1], x[2], x[3]) },
		ref: func(r, n int, x [][]float32) { adamGo(testStep, x[0], x[1], x[2], x[3]) }},
}

// arguments draws the arguments of an operation.
func (op operation) arguments(rng *rand.Rand, rows, n int) [][]float32 {
	x, scale := make([][]float32, len(op.written)), op.scale
	if scale == 0 {
		scale = 2
	}
	for i, l := range op.lengths(rows, n) {
		x[i] = make([]float32, l)
		for j := range x[i] {
			x[i][j] = float32(scale * rng.NormFloat64())
			if op.positive != nil && op.positive[i] {
				x[i][j] = float32(math.Abs(float64(x[i][j])))
			}
		}
	}
	return x
}

func clone(x [][]float32) [][]float32 {
	c := make([][]float32, len(x))
	for i := range x {
		c[i] = append([]float32(nil), x[i]...)
	}
	return c
}

// eachSetBench runs f under each set of kernels, the reference last.
func eachSetBench(b *testing.B, f func(b *testing.B)) {
	was := name
	for _, want := range append(sets(b), "go") {
		if err := choose(want); err != nil {
			b.Fatal(err)
		}
		b.Run(strings.ReplaceAll(want, " ", "-"), f)
	}
	if err := choose(was); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkOperations times each kernel on 64 rows of 256.
func BenchmarkOperations(b *testing.B) {
	rng := rand.New(rand.NewPCG(6, 6))
	eachSetBench(b, func(b *testing.B) {
		for _, op := range operations {
			const rows, n = 64, 256
			args := op.arguments(rng, rows, n)
			b.Run(op.name, func(b *testing.B) {
				for b.Loop() {
					op.run(rows, n, args)
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e9/(rows*n), "ns/element")
			})
		}
	})
}
