package quadrotor

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/kernel/kerneltest"
)

// batched is one of the batched functions: how many numbers a row of each argument has, which of them it writes, which
// may be nil, and the call. What they compute is stated, and compared with the Go reference, in the other tests.
type batched struct {
	name     string
	widths   []int
	written  []bool
	optional []int
	run      func(rows int, x [][]float32)
}

var (
	someRobot = NewQuadrotor[float32](0.02, Actuator{ThrustGain: 0.9, ThrustDelay: 1.3, ThrustLag: 0.04, RateGain: 1.1,
		RateLag: 0.017, YawLag: 0.05})
	someView = View{PreviewPoints: 3, Place: 9, Past: 2, State: 11, Width: 40}
	farView  = View{PreviewPoints: 1, Place: 6, Past: 1, State: 10, Width: 27}
)

func someTransition(n int, x [][]float32) *Transition[float32] {
	return &Transition[float32]{B: n, S: 12, S0: x[0], S1: x[1], A: x[2], Last: x[3], Ref: x[4], Dt: 0.02}
}

var functions = []batched{
	{"Step", []int{nS, nA, nU, nS}, []bool{3: true}, nil,
		func(n int, x [][]float32) { someRobot.Step(n, x[0], x[1], x[2], x[3]) }},
	{"StepVJP", []int{nS, nA, nU, nS, nS, nA, nU}, []bool{4: true, 5: true, 6: true}, []int{5},
		func(n int, x [][]float32) { someRobot.StepVJP(n, x[0], x[1], x[2], x[3], x[4], x[5], x[6]) }},
	{"Inputs", []int{nS, nA, nX}, []bool{2: true}, nil,
		func(n int, x [][]float32) { someRobot.Inputs(n, x[0], x[1], x[2]) }},
	{"InputsVJP", []int{nS, nA, nX, nS, nA}, []bool{3: true, 4: true}, []int{4},
		func(n int, x [][]float32) { someRobot.InputsVJP(n, x[0], x[1], x[2], x[3], x[4]) }},
	{"Costs", []int{12, 12, 4, 4, 15, 10, 1, 1}, []bool{6: true, 7: true}, nil,
		func(n int, x [][]float32) { Costs(someTransition(n, x), x[5], x[6], x[7]) }},
	{"CostsVJP", []int{12, 12, 4, 4, 15, 10, 1, 12, 12, 4, 4}, []bool{7: true, 8: true, 9: true, 10: true}, nil,
		func(n int, x [][]float32) {
			CostsVJP(someTransition(n, x), x[5], x[6], &Gradient[float32]{x[7], x[8], x[9], x[10]})
		}},
	{"Observe", []int{11, 14, 8, 40}, []bool{3: true}, nil,
		func(n int, x [][]float32) { Observe(&someView, n, x[0], x[1], nil, x[2], x[3]) }},
	{"Observe seen", []int{10, 8, 6, 4, 27}, []bool{4: true}, nil,
		func(n int, x [][]float32) { Observe(&farView, n, x[0], x[1], x[2], x[3], x[4]) }},
	{"ObserveVJP", []int{11, 40, 11, 8}, []bool{2: true, 3: true}, nil,
		func(n int, x [][]float32) { ObserveVJP(&someView, n, x[0], x[1], x[2], nil, x[3]) }},
	{"ObserveVJP seen", []int{10, 27, 10, 6, 4}, []bool{2: true, 3: true, 4: true}, nil,
		func(n int, x [][]float32) { ObserveVJP(&farView, n, x[0], x[1], x[2], x[3], x[4]) }},
}

// eachSet runs f under each instruction set, T being a test or a benchmark.
func eachSet[T interface {
	Run(name string, f func(T)) bool
	Skip(args ...any)
}](t T, f func(t T, set string)) {
	defer func() { useKernels = useC(kernel.Instructions()) }()
	found := kerneltest.Sets(useC)
	if len(found) == 0 {
		t.Skip("no C kernels in this binary, or not in use")
	}
	for _, set := range found {
		useKernels = useC(set)
		t.Run(set, func(t T) { f(t, set) })
	}
}

// Guard bands of this NaN stand either side of every slice; its payload tells it from a NaN that was computed.
const (
	band      = 40
	guardBits = 0x7fc0beef
)

// guarded returns a copy of x between guard bands, and a check that neither they nor, if it is an input, x changed.
func guarded(x []float32, input bool) (inside []float32, check func() bool) {
	all := make([]float32, len(x)+2*band)
	for i := range all {
		all[i] = math.Float32frombits(guardBits)
	}
	inside = all[band : band+len(x) : band+len(x)]
	copy(inside, x)
	return inside, func() bool {
		isGuard := func(v float32) bool { return math.Float32bits(v) == guardBits }
		for _, bandOf := range [][]float32{all[:band], all[band+len(x):]} {
			if slices.ContainsFunc(bandOf, func(v float32) bool { return !isGuard(v) }) {
				return false
			}
		}
		return !input || slices.Equal(inside, x)
	}
}

func clone(x [][]float32) [][]float32 {
	out := make([][]float32, len(x))
	for i := range x {
		out[i] = slices.Clone(x[i])
	}
	return out
}

// arguments of rows robots: attitudes are normalised, weights and scales not negative.
func (f batched) arguments(rng *rand.Rand, rows int) [][]float32 {
	x := make([][]float32, len(f.widths))
	for i, w := range f.widths {
		x[i] = make([]float32, rows*w)
		for j := range x[i] {
			x[i][j] = float32(rng.NormFloat64())
			if w == WeightsSize || w == 1 {
				x[i][j] = float32(math.Abs(float64(x[i][j])))
			}
		}
	}
	return x
}

func (f batched) writes(i int) bool { return i < len(f.written) && f.written[i] }

// TestInstructionSetsAgree compares every instruction set with the plainest, between guard bands, at every number of
// robots left over.
func TestInstructionSetsAgree(t *testing.T) {
	eachSet(t, func(t *testing.T, set string) {
		plainest := kerneltest.Sets(useC)
		defer func() { useKernels = useC(set) }()
		rng := rand.New(rand.NewPCG(21, 21))
		for _, f := range functions {
			for rows := range 36 {
				args := f.arguments(rng, rows)
				for k := -1; k < len(f.optional); k++ {
					if k >= 0 {
						args[f.optional[k]] = nil
					}
					want := clone(args)
					useKernels = useC(plainest[len(plainest)-1])
					f.run(rows, want)
					useKernels = useC(set)
					f.agree(t, rows, args, want)
				}
			}
		}
	})
}

func (f batched) agree(t *testing.T, rows int, args, want [][]float32) {
	t.Helper()
	got, checks := make([][]float32, len(args)), make([]func() bool, len(args))
	for i, x := range args {
		if x != nil {
			got[i], checks[i] = guarded(x, !f.writes(i))
		}
	}
	f.run(rows, got)
	for i, x := range got {
		if x == nil {
			continue
		}
		if !checks[i]() {
			t.Fatalf("%s of %d robots wrote beside argument %d, or into an input", f.name, rows, i)
		}
		for j, v := range x {
			if v, w := float64(v), float64(want[i][j]); !(math.Abs(v-w) <= 1e-4*(1+math.Abs(w))) {
				t.Fatalf("%s of %d robots, argument %d [%d]: %v, of the plainest instructions %v", f.name, rows, i, j,
					v, w)
			}
		}
	}
}

// TestBatchedRowByRow: a robot's numbers have the same bits alone and among others, and a NaN stays with its robot.
func TestBatchedRowByRow(t *testing.T) {
	eachSet(t, func(t *testing.T, _ string) {
		rng := rand.New(rand.NewPCG(22, 22))
		const rows, ill = 21, 9
		for _, f := range functions {
			args := f.arguments(rng, rows)
			args[0][ill*f.widths[0]+3] = float32(math.NaN())
			var alone [][][]float32
			for r := range rows {
				one := make([][]float32, len(args))
				for i, w := range f.widths {
					one[i] = f.rowsOf(args[i], w, rows, r)
				}
				f.run(1, one)
				alone = append(alone, one)
			}
			f.run(rows, args)
			for i, w := range f.widths {
				for r, one := range alone {
					got := f.rowsOf(args[i], w, rows, r)
					if r != ill && f.writes(i) && !slices.Equal(got, one[i]) {
						t.Fatalf("%s argument %d: robot %d is otherwise alone:\n%v\n%v", f.name, i, r, got, one[i])
					}
				}
			}
		}
	})
}

// rowsOf copies what belongs to robot r. Past actions come first by step, then by robot.
func (f batched) rowsOf(x []float32, w, rows, r int) (own []float32) {
	if w == 8 && f.name != "Observe seen" {
		for k := range 2 {
			own = append(own, x[(k*rows+r)*nA:][:nA]...)
		}
		return own
	}
	return slices.Clone(x[r*w:][:w])
}

// TestStepTurnsWide: turns that the series do not reach are worked out otherwise, to the last digits but a few.
func TestStepTurnsWide(t *testing.T) {
	eachSet(t, func(t *testing.T, _ string) {
		still := someRobot.WithoutPrior()
		for _, turn := range []float64{0, 1e-4, 0.1, 0.4999, 0.5001, 1, 3, 7, 40} {
			s, a, d, next := make([]float32, nS), make([]float32, nA), make([]float32, nU),
				make([]float32, nS)
			s[3], d[6], d[7] = 1, float32(0.6*turn), float32(-0.8*turn)
			still.Step(1, s, a, d, next)
			sin, cos := math.Sincos(turn / 2)
			for i, want := range []float64{cos, 0.6 * sin, -0.8 * sin, 0} {
				if math.Abs(float64(next[3+i])-want) > 4e-6 {
					t.Errorf("turned by %g rad: q[%d] = %v, want %v", turn, i, next[3+i], want)
				}
			}
		}
	})
}

func TestBatchedRefusesShortSlices(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 23))
	for _, f := range functions {
		for i := range f.widths {
			args := f.arguments(rng, 3)
			short := len(args[i]) - 1
			args[i] = args[i][:short:short]
			func() {
				defer func() {
					if recover() == nil {
						t.Errorf("%s took a short argument %d", f.name, i)
					}
				}()
				f.run(3, args)
			}()
		}
	}
}

// TestBatchedRefusesRowsOfOthers: what would lead C beside its rows is refused before.
func TestBatchedRefusesRowsOfOthers(t *testing.T) {
	x := make([]float32, 1000)
	none := View{State: 7, Width: 100}
	blind := View{PreviewPoints: 1, Place: 9, State: 10, Width: 100}
	for name, run := range map[string]func(){
		"a delay that is no number": func() { NewQuadrotor[float32](0.02, Actuator{ThrustDelay: math.NaN()}) },
		"a cost of a state without v": func() {
			Costs(&Transition[float32]{B: 1, S: 7, S0: x, S1: x, A: x,
				Last: x, Ref: x}, x, x, x)
		},
		"a view of a state without v":       func() { Observe(&none, 1, x, x, nil, x, x) },
		"a view of a camera and no picture": func() { Observe(&blind, 1, x, x, nil, x, x) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("was taken")
				}
			}()
			run()
		})
	}
}

func TestBatchedAllocatesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 24))
	for _, f := range functions {
		args := f.arguments(rng, 3)
		if n := testing.AllocsPerRun(10, func() { f.run(3, args) }); n != 0 {
			t.Errorf("%s allocates %v times", f.name, n)
		}
	}
}

// BenchmarkKernels times the C kernels on 64 robots.
func BenchmarkKernels(b *testing.B) {
	rng := rand.New(rand.NewPCG(25, 25))
	eachSet(b, func(b *testing.B, _ string) {
		for _, f := range functions {
			const rows = 64
			args := f.arguments(rng, rows)
			b.Run(f.name, func(b *testing.B) {
				for b.Loop() {
					f.run(rows, args)
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e9/rows, "ns/robot")
			})
		}
	})
}
