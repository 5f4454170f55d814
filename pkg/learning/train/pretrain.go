package train

import (
	"context"
	"fmt"
	"math"

	"vnd/pkg/nn/layers"
	"vnd/pkg/robot"
	"vnd/pkg/vnd"
)

// Pretrain is what may come before the training of a policy that sees features:
// a teacher that sees positions learns to fly; then the policy flies around the
// target and learns what the teacher would have done in its place (Ross et al.
// 2011; the paper adopts a pretraining without saying which. On the teacher's own
// flights alone the policy learned actions, and not to fly).
//
// Off by default, as measured: 60 and 60 epochs take the error of the training's
// first epoch from 1.26 to 0.24 m, and cost as much as 100 of the training's. In
// the full simulator, calm, three seeds, 200 epochs after it err by 7 to 11 mm and
// without it by 7 to 13. With a view of 1.05 × 0.8 rad, noise 0.01, dropout 0.2, a
// delay of 2 and starts twice as wide, 200 after it by 42 to 67 mm and 300 without,
// in the same time, by 17 to 47.
type Pretrain struct {
	Epochs  int     `param:"epochs" default:"0" min:"0" max:"1e6" doc:"Adam updates towards the teacher's actions; 0 trains from nothing, 60 are plenty"`
	Teacher int     `param:"teacher" default:"60" min:"1" max:"1e6" doc:"epochs of the teacher"`
	Rate    float64 `param:"rate" default:"0.005" min:"1e-7" max:"1" doc:"learning rate of Adam towards the teacher, falling along a cosine"`
}

// beforeFirst numbers the epochs of the pretraining for the generators: far from
// those of the training.
const beforeFirst = 1 << 30

// pretrain teaches a new policy that sees features, once.
func (t *trainer) pretrain(ctx context.Context) error {
	n := t.cfg.Pretrain.Epochs
	if t.state.Pretrained || !t.opt.New || t.opt.Teacher == nil || n == 0 {
		return nil
	}
	if err := t.teach(ctx); err != nil {
		return fmt.Errorf("teacher of the pretraining: %w", err)
	}
	var lessons []*tile[float32]
	for range t.tiles {
		lessons = append(lessons, t.tile(t.opt.Teacher.Actor, t.opt.Teacher.Task))
	}
	adam := layers.NewAdam[float32](len(t.grad))
	adam.Clip = t.cfg.Clip
	for k := range n {
		if err := t.agree(ctx.Err()); err != nil {
			return err
		}
		loss, err := t.lesson(lessons, k)
		if err != nil {
			return err
		}
		norm := adam.Update(t.actor.Net.Params, t.grad, layers.Schedule{Rate: t.cfg.Pretrain.Rate, Total: n}.At(k))
		if norm*0 != 0 || loss*0 != 0 {
			return &Diverged{"the pretraining's error", k + 1, t.cfg.Pretrain.Rate}
		}
		t.refresh()
		if t.opt.Progress != nil {
			t.opt.Progress(Progress{Phase: "imitation", Epoch: k + 1, Epochs: n, Figures: Figures{Cost: loss},
				Score: math.NaN()})
		}
	}
	t.state.Pretrained = true
	return nil
}

// Teacher is a policy that sees more than the one to train.
type Teacher struct {
	Actor *vnd.Actor[float32] // untrained
	Task  robot.Task[float32] // of the same episodes
}

// teach trains the teacher.
func (t *trainer) teach(ctx context.Context) error {
	cfg, opt := *t.cfg, *t.opt
	cfg.Epochs = t.cfg.Pretrain.Teacher
	opt.Actor, opt.Task, opt.Teacher = t.opt.Teacher.Actor, t.opt.Teacher.Task, nil
	opt.Fly, opt.Checkpoint = nil, ""
	if t.opt.Progress != nil {
		opt.Progress = func(p Progress) {
			p.Phase = "teacher"
			t.opt.Progress(p)
		}
	}
	_, err := Run(ctx, cfg, t.world, t.dt, opt)
	return err
}

// lesson leaves the gradient of one epoch of imitation in t.grad and returns half
// the mean square of the actions' errors.
func (t *trainer) lesson(lessons []*tile[float32], k int) (float64, error) {
	e, rows := epoch{H: t.cfg.Horizon, gamma: 1, scale: 1 / float64(t.cfg.Envs*t.cfg.Horizon)}, tileRows(t.cfg.Envs)
	losses := make([]Figures, len(t.parts)) // costs alone
	t.each(func(worker, part int) {
		w, l, B := t.tiles[worker], lessons[worker], min(rows, t.cfg.Envs-part*rows)
		for _, tl := range []*tile[float32]{l, w} {
			tl.begin(B, e.H, t.rng(beforeFirst+k, part), t.sample)
		}
		w.forward(e)
		losses[part].Cost = w.imitate(l, e)
		copy(t.parts[part], w.grad)
	})
	if _, err := t.allReduce(losses); err != nil {
		return 0, err
	}
	t.sum()
	sum := 0.
	for _, l := range losses {
		sum += l.Cost
	}
	return sum * e.scale, nil
}
