package quadrotor

import (
	"math"
	"math/rand/v2"

	"vnd/pkg/core/quad"
)

// simulated flies smooth random commands through an actuator under a constant wind, one segment per wind.
func simulated(act Actuator, segments, rows int) [][]quad.Row {
	rng := rand.New(rand.NewPCG(11, 12))
	m := NewQuadrotor[float64](.02, act)
	var out [][]quad.Row
	for range segments {
		d := make([]float64, nU)
		d[uV], d[uV+1] = .02*rng.NormFloat64(), .02*rng.NormFloat64()
		s, next := make([]float64, nS), make([]float64, nS)
		s[iQ], s[iT] = 1, 9.81
		phase := randn(rng, 4, 3)
		var seg []quad.Row
		for k := range rows {
			t := .02 * float64(k)
			wave := func(i int, amp, f float64) float64 { return amp * math.Sin(f*t+phase[i]) }
			a := []float64{9.81/act.ThrustGain + wave(0, 2, 5), wave(1, 1, 4), wave(2, 1, 3), wave(3, .3, 2)}
			row := quad.Row{T: t, State: State(s)}
			row.Command.Thrust = a[0]
			row.Command.Rates.X, row.Command.Rates.Y, row.Command.Rates.Z = a[1], a[2], a[3]
			seg = append(seg, row)
			m.Step(1, s, a, d, next)
			s, next = next, s
		}
		out = append(out, seg)
	}
	return out
}
