// Package continual is the continual loop: what was flown goes into a buffer, the
// model goes on from it, its latents are encoded anew, the policy improves in the
// model, and what passes the gate is the next bundle. It is for the node
// background_learner and for `vnd loop`.
package continual

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/inertial"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Phase of a round.
type Phase string

// Phases, in their order.
const (
	Fitting   Phase = "fit"
	Encoding  Phase = "encode"
	Improving Phase = "improve"
	Gating    Phase = "gate"
	Idle      Phase = "idle"
)

// Status says what a learner is doing.
type Status struct {
	Phase Phase
	Share float64 // of the phase, 0 … 1
	Rows  int     // to learn from
	Loss  float64 // of the fit, or cost of the policy; NaN before the first
	// Validation is the loss of the newest fit on flights that it was not fitted to: those held out, or else those
	// flown since. NaN before the first.
	Validation float64
	BundleID   string // that flies; empty before the first
	Message    string // one sentence; empty in a round
}

// Options are what the loop is handed.
type Options struct {
	Tasks   []*task.Task
	Task    string // their names, for the bundle
	Vehicle quadgate.Vehicle
	Judge   gate.Judge // nil: the gate flies in the learned model alone
	// Flown are the newest stretches that a bundle has flown, oldest first; nil: nobody knows.
	Flown  func(bundle string) []quadgate.Stretch
	Seed   uint64
	Status func(Status)     // may be nil
	Now    func() time.Time // clock of the reported times; nil takes time.Now
}

// Learner holds the buffer and the current bundle. Collect and Current may be
// called while a round runs; rounds come one at a time.
type Learner struct {
	cfg Config
	opt Options

	mu       sync.Mutex
	segments []dataset.Segment
	smoothed map[span][]inertial.Smoothed // what the newest round found of its segments
	current  *bundle.Bundle

	model      *fit.Fit // of the newest candidate, also of one that was refused: the data are the same
	learned    int      // segments that it was fitted to, the first ones
	validation float64  // its loss on others, NaN where it is not known
	rounds     int
	pace       Pace // of the newest round
}

// Round is what one round came to.
type Round struct {
	Number    int               `json:"round"`
	Rows      int               `json:"rows"` // that it learned from
	Candidate *bundle.Bundle    `json:"-"`
	ID        string            `json:"id"`
	Parent    string            `json:"parent"`
	Verdict   *gate.Verdict     `json:"verdict"`
	Fit       fit.Losses        `json:"fit"`
	Curve     train.Curve       `json:"-"`
	Seconds   map[Phase]float64 `json:"seconds"`
	Share     float64           `json:"share"` // of its updates and epochs that it did
	Pace      Pace              `json:"pace"`
	Outlook   string            `json:"outlook"` // what the next one takes, one line
	Misfit    string            `json:"misfit"`  // how it answers otherwise than believed, one line
	Sooner    float64           `json:"sooner"`  // by how much the judge's robot answers sooner than identified, s
	Bank      []float32         `json:"-"`       // [N][Z] re-encoded latents of the buffer
}

// New makes a learner that begins with a bundle, which has a policy and may have a model. A model of other sizes than
// the configuration has is not gone on from.
func New(cfg Config, start *bundle.Bundle, opt Options) (*Learner, error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Status == nil {
		opt.Status = func(Status) {}
	}
	if len(opt.Tasks) == 0 {
		return nil, errors.New("learn: no task")
	}
	p, err := policy.FromBundle(start)
	if err != nil {
		return nil, fmt.Errorf("learn: %w", err)
	}
	if latent := cfg.Fit.Model.Latent; p.UsesLatent() && p.Latent != latent {
		return nil, fmt.Errorf("learn: bundle %s has a policy with a latent of %d, fit.model.latent is %d: expected "+
			"the same, or another bundle to begin with", start.ID, p.Latent, latent)
	}
	l := &Learner{cfg: cfg, opt: opt, current: start, validation: math.NaN()}
	if vnd.In(start) {
		m, q, err := vnd.FromBundle(start, quadrotor.Reader)
		if err != nil {
			return nil, fmt.Errorf("learn: %w", err)
		}
		if f, c := (&fit.Fit{Model: m, Robot: q}), cfg.fitting(true); f.Fits(&c, q) == nil {
			l.model = f
		}
	}
	return l, nil
}

// Collect adds flights to the buffer.
func (l *Learner) Collect(flights ...quad.Flight) { l.Add(dataset.FromFlights(flights)...) }

// Add adds segments to the buffer.
func (l *Learner) Add(segments ...dataset.Segment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segments = append(l.segments, segments...)
}

// AddLearned adds segments that the model to begin with was fitted to, and all that were added before.
func (l *Learner) AddLearned(segments ...dataset.Segment) {
	l.Add(segments...)
	l.learned = len(l.segments)
}

// Current returns the bundle that flies.
func (l *Learner) Current() *bundle.Bundle {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current
}

// Return makes an earlier bundle the current one again. The model stays: the
// data did not change.
func (l *Learner) Return(b *bundle.Bundle) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = b
}

// begin is a round on all that there is to learn from, joined where samples were lost.
func (l *Learner) begin(ctx context.Context) *round {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &round{l: l, ctx: ctx, current: l.current, taken: len(l.segments), validation: l.validation,
		segments: dataset.Join(l.current.Dt, l.segments[:l.learned]),
		out:      &Round{Number: l.rounds + 1, Parent: l.current.ID}}
	r.learned = len(r.segments)
	r.segments = append(r.segments, dataset.Join(l.current.Dt, l.segments[l.learned:])...)
	for i := range r.segments {
		s := &r.segments[i]
		s.Smoothed = l.smoothed[spanOf(s)]
		r.out.Rows += len(s.Rows)
	}
	return r
}

// span tells segments apart.
type span struct {
	flight      string
	rows        int
	first, last dataset.WeightedRow
}

func spanOf(s *dataset.Segment) span {
	if n := len(s.Rows); n > 0 {
		return span{s.Flight, n, s.Rows[0], s.Rows[n-1]}
	}
	return span{flight: s.Flight}
}

// keep takes over what a round found of segments: the next round need not find it anew.
func (l *Learner) keep(segments []dataset.Segment) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.smoothed = map[span][]inertial.Smoothed{}
	for i := range segments {
		l.smoothed[spanOf(&segments[i])] = segments[i].Smoothed
	}
}

// ErrTooLittle says that the buffer does not hold enough for a first model.
var ErrTooLittle = errors.New("too little was flown")

// ErrNotEnoughGood says that the buffer holds enough, but that the state was known too badly.
var ErrNotEnoughGood = errors.New("not enough good data")

// Round learns from the buffer as it is. A candidate that passes the gate is the
// current bundle from then on. The error is ctx's, or of a training that
// diverged; all is then as if the round had not begun.
func (l *Learner) Round(ctx context.Context) (*Round, error) {
	r := l.begin(ctx)
	if flown := float64(r.out.Rows) * r.current.Dt; flown < l.cfg.Least {
		return nil, fmt.Errorf("%w: %.0f s, a model takes %.0f", ErrTooLittle, flown, l.cfg.Least)
	}
	if err := r.plan(); err != nil {
		return nil, err
	}
	if err := r.out.Work(ctx, l.opt.Now, func(p Phase) { r.report(p, 0, 0) }, Step{Fitting, r.fit},
		Step{Encoding, r.encode}, Step{Improving, r.improve}, Step{Gating, r.gate}); err != nil {
		return nil, err
	}
	r.look()
	l.model, l.learned, l.validation, l.pace = r.fitted, r.taken, r.validation, r.out.Pace
	l.rounds++
	if r.out.Verdict.Pass {
		l.Return(r.out.Candidate)
	}
	r.report(Idle, 1, 0)
	return r.out, nil
}

// Step is a phase of a round, and what is done in it.
type Step struct {
	Phase Phase
	Do    func() error
}

// Work does the steps of a round and keeps how long each takes. begins is called as one does.
func (out *Round) Work(ctx context.Context, now func() time.Time, begins func(Phase), steps ...Step) error {
	out.Seconds = map[Phase]float64{}
	for _, step := range steps {
		began := now()
		begins(step.Phase)
		err := ctx.Err()
		if err == nil {
			err = step.Do()
		}
		if err != nil {
			return fmt.Errorf("%s: %w", step.Phase, err)
		}
		out.Seconds[step.Phase] = now().Sub(began).Seconds()
	}
	return nil
}
