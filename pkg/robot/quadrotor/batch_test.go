package quadrotor

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// TestBatch: a batch in float32, which flies many robots at a time where the machine can, moves them as float64 does
// one by one, whatever the delays, the size of the turns and the number of robots, and leaves alone what is beyond the
// last.
func TestBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delay := rapid.Custom(func(t *rapid.T) float64 {
			return rapid.SampledFrom([]float64{0, 1, 2.25, 3, 3.5, 6.75, MaxDelay,
				rapid.Float64Range(0, MaxDelay).Draw(t, "delay")}).Draw(t, "delays")
		})
		act := Actuator{ThrustGain: 0.9, RateGain: 1.1, ThrustDelay: delay.Draw(t, "thrust"),
			RateDelay: delay.Draw(t, "rate"),
			ThrustLag: rapid.SampledFrom([]float64{0, 0.05, 0.2}).Draw(t, "lag"), RateLag: 0.03,
			YawLag: rapid.SampledFrom([]float64{0, 0.1}).Draw(t, "yaw")}
		one, many := NewQuadrotor[float64](0.02, act), NewQuadrotor[float32](0.02, act)
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			one, many = one.WithoutPrior(), many.WithoutPrior()
		case 1:
			one, many = one.InWorld(), many.InWorld()
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		turn, rate := rapid.SampledFrom([]float64{0, 0.01, 0.3, 3}).Draw(t, "turn"),
			rapid.SampledFrom([]float64{1, 6, 200}).Draw(t, "rates")
		b := newBatch(rng, rapid.IntRange(1, 40).Draw(t, "robots"), turn, rate)
		for _, withAction := range []bool{true, false} {
			b.compare(t, one, many, withAction)
		}
	})
}

// batch holds float64 rows that are float32 numbers.
type batch struct {
	B                             int
	s, a, d, dnext, dx            []float64
	next, x, ds, da, dd, dsX, daX []float64
}

func newBatch(rng *rand.Rand, B int, turn, rate float64) *batch {
	draw := func(n int, size float64) []float64 {
		x := make([]float64, B*n)
		for i := range x {
			x[i] = float64(float32(size * rng.NormFloat64()))
		}
		return x
	}
	b := &batch{B: B, a: draw(nA, rate), d: draw(nU, turn), dnext: draw(nS, 1), dx: draw(nX, 1), next: draw(nS, 1),
		x:  draw(nX, 1),
		ds: draw(nS, 1), da: draw(nA, 1), dd: draw(nU, 1), dsX: draw(nS, 1), daX: draw(nA, 1)}
	for range B {
		s := randomState(rng)
		for j := range 3 {
			s[iW+j] *= rate
		}
		for _, v := range s {
			b.s = append(b.s, float64(float32(v)))
		}
	}
	return b
}

const beyond = 77 // what stands behind the last row

func single(x []float64) []float32 {
	y := make([]float32, len(x), len(x)+40)
	for i, v := range x {
		y[i] = float32(v)
	}
	for range 40 {
		y = append(y, beyond)
	}
	return y
}

func (b *batch) compare(t *rapid.T, one *Quadrotor[float64], many *Quadrotor[float32], withAction bool) {
	clone := func(x []float64) []float64 { return append([]float64(nil), x...) }
	next, x, ds, da, dd, dsX, daX := clone(b.next), clone(b.x), clone(b.ds), clone(b.da), clone(b.dd), clone(b.dsX),
		clone(b.daX)
	next32, x32, ds32, da32, dd32, dsX32, daX32 := single(next), single(x), single(ds), single(da), single(dd),
		single(dsX), single(daX)
	s32, a32, d32, dnext32, dx32 := single(b.s), single(b.a), single(b.d), single(b.dnext), single(b.dx)
	one.Step(b.B, b.s, b.a, b.d, next)
	many.Step(b.B, s32, a32, d32, next32)
	one.Inputs(b.B, b.s, b.a, x)
	many.Inputs(b.B, s32, a32, x32)
	if withAction {
		one.StepVJP(b.B, b.s, b.a, b.d, b.dnext, ds, da, dd)
		many.StepVJP(b.B, s32, a32, d32, dnext32, ds32, da32, dd32)
		one.InputsVJP(b.B, b.s, b.a, b.dx, dsX, daX)
		many.InputsVJP(b.B, s32, a32, dx32, dsX32, daX32)
	} else {
		one.StepVJP(b.B, b.s, b.a, b.d, b.dnext, ds, nil, dd)
		many.StepVJP(b.B, s32, a32, d32, dnext32, ds32, nil, dd32)
		one.InputsVJP(b.B, b.s, b.a, b.dx, dsX, nil)
		many.InputsVJP(b.B, s32, a32, dx32, dsX32, nil)
	}
	rows := func(what string, n int, want []float64, got []float32) { sameRows(t, what, n, want, got) }
	rows("next", nS, next, next32)
	rows("x", nX, x, x32)
	rows("ds", nS, ds, ds32)
	rows("da", nA, da, da32)
	rows("dd", nU, dd, dd32)
	rows("ds of x", nS, dsX, dsX32)
	rows("da of x", nA, daX, daX32)
}

// sameRows allows for rounding in float32, by the greatest number of a row: sums cancel.
func sameRows(t *rapid.T, what string, n int, want []float64, got []float32) {
	for i := 0; i < len(want); i += n {
		size := 1.
		for _, v := range want[i : i+n] {
			size = max(size, math.Abs(v))
		}
		for j, w := range want[i : i+n] {
			if !(math.Abs(float64(got[i+j])-w) <= 1e-5*size) {
				t.Fatalf("%s of robot %d [%d]: %v in the batch, %v alone (greatest %v)", what, i/n, j, got[i+j], w,
					size)
			}
		}
	}
	for i, v := range got[len(want):] {
		if v != beyond {
			t.Fatalf("%s: wrote %v at %d beyond the last robot", what, v, i)
		}
	}
}
