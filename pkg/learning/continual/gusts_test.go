package continual

import (
	"context"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/fit/quadfit"
	"vnd/pkg/learning/smooth"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// stiff holds the point of at: rates against errors of position, velocity and attitude.
type stiff struct{}

func (stiff) Reset() {}

func (stiff) Command(_ float64, s *quad.State) (c quad.Command) {
	up := s.P.Sub(at(0).P).Scale(-8).Sub(s.V.Scale(4)).Add(so3.Vec3{Z: quad.Gravity})
	z := s.Q.Rotate(so3.Vec3{Z: 1})
	c.Thrust = up.Dot(z)
	c.Rates = s.Q.Conj().Rotate(z.Cross(up.Scale(1 / up.Norm()))).Scale(8)
	return c
}

// gusty is a flight in a wind that turns about every second or two, which the controller answers.
func gusty(seconds float64, rng *rand.Rand) (rows []quad.Row) {
	var wind so3.Vec3
	left := 0
	rows, _ = flyIn(stiff{}, func() so3.Vec3 {
		if left--; left < 0 {
			left = 50 + rng.IntN(50)
			wind = so3.Vec3{X: 4*rng.Float64() - 2, Y: 4*rng.Float64() - 2}
		}
		return wind
	}, seconds, rng)
	return rows
}

// after is the velocity of the robot itself, without wind, half a second after a window.
func after(window []quad.Row, future []quad.Command) so3.Vec3 {
	const past = 20
	sys := quadrotor.NewQuadrotor[float64](dt, actuator)
	dims := sys.Dims()
	s, next, d := make([]float64, dims.State), make([]float64, dims.State), make([]float64, dims.Tangent)
	measured, actions := quadrotor.Flatten[float64](window)
	sys.Window(past, measured, actions, s, nil, nil, nil)
	a := make([]float64, dims.Action)
	for i := range future {
		quadrotor.Action(&future[i], a)
		sys.Step(1, s, a, d, next)
		s, next = next, s
	}
	return quadrotor.State(s).V
}

// response is the velocity that a pulse of pitch rate adds in the model within half a second, over that in the robot.
func response(t *testing.T, f *fit.Fit, rows []quad.Row) float64 {
	t.Helper()
	const steps = 25
	p := vnd.NewPredictor(f.Model, quadfit.Robot(f))
	var model, truth so3.Vec3
	for k := 100; k+steps < len(rows); k += 40 {
		window := rows[k-20 : k+1]
		var future [2][]quad.Command
		var out [2][]quad.State
		for j := range future {
			out[j] = make([]quad.State, steps)
			for i := range steps {
				c := rows[k+i].Command
				if j == 1 && i < 5 {
					c.Rates.Y++
				}
				future[j] = append(future[j], c)
			}
		}
		if err := p.Predict([][]quad.Row{window, window}, future[:], out[:]); err != nil {
			t.Fatal(err)
		}
		model = model.Add(out[1][steps-1].V).Sub(out[0][steps-1].V)
		truth = truth.Add(after(window, future[1])).Sub(after(window, future[0]))
	}
	return model.X / truth.X
}

// TestGustsAreNoPoorState: a wind that sets in at once moves the robot, not the poses.
func TestGustsAreNoPoorState(t *testing.T) {
	rows := gusty(60, rand.New(rand.NewPCG(5, 6)))
	segments := dataset.FromFlights([]quad.Flight{{Name: "gusty", Segments: [][]quad.Row{rows}}})
	if err := smooth.Fill(t.Context(), dt, actuator, segments); err != nil {
		t.Fatal(err)
	}
	if smooth.Poor(segments) {
		t.Error("the state of a flight in gusts is taken for poor")
	}
}

// A rollout that is longer than the time in which a controller answers a gust tells of the gust by the answer: a model
// fitted to it believes that commands do little (0.49 with 20 steps, 0.11 with 50).
func TestFitSeparatesGustsFromTheCommandsThatAnswerThem(t *testing.T) {
	if kernel.Instructions() == "" {
		t.Skip("SKIPPED: the fit takes minutes without the C kernels")
	}
	rows := gusty(240, rand.New(rand.NewPCG(5, 6)))
	var c Config
	param.Default(&c)
	c.Fit.Train.Minutes = 60 // a slow machine must not end the fit early
	f, err := quadfit.Run(context.Background(), c.fitting(false), dt,
		dataset.FromFlights([]quad.Flight{{Name: "gusty", Segments: [][]quad.Row{rows}}}), fit.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if r := response(t, f, rows); r < 0.75 || r > 1.15 {
		t.Errorf("a pulse of pitch rate does %.2f of what it does to the robot, expected 0.75 to 1.15", r)
	}
}
