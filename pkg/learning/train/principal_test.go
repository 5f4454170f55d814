package train

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/core/dist"
	"vnd/pkg/nn/layers"
	"vnd/pkg/nn/nets"
)

// alike are rows of three numbers, the first two of which are nearly the same, and the last of which stands still.
func alike(rng *rand.Rand, n int) (rows []float32) {
	for range n {
		x := rng.NormFloat64()
		rows = append(rows, float32(1+x), float32(1+x+0.01*rng.NormFloat64()), 0.5)
	}
	return rows
}

func alongAxes(t *testing.T, rng *rand.Rand, rows []float32) (*nets.Policy[float32], *principal) {
	t.Helper()
	net, err := nets.NewPolicy[float32](nets.PolicyConfig{Inputs: 3, Actions: 2, Hidden: []int{8}, Linear: true})
	if err != nil {
		t.Fatal(err)
	}
	net.Init(rng, []float32{0.1, -0.2})
	for i := range net.Params { // biases, too
		net.Params[i] += float32(0.1 * rng.NormFloat64())
	}
	c := newPrincipal(net, rows)
	if c == nil {
		t.Fatal("no coordinates")
	}
	return net, c
}

func TestCoordinatesKeepThePolicy(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	net, c := alongAxes(t, rng, alike(rng, 500))
	got := make([]float32, len(net.Params))
	c.put(got)
	for i, p := range net.Params {
		if math.Abs(float64(got[i]-p)) > 1e-5 {
			t.Fatalf("parameter %d is %g, was %g", i, got[i], p)
		}
	}
}

func TestInputsAreUncorrelated(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	rows := alike(rng, 2000)
	_, w := alongAxes(t, rng, rows)
	var c [3][3]float64
	for at := 0; at < len(rows); at += 3 {
		var x [3]float64
		for i := range x {
			for j := range x {
				x[i] += float64(w.to[3*i+j]) * float64(rows[at+j]-w.mean[j])
			}
		}
		for i := range x {
			for j := range x {
				c[i][j] += x[i] * x[j] / 2000
			}
		}
	}
	for i := range c {
		for j := range c {
			if i != j && math.Abs(c[i][j]) > 1e-3 {
				t.Errorf("covariance %v", c)
			}
		}
	}
	if c[2][2] < 1.8 || c[1][1] < 2e-4 || c[1][1] > 4e-4 {
		t.Errorf("variances %g and %g, expected about 2 as it was, and 5e-5 stretched", c[2][2], c[1][1])
	}
}

// TestGradientIsAdjoint holds ⟨g, put(δ)⟩ = ⟨pull(g), δ⟩: what a step changes in the actor is what its gradient
// said.
func TestGradientIsAdjoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	net, c := alongAxes(t, rng, alike(rng, 500))
	n := len(net.Params)
	before, after, grad, change := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	c.put(before)
	for i := range grad {
		grad[i], change[i] = float32(rng.NormFloat64()), float32(rng.NormFloat64())
		c.params[i] += change[i]
	}
	c.put(after)
	c.pull(grad)
	var said, did float64
	for i := range grad {
		said += float64(c.grad[i]) * float64(change[i])
		did += float64(grad[i]) * float64(after[i]-before[i])
	}
	if math.Abs(said-did) > 1e-3*(1+math.Abs(did)) {
		t.Errorf("the gradient says %g, the cost changes by %g", said, did)
	}
}

// TestDifferencesAreLearned fits what tells two inputs apart that are nearly the same.
func TestDifferencesAreLearned(t *testing.T) {
	learn := func(along bool) (loss float64) {
		rng := rand.New(rand.NewPCG(4, 4))
		rows := alike(rng, 400)
		net, c := alongAxes(t, rng, rows)
		adam, grad := layers.NewAdam[float32](len(net.Params)), make([]float32, len(net.Params))
		tape, u, dx := net.NewTape(400, 1), make([]float32, 800), make([]float32, 1200)
		for range 200 {
			net.Refresh()
			net.Forward(tape, 0, 400, rows, u)
			loss = 0
			for k := range 400 {
				off := u[2*k] - 100*(rows[3*k+1]-rows[3*k])
				loss += float64(off*off) / 400
				u[2*k], u[2*k+1] = off/400, 0
			}
			clear(grad)
			net.Backward(tape, 0, u, dx)
			net.Grads(tape, 1, grad)
			if !along {
				adam.Update(net.Params, grad, 0.01)
				continue
			}
			c.pull(grad)
			adam.Update(c.params, c.grad, 0.01)
			c.put(net.Params)
		}
		return loss
	}
	if inputs, axes := learn(false), learn(true); !(axes < inputs/2) {
		t.Errorf("a squared error of %.3f is left along the axes, %.3f along the inputs: expected half", axes, inputs)
	}
}

func TestInputsThatAreNotFinite(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	net, _ := alongAxes(t, rng, alike(rng, 10))
	if newPrincipal(net, []float32{1, 2, 3, float32(math.NaN()), 0, 0}) != nil {
		t.Error("coordinates of inputs that are not finite")
	}
}

// thrown is a world in which each tile has one robot that is thrown about.
type thrown struct{ World[float32] }

type thrownTile struct{ worldTile[float32] }

type thrownSteps struct{ transitions[float32] }

func (w thrown) tile(maxB, maxH int) worldTile[float32] { return thrownTile{w.World.tile(maxB, maxH)} }

func (t thrownTile) begin(B, H int, z latents[float32], rng *rand.Rand) transitions[float32] {
	return thrownSteps{t.worldTile.begin(B, H, z, rng)}
}

func (s thrownSteps) Step(h int, x, a, next []float32) {
	s.transitions.Step(h, x, a, next)
	if h == 3 {
		next[1] = 1e8
	}
}

// TestAPolicyThatFliesStepsAlongAxes: a new one does not, and a checkpoint of either is none of the other. One robot
// that is thrown about does not make the axes.
func TestAPolicyThatFliesStepsAlongAxes(t *testing.T) {
	c, k := small(t), holding[float32](4)
	c.BFloat16 = false
	opt := Options{Seed: 5, Task: k, Actor: untrained[float32](t, k, 0, 32, 32), New: true, Ranks: dist.Solo{}}
	fresh, err := newTrainer(&c, prior[float32](), nominal.Dt, &opt)
	if err != nil || fresh.along != nil {
		t.Fatalf("a new policy steps along %v, %v", fresh.along, err)
	}
	opt.New = false
	tr, err := newTrainer(&c, thrown{prior[float32]()}, nominal.Dt, &opt)
	if err != nil || tr.along == nil {
		t.Fatalf("a policy that flies steps along the inputs, %v", err)
	}
	if tr.key == fresh.key {
		t.Error("a checkpoint of steps along the inputs is taken for one of steps along axes")
	}
	if most := slices.Max(tr.along.mean); most > 10 {
		t.Errorf("one robot moves the mean to %g", most)
	}
	clear(tr.grad)
	tr.grad[0] = 1 // of the first input alone: along axes, it moves the others, too
	was := slices.Clone(tr.actor.Net.Params)
	tr.step(0.01)
	if now := tr.actor.Net.Params; now[32] == was[32] {
		t.Error("it steps along the inputs")
	}
}
