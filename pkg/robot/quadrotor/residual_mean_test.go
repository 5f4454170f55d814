package quadrotor

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Whatever is flown behind whatever actuator, what is left over is the acceleration that the prior does not know.
func TestResidualMeanIsTheWind(t *testing.T) {
	const dt, steps = 0.02, 25
	rng := rand.New(rand.NewPCG(3, 3))
	for _, wind := range []so3.Vec3{{}, {X: 3, Y: -1, Z: 0.5}, {Y: 0.2}} {
		act := Actuator{ThrustGain: 0.97, ThrustDelay: 0.5, ThrustLag: 0.05, RateGain: 1, RateLag: 0.03}
		sys := NewQuadrotor[float64](dt, act)
		s, next := make([]float64, nS), make([]float64, nS)
		Measured(&quad.State{Q: so3.FromEuler(0.3, -0.2, 1), V: so3.Vec3{X: 2}}, s)
		cmd := quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{X: 0.4, Y: -0.3}}
		sys.rest(s, []float64{cmd.Thrust, cmd.Rates.X, cmd.Rates.Y, cmd.Rates.Z},
			s) // the first command was held for long
		var rows []quad.Row
		a, none := make([]float64, nA), make([]float64, nU)
		for k := range steps + 1 {
			rows = append(rows, quad.Row{T: float64(k) * dt, State: State(s), Command: cmd})
			Action(&cmd, a)
			sys.Step(1, s, a, none, next)
			for j, w := range []float64{wind.X, wind.Y, wind.Z} {
				next[iP+j] += w * dt * dt / 2
				next[iV+j] += w * dt
			}
			s, next = next, s
			cmd = quad.Command{Thrust: quad.Gravity + rng.NormFloat64(),
				Rates: so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}}
		}
		got := NewResidualMean(act, dt, steps).Mean(rows)
		if off := got.Sub(wind).Norm(); !(off < 1e-9) {
			t.Errorf("wind %v: left over %v", wind, got)
		}
		rough := NewResidualMean(NominalActuator(), dt, steps).Mean(rows)
		if off := math.Hypot(rough.X-wind.X, rough.Y-wind.Y); !(off < 0.5) {
			t.Errorf("wind %v: behind an ideal actuator %v is left over", wind, rough)
		}
	}
}
