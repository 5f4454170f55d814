package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// sets lists the kernels that this binary and machine can run.
func sets(t testing.TB) []string {
	t.Helper()
	was := name
	defer func() {
		if err := choose(was); err != nil {
			t.Fatal(err)
		}
	}()
	var found []string
	for _, want := range []string{"onednn", "c avx512amx", "c avx512bf16", "c avx512", "c avx2", "c sse2", "c neon",
		"c generic"} {
		if choose(want) == nil {
			found = append(found, name)
		}
	}
	return found
}

// eachSet runs f under each set of C kernels.
func eachSet(t *testing.T, f func(t *testing.T)) {
	found := sets(t)
	if len(found) == 0 {
		t.Skip("no C kernels in this binary")
	}
	was := name
	t.Cleanup(func() {
		if err := choose(was); err != nil {
			t.Fatal(err)
		}
	})
	for _, want := range found {
		if err := choose(want); err != nil {
			t.Fatal(err)
		}
		t.Run(want, f)
	}
}

// Guard bands of this NaN stand either side of every slice; its payload tells it
// from a NaN that was computed.
const (
	band      = 40
	guardBits = 0x7fc0beef
)

// guarded is a slice between guard bands, with a copy of what it held.
type guarded struct {
	x, all, before []float32
}

func guard(x []float32) guarded {
	all := make([]float32, len(x)+2*band)
	for i := range all {
		all[i] = math.Float32frombits(guardBits)
	}
	g := guarded{x: all[band : band+len(x) : band+len(x)], all: all, before: append([]float32(nil), x...)}
	copy(g.x, x)
	return g
}

func (g guarded) check(t *testing.T, what string, input bool) {
	t.Helper()
	for i, v := range g.all {
		inside := i >= band && i < band+len(g.x)
		if !inside && math.Float32bits(v) != guardBits {
			t.Fatalf("%s: wrote at %d of %d", what, i-band, len(g.x))
		}
		if inside && input && math.Float32bits(v) != math.Float32bits(g.before[i-band]) {
			t.Fatalf("%s: changed an input at %d", what, i-band)
		}
	}
}

// TestAgainstReference compares every kernel with its Go reference at every tail
// length around the width of a vector, between guard bands.
func TestAgainstReference(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 1))
		for _, op := range operations {
			for n := 0; n <= 33; n++ {
				for _, rows := range []int{1, 2, 5} {
					op.compare(t, rows, n, op.arguments(rng, rows, n))
				}
			}
		}
	})
}

func (op operation) compare(t *testing.T, rows, n int, args [][]float32) {
	t.Helper()
	want := clone(args)
	op.ref(rows, n, want)
	guards, got := make([]guarded, len(args)), make([][]float32, len(args))
	for i := range args {
		guards[i] = guard(args[i])
		got[i] = guards[i].x
	}
	op.run(rows, n, got)
	for i := range args {
		what := fmt.Sprintf("%s %d×%d argument %d", op.name, rows, n, i)
		guards[i].check(t, what, !op.written[i])
		for j := range got[i] {
			g, w := float64(got[i][j]), float64(want[i][j])
			if !(math.Abs(g-w) <= op.tol*(1+math.Abs(w))) && !(math.IsNaN(g) && math.IsNaN(w)) {
				t.Fatalf("%s [%d]: %v, reference %v", what, j, g, w)
			}
		}
	}
}

// TestExtremes drives the exponentials far out of range on both sides.
func TestExtremes(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(2, 2))
		const rows, n = 2, 37
		for _, op := range operations[1:3] { // those of a GRU
			for _, far := range []float32{-1e4, -60, -9, -1e-6, 0, 1e-6, 9, 60, 1e4} {
				args := op.arguments(rng, rows, n)
				for j := range args[0] {
					args[0][j] = far
				}
				op.compare(t, rows, n, args)
			}
		}
	})
}

// TestNaN puts a NaN into one number of each argument in turn: exactly the
// numbers that the reference makes NaN must be NaN.
func TestNaN(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 3))
		const rows, n = 3, 35
		for _, op := range operations {
			for i, l := range op.lengths(rows, n) {
				for _, j := range []int{0, l / 2, l - 1} {
					args := op.arguments(rng, rows, n)
					args[i][j] = float32(math.NaN())
					reference := clone(args)
					op.ref(rows, n, reference)
					spread := false
					for k := range reference {
						for _, v := range reference[k] {
							spread = spread || op.written[k] && v != v
						}
					}
					if !spread && !op.written[i] { // what is only written may lose it
						t.Fatalf("%s argument %d: the reference swallows a NaN", op.name, i)
					}
					op.compare(t, rows, n, args)
				}
			}
		}
	})
}

// TestAccuracy measures the element-wise functions against float64 over their
// range: GELU to 1e-6 of the value and 2e-9, its slope to 3e-6, and tanh, through
// a GRU's gate, to 1e-6 of the value.
func TestAccuracy(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		const n = 1 << 16
		pre, y, slope := make([]float32, n), make([]float32, n), make([]float32, n)
		gi, gh, b3 := make([]float32, 3*n), make([]float32, 3*n), make([]float32, 3*n)
		for i := range n {
			pre[i] = 16 * (float32(i)/n - 0.5)
			gi[n+i], gi[2*n+i] = -50, pre[i] // update gate shut: next = c
		}
		w := new(Weights[float32]) // without inputs: the bias alone
		w.Set(false, false, 0, n, nil, n)
		DenseGelu(1, nil, w, pre, nil, y, slope)
		next := make([]float32, n)
		GruGates(1, n, gi, b3, gh, b3, make([]float32, n), next)
		for i, x := range pre {
			if want := gelu(float64(x)); math.Abs(float64(y[i])-want) > 1e-6*math.Abs(want)+2e-9 {
				t.Fatalf("GELU(%v) = %v, want %v", x, y[i], want)
			}
			if want := geluSlope(float64(x)); math.Abs(float64(slope[i])-want) > 3e-6*math.Abs(want)+1e-7 {
				t.Fatalf("GELU'(%v) = %v, want %v", x, slope[i], want)
			}
			if want := math.Tanh(float64(x)); math.Abs(float64(next[i])-want) > 1e-6*math.Abs(want) {
				t.Fatalf("tanh(%v) = %v, want %v", x, next[i], want)
			}
		}
	})
}

// TestShortSlice: a slice that is too short panics in Go, under every kernel.
func TestShortSlice(t *testing.T) {
	short, long := make([]float32, 5), make([]float32, 64)
	calls := map[string]func(){
		"Gemm":       func() { Gemm(false, false, 4, 4, 4, long, 4, long, 4, 0, short, 4) },
		"Gemm A":     func() { Gemm(true, false, 4, 4, 4, short, 4, long, 4, 0, long, 4) },
		"Gemm ld":    func() { Gemm(false, false, 4, 4, 4, long, 3, long, 4, 0, long, 4) },
		"ColumnSums": func() { ColumnSums(1, 6, long, short) },
		"Axpy":       func() { Axpy(1, long, short) },
		"Adam":       func() { Adam(testStep, long, long, long, short) },
	}
	for what, call := range calls {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s took a short slice", what)
				}
			}()
			call()
		}()
	}
}

// TestNoAllocation: the flight way calls these 50 times a second.
func TestNoAllocation(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for _, op := range operations {
		args := op.arguments(rng, 2, 16)
		if n := testing.AllocsPerRun(10, func() { op.run(2, 16, args) }); n != 0 {
			t.Errorf("%s allocates %v times", op.name, n)
		}
	}
	x := make([]float32, 64)
	if n := testing.AllocsPerRun(10, func() { Gemm(false, true, 4, 4, 4, x, 4, x, 4, 0, x[32:], 4) }); n != 0 {
		t.Errorf("Gemm allocates %v times", n)
	}
}

// TestEnvironment runs this binary anew under each setting of the variable.
func TestEnvironment(t *testing.T) {
	if os.Getenv("PRINT_KERNEL") != "" {
		fmt.Println("runs", Name())
		return
	}
	settings := map[string]string{"go": "runs go\n", "fast": `VND_KERNEL is "fast", want go, c or onednn`}
	for _, s := range sets(t) {
		settings[s] = "runs " + s + "\n"
	}
	if cgoBuilt {
		settings["c vax"] = `VND_KERNEL is "c vax", but this processor has no kernels for "vax"`
	} else {
		settings["c"] = "built without cgo"
	}
	for value, want := range settings {
		cmd := exec.Command(os.Args[0], "-test.run=^TestEnvironment$")
		cmd.Env = append(os.Environ(), "PRINT_KERNEL=1", Environment+"="+value)
		out, err := cmd.CombinedOutput()
		if !strings.Contains(string(out), want) || (err == nil) != strings.HasPrefix(want, "runs") {
			t.Errorf("%q: %v, said %q, want %q", value, err, out, want)
		}
	}
}
