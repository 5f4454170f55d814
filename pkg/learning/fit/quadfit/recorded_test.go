package quadfit

import (
	"fmt"
	"math"
	"math/rand/v2"

	"vnd/pkg/core/quad"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/robot/quadrotor"
)

// recorded simulates flights under smooth commands, in three winds by turns, with a drag that the recent mean cannot
// follow.
func recorded(flights, rows int) []dataset.Segment {
	rng := rand.New(rand.NewPCG(11, 12))
	sys := quadrotor.NewQuadrotor[float64](.02,
		quadrotor.Actuator{ThrustGain: .95, ThrustLag: .05, RateGain: 1, RateLag: .02})
	dim := sys.Dims()
	var out []dataset.Segment
	winds := [3][3]float64{{2, 0, 0}, {-1, 2, 0}, {0, -2, 1}} // m/s²
	for f := range flights {
		wind := winds[f%len(winds)]
		phase := [4]float64{6 * rng.Float64(), 6 * rng.Float64(), 6 * rng.Float64(), 6 * rng.Float64()}
		seg := dataset.Segment{Flight: fmt.Sprintf("flight%d", f)}
		s, next, d := make([]float64, dim.State), make([]float64, dim.State), make([]float64, dim.Tangent)
		s[3], s[10] = 1, 9.81
		for k := range rows {
			tm := .02 * float64(k)
			a := []float64{9.81 + 2*math.Sin(5*tm+phase[0]), math.Sin(4*tm + phase[1]), math.Sin(3*tm + phase[2]),
				.3 * math.Sin(2*tm+phase[3])}
			row := dataset.WeightedRow{Row: quad.Row{T: tm, State: quadrotor.State(s)}, Confidence: 1}
			row.Command.Thrust = a[0]
			row.Command.Rates.X, row.Command.Rates.Y, row.Command.Rates.Z = a[1], a[2], a[3]
			seg.Rows = append(seg.Rows, row)
			for j := range 3 {
				d[3+j] = .02 * (wind[j] - 1.5*s[7+j]*math.Abs(s[7+j]))
			}
			sys.Step(1, s, a, d, next)
			s, next = next, s
		}
		out = append(out, seg)
	}
	return out
}
