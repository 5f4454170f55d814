package pushlearning

import (
	"syscall"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
)

// race tells how often a policy succeeds while it learns in the prior, beside what that took.
type race struct {
	*testing.B
	task    Task
	seed    uint64
	began   float64
	elapsed float64 // s on the processor, without what judging took
}

func newRace(b *testing.B, seed uint64) *race {
	r := &race{B: b, task: DefaultTask, seed: seed, began: processor()}
	r.task.Sensors = false
	return r
}

// processor is the time that the process had of processors, s.
func processor() float64 {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return float64(u.Utime.Sec) + float64(u.Utime.Usec)/1e6
}

// show judges a policy that has learned for so many steps of boxes.
func (r *race) show(p *vnd.Actor[float32], steps int) {
	r.elapsed += processor() - r.began
	acting := func(e *Episodes) *Acting { return NewActing(p, e) }
	won, err := Successes(acting, r.task, NewImagined(256, Prior.System(), nil), random(99, 9))
	if err != nil {
		r.Fatal(err)
	}
	share := 0.
	for _, success := range won {
		if success {
			share += 1 / float64(len(won))
		}
	}
	r.Logf("seed %d: %.1f s, %.2f million steps: %.1f %% succeed", r.seed, r.elapsed, float64(steps)/1e6, 100*share)
	r.began = processor()
}

// BenchmarkRace is PPO beside back-propagation through time, whose contacts begin over 5 mm at first, then over 1: of
// the same task in the same prior, by policies of the same size.
func BenchmarkRace(b *testing.B) {
	for seed := range uint64(3) {
		b.Run("ppo", func(b *testing.B) { raceByPPO(newRace(b, seed+1)) })
		b.Run("gradients", func(b *testing.B) { raceByGradients(newRace(b, seed+1), 0.005, 0.001) })
	}
}

const looks = 10 // of a race

func raceByPPO(r *race) {
	c := Default()
	_, err := c.TrainBase(r.Context(), r.task, r.seed, func(p Progress) {
		if n := p.Iteration + 1; n%(p.Iterations/looks) == 0 {
			r.show(p.Policy, n*c.Base.Worlds*c.Base.Steps)
		}
	})
	if err != nil {
		r.Fatal(err)
	}
}

func raceByGradients(r *race, edges ...float64) {
	var c train.Config
	param.Default(&c)
	c.Latent, c.Hidden, c.Layers, c.Flights = 0, 64, 4, 0
	c.Envs, c.Horizon, c.Epochs, c.Rate, c.Discount = 128, 200, 300, 0.003, 0.995
	p, err := vnd.NewActor(pushcontrol.Sees, 0, make([]float32, actionSize), []float32{1, 1}, c.Widths())
	if err != nil {
		r.Fatal(err)
	}
	steps := 0
	for i, edge := range edges {
		box := Prior
		box.Edge = edge
		w := &train.Prior[float32]{Nominal: pusher.BoxFrame[float32]{Pusher: pusher.New[float32](box)}}
		_, err := train.Run(r.Context(), c, w, Dt, train.Options{Seed: r.seed, Actor: p, New: i == 0,
			Task: &Differentiable[float32]{r.task}, Progress: func(g train.Progress) {
				steps += c.Envs * c.Horizon
				if g.Epoch%(len(edges)*c.Epochs/looks) == 0 {
					r.show(p, steps)
				}
			}})
		if err != nil {
			r.Fatal(err)
		}
	}
}
