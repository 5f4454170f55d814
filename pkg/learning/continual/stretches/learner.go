// Package stretches is continual learning of any robot from stretches of its rows: what is held out of them judges
// a fit, the policy improves in the model, and the gate asks both. A quadrotor's learner, which knows more of its
// flights, is that of package continual.
package stretches

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/robot"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Kind is what a Learner knows of a robot, whose rows are numbers alone.
type Kind[Row any] struct {
	Prior interface {
		robot.Robot
		vnd.Flattener[Row]
	}
	gate.Vehicle
	Task   string // of its policies
	Latent int    // that they see
	// HoldOut cuts the stretch with a number, ascending from 0, into what is learned and what is to judge the fit.
	HoldOut func(number int, rows []Row) (learned, held [][]Row)
	Predict func(m *vnd.Model[float32], held [][]Row) (Prediction, error)
	// Improve trains a policy in a model, from another one, which stays as it is.
	Improve func(ctx context.Context, m *vnd.Model[float32], from *vnd.Actor[float32], o train.Options) (
		*vnd.Actor[float32], error)
	// Gate judges by worlds that the stretches show.
	Gate func(all [][]Row, seed uint64) *gate.Gate
}

// Config of a Learner.
type Config struct {
	Fit    *fit.Config
	Warm   *continual.WarmStart
	Stride int // rows from one re-encoded latent to the next
	continual.Data
}

// Options of a Learner.
type Options struct {
	Seed   uint64
	Maker  string // of its bundles
	Status func(continual.Status)
	Now    func() time.Time // clock of the reported times; nil takes time.Now
}

// Learner learns in rounds. It implements rounds.Learner: stretches may be added while a round runs; rounds come one at
// a time.
type Learner[Row any] struct {
	kind Kind[Row]
	cfg  Config
	opt  Options

	mu       sync.Mutex
	segments []stretch[Row]
	added    int // stretches, of which some may be forgotten
	current  *bundle.Bundle

	model      *fit.Fit // of the newest candidate, also of one that was refused; nil: none
	learned    int      // segments that it was fitted to, the first ones
	validation float64  // its loss on what was held out, NaN where it is not known
	rounds     int
}

// stretch is one without a gap.
type stretch[Row any] struct {
	number int
	rows   []Row
}

// New makes a learner that begins with a bundle, which has a policy and may have a model. A model of other sizes than
// the configuration has is not gone on from.
func New[Row any](kind Kind[Row], cfg Config, start *bundle.Bundle, opt Options) (*Learner[Row], error) {
	if opt.Now == nil {
		opt.Now = time.Now
	}
	l := &Learner[Row]{kind: kind, cfg: cfg, opt: opt, current: start, validation: math.NaN()}
	loaded, err := kind.Load(start)
	if err != nil {
		return nil, err
	}
	if p := loaded.Actor; p.Latent != kind.Latent {
		return nil, fmt.Errorf("bundle %s has a policy with a latent of %d, expected one of %d, or a folder without "+
			"bundles", start.ID, p.Latent, kind.Latent)
	}
	if loaded.Model != nil {
		if f := (&fit.Fit{Model: loaded.Model, Robot: kind.Prior}); f.Fits(cfg.Fit, kind.Prior) == nil {
			l.model = f
		}
	}
	return l, nil
}

// Warm reports whether the next fit goes on from a model.
func (l *Learner[Row]) Warm() bool { return l.model != nil }

// Add adds stretches to what is learned from.
func (l *Learner[Row]) Add(segments ...[]Row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, rows := range segments {
		l.segments = append(l.segments, stretch[Row]{l.added, rows})
		l.added++
	}
}

// AddLearned adds stretches that the model to begin with was fitted to, and all that were added before.
func (l *Learner[Row]) AddLearned(segments ...[]Row) {
	l.Add(segments...)
	l.learned = len(l.segments)
}

// Return makes an earlier bundle the current one again.
func (l *Learner[Row]) Return(b *bundle.Bundle) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.current = b
}

// Current is the bundle that moves the robot.
func (l *Learner[Row]) Current() *bundle.Bundle {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.current
}

// buffer returns what there is to learn from.
func (l *Learner[Row]) buffer() (segments []stretch[Row], rows int, current *bundle.Bundle) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.segments {
		rows += len(l.segments[i].rows)
	}
	return slices.Clone(l.segments), rows, l.current
}

// Bound forgets stretches where there are more rows than may be, see dataset.Balance. It returns the places of those
// that stay, nil where nothing is forgotten. No round may run meanwhile.
func (l *Learner[Row]) Bound() (kept []int) {
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
			z = vnd.Latents(l.model.Model, l.kind.Prior, [][]Row{s.rows}, l.cfg.Stride)
		}
		sum := (&dataset.Encoded{Rows: dataset.EncodeRows(s.rows)}).Digest()
		pieces[i] = dataset.PieceOf(len(s.rows), binary.LittleEndian.Uint64(sum[:]), z, size)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.segments, l.learned, kept = dataset.Forget(l.segments, l.learned, pieces, l.cfg.MaxRows)
	return kept
}

// Round learns from what there is. A candidate that passes the gate is the current bundle from then on. The error is
// ctx's, or of a training that diverged; all is then as if the round had not begun.
func (l *Learner[Row]) Round(ctx context.Context) (*continual.Round, error) {
	segments, rows, current := l.buffer()
	if moved := float64(rows) * l.kind.Prior.Period(); moved < l.cfg.Least {
		return nil, fmt.Errorf("%w: %.0f s, a model takes %.0f", continual.ErrTooLittle, moved, l.cfg.Least)
	}
	r := &round[Row]{l: l, ctx: ctx, current: current, segments: segments, validation: l.validation,
		out: &continual.Round{Number: l.rounds + 1, Rows: rows, Parent: current.ID}}
	for i := range segments {
		r.rows = append(r.rows, segments[i].rows)
	}
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
