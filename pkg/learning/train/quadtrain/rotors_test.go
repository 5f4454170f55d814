package quadtrain

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/train"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/rotors"
)

// rotorSystem is that of the default airframe.
func rotorSystem[F kernel.Float](t *testing.T, n *Nominal) (*rotors.System[F], rotors.Limits) {
	t.Helper()
	var a rotors.Airframe
	param.Default(&a)
	m, err := a.Model(n.Dt, n.MeanLag())
	if err != nil {
		t.Fatal(err)
	}
	sys := rotors.NewSystem[F](m)
	return sys, sys.Limits(&a)
}

// TestGradientOfMotors proves the gradient of whole episodes whose policy commands motors, by central differences along
// random directions, in the nominal simulator and in a model with a residual.
func TestGradientOfMotors(t *testing.T) {
	n := Nominal{Dt: .02, MinLag: .015, MaxLag: .04, MaxDelay: 2, Gain: .1, Wind: 2, Margins: Margins{Gain: .2}}
	sys, limits := rotorSystem[float64](t, &n)
	for name, w := range map[string]train.World[float64]{"nominal": RotorWorld(n, sys),
		"learned": Learned(drawn(t, sys, rand.New(rand.NewPCG(1, 1))), n.Dt, true, Pushes{Hidden: 1}, Margins{})} {
		t.Run(name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(3, 3))
			o := policy.Observation{PreviewPoints: 3, PreviewTime: .3, PastActions: 2}
			p, err := policy.NewRotors[float64](o, limits, 2, []int{6, 5})
			if err != nil {
				t.Fatal(err)
			}
			scatter(p, rng)
			c := &train.Check[float64]{World: w, Dt: n.Dt, B: 12, H: 12, Seed: 9, Gamma: .97,
				Actor: &p.Actor, Task: tasksOf(tasksAlong(circle), p)}
			_, grad, collided := c.Gradient()
			if collided == 0 || collided == c.B {
				t.Errorf("%d of %d environments collided: the test wants some", collided, c.B)
			}
			for range 20 {
				along(t, c, grad, rng)
			}
		})
	}
}

// along compares the gradient along a random direction.
func along(t *testing.T, c *train.Check[float64], grad []float64, rng *rand.Rand) {
	t.Helper()
	const eps = 1e-5
	params := c.Actor.Net.Params
	direction, got := make([]float64, len(params)), 0.
	for i := range direction {
		direction[i] = rng.NormFloat64()
		got += direction[i] * grad[i]
	}
	step := func(by float64) float64 {
		for i, d := range direction {
			params[i] += by * d
		}
		cost, _, _ := c.Gradient()
		for i, d := range direction {
			params[i] -= by * d
		}
		return cost
	}
	if want := (step(eps) - step(-eps)) / (2 * eps); math.Abs(got-want) > 1e-5*(1+math.Abs(want)) {
		t.Errorf("gradient %.8g, central difference %.8g", got, want)
	}
}

// TestLearnsToHoverByMotors: from nothing, in seconds.
func TestLearnsToHoverByMotors(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	n := defaults()
	n.MinLag, n.MaxLag = .015, .04
	sys, limits := rotorSystem[float32](t, &n)
	c, k := small(t), tasksAlong(stay)
	c.Epochs, c.Horizon, c.Rate, c.Clip, c.Flights = 60, 50, .01, 0.1, 3
	k[0].Radius = 3
	w := RotorWorld(n, sys)
	r, err := Run(t.Context(), c, w, n.Dt, Options{Seed: 1, Tasks: k, Motors: &limits, Fly: trials(w, k, 8).Fly})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("errs by %.3f m", r.Best.Score)
	if r.Policy.Motors == nil || !(r.Best.Score < .6) {
		t.Errorf("errs by %.3f m in flight, with the way back from the start", r.Best.Score)
	}
}
