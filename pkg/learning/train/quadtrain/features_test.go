package quadtrain

import (
	"context"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
)

// TestLearnsToHoverByFeatures is perceptive hovering, small: the policy flies by
// the features, and without them it does not.
func TestLearnsToHoverByFeatures(t *testing.T) {
	k := tasksAlong(stay)
	k[0].Cost, k[0].Radius = task.Cost{Position: 10, Velocity: 0.1, Rates: 0.01, Heading: 1, CommandChange: 0.25,
		Collision: 1,
		Delta:     1}, 4
	c := small(t)
	c.Observation.Camera = camera()
	c.Epochs, c.Flights, c.Horizon, c.Envs = 60, 3, 40, 40
	trials := trials(nominal(), k, 8)
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

// TestTeacherFliesThePupilsEpisodes: it begins where the pupil does and follows what the pupil follows.
func TestTeacherFliesThePupilsEpisodes(t *testing.T) {
	const B, H = 5, 4
	begun := func(c policy.Camera) (*episodes[float64], []float64) {
		o := policy.Observation{PreviewPoints: 1, PastActions: 2, Camera: c}
		p, err := policy.New[float64](o, limits(), 1, []int{5})
		if err != nil {
			t.Fatal(err)
		}
		e, s, rng := tasksOf(tasksAlong(circle), p).NewEpisodes(0.02, B, H), make([]float64, B*30),
			rand.New(rand.NewPCG(9, 9))
		e.Begin(B, H)
		for b := range B {
			e.Draw(b, rng, s[30*b:][:30])
		}
		e.DrawSensors(rng)
		return e.(*episodes[float64]), s
	}
	teacher, starts := begun(policy.Camera{})
	pupil, same := begun(camera())
	if !slices.Equal(starts, same) || !slices.Equal(pupil.refs, teacher.refs) {
		t.Error("teacher and pupil fly different episodes")
	}
}

// TestPretrain: the teacher's pupil flies before its own training begins; a
// training that is taken up again is not pretrained anew.
func TestPretrain(t *testing.T) {
	k := tasksAlong(stay)
	k[0].Cost, k[0].Radius = task.Cost{Position: 10, Velocity: 0.1, Rates: 0.01, Heading: 1, CommandChange: 0.25,
		Collision: 1,
		Delta:     1}, 4
	c := small(t)
	c.Observation.Camera = camera()
	c.Epochs, c.Flights, c.Horizon, c.Envs = 2, 2, 40, 40
	trials := trials(nominal(), k, 8)
	opt := Options{Seed: 1, Tasks: k, Limits: limits(), Fly: trials.Fly}
	raw, err := Run(context.Background(), c, nominal(), 0.02, opt)
	if err != nil {
		t.Fatal(err)
	}
	c.Pretrain.Epochs, c.Pretrain.Teacher = 40, 50
	phases := map[string]int{}
	opt.Progress = func(p train.Progress) { phases[p.Phase]++ }
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
	opt.Progress = func(p train.Progress) {
		if p.Phase == "" {
			cancel()
		}
	}
	if _, err := Run(ctx, c, nominal(), 0.02, opt); !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v", err)
	}
	clear(phases)
	opt.Progress = func(p train.Progress) { phases[p.Phase]++ }
	again, err := Run(context.Background(), c, nominal(), 0.02, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(again.Policy.Net.Params, whole.Policy.Net.Params) || phases[""] != 1 || len(phases) != 1 {
		t.Errorf("taken up again with phases %v, the policy the same: %v", phases,
			slices.Equal(again.Policy.Net.Params, whole.Policy.Net.Params))
	}
}
