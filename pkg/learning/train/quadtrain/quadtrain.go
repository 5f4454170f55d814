// Package quadtrain trains policies of a quadrotor: what package train wants of a robot and its tasks.
package quadtrain

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"vnd/pkg/core/dist"
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd"
)

// Config of a policy's training.
type Config struct {
	Observation policy.Observation `param:"observation" doc:"what the policy observes"`

	Margins Margins `param:"margins" defaults:"gain=0.1 delay=4 overshoot=0.25 frequency=25 share=0.35" doc:"margins: how commands may be followed otherwise than in a learned model, drawn at random"`

	policy.Steady
	train.Config
}

// Options are the seed, the start, and what is handed in.
type Options struct {
	Seed   uint64
	Tasks  []*task.Task // each episode is of one of them, drawn evenly
	Limits quad.Limits
	Motors *rotors.Limits          // of a policy that commands rotors, in place of Limits; nil: of one that does not
	From   *policy.Policy[float32] // to improve; nil begins anew
	Bank   []float32               // [N][Z] latents of the buffer
	// Fly scores a policy in flight, less is better; the best is kept. nil keeps the last policy.
	Fly        func(p *policy.Policy[float32]) (float64, error)
	Checkpoint string
	Progress   func(train.Progress)
	Now        func() time.Time // clock of the reported times; nil takes time.Now
	Key        string           // names what decides the training and cannot be told apart here, see train.Options
	Ranks      dist.Group       // processes that share the environments among them; nil is this one alone
}

// Result of a training.
type Result struct {
	Policy *policy.Policy[float32]
	*train.Result
}

// Run trains a policy in a world of steps of dt seconds, see train.Run.
func Run(ctx context.Context, cfg Config, w train.World[float32], dt float64, opt Options) (*Result, error) {
	if opt.Ranks == nil {
		opt.Ranks = dist.Solo{}
	}
	p, o, err := prepare(&cfg, w, &opt)
	if err := dist.Agree(opt.Ranks, err); err != nil {
		return nil, err
	}
	r, err := train.Run(ctx, cfg.Config, w, dt, o)
	if r == nil {
		return nil, err
	}
	return &Result{p, r}, err
}

// prepare makes the policy, and the options of its training.
func prepare(cfg *Config, w train.World[float32], opt *Options) (*policy.Policy[float32], train.Options, error) {
	o := train.Options{Seed: opt.Seed, Bank: opt.Bank, Checkpoint: opt.Checkpoint, Progress: opt.Progress, Now: opt.Now,
		Ranks: opt.Ranks, New: opt.From == nil, Observation: cfg.Observation}
	p, err := start(cfg, w, opt)
	if err != nil {
		return nil, o, err
	}
	o.Actor, o.Task = &p.Actor, tasksOf(opt.Tasks, p)
	if opt.Fly != nil {
		o.Fly = func(*vnd.Actor[float32]) (float64, error) { return opt.Fly(p) }
	}
	var key strings.Builder
	fmt.Fprintf(&key, "%+v|%+v|%q", p.Observation, p.Limits, opt.Key)
	if opt.Motors != nil {
		fmt.Fprintf(&key, "|%+v", *opt.Motors)
	}
	for _, k := range opt.Tasks {
		fmt.Fprintf(&key, "|%s %+v", k.Name, k.Cost)
	}
	o.Key = key.String()
	if o.New && p.Pinhole != nil { // its teacher sees positions in place of features
		see := p.Observation
		see.Camera = policy.Camera{}
		teacher, err := policy.New[float32](see, p.Limits, p.Latent, p.Net.Hidden)
		if err != nil {
			return nil, o, err
		}
		o.Teacher = &train.Teacher{Actor: &teacher.Actor, Task: tasksOf(opt.Tasks, teacher)}
	}
	return p, o, nil
}

// measured are the units of the pushes and the lags that a policy made of from is trained under and sees, m/s² and s.
// They are 0 where the policy sees features or commands rotors.
func (c *Config) measured(from *policy.Policy[float32]) (push, lag float64) {
	see := &c.Observation
	switch {
	case from == nil && len(see.Camera.Points) == 0:
		return see.Push, see.Lag
	case from == nil || from.Motors != nil || from.Pinhole != nil:
		return 0, 0
	}
	return cmp.Or(from.Observation.Push, see.Push), cmp.Or(from.Observation.Lag, see.Lag)
}

// Pushes are those of a learned model that a policy made of from is trained in; nil is from nothing.
func (c *Config) Pushes(from *policy.Policy[float32]) Pushes {
	push, lag := c.measured(from)
	return Pushes{Hidden: c.Wind, Measured: push, Rate: c.Push.Bandwidth(), Lag: lag}
}

// Trial are Pushes without what is hidden, for trial flights.
func (c *Config) Trial(from *policy.Policy[float32]) Pushes {
	p := c.Pushes(from)
	p.Hidden = 0
	return p
}

// start returns a copy of the policy to improve, or an untrained one.
func start(cfg *Config, w train.World[float32], opt *Options) (*policy.Policy[float32], error) {
	from := opt.From
	if from == nil {
		latent := w.Latent()
		if latent == 0 {
			latent = cfg.Latent
		}
		if w.Latent() == 0 {
			cfg.Observation.Push, cfg.Observation.Lag = 0, 0 // nobody measures them without a model
		}
		p, err := untrained(cfg, opt, latent)
		if err == nil {
			p.Steady = cfg.Steady
			blind(p)
		}
		return p, err
	}
	p, err := from.WithMeasured(cfg.measured(from))
	if err != nil {
		return nil, err
	}
	p.Steady = cfg.Steady
	blind(p)
	return p, nil
}

func untrained(cfg *Config, opt *Options, latent int) (*policy.Policy[float32], error) {
	if opt.Motors != nil {
		return policy.NewRotors[float32](cfg.Observation, *opt.Motors, latent, cfg.Widths())
	}
	return policy.New[float32](cfg.Observation, opt.Limits, latent, cfg.Widths())
}

// blind hides the latent from a policy that is given no state: none that is made of states may serve it.
func blind(p *policy.Policy[float32]) {
	if p.Observation.Camera.StateFree {
		clear(p.Norm.Scale[p.Size():])
	}
}

// Trials are trial flights of quadrotors, see train.Trials.
type Trials struct {
	train.Trials
	Tasks []*task.Task
}

// NewTrials returns the trial flights of a training, under the prior mean of the latent.
func NewTrials(w train.World[float32], tasks []*task.Task, dt float64, seed uint64) *Trials {
	return &Trials{*train.NewTrials(w, nil, dt, seed), tasks}
}

// Fly returns the mean position error, m; after a collision a flight counts with
// its task's radius.
func (t *Trials) Fly(p *policy.Policy[float32]) (float64, error) {
	of := t.Trials
	of.Task = tasksOf(t.Tasks, p)
	return of.Fly(&p.Actor)
}
