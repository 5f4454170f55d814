package pendulum

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestGradientsMatchCentralDifferences(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	p := New[float64](Robot{Dt: 0.05, Mass: 0.7, Drag: 0.3})
	for range 50 {
		draw := func(n int) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = 0.8 * rng.NormFloat64()
			}
			return x
		}
		s, a, d, dnext, dx := draw(nS), draw(1), draw(nS), draw(nS), draw(nX)
		ds, da, dd := make([]float64, nS), make([]float64, 1), make([]float64, nS)
		p.StepVJP(1, s, a, d, dnext, ds, da, dd)
		p.InputsVJP(1, s, a, dx, ds, da)
		start, next, x := append([]float64(nil), s...), make([]float64, nS), make([]float64, nX)
		value := func() (sum float64) {
			p.Step(1, s, a, d, next)
			p.Inputs(1, s, a, x)
			e := make([]float64, nS)
			p.Minus(1, next, nS, start, nS, e)
			return dnext[0]*e[0] + dnext[1]*e[1] + dx[0]*x[0] + dx[1]*x[1] + dx[2]*x[2] + dx[3]*x[3]
		}
		for name, pair := range map[string][2][]float64{"s": {s, ds}, "a": {a, da}, "d": {d, dd}} {
			for i, keep := range pair[0] {
				const eps = 1e-6
				pair[0][i] = keep + eps
				up := value()
				pair[0][i] = keep - eps
				want := (up - value()) / (2 * eps)
				if pair[0][i] = keep; math.Abs(pair[1][i]-want) > 1e-6*(1+math.Abs(want)) {
					t.Fatalf("d%s[%d] is %g, central difference %g", name, i, pair[1][i], want)
				}
			}
		}
	}
}
