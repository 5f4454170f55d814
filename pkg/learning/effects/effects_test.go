package effects

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/so3"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// windy is a model of random weights whose latents push.
func windy(t *testing.T) (*vnd.Model[float32], quadrotor.Robot) {
	t.Helper()
	q := quadrotor.Robot{Dt: .02, Prior: true, Actuator: quadrotor.NominalActuator()}
	m, err := vnd.New(q.System(), nets.Config{Context: 5, Latent: 3, Encoder: nets.EncoderGRU, EncoderDense: 4,
		EncoderHidden: 4, Hidden: 16, Blocks: 2, Film: true, Members: 1})
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	m.Net.Init(rng)
	for i := range m.Net.Params {
		m.Net.Params[i] += float32(.3 * rng.NormFloat64())
	}
	for i := range m.Output {
		m.Output[i] = .02
	}
	return m, q
}

// around draws latents of the four corners of a square of a size, with some noise.
func around(size float64) func(rng *rand.Rand, z []float32) {
	return func(rng *rand.Rand, z []float32) {
		corner(size, rng.IntN(4), rng, z)
	}
}

func corner(size float64, k int, rng *rand.Rand, z []float32) {
	at := [4][2]float64{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}[k]
	z[0], z[1] = float32(size*at[0]+.2*rng.NormFloat64()), float32(size*at[1]+.2*rng.NormFloat64())
	z[2] = float32(.2 * rng.NormFloat64())
}

func TestCompare(t *testing.T) {
	m, q := windy(t)
	conditions, rng := make([][]float32, 4), rand.New(rand.NewPCG(3, 4))
	for k := range conditions {
		for range 200 {
			z := make([]float32, 3)
			corner(1.5, k, rng, z)
			conditions[k] = append(conditions[k], z...)
		}
	}
	same := Compare(m, q, conditions, around(1.5), 1)
	if same.Windows != 800 || math.Abs(same.Reach-1) > .1 || same.Energy > 2 || same.Coverage < .85 {
		t.Errorf("samples of the windows' own distribution: %v", same)
	}
	if again := Compare(m, q, conditions, around(1.5), 1); again != same {
		t.Errorf("%v, and once more %v", same, again)
	}
	if near := Compare(m, q, conditions, around(.5), 1); near.Reach > .8 || near.Energy < 5 || near.Coverage > .5 {
		t.Errorf("samples a third as far out: %v", near)
	}
	first := func(rng *rand.Rand, z []float32) { corner(1.5, 0, rng, z) }
	if one := Compare(m, q, conditions, first, 1); one.Energy < 5 || one.Coverage > .2 {
		t.Errorf("samples of one condition of four: %v", one)
	}
	if few := Compare(m, q, [][]float32{make([]float32, 30)}, around(1), 1); few != (Figures{Windows: 10}) {
		t.Errorf("of ten windows: %+v", few)
	}
}

// TestAccelerations: they are those of single steps of the model, whatever batch a latent is in.
func TestAccelerations(t *testing.T) {
	m, q := windy(t)
	z, rng := make([]float32, 3*150), rand.New(rand.NewPCG(5, 6))
	vnd.Standard(rng, z)
	v := so3.Vec3{X: 2}
	for i, a := range Accelerations(m, q, v, z) {
		alone := Accelerations(m, q, v, z[3*i:3*i+3])[0]
		if a.Sub(alone).Norm() > 1e-3 || !(a.Norm() > 1e-3) {
			t.Fatalf("latent %d causes %v, alone %v", i, a, alone)
		}
	}
}

func TestNearest(t *testing.T) {
	points := []so3.Vec3{{X: 3}, {X: -1}, {Y: 2}, {Z: 7}, {X: 5}, {Y: -4}}
	for k, want := range []float64{1, 4, 9, 16, 25} {
		if got := nearest(so3.Vec3{}, points, k+1); got != want {
			t.Errorf("neighbour %d is at a squared distance of %g, want %g", k+1, got, want)
		}
	}
}
