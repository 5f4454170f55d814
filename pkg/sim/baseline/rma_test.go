package baseline

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/train/quadtrain"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// hidden hides from the flights of these tests that an RMA could be told the truth.
type hidden struct {
	quad.Controller
	of *RMA
}

func (u hidden) Observe(r quad.Row) { u.of.Observe(r) }

// TestRMAReadsTheWind: the policy sees winds that nobody names, also after they turn.
func TestRMAReadsTheWind(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	const spread = 2
	robot := Airframe{Actuator: actuator}
	p := trained(quadtrain.Informed(nominal(), dt, spread), 130)
	system := quadrotor.NewQuadrotor[float32](dt, actuator)
	model := must(vnd.New[float32](system, nets.Config{Hidden: 4, Blocks: 1, Members: 1}))
	c := Adaptation{Policy: p, Spread: spread, Model: model, Noise: 0.005, Robot: robot, Dt: dt,
		Paths: []func(float64) quad.Reference{point{}.At}, Flights: 40, Updates: 600, Seed: 1}
	a := must(c.Learn(context.Background()))
	r := must(NewRMA(p, spread, a, 10, robot, dt, point{}.At))
	wind := so3.Vec3{X: 2, Y: -1.5}
	var before, after so3.Vec3
	errs := fly(hidden{r, r}, 400, func(t float64) so3.Vec3 {
		switch {
		case t < 4:
			before = r.wind
			return wind
		case t < 5:
			after = r.wind
		}
		return wind.Scale(-1)
	})
	t.Logf("errs by %.3f m, sees %v, after a turn %v", mean(errs[300:]), before, after)
	if before.Sub(wind).Norm() > 0.3 || after.Add(wind).Norm() > 0.4 {
		t.Errorf("sees %v m/s², after a turn %v, want ±%v", before, after, wind)
	}
	if e := mean(errs[300:]); e > 0.15 {
		t.Errorf("errs by %.3f m", e)
	}
	again := fly(hidden{r, r}, 400, always(wind))
	if first := fly(hidden{r, r}, 400, always(wind)); mean(first) != mean(again) {
		t.Error("what was flown is not forgotten")
	}
	c.Paths = nil
	if _, err := c.Learn(context.Background()); err == nil {
		t.Error("a module of no flights")
	}
}

// TestVelocityNoise finds the noise that was put on the velocities of a flight.
func TestVelocityNoise(t *testing.T) {
	const sigma = 0.004 // m/s
	rng := rand.New(rand.NewPCG(3, 4))
	var rows []quad.Row
	for k := range 2000 {
		s := quad.State{Q: so3.Identity(), V: so3.Vec3{X: math.Sin(0.02 * float64(k))}}
		s.V = s.V.Add(so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(sigma))
		rows = append(rows, quad.Row{T: dt * float64(k), State: s, Command: quad.Command{Thrust: quad.Gravity}})
	}
	if got := VelocityNoise([][]quad.Row{rows}, Airframe{Actuator: actuator}, dt); math.Abs(got-sigma) > 0.05*sigma {
		t.Errorf("%.5f m/s, want %.5f", got, sigma)
	}
}
