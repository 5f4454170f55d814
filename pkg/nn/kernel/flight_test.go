package kernel

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// flier is one of the kernels of flight: how many numbers a row of each argument has, which of them it writes, which may be
// nil, and the call. What they compute is stated, and compared with it, where they are called from.
type flier struct {
	name     string
	widths   []int
	written  []bool
	optional []int
	run      func(rows int, x [][]float32) bool
}

var (
	someBody = Body{Dt: 0.02, Gravity: 9.81, Prior: true, Thrust: Channel{Gain: 0.9, Blend: 0.4, Elder: 0.3, Tap: 1},
		Rate: Channel{Gain: 1.1, Blend: 0.7, Tap: 0}}
	somePrice = Price{PerDt: 50, Hover: 9.81, State: 12}
	someView  = View{Looks: 3, Place: 9, Past: 2, State: 11, Width: 40}
	farView   = View{Looks: 1, Place: 6, Past: 1, State: 10, Width: 27}
)

var fliers = []flier{
	{"BodyStep", []int{30, 4, 9, 30}, []bool{3: true}, nil,
		func(n int, x [][]float32) bool { return BodyStep(&someBody, n, x[0], x[1], x[2], x[3]) }},
	{"BodyStepVJP", []int{30, 4, 9, 30, 30, 4, 9}, []bool{4: true, 5: true, 6: true}, []int{5},
		func(n int, x [][]float32) bool {
			return BodyStepVJP(&someBody, n, x[0], x[1], x[2], x[3], x[4], x[5], x[6])
		}},
	{"BodyInputs", []int{30, 4, 30}, []bool{2: true}, nil,
		func(n int, x [][]float32) bool { return BodyInputs(&someBody, n, x[0], x[1], x[2]) }},
	{"BodyInputsVJP", []int{30, 4, 30, 30, 4}, []bool{3: true, 4: true}, []int{4},
		func(n int, x [][]float32) bool { return BodyInputsVJP(&someBody, n, x[0], x[1], x[2], x[3], x[4]) }},
	{"PriceSteps", []int{12, 12, 4, 4, 15, 10, 1, 1}, []bool{6: true, 7: true}, nil,
		func(n int, x [][]float32) bool {
			return PriceSteps(&somePrice, n, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7])
		}},
	{"PriceVJP", []int{12, 12, 4, 4, 15, 10, 1, 12, 12, 4, 4}, []bool{7: true, 8: true, 9: true, 10: true}, nil,
		func(n int, x [][]float32) bool {
			return PriceVJP(&somePrice, n, x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10])
		}},
	{"Observe", []int{11, 14, 8, 40}, []bool{3: true}, nil,
		func(n int, x [][]float32) bool { return Observe(&someView, n, x[0], x[1], nil, x[2], x[3]) }},
	{"Observe seen", []int{10, 8, 6, 4, 27}, []bool{4: true}, nil,
		func(n int, x [][]float32) bool { return Observe(&farView, n, x[0], x[1], x[2], x[3], x[4]) }},
	{"ObserveVJP", []int{11, 40, 11, 8}, []bool{2: true, 3: true}, nil,
		func(n int, x [][]float32) bool { return ObserveVJP(&someView, n, x[0], x[1], x[2], nil, x[3]) }},
	{"ObserveVJP seen", []int{10, 27, 10, 6, 4}, []bool{2: true, 3: true, 4: true}, nil,
		func(n int, x [][]float32) bool { return ObserveVJP(&farView, n, x[0], x[1], x[2], x[3], x[4]) }},
}

// arguments of rows robots: attitudes are normalised, weights and scales not negative.
func (f flier) arguments(rng *rand.Rand, rows int) [][]float32 {
	x := make([][]float32, len(f.widths))
	for i, w := range f.widths {
		x[i] = make([]float32, rows*w)
		for j := range x[i] {
			x[i][j] = float32(rng.NormFloat64())
			if w == PriceWeights || w == 1 {
				x[i][j] = float32(math.Abs(float64(x[i][j])))
			}
		}
	}
	return x
}

func (f flier) writes(i int) bool { return i < len(f.written) && f.written[i] }

// TestFliersAgree: every instruction set computes the same, between guard bands, at every number of robots left over.
func TestFliersAgree(t *testing.T) {
	found := sets(t)
	if len(found) == 0 {
		t.Skip("no C kernels in this binary")
	}
	was := name
	eachSet(t, func(t *testing.T) {
		here := name
		rng := rand.New(rand.NewPCG(21, 21))
		for _, f := range fliers {
			for rows := range 36 {
				args := f.arguments(rng, rows)
				for k := -1; k < len(f.optional); k++ {
					if k >= 0 {
						args[f.optional[k]] = nil
					}
					want := clone(args)
					for i, x := range args {
						if x == nil {
							want[i] = nil
						}
					}
					if err := choose(found[len(found)-1]); err != nil {
						t.Fatal(err)
					}
					f.run(rows, want)
					if err := choose(here); err != nil {
						t.Fatal(err)
					}
					f.agree(t, rows, args, want)
				}
			}
		}
	})
	if err := choose(was); err != nil {
		t.Fatal(err)
	}
}

func (f flier) agree(t *testing.T, rows int, args, want [][]float32) {
	t.Helper()
	guards, got := make([]guarded, len(args)), make([][]float32, len(args))
	for i, x := range args {
		if x != nil {
			guards[i] = guard(x)
			got[i] = guards[i].x
		}
	}
	if !f.run(rows, got) {
		t.Fatalf("%s did not run", f.name)
	}
	for i, x := range got {
		if x == nil {
			continue
		}
		guards[i].check(t, f.name, !f.writes(i))
		for j, v := range x {
			if v, w := float64(v), float64(want[i][j]); !(math.Abs(v-w) <= 1e-4*(1+math.Abs(w))) {
				t.Fatalf("%s of %d robots, argument %d [%d]: %v, of the plainest instructions %v", f.name, rows, i, j,
					v, w)
			}
		}
	}
}

// TestFliersRowByRow: a robot's numbers have the same bits alone and among others, and a NaN stays with its robot.
func TestFliersRowByRow(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(22, 22))
		const rows, ill = 21, 9
		for _, f := range fliers {
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
func (f flier) rowsOf(x []float32, w, rows, r int) (own []float32) {
	if w == 8 && f.name != "Observe seen" {
		for k := range 2 {
			own = append(own, x[(k*rows+r)*bodyCommand:][:bodyCommand]...)
		}
		return own
	}
	return slices.Clone(x[r*w:][:w])
}

// TestFliersWideTurns: turns that the series do not reach are worked out otherwise, to the last digits but a few.
func TestFliersWideTurns(t *testing.T) {
	eachSet(t, func(t *testing.T) {
		still := someBody
		still.Prior = false
		for _, turn := range []float64{0, 1e-4, 0.1, 0.4999, 0.5001, 1, 3, 7, 40} {
			s, a, d, next := make([]float32, BodyState), make([]float32, bodyCommand), make([]float32, bodyTangent),
				make([]float32, BodyState)
			s[3], d[6], d[7] = 1, float32(0.6*turn), float32(-0.8*turn)
			BodyStep(&still, 1, s, a, d, next)
			sin, cos := math.Sincos(turn / 2)
			for i, want := range []float64{cos, 0.6 * sin, -0.8 * sin, 0} {
				if math.Abs(float64(next[3+i])-want) > 4e-6 {
					t.Errorf("turned by %g rad: q[%d] = %v, want %v", turn, i, next[3+i], want)
				}
			}
		}
	})
}

func TestFliersShortSlice(t *testing.T) {
	rng := rand.New(rand.NewPCG(23, 23))
	for _, f := range fliers {
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

// TestFliersOutside: what would lead C beside its rows is refused before.
func TestFliersOutside(t *testing.T) {
	x := make([]float32, 1000)
	for name, run := range map[string]func(){
		"a tap past the delay line":   func() { BodyStep(&Body{Rate: Channel{Tap: 4}}, 1, x, x, x, x) },
		"a tap before the delay line": func() { BodyInputs(&Body{Thrust: Channel{Tap: -1}}, 1, x, x, x) },
		"a cost of a state without v": func() { PriceSteps(&Price{State: 7}, 1, x, x, x, x, x, x, x, x) },
		"a view of a state without v": func() { Observe(&View{State: 7, Width: 100}, 1, x, x, nil, x, x) },
		"a view of a camera and no picture": func() {
			Observe(&View{Looks: 1, Place: 9, State: 10, Width: 100}, 1, x, x,
				nil, x, x)
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s was taken", name)
				}
			}()
			run()
		}()
	}
}

func TestFliersNoAllocation(t *testing.T) {
	rng := rand.New(rand.NewPCG(24, 24))
	for _, f := range fliers {
		args := f.arguments(rng, 3)
		if n := testing.AllocsPerRun(10, func() { f.run(3, args) }); n != 0 {
			t.Errorf("%s allocates %v times", f.name, n)
		}
	}
}

// BenchmarkFliers times the kernels of flight on 64 robots; their plain loops have benchmarks where they are.
func BenchmarkFliers(b *testing.B) {
	rng := rand.New(rand.NewPCG(25, 25))
	eachSetBench(b, func(b *testing.B) {
		for _, f := range fliers {
			const rows = 64
			args := f.arguments(rng, rows)
			if !f.run(rows, args) {
				continue
			}
			b.Run(f.name, func(b *testing.B) {
				for b.Loop() {
					f.run(rows, args)
				}
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*1e9/rows, "ns/robot")
			})
		}
	})
}
