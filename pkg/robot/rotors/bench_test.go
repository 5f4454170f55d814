package rotors

import (
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/param"
)

// BenchmarkSystem is a step of a batch forth and back.
func BenchmarkSystem(b *testing.B) {
	const B = 64
	var a Airframe
	param.Default(&a)
	m, err := a.Model(.01, .02)
	if err != nil {
		b.Fatal(err)
	}
	s, u, d := somewhere(NewSystem[float64](m), B, rand.New(rand.NewPCG(1, 1)))
	sys := NewSystem[float64](m)
	next, ds := make([]float64, len(s)), make([]float64, len(s))
	da, dd := make([]float64, len(u)), make([]float64, len(d))
	for b.Loop() {
		sys.Step(B, s, u, d, next)
		sys.StepVJP(B, s, u, d, next, ds, da, dd)
	}
	b.ReportMetric(float64(b.N*B)/b.Elapsed().Seconds(), "transitions/s")
}
