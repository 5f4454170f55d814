package armlearning

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Rounds configures learning beside an arm that moves.
type Rounds struct {
	rounds.Schedule
	Supervision
	Config
	Stride int `param:"latent_stride" default:"10" min:"1" max:"10000" unit:"rows" doc:"rows from one re-encoded latent to the next"`
	continual.Data
}

// Supervision has places as of Place, and errors of millimetres.
type Supervision struct {
	rounds.Supervision `defaults:"evidence.radius=0.5 evidence.tolerance=5e-4"`
}

// Open opens the bundles on disk of an arm that follows references. cfg gives the present configuration.
func Open(cfg func() *Rounds, o rounds.Common, references []*arm.Reference, maker string) (*rounds.Runner[[]arm.Row],
	error) {
	task := Task(Spread, references...)
	if o.BasePolicy == nil {
		o.BasePolicy = func(ctx context.Context, progress func(train.Progress)) (*bundle.Bundle, error) {
			return base(ctx, cfg().Base, train.Options{Seed: o.Seed, Task: task, Progress: progress}, maker)
		}
	}
	r := rounds.Robot[[]arm.Row]{Name: arm.Name,
		Begin: func(start *bundle.Bundle, seed uint64, report func(continual.Status)) (rounds.Learner[[]arm.Row],
			error) {
			return New(*cfg(), start, Options{Task: task, Seed: seed, Maker: maker, Status: report, Now: o.Now})
		},
		Gate: func() *gate.Gate { return NewGate(cfg().Gate.Config, task, nil, o.Seed) }}
	l, err := rounds.New(func() rounds.Settings { return cfg() }, o, r)
	if err == nil {
		l.Supervise(func() *rounds.Supervision { return &cfg().Supervision.Supervision })
	}
	return l, err
}

// base makes a bundle of a policy of the prior.
func base(ctx context.Context, c train.Config, o train.Options, maker string) (*bundle.Bundle, error) {
	p, err := Train(ctx, c, PriorWorld(), nil, o)
	if err != nil {
		return nil, err
	}
	b := &bundle.Bundle{Robot: arm.Name, Dt: Dt, CreatedBy: maker}
	err = vnd.PutActor(b, p, nil, armcontrol.Task)
	return b, err
}

// Options of a Learner.
type Options struct {
	Task   robot.Task[float32]
	Seed   uint64
	Maker  string // of its bundles
	Status func(continual.Status)
	Now    func() time.Time // clock of the reported times; nil takes time.Now
}

// Learner learns in rounds from stretches of rows. It implements rounds.Learner: stretches may be added while a round
// runs; rounds come one at a time.
type Learner struct {
	cfg Rounds
	opt Options

	mu       sync.Mutex
	segments [][]arm.Row
	current  *bundle.Bundle

	model      *fit.Fit // of the newest candidate, also of one that was refused; nil: none
	learned    int      // segments that it was fitted to, the first ones
	validation float64  // its loss on what was held out, NaN where it is not known
	rounds     int
}

// New makes a learner that begins with a bundle, which has a policy and may have a model. A model of other sizes than
// the configuration has is not gone on from.
func New(cfg Rounds, start *bundle.Bundle, opt Options) (*Learner, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	l := &Learner{cfg: cfg, opt: opt, current: start, validation: math.NaN()}
	if _, err := Vehicle(opt.Task).Load(start); err != nil {
		return nil, err
	}
	p, err := vnd.ActorFromBundle(start)
	if err != nil {
		return nil, err
	}
	if p.Latent != cfg.Fit.Model.Latent {
		return nil, fmt.Errorf("bundle %s has a policy with a latent of %d, fit.model.latent is %d: expected the "+
			"same, or a folder without bundles", start.ID, p.Latent, cfg.Fit.Model.Latent)
	}
	m, err := modelOf(start)
	if m != nil {
		if f := (&fit.Fit{Model: m, Robot: Prior}); f.Fits(&cfg.Fit.Config, Prior) == nil {
			l.model = f
		}
	}
	return l, err
}

// modelOf is the model of a bundle, nil where it has none.
func modelOf(b *bundle.Bundle) (*vnd.Model[float32], error) {
	if !vnd.In(b) {
		return nil, nil
	}
	m, _, err := vnd.FromBundle(b, arm.Reader)
	return m, err
}

// Add adds stretches to what is learned from.
func (l *Learner) Add(segments ...[]arm.Row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segments = append(l.segments, segments...)
}

// AddLearned adds stretches that the model to begin with was fitted to, and all that were added before.
func (l *Learner) AddLearned(segments ...[]arm.Row) {
	l.Add(segments...)
	l.learned = len(l.segments)
}

// Return makes an earlier bundle the current one again.
func (l *Learner) Return(b *bundle.Bundle) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = b
}

// buffer returns what there is to learn from.
func (l *Learner) buffer() (segments [][]arm.Row, rows int, current *bundle.Bundle) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.segments {
		rows += len(s)
	}
	return slices.Clone(l.segments), rows, l.current
}

// Bound forgets stretches where there are more rows than may be, see dataset.Balance. It returns the places of those
// that stay, nil where nothing is forgotten. No round may run meanwhile.
func (l *Learner) Bound() (kept []int) {
	segments, rows, _ := l.buffer()
	if rows <= l.cfg.MaxRows {
		return nil
	}
	pieces := make([]dataset.Piece, len(segments))
	for i, s := range segments {
		var z []float32
		size := 0
		if l.model != nil {
			size = l.model.Model.Net.Latent
			z = vnd.Latents(l.model.Model, Prior, [][]arm.Row{s}, l.cfg.Stride)
		}
		sum := (&dataset.Encoded{Rows: Encode(s)}).Digest()
		pieces[i] = dataset.PieceOf(len(s), binary.LittleEndian.Uint64(sum[:]), z, size)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segments, l.learned, kept = dataset.Forget(l.segments, l.learned, pieces, l.cfg.MaxRows)
	return kept
}

// Round learns from what there is. A candidate that passes the gate is the current bundle from then on. The error is
// ctx's, or of a training that diverged; all is then as if the round had not begun.
func (l *Learner) Round(ctx context.Context) (*continual.Round, error) {
	segments, rows, current := l.buffer()
	if moved := float64(rows) * Dt; moved < l.cfg.Least {
		return nil, fmt.Errorf("%w: %.0f s, a model takes %.0f", continual.ErrTooLittle, moved, l.cfg.Least)
	}
	r := &round{l: l, ctx: ctx, current: current, segments: segments, validation: l.validation,
		out: &continual.Round{Number: l.rounds + 1, Rows: rows, Parent: current.ID}}
	begins := func(p continual.Phase) { r.report(p, 0, 0) }
	if err := r.out.Work(ctx, l.opt.Now, begins, continual.Step{Phase: continual.Fitting, Do: r.fit},
		continual.Step{Phase: continual.Encoding, Do: r.encode}, continual.Step{Phase: continual.Improving,
			Do: r.improve}, continual.Step{Phase: continual.Gating, Do: r.gate}); err != nil {
		return nil, err
	}
	l.model, l.learned, l.validation = r.fitted, len(segments), r.validation
	l.rounds++
	if r.out.Verdict.Pass {
		l.Return(r.out.Candidate)
	}
	r.report(continual.Idle, 1, 0)
	return r.out, nil
}

var _ rounds.Learner[[]arm.Row] = (*Learner)(nil)
