// Package pushlearning is how it is learned to push a box to a place: the task, training by PPO in the prior and in the
// learned models after it, and rounds on what was pushed, which the gate judges. Package pushing has boxes of MuJoCo
// for it.
package pushlearning

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"vnd/pkg/core/param"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/ppo"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
)

// Dt is the period of control, s.
const Dt = 0.02

// Prior is what is known of a box without having pushed it.
var Prior = pusher.Robot{Dt: Dt, Mass: 0.8, Friction: 0.5}

// Name of the task in bundles.
const Name = "push"

// Config of fits and trainings of a pusher.
type Config struct {
	Fit    Fit      `param:"fit" doc:"the dynamics model"`
	Base   Training `param:"base" defaults:"iterations=620 kl=0.02" doc:"training of the first policy, in the prior"`
	Policy Training `param:"policy" defaults:"iterations=900 warmup=15 deviation=0.2" doc:"training of the policy in the learned model"`
	Gate   Gate     `param:"gate" read_only:"true" doc:"gate: what a candidate must show before it moves the tool"`
}

// Training configures PPO.
type Training struct {
	Iterations int     `param:"iterations" default:"620" min:"1" max:"1e6" doc:"of collecting steps and learning from them"`
	Worlds     int     `param:"worlds" default:"256" min:"1" max:"65536" doc:"boxes side by side"`
	Steps      int     `param:"steps" default:"32" min:"1" max:"1000" doc:"of each in an iteration"`
	Hidden     int     `param:"hidden" default:"64" min:"1" max:"1024" doc:"units of each hidden layer"`
	Layers     int     `param:"layers" default:"4" min:"1" max:"8" doc:"hidden layers of the policy"`
	Warmup     int     `param:"warmup" default:"0" min:"0" max:"1000" doc:"iterations at first in which the critic alone learns"`
	Rate       float64 `param:"rate" default:"6e-4" min:"1e-7" max:"1" doc:"learning rate of Adam"`
	KL         float64 `param:"kl" default:"0.01" min:"0" max:"1" doc:"divergence of an iteration that the rate is adapted to"`
	Deviation  float64 `param:"deviation" default:"0.6" min:"0.01" max:"2" doc:"of actions, at first"`
}

// Gate configures gates of a pusher. Full speed is no fault of it. Goals are near and far, so that it takes many pushes
// to tell policies apart.
type Gate struct {
	judged `defaults:"shadow.seconds=8 shadow.flights=200 canary.flights=100"`
}

type judged struct {
	erring `defaults:"crash_error=0.6 first_error=0.1 saturation=60 rate=1000"`
}

type erring struct {
	gate.Config `defaults:"tolerance=0.002 relative_tolerance=0.1"`
}

// Fit configures fits.
type Fit struct {
	sized     `defaults:"model.latent=4 loss.steps=20 train.updates=1000 train.passes=1000 train.minutes=60"`
	WarmStart continual.WarmStart `param:"warm_start" defaults:"updates=1000 batch=128" doc:"budget of a fit that goes on from that of the last round"`
}

// sized is a fit of small nets.
type sized struct {
	fit.Config `defaults:"model.encoder_dense=64 model.encoder_hidden=64 model.hidden=128"`
}

// Default returns the defaults.
func Default() (c Config) {
	param.Default(&c)
	return c
}

// Of returns it as PPO has it.
func (c *Training) Of(seed uint64) ppo.Config {
	o := ppo.Defaults()
	o.Seed, o.Iterations, o.Steps, o.Warmup = seed, c.Iterations, c.Steps, c.Warmup
	o.Rate, o.KL, o.Deviation = c.Rate, c.KL, c.Deviation
	o.Policy, o.Critic = slices.Repeat([]int{c.Hidden}, c.Layers), []int{c.Hidden, c.Hidden}
	return o
}

// Progress is that of an iteration of a training.
type Progress struct {
	ppo.Progress
	Iterations, Ended, Succeeded int // of the training; episodes since the last one
}

// Options of a training.
type Options struct {
	Seed uint64
	Show func(Progress)
	// Checkpoint and Key are those of package ppo. A plant that is no model in memory is not kept.
	Checkpoint, Key string
}

// Train trains a policy on a plant by PPO, from nothing or from another one, which stays as it is.
func Train(ctx context.Context, c *Training, t Task, p Plant, from *vnd.Actor[float32], opt Options) (
	*vnd.Actor[float32], error) {
	source := rand.NewPCG(opt.Seed, 5)
	e, err := NewEpisodes(t, p, rand.New(source))
	if err != nil {
		return nil, err
	}
	now := Progress{Iterations: c.Iterations}
	e.Ended = func(_ int, success bool) {
		if now.Ended++; success {
			now.Succeeded++
		}
	}
	o := c.Of(opt.Seed)
	o.Checkpoint, o.Key = opt.Checkpoint, fmt.Sprintf("%s|%+v|%d", opt.Key, t, p.Size())
	if from != nil { // whatever sizes are configured by now
		o.Policy = from.Net.Hidden
	}
	o.Progress = func(g ppo.Progress) {
		now.Progress = g
		opt.Show(now)
		now.Ended, now.Succeeded = 0, 0
	}
	var w ppo.World = e
	if m, ok := p.(*Imagined); ok {
		w = &kept{e, m, source}
	}
	return ppo.Train(ctx, o, w, from)
}

// TrainBase trains a policy in the prior.
func (c *Config) TrainBase(ctx context.Context, t Task, seed uint64, show func(Progress)) (*vnd.Actor[float32],
	error) {
	return Train(ctx, &c.Base, t, NewImagined(c.Base.Worlds, Prior.System(), nil), nil,
		Options{Seed: seed, Show: show})
}
