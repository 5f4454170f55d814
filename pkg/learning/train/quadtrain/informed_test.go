package quadtrain

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/core/so3"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
)

// TestInformedPushes: a wind adds v += w Δt and p += w Δt²/2 to a step, and nothing else.
func TestInformedPushes(t *testing.T) {
	const spread = 2.
	w, z, m := Informed(nominal(), 0.02, spread), []float32{1, -2, 3}, make([]float32, 10)
	w.Push(z, m)
	for j, got := range m {
		want := 0.
		switch {
		case j < 3:
			want = spread * float64(z[j]) * 0.02 * 0.02 / 2
		case j >= 7:
			want = spread * float64(z[j-7]) * 0.02
		}
		if math.Abs(float64(got)-want) > 1e-7 {
			t.Errorf("channel %d moves by %g, want %g", j, got, want)
		}
	}
	if given := TrueWind[float32](so3.Vec3{X: 2, Y: -4, Z: 6}, spread); !slices.Equal(given[:], z) {
		t.Errorf("given %v, want %v", given, z)
	}
}

// TestInformedLearnsToLean: told the wind, a policy stays where it is to be; told nothing of it, the same policy is
// blown aside.
func TestInformedLearnsToLean(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	k := tasksAlong(stay)
	k[0].Cost, k[0].Radius = task.Cost{Position: 5, Velocity: 0.1, Rates: 0.01, CommandChange: 0.5, Collision: 1,
		Delta: 1}, 4
	c := small(t)
	c.Epochs, c.Flights, c.Horizon = 100, 0, 50
	w := Informed(nominal(), 0.02, 2)
	r, err := Run(context.Background(), c, w, 0.02, Options{Seed: 1, Tasks: k, Limits: limits()})
	if err != nil {
		t.Fatal(err)
	}
	if r.Policy.Latent != 3 {
		t.Fatalf("a policy with a latent of %d", r.Policy.Latent)
	}
	wind := [3]float32{1.2, -0.9, 0}
	trials := trials(w, k, 8)
	trials.Sample = func(_ *rand.Rand, z []float32) { copy(z, wind[:]) }
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

// TestPushesAreAnswered: a policy that sees pushes stays where it is to be; under the same pushes, unseen, it is blown
// aside.
func TestPushesAreAnswered(t *testing.T) {
	if testing.Short() {
		t.Skip("learns for long")
	}
	k := tasksAlong(stay)
	k[0].Cost, k[0].Radius = task.Cost{Position: 5, Velocity: 0.1, Rates: 0.01, CommandChange: 0.5, Collision: 1,
		Delta: 1}, 4
	c := small(t)
	c.Epochs, c.Flights, c.Horizon = 150, 0, 50
	m := fitted[float32](t, rand.New(rand.NewPCG(1, 1)))
	clear(m.Output)
	w := Learned(m, 0.02, false, Pushes{Measured: 1, Rate: 8}, Margins{})
	seen, unseen := learned(t, c, w, k, 16, 3)
	t.Logf("errs by %.3f m where pushes are seen, by %.3f m where not", seen, unseen)
	if !(seen < 0.1) || !(unseen > 1.5*seen) {
		t.Errorf("errs by %.3f m where pushes are seen, by %.3f m where not", seen, unseen)
	}
}

// learned is how far a policy that learns in a world errs in so many flights there, m, and how far where it does not
// see the last numbers of its observation.
func learned(t *testing.T, c Config, w train.World[float32], k []*task.Task, flights, numbers int) (seen,
	unseen float64) {
	t.Helper()
	r, err := Run(context.Background(), c, w, 0.02, Options{Seed: 1, Tasks: k, Limits: limits()})
	if err != nil {
		t.Fatal(err)
	}
	trials := trials(w, k, flights)
	if seen, err = trials.Fly(r.Policy); err != nil {
		t.Fatal(err)
	}
	n := r.Policy.Observation.Size()
	clear(r.Policy.Norm.Scale[n-numbers : n])
	if unseen, err = trials.Fly(r.Policy); err != nil {
		t.Fatal(err)
	}
	return seen, unseen
}
