package quadrotor

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"
)

// BenchmarkStep is one step of 64 robots with its features, forth and back, by the processor time of this process:
// other processes then matter less.
func BenchmarkStep(b *testing.B) {
	const B = 64
	m, rng := NewQuadrotor[float32](0.02, NominalActuator()), rand.New(rand.NewPCG(1, 1))
	draw := func(n int, size float64) []float32 {
		x := make([]float32, B*n)
		for i := range x {
			x[i] = float32(size * rng.NormFloat64())
		}
		return x
	}
	s, a, d, dnext, dx := draw(nS, 1), draw(nA, 1), draw(nU, 0.01), draw(nS, 1), draw(nX, 1)
	next, x, ds, da, dd := draw(nS, 0), draw(nX, 0), draw(nS, 0), draw(nA, 0), draw(nU, 0)
	spent := func() time.Duration {
		var u syscall.Rusage
		syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	began := spent()
	for b.Loop() {
		m.Inputs(B, s, a, x)
		m.Step(B, s, a, d, next)
		clear(ds)
		m.StepVJP(B, s, a, d, dnext, ds, da, dd)
		m.InputsVJP(B, s, a, dx, ds, da)
	}
	b.ReportMetric(float64(spent()-began)/float64(b.N*B), "cpu-ns/robot")
}
