package arm

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/kernel/kerneltest"
)

// steps runs Step and StepVJP on the same numbers, and returns what they write, gradients added to ones.
func steps[F kernel.Float](r Robot, rows int) (out [4][]F) {
	rng := rand.New(rand.NewPCG(1, uint64(rows)))
	drawn := func(n int, spread float64) []F {
		x := make([]F, n)
		for i := range x {
			x[i] = F(float32(spread * rng.NormFloat64()))
		}
		return x
	}
	s, a, d, g := drawn(rows*nS, 1), drawn(rows*nA, 5), drawn(rows*nS, 0.1), drawn(rows*nS, 1)
	out = [4][]F{make([]F, rows*nS), make([]F, rows*nS), make([]F, rows*nA), make([]F, rows*nS)}
	for _, x := range out[1:] {
		for i := range x {
			x[i] = 1
		}
	}
	m := New[F](r)
	m.Step(rows, s, a, d, out[0])
	m.StepVJP(rows, s, a, d, g, out[1], out[2], out[3])
	return out
}

// Every set of kernels agrees with the Go in float64, whatever the number of arms.
func TestKernelsAgreeWithGo(t *testing.T) {
	defer func() { useKernels = useC(kernel.Instructions()) }()
	loaded := Robot{Dt: 0.02, Steps: 5, Payload: 2, Damping: 0.5, Friction: 0.5}
	for _, set := range kerneltest.Sets(useC) {
		useKernels = useC(set)
		for _, rows := range []int{1, 3, 16, 37} {
			agree(t, set+", prior", Robot{Dt: 0.02, Steps: 1}, rows)
			agree(t, set+", loaded", loaded, rows)
		}
	}
}

func agree(t *testing.T, name string, r Robot, rows int) {
	t.Helper()
	got, want := steps[float32](r, rows), steps[float64](r, rows)
	for k, what := range []string{"next", "ds", "da", "dd"} {
		for i, x := range want[k] {
			if off := math.Abs(float64(got[k][i]) - x); !(off <= 2e-5*(1+math.Abs(x))) {
				t.Errorf("%s, %s, %d arms: number %d is %g, in Go %g", name, what, rows, i, got[k][i], x)
				return
			}
		}
	}
}
