package pushlearning

import (
	"math"
	"slices"
	"testing"

	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/learning/ppo"
	"vnd/pkg/learning/train"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
)

// smooth is a prior whose contacts pull from afar.
func smooth[F kernel.Float]() *train.Prior[F] {
	r := Prior
	r.Edge = 0.02
	return &train.Prior[F]{Nominal: pusher.BoxFrame[F]{Pusher: pusher.New[F](r)}}
}

// TestGradientsMatchCentralDifferences: of whole episodes, through contacts and what is seen of earlier steps, by the
// policy's parameters.
func TestGradientsMatchCentralDifferences(t *testing.T) {
	rng := random(4, 4)
	p, err := vnd.NewActor(pushcontrol.Sees, 0, make([]float64, 2), []float64{1, 1}, []int{6})
	if err != nil {
		t.Fatal(err)
	}
	p.Net.Init(rng, make([]float64, 2))
	c := &train.Check[float64]{Actor: p, World: smooth[float64](), Task: &Differentiable[float64]{DefaultTask}, Dt: Dt,
		B: 8, H: 40, Seed: 3, Gamma: 0.99}
	_, grad, _ := c.Gradient()
	off, size := 0., 0.
	for range 60 {
		i := rng.IntN(len(p.Net.Params))
		const eps = 1e-6
		keep := p.Net.Params[i]
		p.Net.Params[i] = keep + eps
		up, _, _ := c.Gradient()
		p.Net.Params[i] = keep - eps
		down, _, _ := c.Gradient()
		p.Net.Params[i] = keep
		want := (up - down) / (2 * eps)
		off, size = max(off, math.Abs(grad[i]-want)), max(size, math.Abs(want))
	}
	if !(off < 1e-5*size) || !(size > 0.01) {
		t.Errorf("off by %g, the greatest is %g", off, size)
	}
}

// TestDifferentiableSeesWhatEpisodesDo: the same numbers, and the same sum of costs and worth.
func TestDifferentiableSeesWhatEpisodesDo(t *testing.T) {
	task := DefaultTask
	task.Sensors = false
	e, err := NewEpisodes(task, NewImagined(1, Prior.System(), nil), random(2, 2))
	if err != nil {
		t.Fatal(err)
	}
	k := &Differentiable[float32]{task}
	d := k.NewEpisodes(Dt, 1, 20).(*differentiable[float32])
	d.Begin(1, 20)
	d.goals[0] = e.all[0].Goal
	sys := pusher.BoxFrame[float32]{Pusher: pusher.New[float32](Prior)}
	s, none, past := make([]float32, stateSize), make([]float32, stateSize), make([]float32, 2*pastActions)
	e.all[0].Now.Write(s)
	O, V, _ := e.Sizes()
	x, want, v := make([]float32, pushcontrol.Sees), make([]float32, O), make([]float32, V)
	cost, off, reward := make([]float32, 1), make([]float32, 1), make([]float32, 1)
	for h := range 20 {
		d.Observe(h, s, past, x, pushcontrol.Sees)
		e.Observe(want, v)
		if !slices.EqualFunc(x, want, func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-5 }) {
			t.Fatalf("step %d: pushcontrol.Sees %v, expected %v", h, x, want)
		}
		u := []float32{0.5, float32(h)/20 - 0.5}
		past = append(past[2:], u...)
		sys.Step(1, s, u, none, s)
		if err := e.Step(u, reward, make([]ppo.End, 1)); err != nil {
			t.Fatal(err)
		}
		d.Costs(h, &robot.Transition[float32]{S1: s, A: make([]float32, 2), Last: make([]float32, 2)}, cost, off)
		at := &e.all[0]
		far, turn := at.Off(at.Now.Box)
		if sum := float64(cost[0]) + at.potential(far, turn); math.Abs(sum-17) > 1e-4 ||
			math.Abs(float64(off[0])-far*far) > 1e-6 {
			t.Fatalf("step %d: cost and worth are %g together, expected 17; %g off", h, sum, off[0])
		}
	}
}
