package experiment

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"vnd/pkg/core/quad"
	"vnd/pkg/learning/continual"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Sequence is a plan of conditions that are met one after another, with a round of learning after each.
type Sequence struct {
	Met      []Scenario // in their order
	Together []Scenario // met in one round after all others; may be empty
	Seconds  float64    // of flight in each condition, shared among the tasks
	Report   func(string)
}

// Memory is what was known after each round of a sequence.
type Memory struct {
	Seed       uint64        `json:"seed"`
	Conditions []string      `json:"conditions"` // met, then together
	Met        int           `json:"met"`        // of them
	Rounds     []MemoryRound `json:"rounds"`     // the first is before all learning
}

// MemoryRound is what was known after a round, in each condition.
type MemoryRound struct {
	Learned  string    `json:"learned"` // the condition that was met before
	Minutes  float64   `json:"minutes"` // flown so far
	Rows     int       `json:"rows"`    // learned from
	Errors   []float64 `json:"errors_m"`
	OpenLoop []float64 `json:"open_loop_m"` // of the newest model after a second; empty without one
	Refused  []string  `json:"refused,omitempty"`
}

// A measured flight is so long, and its beginning does not count, s.
const (
	rememberSeconds = 24
	rememberSettle  = 14
)

// Remember learns along a sequence, and measures after each round in all of its conditions.
func (c *Campaign) Remember(ctx context.Context, q *Sequence) (*Memory, error) {
	probe := *c
	probe.Excite = 0
	r := &remembering{c: c, probe: &probe, q: q, all: slices.Concat(q.Met, q.Together),
		out: &Memory{Seed: c.Seed, Met: len(q.Met)}}
	for i := range r.all {
		r.out.Conditions = append(r.out.Conditions, r.all[i].inWords())
	}
	q.Report("base policy")
	start, err := c.BasePolicy(ctx, nil)
	if err != nil {
		return nil, err
	}
	if r.learner, err = c.Learner(start, r.all...); err != nil {
		return nil, err
	}
	probe.camera = c.camera
	if err := r.measure(ctx, MemoryRound{}, nil); err != nil {
		return nil, err
	}
	for i := range q.Met {
		if err := r.meet(ctx, i, i+1); err != nil {
			return nil, err
		}
	}
	if len(q.Together) > 0 {
		err = r.meet(ctx, len(q.Met), len(r.all))
	}
	return r.out, err
}

// remembering is a sequence at work.
type remembering struct {
	c, probe *Campaign // probe flies without noise
	q        *Sequence
	all      []Scenario
	learner  *continual.Learner
	minutes  float64
	out      *Memory
}

// meet flies in conditions lo … hi−1, learns from that and measures.
func (r *remembering) meet(ctx context.Context, lo, hi int) error {
	names := ""
	for i := lo; i < hi; i++ {
		if i > lo {
			names += ", "
		}
		names += r.out.Conditions[i]
	}
	r.q.Report(fmt.Sprintf("round %d: %s", len(r.out.Rounds), names))
	n := len(r.c.Tasks)
	flights := make([]quad.Flight, (hi-lo)*n)
	err := each(ctx, len(flights), func(i int) (err error) {
		seed := r.c.Seed<<20 + uint64(len(r.out.Rounds))<<12 + uint64(i)
		_, flights[i], err = r.c.Record(r.learner.Current(), r.all[lo+i/n], r.c.Tasks[i%n], seed,
			r.q.Seconds/float64(n))
		flights[i].Name = fmt.Sprintf("round%d.%d %s", len(r.out.Rounds), i, flights[i].Name)
		return err
	})
	if err != nil {
		return err
	}
	for i := range flights {
		flights[i].Segments = pieces(flights[i].Segments)
		r.learner.Collect(flights[i])
	}
	r.minutes += r.q.Seconds / 60 * float64(hi-lo)
	r.learner.Bound()
	done, err := r.learner.Round(ctx)
	if err != nil {
		return err
	}
	return r.measure(ctx, MemoryRound{Learned: names, Rows: done.Rows, Refused: done.Verdict.Reasons()}, done.Candidate)
}

// pieces cuts segments as the recorder does, into ten seconds each.
func pieces(segments [][]quad.Row) (out [][]quad.Row) {
	const rows = 500
	for _, s := range segments {
		out = append(out, slices.Collect(slices.Chunk(s, rows))...)
	}
	return out
}

// measure flies the current bundle in all conditions, and asks the newest model for what comes.
func (r *remembering) measure(ctx context.Context, out MemoryRound, newest *bundle.Bundle) error {
	n := len(r.c.Tasks)
	off, flights := make([]float64, len(r.all)*n), make([]quad.Flight, len(r.all)*n)
	err := each(ctx, len(off), func(i int) error {
		traces, flight, err := r.probe.Record(r.learner.Current(), r.all[i/n], r.c.Tasks[i%n],
			r.c.Seed<<20+0xf000+uint64(i), rememberSeconds)
		if err != nil {
			return err
		}
		f := traces[0].Measure(rememberSettle)
		if off[i], flights[i] = f.Mean, flight; f.Crash != "" {
			off[i] = math.MaxFloat64
		}
		return nil
	})
	if err != nil {
		return err
	}
	out.Minutes = r.minutes
	for i := range r.all {
		out.Errors = append(out.Errors, meanOf(off[i*n:][:n]))
	}
	if newest != nil {
		if out.OpenLoop, err = r.openLoop(newest, flights); err != nil {
			return err
		}
	}
	r.out.Rounds = append(r.out.Rounds, out)
	r.q.Report(fmt.Sprintf("%d rows; errors %.4f, of predictions %.3f; refused: %s", out.Rows, out.Errors,
		out.OpenLoop, strings.Join(out.Refused, "; ")))
	return nil
}

// openLoop is the mean error after a second in each condition.
func (r *remembering) openLoop(b *bundle.Bundle, flights []quad.Flight) (out []float64, err error) {
	m, q, err := vnd.FromBundle(b, quadrotor.Reader)
	if err != nil {
		return nil, err
	}
	n := len(r.c.Tasks)
	off := make([]float64, len(flights))
	for i := range flights {
		if off[i], _, err = openLoop(m, q, flights[i].Segments); err != nil {
			return nil, err
		}
	}
	for i := range r.all {
		out = append(out, meanOf(off[i*n:][:n]))
	}
	return out, nil
}

// meanOf is a crash where one of them is.
func meanOf(x []float64) (mean float64) {
	if slices.Max(x) == math.MaxFloat64 {
		return math.MaxFloat64
	}
	for _, e := range x {
		mean += e / float64(len(x))
	}
	return mean
}

// learned is the round after which a condition was first learned.
func (m *Memory) learned(condition int) int { return condition + 1 }

// Fading is the error in each condition met, after all of them were, over that just after the condition was learned:
// above 1 it was forgotten.
func (m *Memory) Fading() (out []float64) {
	for i := range m.Met {
		out = append(out, m.Rounds[m.Met].Errors[i]/m.Rounds[m.learned(i)].Errors[i])
	}
	return out
}

// OpenLoopFading is the same of the model's predictions.
func (m *Memory) OpenLoopFading() (out []float64) {
	for i := range m.Met {
		out = append(out, m.Rounds[m.Met].OpenLoop[i]/m.Rounds[m.learned(i)].OpenLoop[i])
	}
	return out
}

// Transfer is the error in each condition just before it was first met, over that before all learning; of the first
// condition nothing is known.
func (m *Memory) Transfer() (out []float64) {
	for i := 1; i < m.Met; i++ {
		out = append(out, m.Rounds[i].Errors[i]/m.Rounds[0].Errors[i])
	}
	return out
}

// Combined is the error in conditions that were met singly, over that after they were met together.
func (m *Memory) Combined() (out []float64) {
	for i := m.Met; i < len(m.Conditions); i++ {
		out = append(out, m.Rounds[m.Met].Errors[i]/m.Rounds[m.Met+1].Errors[i])
	}
	return out
}
