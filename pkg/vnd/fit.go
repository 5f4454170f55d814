// Package vnd fits Variational Neural Dynamics: the encoder E_φ, the residual D_ψ and the decoder G_η of the paper's
// "Variational Neural Dynamics Details", on recorded flights.
package vnd

import (
	"context"
	"encoding/hex"
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"sync"
	"time"

	"vnd/pkg/dynamics"
	"vnd/pkg/learned"
	"vnd/pkg/nn"
	"vnd/pkg/transition"
)

// Progress is told after updates, at most a few times a second.
type Progress struct {
	Phase      string        `json:"phase"`
	Share      float64       `json:"share"` // 0 … 1
	Update     int           `json:"update"`
	Horizon    int           `json:"horizon"` // steps of the rollouts in training
	Losses     Losses        `json:"losses"`
	Validation float64       `json:"validation"` // newest, NaN before the first
	Left       time.Duration `json:"left"`
}

// Options are what does not decide the result.
type Options struct {
	Seed       uint64
	Checkpoint string           // path of the resumable checkpoint; empty keeps none
	Progress   func(Progress)   // may be nil
	Now        func() time.Time // clock of the wall-time bound; nil takes time.Now
}

// Fit is a fitted model with its figures.
type Fit struct {
	Model   *learned.Model[float32]
	Robot   learned.Quadrotor
	Metrics Metrics
}

// Metrics is the record of a fit, kept in the bundle.
type Metrics struct {
	Updates           int      `json:"updates"`
	Contexts          int      `json:"contexts"` // distinct contexts to draw from
	Seconds           float64  `json:"seconds"`
	Compressed        bool     `json:"compressed"` // the wall-time bound cut the schedule short
	Losses            Losses   `json:"losses"`     // mean over the last twentieth
	Validation        float64  `json:"validation"` // of the kept weights; 0 without validation flights
	BestUpdate        int      `json:"best_update"`
	ValidationFlights []string `json:"validation_flights"`
	Kernel            string   `json:"kernel"`
	Workers           int      `json:"workers"`
	Seed              uint64   `json:"seed"`
}

// trainer is a fit under way.
type trainer struct {
	cfg        *Config
	opt        Options
	model      *learned.Model[float32]
	data       *dataset
	train, val []start
	rng        *rand.Rand
	sources    []*rand.PCG // of the trainer, then of each shard
	shards     []*shard[float32]
	grad       []float32
	adam       *nn.Adam[float32]
	state      progress
	key        string        // of what the checkpoint belongs to
	setup      time.Duration // spent before the first update
	saved      time.Duration // training time at the last checkpoint
}

// progress is the part of a trainer that a checkpoint keeps, besides arrays.
type progress struct {
	Update     int
	Elapsed    time.Duration
	Average    []float32 // EMA of the weights
	Best       []float32 // the average with the least validation loss so far
	BestLoss   float64
	BestUpdate int
	Recent     Losses  // exponential mean
	Newest     float64 // newest validation loss
}

// Run fits a model to the segments. ctx ends it early: a checkpoint, if asked for, is then whole, and the error is
// ctx's.
func Run(ctx context.Context, cfg Config, dt float64, segs []transition.Segment, opt Options) (*Fit, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	began := opt.Now()
	act := dynamics.NominalActuator()
	if cfg.Prior.Identify {
		act = dynamics.Identify(ctx, dt, steps(segs))
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	robot := learned.Quadrotor{Dt: dt, Actuator: act, Prior: cfg.Prior.Enabled, World: cfg.Prior.Frame == "world"}
	t, err := newTrainer(&cfg, robot.System(), dt, segs, opt)
	if err != nil {
		return nil, err
	}
	digest := transition.Digest(segs)
	t.key = keyOf(&cfg, opt.Seed, len(t.shards), hex.EncodeToString(digest[:]))
	if err := t.resume(); err != nil {
		return nil, err
	}
	t.setup = opt.Now().Sub(began)
	if err := t.run(ctx); err != nil {
		return nil, err
	}
	return &Fit{Model: t.model, Robot: robot, Metrics: t.metrics()}, nil
}

func newTrainer(cfg *Config, sys dynamics.System[float32], dt float64, segs []transition.Segment, opt Options) (*trainer, error) {
	m, err := learned.New(sys, cfg.nets())
	if err != nil {
		return nil, err
	}
	T, H := cfg.Model.Context, cfg.Loss.Steps
	d := newDataset(segs, sys.Dims())
	if err := d.need(T, H); err != nil {
		return nil, err
	}
	src := rand.NewPCG(opt.Seed, 0x5eed)
	t := &trainer{cfg: cfg, opt: opt, model: m, data: d, sources: []*rand.PCG{src}, rng: rand.New(src)}
	if opt.Now == nil {
		t.opt.Now = time.Now
	}
	held := d.split(cfg.Train.Validation, t.rng)
	t.train = d.starts(T, H, 1, func(f int) bool { return !held[f] })
	t.val = thin(d.starts(T, H, 5, func(f int) bool { return held[f] }), validationContexts)
	if len(t.train) == 0 {
		t.train, t.val = append(t.train, d.starts(T, H, 1, func(int) bool { return true })...), nil
	}
	m.Known, m.Age = float32(cfg.Anchor.Known), float32(cfg.Model.LatentAge/dt)
	m.Net.Init(t.rng)
	scale := statistics(cfg, m, d, thin(t.train, statisticsContexts), H)
	t.grad = make([]float32, len(m.Net.Params))
	t.adam = nn.NewAdam[float32](len(m.Net.Params))
	t.adam.Clip, t.adam.WeightDecay = cfg.Train.Clip, cfg.Train.WeightDecay
	t.state = progress{Average: append([]float32(nil), m.Net.Params...), BestLoss: math.Inf(1)}
	n := workers(cfg)
	for k := range n {
		size := (k+1)*cfg.Train.Batch/n - k*cfg.Train.Batch/n
		src := rand.NewPCG(opt.Seed, uint64(k)+1)
		t.sources = append(t.sources, src)
		t.shards = append(t.shards, newShard(cfg, m, d, scale, size, H, rand.New(src)))
	}
	return t, nil
}

func workers(cfg *Config) int {
	n := cfg.Train.Workers
	if n == 0 {
		n = runtime.GOMAXPROCS(0)
	}
	return min(n, cfg.Train.Batch)
}

// share is how far the schedule has come: by updates, or by time where that runs out first.
func (t *trainer) share() float64 {
	byTime := t.state.Elapsed.Minutes() / t.cfg.Train.Minutes
	return math.Min(1, math.Max(float64(t.state.Update)/float64(t.cfg.Train.Updates), byTime))
}

// horizon is the rollout length of the curriculum.
func (t *trainer) horizon(share float64) int {
	c := t.cfg.Train.Horizon
	i := min(int(share/curriculum*float64(len(c)-1)), len(c)-1)
	return max(1, int(c[i]*float64(t.cfg.Loss.Steps)+.5))
}

const curriculum = .4 // share of the training in which the horizon grows

// rate is Adam's learning rate: a linear rise, then half a cosine.
func (t *trainer) rate(share float64) float64 {
	w := t.cfg.Train.Warmup
	if share < w {
		return t.cfg.Train.Rate * (share + 1e-3) / (w + 1e-3)
	}
	return t.cfg.Train.Rate * .5 * (1 + math.Cos(math.Pi*(share-w)/(1-w)))
}

// mmdWeight is the paper's annealed λ_mmd(e).
func (t *trainer) mmdWeight(share float64) float64 {
	l := &t.cfg.Loss
	return l.MMD * math.Min(1, math.Max(0, (share-l.MMDStart)/l.MMDRamp))
}

func (t *trainer) run(ctx context.Context) error {
	began, before := t.opt.Now(), t.state.Elapsed+t.setup
	for share := t.share(); share < 1; share = t.share() {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, t.save())
		}
		t.update(share)
		t.state.Elapsed = before + t.opt.Now().Sub(began)
		if t.state.Elapsed-t.saved > checkpointEvery {
			if err := t.save(); err != nil {
				return err
			}
		}
		if int(t.share()*validations) > int(share*validations) {
			t.validate()
		}
		t.tell(share)
	}
	if t.state.Best != nil {
		copy(t.model.Net.Params, t.state.Best)
	} else {
		copy(t.model.Net.Params, t.state.Average)
	}
	if len(t.val) > 0 {
		t.leftovers(t.val)
	} else {
		t.leftovers(thin(t.train, validationContexts))
	}
	return nil
}

// update draws a batch, gathers the shards' gradients in a fixed order and takes one Adam step.
func (t *trainer) update(share float64) {
	B, H, n := t.cfg.Train.Batch, t.horizon(share), len(t.shards)
	batch := make([]start, B)
	for i := range batch {
		batch[i] = t.train[t.rng.IntN(len(t.train))]
	}
	losses := make([]Losses, n)
	var wg sync.WaitGroup
	for k, s := range t.shards {
		part := batch[k*B/n : (k+1)*B/n]
		wg.Go(func() { losses[k] = s.gradient(part, H, t.state.Update, t.mmdWeight(share), 1/float64(B)) })
	}
	wg.Wait()
	clear(t.grad)
	var l Losses
	for k, s := range t.shards {
		for i, g := range s.grad {
			t.grad[i] += g
		}
		l.Dynamics += losses[k].Dynamics / float64(B)
		l.Reconstruction += losses[k].Reconstruction / float64(B)
		l.MMD += losses[k].MMD / float64(B)
	}
	l.Total = l.Dynamics + t.cfg.Loss.Reconstruction*l.Reconstruction + t.mmdWeight(share)*l.MMD
	t.adam.Update(t.model.Net.Params, t.grad, t.rate(share))
	t.average()
	t.state.Update++
	t.state.Recent = blend(t.state.Recent, l, math.Max(.02, 1/float64(t.state.Update)))
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
	return Losses{mix(a.Dynamics, b.Dynamics), mix(a.Reconstruction, b.Reconstruction), mix(a.MMD, b.MMD), mix(a.Total, b.Total)}
}
