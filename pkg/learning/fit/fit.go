// Package fit fits Variational Neural Dynamics: the encoder E_φ, the residual D_ψ and the decoder G_η of the paper's
// "Variational Neural Dynamics Details", on recordings of any robot. Package quadfit fits quadrotors.
package fit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"vnd/pkg/core/dist"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
	"vnd/pkg/vnd"
)

// Progress is told after every update.
type Progress struct {
	Share      float64 // of the schedule, 0 … 1
	Update     int
	Losses     Losses        // exponential mean over about 50 updates
	Validation float64       // newest, NaN before the first; of From on the unseen segments until then
	Left       time.Duration // estimated
}

// Options are the seed, and what does not decide the result.
type Options struct {
	Seed       uint64
	Checkpoint string           // path of the resumable checkpoint; empty keeps none
	Progress   func(Progress)   // may be nil
	From       *Fit             // model to go on from, of the same sizes; nil begins anew
	Unseen     int              // recordings, the last ones, that From was not fitted to
	Now        func() time.Time // clock of the wall-time bound; nil takes time.Now
	// Ranks are the processes that share the shards of a batch; nil is this one alone. The result does not
	// depend on it, and comes to all. Rank 0 keeps the checkpoint, and its clock counts.
	Ranks dist.Group
}

// fill sets what was left out.
func (o *Options) fill() {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Ranks == nil {
		o.Ranks = dist.Solo{}
	}
}

// Fit is a fitted model with its figures.
type Fit struct {
	Model   *vnd.Model[float32]
	Robot   robot.Robot
	Data    [32]byte // digest of the recordings
	Metrics Metrics
}

// Metrics is the record of a fit, kept in the bundle.
type Metrics struct {
	Updates           int      `json:"updates"`
	Contexts          int      `json:"contexts"` // distinct contexts to draw from
	Seconds           float64  `json:"seconds"`
	Compressed        bool     `json:"compressed"`           // the wall-time bound compressed the schedule
	Stopped           bool     `json:"stopped"`              // validation had not improved for train.patience
	Losses            Losses   `json:"losses"`               // exponential mean over about the last 50 updates
	Validation        float64  `json:"validation,omitempty"` // of the kept weights; absent without validation flights
	BestUpdate        int      `json:"best_update,omitempty"`
	ValidationFlights []string `json:"validation_flights"`
	UnusedFlights     []string `json:"unused_flights"` // without a stretch that holds a context and a rollout
	Kernel            string   `json:"kernel"`
	Workers           int      `json:"workers"` // threads, of all ranks
	Seed              uint64   `json:"seed"`
}

// Check reports the first setting that no fit of a system can run with, beyond what the parameters' own ranges refuse.
func (c *Config) Check(sys robot.System[float32]) error {
	if len(c.Train.Horizon) == 0 {
		return errors.New(`parameter "train.horizon" is empty, expected at least one share of loss.steps`)
	}
	_, err := vnd.New(sys, c.nets())
	return err
}

// Run fits a model to what the source reads. ctx ends it early: a checkpoint, if asked for, is then whole, and the
// error is ctx's.
func Run(ctx context.Context, cfg Config, source Source, opt Options) (*Fit, error) {
	opt.fill()
	began := opt.Now()
	t, err := prepare(ctx, &cfg, source, opt)
	if err := dist.Alike(opt.Ranks, t.key, err); err != nil {
		return nil, err
	}
	if err := t.resume(); err != nil {
		return nil, err
	}
	if t.threads, err = dist.Sum(opt.Ranks, len(t.pool.workers)); err != nil {
		return nil, err
	}
	if err := t.scoreUnseen(); err != nil {
		return nil, err
	}
	t.setup = opt.Now().Sub(began)
	if err := t.run(ctx); err != nil {
		return nil, err
	}
	return &Fit{Model: t.model, Robot: t.robot, Data: t.digest, Metrics: t.metrics()}, nil
}

// prepare reads what the robot did and makes its trainer, which on an error has no key.
func prepare(ctx context.Context, cfg *Config, source Source, opt Options) (*trainer, error) {
	none := &trainer{}
	var from robot.Robot
	if opt.From != nil {
		from = opt.From.Robot
	}
	r, err := source(ctx, cfg, from)
	if err != nil {
		return none, err
	}
	if err := cfg.Check(r.Robot.System()); err != nil {
		return none, err
	}
	if opt.From != nil {
		if err := opt.From.Fits(cfg, r.Robot); err != nil {
			return none, err
		}
	}
	t, err := newTrainer(cfg, r, opt)
	if err != nil {
		return none, err
	}
	t.key = keyOf(cfg, r.Robot.Period(), opt, t.digest)
	return t, nil
}

// Fits refuses a model to go on from that is not what the configuration asks for.
func (f *Fit) Fits(cfg *Config, r robot.Robot) error {
	want, err := vnd.New(r.System(), cfg.nets())
	if err != nil {
		return err
	}
	if want.Net.Config != f.Model.Net.Config || r.Kind() != f.Robot.Kind() || r.Period() != f.Robot.Period() {
		return fmt.Errorf("the model to go on from is %+v of a %s at steps of %g s, "+
			"the configuration asks for %+v of a %s at %g s",
			f.Model.Net.Config, f.Robot.Kind(), f.Robot.Period(), want.Net.Config, r.Kind(), r.Period())
	}
	return nil
}

// metrics is the record of the fit so far.
func (t *trainer) metrics() Metrics {
	held := make([]bool, len(t.data.flights))
	for _, half := range t.val {
		for _, st := range half {
			held[t.data.segments[st.Segment].flight] = true
		}
	}
	m := Metrics{Updates: t.state.Update, Contexts: len(t.train), Seconds: t.state.Elapsed.Seconds(),
		Compressed: t.compressed, Stopped: t.state.Stopped, Losses: t.state.Recent, BestUpdate: t.state.BestUpdate,
		ValidationFlights: t.data.flightNames(held),
		UnusedFlights:     t.data.flightNames(t.data.unused(t.cfg.Model.Context, t.cfg.Loss.Steps)),
		Kernel:            kernel.Name(), Workers: t.threads, Seed: t.opt.Seed}
	if t.state.Best != nil {
		m.Validation = t.state.BestLoss
	}
	return m
}

// diverged is the error of a training whose numbers are no longer finite.
func (t *trainer) diverged(what string) error {
	err := fmt.Errorf("the training diverged: %s is not finite at update %d with a learning rate of %.3g: lower "+
		"train.rate, or look at the flights for nonsense", what, t.state.Update, t.rate(t.share()))
	if _, missing := os.Stat(t.opt.Checkpoint); missing == nil {
		err = fmt.Errorf("%w; its checkpoint %s can be removed", err, t.opt.Checkpoint)
	}
	return err
}
