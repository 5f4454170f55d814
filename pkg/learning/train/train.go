// Package train improves a policy by back-propagation through time: parallel
// rollouts through frozen dynamics, their discounted cost, and its gradient with
// respect to the policy (paper, "Policy Learning and Deployment").
//
// It knows a robot by its System and its Task alone, see package robot.
//
// Shapes: B batch, H horizon, S state, A action, O observation, K past actions, Z latent.
package train

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/dist"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/layers"
	"vnd/pkg/robot"
	"vnd/pkg/vnd"
)

// tileRows is how many of all environments a worker rolls out side by side: the
// more, the less often the weights come from beyond the second-level cache, but
// enough tiles for every worker. The draws depend on it, and so the result.
func tileRows(envs int) int {
	const least, few, many = 12, 32, 64
	switch {
	case envs < few:
		return least
	case envs < 4*many:
		return few
	}
	return many
}

// Progress is told after every epoch.
type Progress struct {
	// Phase is "" in the training itself. Before it may come "teacher", and
	// "imitation", whose Figures are a Cost alone: half the mean square of the
	// actions' errors.
	Phase         string
	Epoch, Epochs int
	Figures       Figures
	Score         float64       // of the newest flight, NaN before the first
	Left          time.Duration // estimated
}

// Options are the seed, the start, and what is handed in.
type Options struct {
	Seed    uint64
	Task    robot.Task[float32]
	Actor   *vnd.Actor[float32] // whose parameters are trained where they are
	New     bool                // the actor's weights are drawn first, and its normaliser is set to what it will see
	Teacher *Teacher            // of a new policy, see Pretrain; nil: none
	Bank    []float32           // [N][Z] latents of the buffer
	// Fly scores a policy in flight, less is better; the best is kept. It may
	// fly what the training does not know. nil keeps the last policy.
	Fly        func(p *vnd.Actor[float32]) (float64, error)
	Checkpoint string
	Progress   func(Progress)
	Now        func() time.Time // clock of the reported times; nil takes time.Now
	// Key names what decides the training and cannot be told apart here: the world,
	// where the tasks begin and lead, how Fly flies. Ranks with another one are
	// refused, and so is a checkpoint. Observation is part of it: the configuration of what the policy sees, if any.
	Key         string
	Observation any
	// Ranks are the processes that share the environments among them; nil is this
	// one alone. The result does not depend on it, and comes to all. Rank 0 keeps
	// the checkpoint.
	Ranks dist.Group
}

// Curve is a training's record: a point per epoch.
type Curve struct {
	Figures []Figures `json:"figures"`
	Flown   []Flown   `json:"flown"`
}

// Flown is the score of a policy in flight.
type Flown struct {
	Epoch int     `json:"epoch"`
	Score float64 `json:"score"`
}

// Result of a training.
type Result struct {
	Curve   Curve
	Best    Flown // of the kept policy; without flights of the last epoch, NaN
	Seconds float64
	Kernel  string
	Workers int // threads, of all ranks
}

type trainer struct {
	cfg    *Config
	opt    *Options
	world  World[float32]
	actor  *vnd.Actor[float32]
	rolled *vnd.Actor[float32] // what the tiles roll out: actor, or the same parameters in bfloat16
	adam   *layers.Adam[float32]
	along  *principal       // coordinates in which adam steps, nil: those of the parameters
	tiles  []*tile[float32] // one per worker
	grad   []float32
	parts  [][]float32 // gradient of each tile of environments, added in order
	all    []float32   // that parts are views of, with space for as many parts on each rank
	lo, hi int         // parts of this rank
	sample func(rng *rand.Rand, z []float32)
	state  state
	key    string
	dt     float64
}

// state is what a checkpoint keeps beside the weights.
type state struct {
	Pretrained  bool
	Pretraining time.Duration // that is part of Elapsed
	Epoch       int
	Curve       Curve
	Best        []float32
	Score       Flown
	Elapsed     time.Duration
}

// Run trains a policy in a world. ctx ends it early with ctx's error; a
// checkpoint, if asked for, is then whole.
func Run(ctx context.Context, cfg Config, w World[float32], dt float64, opt Options) (*Result, error) {
	if opt.Ranks == nil {
		opt.Ranks = dist.Solo{}
	}
	t, err := newTrainer(&cfg, w, dt, &opt)
	if err := dist.Alike(opt.Ranks, t.key, err); err != nil {
		return nil, err
	}
	if err := t.resume(); err != nil {
		return nil, err
	}
	threads, err := dist.Sum(opt.Ranks, len(t.tiles))
	if err != nil {
		return nil, err
	}
	err = t.run(ctx)
	if err != nil && !errors.As(err, new(*Diverged)) {
		return nil, err
	}
	r := &Result{Curve: t.state.Curve, Best: t.state.Score, Seconds: t.state.Elapsed.Seconds(),
		Kernel: kernel.Name(), Workers: threads}
	if t.state.Best != nil {
		copy(t.actor.Net.Params, t.state.Best)
		t.refresh()
	}
	return r, err
}

func newTrainer(cfg *Config, w World[float32], dt float64, opt *Options) (*trainer, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	t := &trainer{cfg: cfg, opt: opt, world: w, actor: opt.Actor, dt: dt,
		sample: Sampler(cfg.BankShare, opt.Bank, w.Sample)}
	if err := cfg.check(w.Latent(), len(opt.Bank)); err != nil {
		return t, err
	}
	if err := t.start(dt); err != nil {
		return t, err
	}
	t.reduce()
	n := len(t.actor.Net.Params)
	t.grad, t.adam = make([]float32, n), layers.NewAdam[float32](n)
	t.adam.Clip = cfg.Clip
	t.state.Score = Flown{Score: math.NaN()}
	count := (cfg.Envs + tileRows(cfg.Envs) - 1) / tileRows(cfg.Envs)
	lo, hi, each := dist.Share(opt.Ranks, count)
	t.lo, t.hi, t.all = lo, hi, make([]float32, opt.Ranks.Size()*each*n)
	for part := range count {
		t.parts = append(t.parts, t.all[part*n:][:n])
	}
	for range min(cmp.Or(cfg.Workers, kernel.Workers()), hi-lo) {
		t.tiles = append(t.tiles, t.tile(t.rolled, t.opt.Task))
	}
	t.along = t.coordinates()
	t.key = t.keyOf(dt)
	return t, nil
}

// reduce has policy and world rolled out in bfloat16, if that is asked for.
func (t *trainer) reduce() {
	t.rolled = t.actor
	if t.cfg.BFloat16 && kernel.HasBFloat16() {
		r := *t.actor
		r.Net = t.actor.Net.BFloat16()
		t.rolled, t.world = &r, t.world.reduced()
	}
}

// refresh follows a change of the policy's parameters.
func (t *trainer) refresh() {
	t.actor.Net.Refresh()
	if t.rolled != t.actor {
		t.rolled.Net.Refresh()
	}
}

// tile makes space for a worker's episodes of a task under a policy.
func (t *trainer) tile(p *vnd.Actor[float32], k robot.Task[float32]) *tile[float32] {
	w := newTile(p, t.world, k, t.dt, min(tileRows(t.cfg.Envs), t.cfg.Envs), t.cfg.Horizon)
	w.randomisation = randomisation{t.cfg.Jitter, t.cfg.SwitchShare}
	return w
}

// start readies the policy.
func (t *trainer) start(dt float64) error {
	p, k, z := t.actor, t.opt.Task, t.world.Latent()
	if d := t.world.System().Dims(); p.Size() != k.Size() || p.Net.Actions != d.Action {
		return fmt.Errorf("a policy of %d inputs and %d actions, its task shows %d and its robot takes %d", p.Size(),
			p.Net.Actions, k.Size(), d.Action)
	}
	if z > 0 && p.Latent != z {
		return fmt.Errorf("the policy to improve sees a latent of %d, the model has one of %d", p.Latent, z)
	}
	if !t.opt.New {
		return nil
	}
	const starts = 256
	rng, held := t.rng(0, 0), make([]float32, p.Net.Actions)
	p.Units(hold(t.world.System()), held)
	p.Net.Init(rng, held)
	if z == 0 {
		p.Net.Ignore(p.Size(), p.Net.Inputs)
	}
	newTile(p, t.world, k, dt, starts, 1).statistics(k, starts, rng)
	return nil
}

// rng is the generator of a tile of an epoch: the same for any number of
// workers. Epoch 0 is before the first.
func (t *trainer) rng(epoch, part int) *rand.Rand {
	return rand.New(rand.NewPCG(t.opt.Seed, uint64(epoch)<<20|uint64(part)))
}

func (t *trainer) run(ctx context.Context) error {
	began, before := t.opt.Now(), t.state.Elapsed
	saved := before
	if err := t.pretrain(ctx); err != nil {
		return err
	}
	if t.state.Epoch == 0 {
		t.state.Pretraining = t.opt.Now().Sub(began)
	}
	for t.state.Epoch < t.cfg.Epochs {
		err := t.agree(ctx.Err())
		if err == nil {
			err = t.epoch()
		}
		if err == nil && t.due() {
			err = t.agree(t.fly())
		}
		if err == nil {
			t.state.Elapsed, err = dist.First(t.opt.Ranks, before+t.opt.Now().Sub(began), nil)
		}
		if err != nil {
			return t.stop(ctx, err)
		}
		if t.state.Elapsed-saved > atomicfile.Every {
			saved = t.state.Elapsed
			if err := t.agree(t.save()); err != nil {
				return err
			}
		}
		t.report()
	}
	return nil
}

// epoch rolls all environments out and takes one Adam step.
func (t *trainer) epoch() error {
	e, rows := epoch{H: t.cfg.Horizon, gamma: t.cfg.Discount, scale: 1 / float64(t.cfg.Envs*t.cfg.Horizon)},
		tileRows(t.cfg.Envs)
	figures := make([]Figures, len(t.parts))
	t.each(func(worker, part int) {
		w, B := t.tiles[worker], min(rows, t.cfg.Envs-part*rows)
		w.begin(B, e.H, t.rng(t.state.Epoch+1, part), t.sample)
		figures[part] = w.forward(e)
		w.backward(e)
		copy(t.parts[part], w.grad)
	})
	nonFinite, err := t.allReduce(figures)
	if err != nil {
		return err
	}
	f := Figures{Skipped: t.sum()}
	for _, part := range figures {
		f.Cost += part.Cost
		f.Error += part.Error
		f.Collided += part.Collided
	}
	steps := float64(t.cfg.Envs * e.H)
	f.Cost, f.Error, f.Collided = f.Cost/steps, f.Error/steps, f.Collided/float64(t.cfg.Envs)
	rate := layers.Schedule{Rate: t.cfg.Rate, Warmup: int(t.cfg.Warmup * float64(t.cfg.Epochs)),
		Total: t.cfg.Epochs}.At(t.state.Epoch)
	norm := t.step(rate)
	if norm*0 != 0 || f.Cost*0 != 0 {
		return t.diverged(f, nonFinite, rate)
	}
	t.refresh()
	t.state.Epoch++
	t.state.Curve.Figures = append(t.state.Curve.Figures, f)
	return nil
}

// step takes one of Adam along the gradient, and returns the gradient's norm.
func (t *trainer) step(rate float64) (norm float64) {
	if t.along == nil {
		return t.adam.Update(t.actor.Net.Params, t.grad, rate)
	}
	t.along.pull(t.grad)
	norm = t.adam.Update(t.along.params, t.along.grad, rate)
	t.along.put(t.actor.Net.Params)
	return norm
}

// sum adds the gradients of the tiles up and returns how many it left out: a rollout that the model throws about,
// within its task's radius, overflows on the way back, and says nothing of the others. Where most of them do, it adds
// them all, and the sum is not finite.
func (t *trainer) sum() (skipped int) {
	finite := make([]bool, len(t.parts))
	for part, g := range t.parts {
		square := kernel.SquaredNorm(g)
		if finite[part] = square*0 == 0; !finite[part] {
			skipped++
		}
	}
	clear(t.grad)
	for part, g := range t.parts {
		if finite[part] || 2*skipped > len(t.parts) {
			kernel.Axpy(1, g, t.grad)
		}
	}
	return skipped
}

// each runs f for every part of this rank, each worker taking the next that is
// left.
func (t *trainer) each(f func(worker, part int)) {
	var wg sync.WaitGroup
	next := make(chan int, t.hi-t.lo)
	for part := t.lo; part < t.hi; part++ {
		next <- part
	}
	close(next)
	for worker := range t.tiles {
		wg.Go(func() {
			for part := range next {
				f(worker, part)
			}
		})
	}
	wg.Wait()
}

// Sampler draws the latent z[Z] of an episode: for a share of them one of a bank
// [N][Z], for the others one that draw draws.
func Sampler(share float64, bank []float32, draw func(rng *rand.Rand, z []float32)) func(*rand.Rand, []float32) {
	return func(rng *rand.Rand, z []float32) {
		if Z := len(z); len(bank) > 0 && rng.Float64() < share {
			copy(z, bank[rng.IntN(len(bank)/Z)*Z:])
			return
		}
		draw(rng, z)
	}
}

// due says whether the policy is to be flown after this epoch.
func (t *trainer) due() bool {
	n := t.cfg.Flights
	if t.opt.Fly == nil || n == 0 {
		return false
	}
	e, all := t.state.Epoch, t.cfg.Epochs
	return e*n/all > (e-1)*n/all
}

// fly scores the policy in flight and keeps the best.
func (t *trainer) fly() error {
	score, err := t.opt.Fly(t.actor)
	if err != nil {
		return err
	}
	f := Flown{t.state.Epoch, score}
	t.state.Curve.Flown = append(t.state.Curve.Flown, f)
	if t.state.Best == nil || score <= t.state.Score.Score {
		t.state.Best, t.state.Score = slices.Clone(t.actor.Net.Params), f
	}
	return nil
}

func (t *trainer) report() {
	if t.opt.Progress == nil {
		return
	}
	p := Progress{Epoch: t.state.Epoch, Epochs: t.cfg.Epochs, Figures: t.state.Curve.Figures[t.state.Epoch-1],
		Score: math.NaN()}
	if n := len(t.state.Curve.Flown); n > 0 {
		p.Score = t.state.Curve.Flown[n-1].Score
	}
	p.Left = time.Duration(float64(t.state.Elapsed-t.state.Pretraining) * float64(p.Epochs-p.Epoch) / float64(p.Epoch))
	t.opt.Progress(p)
}

// Diverged is the error of a training whose numbers are no longer finite. Run
// then returns what it has too: the best policy flown, or the last good one.
type Diverged struct {
	What  string
	Epoch int
	Rate  float64
}

// Error implements error.
func (d *Diverged) Error() string {
	return fmt.Sprintf("the training diverged: %s is not finite in epoch %d with a learning rate of %.3g: "+
		"lower rate or horizon", d.What, d.Epoch, d.Rate)
}

// diverged is the error of a training whose numbers are no longer finite.
func (t *trainer) diverged(f Figures, nonFinite string, rate float64) error {
	what := "the gradient"
	if f.Cost*0 != 0 {
		what = "the cost"
	}
	if nonFinite != "" {
		what = "the cost's term " + nonFinite
	}
	return &Diverged{what, t.state.Epoch + 1, rate}
}
