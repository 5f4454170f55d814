package fit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/dist"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/layers"
	"vnd/pkg/robot"
	"vnd/pkg/vnd"
)

// trainer is a fit under way.
type trainer struct {
	cfg    *Config
	opt    Options
	model  *vnd.Model[float32]
	rolled *vnd.Model[float32] // what gradients go through: model, or the same parameters in bfloat16
	data   *trainingSet
	train  []start
	val    [2][]start // without and with the bias correction
	source *rand.PCG
	rng    *rand.Rand // of source: all randomness
	batch  batch[float32]
	pool   workerPool
	grad   []float32
	adam   *layers.Adam[float32]
	state  progress

	robot      robot.Robot
	digest     [32]byte      // of the recordings
	key        string        // of what the checkpoint belongs to
	threads    int           // of all ranks
	setup      time.Duration // spent before the first update
	saved      time.Duration // training time at the last checkpoint
	compressed bool
}

// progress is the part of a trainer that a checkpoint keeps, besides arrays.
type progress struct {
	Update     int
	Elapsed    time.Duration
	Average    []float32 // EMA of the weights
	Best       []float32 // the average with the least validation loss so far
	BestLoss   float64
	BestUpdate int
	BestShare  float64
	Recent     Losses  // exponential mean
	Newest     float64 // newest validation loss
	Stopped    bool    // no better for train.patience
}

func newTrainer(cfg *Config, r *Recorded, opt Options) (*trainer, error) {
	m, err := vnd.New(r.Robot.System(), cfg.nets())
	if err != nil {
		return nil, err
	}
	for i := range r.Recordings {
		if err := r.Recordings[i].check(m.System.Dims()); err != nil {
			return nil, err
		}
	}
	T, H := cfg.Model.Context, cfg.Loss.Steps
	d := newTrainingSet(r.Recordings)
	if err := d.need(T, H); err != nil {
		return nil, err
	}
	opt.fill()
	source := rand.NewPCG(opt.Seed, 0x5eed)
	t := &trainer{cfg: cfg, opt: opt, robot: r.Robot, digest: r.Digest, model: m, data: d, source: source,
		rng: rand.New(source), grad: make([]float32, len(m.Net.Params)),
		adam: layers.NewAdam[float32](len(m.Net.Params))}
	held := d.split(cfg.Train.Validation, T, H, t.rng)
	t.train = d.starts(T, H, 1, func(f int) bool { return !held[f] })
	if len(t.train) == 0 {
		return nil, fmt.Errorf("no stretch of %d rows has a confidence above 0, a fit needs one", T+H+1)
	}
	t.val = alternate(thin(d.starts(T, H, 1, func(f int) bool { return held[f] }), validationContexts))
	m.Known, m.Age = float32(cfg.BiasCorrection.Known), float32(cfg.Model.LatentDecay/r.Robot.Period())
	m.Net.Init(t.rng)
	scale := scales[float32]{unit: statistics(cfg, m, d, thin(t.train, statisticsContexts), H, t.rng)}
	if d.unsure() {
		scale.grown = growth(m.System, d, thin(t.train, growthStarts), T, H)
	}
	if opt.From != nil {
		t.warm(opt.From.Model)
	}
	t.adam.Clip, t.adam.WeightDecay = cfg.Train.Clip, cfg.Train.WeightDecay
	t.state = progress{Average: append([]float32(nil), m.Net.Params...), BestLoss: math.Inf(1), Newest: math.NaN()}
	B, Z := cfg.Train.Batch, m.Net.Latent
	t.batch = batch[float32]{starts: make([]start, B), gains: make([]float64, B), samples: make([]float32, B*Z),
		z: make([]float32, B*Z), dz: make([]float32, B*Z)}
	t.rolled = reduced(cfg, m)
	t.pool = newWorkerPool(cfg, m, t.rolled, d, scale, opt.Ranks)
	return t, nil
}

// reduced returns m, or m with nets that multiply in bfloat16, if that is asked for.
func reduced(cfg *Config, m *vnd.Model[float32]) *vnd.Model[float32] {
	if !cfg.Train.BFloat16 || !kernel.HasBFloat16() {
		return m
	}
	return m.BFloat16()
}

// warm takes over the weights of a model, with the normalisers that they were fitted under. Those that the data have
// left follow them.
func (t *trainer) warm(from *vnd.Model[float32]) {
	m := t.model
	context, inputs, output := m.Context, m.Inputs, m.Output // of the data
	copy(m.Net.Params, from.Net.Params)
	copy(m.BiasShare, from.BiasShare)
	m.Context, m.Inputs, m.Output = from.Context, from.Inputs, from.Output
	m.Renormalise(followed(&from.Context, &context), followed(&from.Inputs, &inputs), grown(from.Output, output))
}

func (t *trainer) run(ctx context.Context) error {
	began, before := t.opt.Now(), t.state.Elapsed+t.setup
	for share := t.share(); share < 1 && !t.state.Stopped; share = t.share() {
		if err := dist.Agree(t.opt.Ranks, ctx.Err()); err != nil {
			return errors.Join(err, t.save())
		}
		if err := t.update(share); err != nil {
			return err
		}
		var err error
		if t.state.Elapsed, err = dist.First(t.opt.Ranks, before+t.opt.Now().Sub(began), nil); err != nil {
			return err
		}
		if int(t.share()*validations) > int(share*validations) {
			if err := t.validate(); err != nil {
				return err
			}
			t.state.Stopped = t.state.Best != nil && t.share()-t.state.BestShare > t.cfg.Train.Patience
		}
		if t.state.Elapsed-t.saved > atomicfile.Every {
			// on every rank, though one alone writes: all have to find the next one due together
			t.saved = t.state.Elapsed
			if err := dist.Agree(t.opt.Ranks, t.save()); err != nil {
				return err
			}
		}
		t.report(share)
	}
	t.compressed = !t.state.Stopped && t.state.Update < t.updates()
	return t.finish()
}

// finish keeps the best weights, or the last average without validation flights, calibrates the novelty and estimates
// the latent prior.
func (t *trainer) finish() error {
	if t.state.Best != nil {
		copy(t.model.Net.Params, t.state.Best)
	} else {
		copy(t.model.Net.Params, t.state.Average)
	}
	t.model.Net.Refresh()
	known := append(t.val[0], t.val[1]...)
	if len(known) == 0 {
		known = thin(t.train, validationContexts)
	}
	t.scaleResiduals(known)
	t.model.LatentPrior = vnd.NewLatentPrior(t.latents(thin(t.train, vnd.LatentCentres)), t.model.Net.Latent)
	for _, x := range t.model.Net.Params {
		if x*0 != 0 {
			return t.diverged("a weight")
		}
	}
	return nil
}

// draw fills the next batch.
func (t *trainer) draw(share float64) {
	b := &t.batch
	for i := range b.starts {
		b.starts[i] = t.train[t.rng.IntN(len(t.train))]
		b.gains[i] = math.Exp(t.cfg.Train.GainJitter * t.rng.NormFloat64())
	}
	for i := range b.samples {
		b.samples[i] = float32(t.rng.NormFloat64())
	}
	b.member = t.rng.IntN(t.model.Net.Members)
	n, corrected := float64(t.state.Update), t.cfg.BiasCorrection.Share
	b.corrected = math.Floor((n+1)*corrected) > math.Floor(n*corrected)
	b.H, b.mmd = t.horizon(share), t.mmdWeight(share)
}

// update takes one Adam step on a batch. Its shards are encoded, and then, when all latents are known, come their
// gradients, which are added in a fixed order.
func (t *trainer) update(share float64) error {
	t.draw(share)
	losses, err := t.pool.gradients(&t.batch, t.grad)
	if err != nil {
		return err
	}
	var l Losses
	n := float64(len(t.batch.starts))
	for _, p := range losses {
		l.Dynamics += p.Dynamics / n
		l.Reconstruction += p.Reconstruction / n
		l.MMD += p.MMD / n
	}
	l.Total = l.Dynamics + t.cfg.Loss.Reconstruction*l.Reconstruction + t.batch.mmd*l.MMD
	if norm := t.adam.Update(t.model.Net.Params, t.grad, t.rate(share)); norm*0 != 0 {
		return t.diverged("the gradient")
	}
	t.rolled.Net.Refresh()
	t.average()
	t.state.Update++
	t.state.Recent = blend(t.state.Recent, l, math.Max(.02, 1/float64(t.state.Update)))
	return nil
}

// average moves the exponential moving average of the weights, faster at first.
func (t *trainer) average() {
	keep := math.Min(t.cfg.Train.Average, float64(t.state.Update+1)/float64(t.state.Update+10))
	f := float32(1 - keep)
	for i, p := range t.model.Net.Params {
		t.state.Average[i] += f * (p - t.state.Average[i])
	}
}

func blend(a, b Losses, f float64) Losses {
	mix := func(x, y float64) float64 { return x + f*(y-x) }
	return Losses{mix(a.Dynamics, b.Dynamics), mix(a.Reconstruction, b.Reconstruction), mix(a.MMD, b.MMD),
		mix(a.Total, b.Total)}
}

// report reports progress.
func (t *trainer) report(share float64) {
	if t.opt.Progress == nil {
		return
	}
	left := time.Duration(0)
	if share > 0 {
		left = time.Duration(float64(t.state.Elapsed) * (1 - share) / share)
	}
	t.opt.Progress(Progress{Share: share, Update: t.state.Update, Losses: t.state.Recent, Validation: t.state.Newest,
		Left: left})
}
