package baseline

import (
	"context"
	"fmt"
	"time"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/policy"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit"
)

// RefitConfig is when a residual is fitted anew.
type RefitConfig struct {
	Seconds float64 // newest flight that the residual is fitted to, s
	Every   float64 // flight time from one re-fit to the next, at least its budget, s
	// Budget is the flight time from the newest data to the policy in flight, s; 0 takes the wall time of the learning.
	Budget float64
}

// Refit flies a policy that is improved in flight: at intervals a residual without a latent is fitted to the newest
// seconds and the first policy refined in it (Y. Pan et al., "Learning on the Fly", 2026, in outline; to refine the
// policy of before instead errs by half as much in a wind that stays, and crashed after one turn in three). It
// remembers no wind of before. The learning is paid for in flight time: its policy flies only after the budget (a
// Trainer of Small sizes took 1.2 to 2 s on two busy cores). The simulated flight stands still meanwhile. It ticks
// once per Δt and is for one goroutine.
type Refit struct {
	*policy.Runner
	ctx     context.Context
	config  RefitConfig
	trainer *Trainer
	now     func() time.Time

	base, policy *policy.Policy[float32]
	fit          *fit.Fit                // the newest, nil before the first
	next         *policy.Policy[float32] // learned, and not yet in flight
	ready        float64                 // when it flies, s
	due          float64                 // when the next re-fit begins, s
	begun        bool
	rows         []quad.Row
	log          []Refitted
}

// Refitted is the record of a re-fit.
type Refitted struct {
	At      float64 // time of the newest row, s
	Flies   float64 // from when on its policy flew, s
	Rows    int
	Seconds float64 // of wall time that fit and refinement took
	Err     error   // why the policy of before flew on; nil else
}

// NewRefit makes one that begins with a policy without a latent. now is the clock of the wall time; nil takes
// time.Now. Once ctx is done no re-fit succeeds.
func NewRefit(ctx context.Context, c RefitConfig, s *Trainer, base *policy.Policy[float32],
	reference func(t float64) quad.Reference, now func() time.Time) (*Refit, error) {
	if base.Latent != 0 {
		return nil, fmt.Errorf("the policy to begin with has room for a latent of %d: take Blind of it", base.Latent)
	}
	if !(c.Every >= c.Budget) {
		return nil, fmt.Errorf("a re-fit every %g s with a budget of %g s, "+
			"expected the last to be over before the next", c.Every, c.Budget)
	}
	if now == nil {
		now = time.Now
	}
	return &Refit{Runner: policy.NewRunner(base, s.Dt, reference), ctx: ctx, config: c, trainer: s, now: now,
		base: base, policy: base}, nil
}

// Reset implements quad.Controller: it begins again with the first policy.
func (r *Refit) Reset() {
	r.policy, r.fit, r.next, r.begun, r.rows, r.log = r.base, nil, nil, false, nil, nil
	r.SetPolicy(r.base)
	r.Runner.Reset()
}

// Command implements quad.Controller.
func (r *Refit) Command(t float64, s *quad.State) quad.Command {
	if r.next != nil && t >= r.ready {
		r.policy, r.next = r.next, nil
		r.SetPolicy(r.policy)
	}
	return r.Runner.Command(t, s)
}

// Observe takes what was flown, once per tick after its command, and re-fits when that is due.
func (r *Refit) Observe(s quad.Row) {
	if !r.begun {
		r.begun, r.due = true, s.T+r.config.Seconds
	}
	r.rows = append(r.rows, s)
	if s.T < r.due {
		return
	}
	r.forget(s.T - r.config.Seconds)
	r.refit(s.T)
	r.due = max(s.T+r.config.Every, r.ready)
}

// forget drops rows of before t.
func (r *Refit) forget(t float64) {
	keep := 0
	for keep < len(r.rows) && r.rows[keep].T < t {
		keep++
	}
	r.rows = append(r.rows[:0], r.rows[keep:]...)
}

func (r *Refit) refit(t float64) {
	entry := Refitted{At: t, Rows: len(r.rows)}
	began := r.now()
	newest := dataset.FromFlights([]quad.Flight{{Name: "newest", Segments: quad.Segments(r.rows, r.trainer.Dt)}})
	fitted, p, err := r.trainer.Improve(r.ctx, newest, r.fit, r.base)
	entry.Seconds, entry.Err = r.now().Sub(began).Seconds(), err
	r.ready = t + r.config.Budget
	if r.config.Budget == 0 {
		r.ready = t + entry.Seconds
	}
	entry.Flies = r.ready
	if err == nil {
		r.fit, r.next = fitted, p
	}
	r.log = append(r.log, entry)
}
