package pushlearning

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/learning/ppo"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
)

// newEpisodes begins n episodes in the prior, whose sensors are true unless t says otherwise.
func newEpisodes(t *testing.T, n int, change func(*Task)) *Episodes {
	t.Helper()
	task := DefaultTask
	task.Sensors = false
	change(&task)
	e, err := NewEpisodes(task, NewImagined(n, Prior.System(), nil), rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// idle lets steps pass without a push, and returns the last reward and end of world 0.
func idle(t *testing.T, e *Episodes, steps int) (float32, ppo.End) {
	t.Helper()
	u, reward, end := make([]float32, 2*e.Size()), make([]float32, e.Size()), make([]ppo.End, e.Size())
	for range steps {
		if err := e.Step(u, reward, end); err != nil {
			t.Fatal(err)
		}
	}
	return reward[0], end[0]
}

// place puts world 0 into a state with a goal.
func place(t *testing.T, e *Episodes, s pusher.State, goal [3]float64) {
	t.Helper()
	if err := e.Place(0, s, goal); err != nil {
		t.Fatal(err)
	}
}

func TestBoxThatStaysAtItsGoalSucceeds(t *testing.T) {
	for _, c := range []struct {
		name  string
		goal  [3]float64
		after ppo.End
	}{
		{"there", [3]float64{0.1, 0.015, 0.15}, ppo.Over},
		{"beside", [3]float64{0.1, 0.025, 0}, ppo.GoesOn},
		{"turned", [3]float64{0.1, 0, 0.25}, ppo.GoesOn},
	} {
		won := false
		e := newEpisodes(t, 1, func(*Task) {})
		e.Ended = func(_ int, success bool) { won = success }
		place(t, e, pusher.State{Box: [3]float64{0.1, 0, 0}, Tool: [2]float64{-0.2, 0}}, c.goal)
		if _, end := idle(t, e, pushcontrol.SettleSteps-1); end != ppo.GoesOn {
			t.Errorf("%s: over after %d steps, want %d", c.name, pushcontrol.SettleSteps-1, pushcontrol.SettleSteps)
		}
		reward, end := idle(t, e, 1)
		if end != c.after || won != (c.after == ppo.Over) || (reward > 9) != won {
			t.Errorf("%s: end %d, success %v, reward %g after %d steps", c.name, end, won, reward,
				pushcontrol.SettleSteps)
		}
	}
}

func TestEpisodesEnd(t *testing.T) {
	e := newEpisodes(t, 1, func(task *Task) { task.Steps = 50 })
	place(t, e, pusher.State{Tool: [2]float64{-0.2, 0}}, [3]float64{0.2, 0, 0})
	if _, end := idle(t, e, 50); end != ppo.Cut {
		t.Errorf("end %d after the episode's time, want %d", end, ppo.Cut)
	}
	place(t, e, pusher.State{Tool: [2]float64{-0.7, 0}}, [3]float64{0.2, 0, 0})
	if reward, end := idle(t, e, 1); end != ppo.Over || !(reward < -0.5) {
		t.Errorf("end %d, reward %g with the tool off the table, want %d and less than -0.5", end, reward, ppo.Over)
	}
}

// TestObservationTurnsWithTheBox: what a policy sees is the same wherever the box is, and however it is turned.
func TestObservationTurnsWithTheBox(t *testing.T) {
	e := newEpisodes(t, 1, func(*Task) {})
	O, V, _ := e.Sizes()
	see := func(turned float64) []float32 {
		sin, cos := math.Sincos(turned)
		at := func(x, y float64) [2]float64 { return [2]float64{0.05 + cos*x - sin*y, 0.02 + sin*x + cos*y} }
		goal := at(0.2, 0.1)
		place(t, e, pusher.State{Box: [3]float64{0.05, 0.02, turned}, Tool: at(-0.1, 0.03)},
			[3]float64{goal[0], goal[1], turned + 0.2})
		x, v := make([]float32, O), make([]float32, V)
		e.Observe(x, v)
		return x
	}
	one, other := see(0), see(2)
	for i := range one {
		if math.Abs(float64(one[i]-other[i])) > 1e-5 {
			t.Fatalf("number %d is %g, and %g with the box turned", i, one[i], other[i])
		}
	}
	if want := []float32{-0.1, 0.03, 0.2, 0.1, 0.2}; !slices.EqualFunc(one[:pushcontrol.RowSize], want,
		func(a, b float32) bool { return math.Abs(float64(a-b)) < 1e-5 }) {
		t.Errorf("the newest row is %v, want %v", one[:pushcontrol.RowSize], want)
	}
}

func TestStatesComeLate(t *testing.T) {
	e := newEpisodes(t, 1, func(*Task) {})
	O, V, _ := e.Sizes()
	place(t, e, pusher.State{Tool: [2]float64{-0.2, 0}}, [3]float64{0.2, 0, 0})
	x, v := make([]float32, O), make([]float32, V)
	reward, end := make([]float32, 1), make([]ppo.End, 1)
	var seen []float32
	for range 4 {
		if err := e.Step([]float32{0, 1}, reward, end); err != nil {
			t.Fatal(err)
		}
		e.Observe(x, v)
		seen = append(seen, x[1])
	}
	e.all[0].Late = 2
	e.Observe(x, v)
	if x[1] != seen[1] || x[1] == seen[3] {
		t.Errorf("two steps late the tool is at %g, want %g; now it is at %g", x[1], seen[1], seen[3])
	}
}

// tinyModel is one of the prior, with latents, that has learned nothing.
func tinyModel(t *testing.T) *vnd.Model[float32] {
	t.Helper()
	m, err := vnd.New(Prior.System(), nets.Config{Context: 2, Latent: 3, Encoder: nets.EncoderGRU, EncoderDense: 4,
		EncoderHidden: 4, Hidden: 8, Blocks: 1, Film: true, Members: 1})
	if err != nil {
		t.Fatal(err)
	}
	m.Net.Init(rand.New(rand.NewPCG(1, 1)))
	return m
}

// TestImaginedBoxesFollowTheirLatents: each episode of a model has a latent of its own, which the critic sees, and the
// policy if it is informed.
func TestImaginedBoxesFollowTheirLatents(t *testing.T) {
	m := tinyModel(t)
	plant := NewImagined(2, Prior.System(), m)
	e, err := NewEpisodes(Task{Nearest: 0.1, Farthest: 0.3, Steps: 400, Informed: true}, plant,
		rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	s := pusher.State{Tool: [2]float64{-0.2, 0}}
	for i := range 2 {
		if err := e.Place(i, s, [3]float64{0.2, 0, 0}); err != nil {
			t.Fatal(err)
		}
	}
	idle(t, e, 1)
	if e.all[0].Now == e.all[1].Now {
		t.Error("two boxes with latents of their own went the same way")
	}
	O, V, _ := e.Sizes()
	x, v := make([]float32, 2*O), make([]float32, 2*V)
	e.Observe(x, v)
	for i := range 2 {
		z := plant.z[3*i:][:3]
		if !slices.Equal(x[i*O+O-3:][:3], z) || !slices.Equal(v[i*V+V-3:][:3], z) {
			t.Errorf("policy and critic of box %d see %v and %v, want its latent %v", i, x[i*O+O-3:][:3],
				v[i*V+V-3:][:3], z)
		}
	}
}
