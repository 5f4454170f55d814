package train

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/learning/task"
	"vnd/pkg/robot"
)

// TestInformedPushes: beside the other world's step there is v += w Δt and p += w Δt²/2, and nothing else.
func TestInformedPushes(t *testing.T) {
	const B, spread = 3, 2.
	inner := nominal64(t)
	d := inner.System().Dims()
	rng := rand.New(rand.NewPCG(1, 1))
	s, a, z := make([]float64, B*d.State), make([]float64, B*d.Action), make([]float64, 3*B)
	for b := range B {
		copy(s[b*d.State:], robot.Settled(inner.System()))
	}
	for i := range a {
		a[i] = 5 * rng.NormFloat64()
	}
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	step := func(w World[float64], z []float64) []float64 {
		next := make([]float64, B*d.State)
		w.tile(B, 1).begin(B, 1, latents[float64]{first: z}, rand.New(rand.NewPCG(2, 2))).Step(0, s, a, next)
		return next
	}
	calm, pushed := step(inner, nil), step(&Informed[float64]{World: inner, Dt: 0.02, Spread: spread}, z)
	for b := range B {
		for j := range d.State {
			want := 0.
			switch {
			case j < 3:
				want = spread * z[3*b+j] * 0.02 * 0.02 / 2
			case j >= 7 && j < 10:
				want = spread * z[3*b+j-7] * 0.02
			}
			if got := pushed[b*d.State+j] - calm[b*d.State+j]; math.Abs(got-want) > 1e-12 {
				t.Errorf("robot %d, channel %d moves by %g, want %g", b, j, got, want)
			}
		}
	}
}

func nominal64(t *testing.T) *NominalWorld[float64] {
	t.Helper()
	return &NominalWorld[float64]{nominal().Nominal}
}

// TestInformedLearnsToLean: told the wind, a policy stays where it is to be; told nothing of it, the same policy is
// blown aside.
func TestInformedLearnsToLean(t *testing.T) {
	k := tasks(stay)
	k[0].Cost, k[0].Radius = task.Cost{Position: 5, Velocity: 0.1, Rates: 0.01, Change: 0.5, Collision: 1, Delta: 1}, 4
	c := small(t)
	c.Epochs, c.Flights, c.Horizon = 100, 0, 50
	w := &Informed[float32]{World: nominal(), Dt: 0.02, Spread: 2}
	r, err := Run(context.Background(), c, w, 0.02, Options{Seed: 1, Tasks: k, Limits: limits()})
	if err != nil {
		t.Fatal(err)
	}
	if r.Policy.Latent != 3 {
		t.Fatalf("a policy with a latent of %d", r.Policy.Latent)
	}
	wind := [3]float32{1.2, -0.9, 0}
	trials := &Trials{World: w, Tasks: k, Dt: 0.02, Flights: 8, Steps: 200, Seed: 1,
		Sample: func(_ *rand.Rand, z []float32) { copy(z, wind[:]) }}
	given, err := trials.Fly(r.Policy)
	if err != nil {
		t.Fatal(err)
	}
	first := r.Policy.Net.Tensors()[0]
	weights := r.Policy.Net.Params[first.Offset:][:first.Size()]
	clear(weights[r.Policy.Observation.Size()*r.Policy.Net.Hidden[0]:])
	r.Policy.Net.Refresh()
	untold, err := trials.Fly(r.Policy)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("errs by %.3f m given and %.3f m untold", given, untold)
	if !(given < 0.2) || !(untold > 1.7*given) {
		t.Errorf("errs by %.3f m given and %.3f m untold", given, untold)
	}
}
