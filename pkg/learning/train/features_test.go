package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/task"
)

// TestLearnsToHoverByFeatures is perceptive hovering, small: the policy flies by
// the features, and without them it does not.
func TestLearnsToHoverByFeatures(t *testing.T) {
	k := tasks(stay)
	k[0].Cost, k[0].Radius = task.Cost{Position: 10, Velocity: 0.1, Rates: 0.01, Heading: 1, Change: 0.25, Collision: 1,
		Delta: 1}, 4
	c := small(t)
	c.Observation.Camera = camera()
	c.Epochs, c.Flights, c.Horizon, c.Envs = 60, 3, 40, 40
	trials := &Trials{World: nominal(), Tasks: k, Dt: 0.02, Flights: 8, Steps: 200, Seed: 1}
	r, err := Run(context.Background(), c, nominal(), 0.02,
		Options{Seed: 1, Tasks: k, Limits: limits(), Fly: trials.Fly})
	if err != nil {
		t.Fatal(err)
	}
	if r.Best.Score > 0.4 {
		t.Errorf("errs by %.3f m in flight, with the way back from the start", r.Best.Score)
	}
	r.Policy.Observation.Camera.Dropout = 1
	blind, err := trials.Fly(r.Policy)
	t.Logf("in flight %.3f m, blind %.3f", r.Best.Score, blind)
	if err != nil || blind < 2*r.Best.Score {
		t.Errorf("errs by %.3f m with features and by %.3f m without any", r.Best.Score, blind)
	}
}

// TestImitationGradient proves the gradient of the imitation by central
// differences.
func TestImitationGradient(t *testing.T) {
	n := Nominal{Dt: 0.02, MinLag: 0.02, MaxLag: 0.05, MaxDelay: 2, Gain: 0.1}
	w := &NominalWorld[float64]{n}
	rng := rand.New(rand.NewPCG(3, 3))
	const B, H = 3, 5
	some := func(c policy.Camera) *tile[float64] {
		p, err := policy.New[float64](policy.Observation{Looks: 1, Past: 2, Camera: c}, limits(), 1, []int{5})
		if err != nil {
			t.Fatal(err)
		}
		hover := p.Hover()
		p.Net.Init(rng, hover[:])
		for i := range p.Net.Params {
			p.Net.Params[i] += 0.1 * rng.NormFloat64()
		}
		return newTile(p, w, tasks(stay), 0.02, B, H)
	}
	teacher, pupil := some(policy.Camera{}), some(camera())
	for _, tl := range []*tile[float64]{teacher, pupil} {
		tl.begin(B, H, rand.New(rand.NewPCG(9, 9)), func(rng *rand.Rand, z []float64) { z[0] = rng.NormFloat64() })
	}
	e := epoch{H: H, gamma: 1, scale: 0.7}
	pupil.forward(e)
	pupil.alive[3*B+1] = 0 // its step 3 is no example
	// loss is that of the pupil's actions where it has been, by another way.
	loss := func() (sum float64) {
		u, want := make([]float64, B*nA), make([]float64, B*nA)
		pupil.p.Net.Refresh()
		for h := range H {
			pupil.p.Net.Forward(pupil.tape, h, B, pupil.observe(h), u)
			teacher.p.Net.Forward(teacher.tape, h, B, teacher.observe(h), want)
			for i := range u {
				if h != 3 || i/nA != 1 {
					sum += (u[i] - want[i]) * (u[i] - want[i]) / 2
				}
			}
		}
		return sum
	}
	got := pupil.imitate(teacher, e)
	if want := loss(); math.Abs(got-want) > 1e-12*want {
		t.Errorf("loss %g, want %g", got, want)
	}
	if !slices.Equal(pupil.z, teacher.z) || !slices.Equal(pupil.refs, teacher.refs) {
		t.Error("teacher and pupil fly different episodes")
	}
	params := pupil.p.Net.Params
	const eps = 1e-5
	for i, keep := range params {
		params[i] = keep + eps
		up := loss()
		params[i] = keep - eps
		down := loss()
		params[i] = keep
		if want := e.scale * (up - down) / (2 * eps); math.Abs(pupil.grad[i]-want) > 1e-7*(1+math.Abs(want)) {
			t.Fatalf("parameter %d: gradient %.8g, central difference %.8g", i, pupil.grad[i], want)
		}
	}
}

// TestPretrain: the teacher's pupil flies before its own training begins; a
// training that is taken up again is not pretrained anew.
func TestPretrain(t *testing.T) {
	k := tasks(stay)
	k[0].Cost, k[0].Radius = task.Cost{Position: 10, Velocity: 0.1, Rates: 0.01, Heading: 1, Change: 0.25, Collision: 1,
		Delta: 1}, 4
	c := small(t)
	c.Observation.Camera = camera()
	c.Epochs, c.Flights, c.Horizon, c.Envs = 2, 2, 40, 40
	trials := &Trials{World: nominal(), Tasks: k, Dt: 0.02, Flights: 8, Steps: 200, Seed: 1}
	opt := Options{Seed: 1, Tasks: k, Limits: limits(), Fly: trials.Fly}
	raw, err := Run(context.Background(), c, nominal(), 0.02, opt)
	if err != nil {
		t.Fatal(err)
	}
	c.Pretrain.Epochs, c.Pretrain.Teacher = 40, 50
	phases := map[string]int{}
	opt.Progress = func(p Progress) { phases[p.Phase]++ }
	whole, err := Run(context.Background(), c, nominal(), 0.02, opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("in flight %.3f m after the pretraining, %.3f without", whole.Best.Score, raw.Best.Score)
	if whole.Best.Score > 0.65*raw.Best.Score {
		t.Errorf("errs by %.3f m in flight after the pretraining, by %.3f without", whole.Best.Score, raw.Best.Score)
	}
	if phases["teacher"] != 50 || phases["imitation"] != 40 || phases[""] != 2 {
		t.Errorf("phases %v", phases)
	}

	ctx, cancel := context.WithCancel(context.Background())
	opt.Checkpoint = filepath.Join(t.TempDir(), "p.checkpoint")
	opt.Progress = func(p Progress) {
		if p.Phase == "" {
			cancel()
		}
	}
	if _, err := Run(ctx, c, nominal(), 0.02, opt); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	clear(phases)
	opt.Progress = func(p Progress) { phases[p.Phase]++ }
	again, err := Run(context.Background(), c, nominal(), 0.02, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Policy.Net.Params, whole.Policy.Net.Params) || phases[""] != 1 || len(phases) != 1 {
		t.Errorf("taken up again with phases %v, the policy the same: %v", phases,
			slices.Equal(again.Policy.Net.Params, whole.Policy.Net.Params))
	}
}
