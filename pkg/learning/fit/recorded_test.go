package fit

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"vnd/pkg/robot/quadrotor"
)

// vehicle is what the recorded flights are learned around.
var vehicle = quadrotor.Robot{Dt: .02, Actuator: quadrotor.NominalActuator(), Prior: true, World: true}

// flown is a fit's source of flights of the vehicle.
func flown(recordings []Recording) Source { return KnownRobot(vehicle, recordings) }

// vehicleWith is the vehicle with simulated flights.
func vehicleWith(flights, rows int) *Recorded {
	return &Recorded{Robot: vehicle, Recordings: recorded(flights, rows)}
}

// recorded simulates flights under smooth commands, in three winds by turns, with a drag that the recent mean cannot
// follow.
func recorded(flights, rows int) []Recording {
	rng := rand.New(rand.NewPCG(11, 12))
	sys := quadrotor.NewQuadrotor[float32](.02,
		quadrotor.Actuator{ThrustGain: .95, ThrustLag: .05, RateGain: 1, RateLag: .02})
	dim := sys.Dims()
	var out []Recording
	winds := [3][3]float32{{2, 0, 0}, {-1, 2, 0}, {0, -2, 1}} // m/s²
	for f := range flights {
		wind := winds[f%len(winds)]
		phase := [4]float64{6 * rng.Float64(), 6 * rng.Float64(), 6 * rng.Float64(), 6 * rng.Float64()}
		rec := Recording{Name: fmt.Sprintf("flight%d", f), Weight: slices.Repeat([]float32{1}, rows)}
		s, next, d := make([]float32, dim.State), make([]float32, dim.State), make([]float32, dim.Tangent)
		s[3], s[10] = 1, 9.81
		for k := range rows {
			tm := .02 * float64(k)
			a := []float32{float32(9.81 + 2*math.Sin(5*tm+phase[0])), float32(math.Sin(4*tm + phase[1])),
				float32(math.Sin(3*tm + phase[2])), float32(.3 * math.Sin(2*tm+phase[3]))}
			rec.Measured = append(rec.Measured, s[:dim.Measured]...)
			rec.Actions = append(rec.Actions, a...)
			for j := range 3 {
				d[3+j] = .02 * (wind[j] - 1.5*s[7+j]*max(s[7+j], -s[7+j]))
			}
			sys.Step(1, s, a, d, next)
			s, next = next, s
		}
		out = append(out, rec)
	}
	return out
}
