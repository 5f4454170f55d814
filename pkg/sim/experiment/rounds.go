package experiment

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"vnd/pkg/core/quad"
	"vnd/pkg/learning/continual"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd/bundle"
)

// Recorded is a flight to learn from.
type Recorded struct {
	quad.Flight
	Trace *closedloop.Trace
	Lands []*closedloop.Trace // the landings, of which Trace is the first; nil where it is none
	Task  string              // its name
	At    int                 // of the scenarios
}

// Rounds are turns of flying and learning.
type Rounds struct {
	Scenarios []Scenario // to fly in, in every task
	Rounds    int
	Seconds   float64 // of a flight
	// Flown is told what the current bundle flew before a round, and after the last; Learned of each round that came
	// to its end. An error ends all.
	Flown   func(round int, current *bundle.Bundle, flights []Recorded) error
	Learned func(*continual.Round) error
}

// Learn turns the wheel from a bundle on, and returns the current one in the end.
func (c *Campaign) Learn(ctx context.Context, start *bundle.Bundle, r *Rounds) (*bundle.Bundle, error) {
	l, err := c.Learner(start, r.Scenarios...)
	if err != nil {
		return nil, err
	}
	for round := range r.Rounds + 1 {
		flights, err := c.recordAll(ctx, l.Current(), r, round)
		if err != nil {
			return nil, err
		}
		if err := r.Flown(round, l.Current(), flights); err != nil {
			return nil, err
		}
		if round == r.Rounds {
			break
		}
		for i := range flights {
			l.Collect(flights[i].Flight)
		}
		l.Bound()
		done, err := l.Round(ctx)
		if err != nil {
			return nil, fmt.Errorf("round %d: %w", round+1, err)
		}
		if err := r.Learned(done); err != nil {
			return nil, err
		}
	}
	return l.Current(), nil
}

// recordAll flies a bundle in every scenario and task.
func (c *Campaign) recordAll(ctx context.Context, b *bundle.Bundle, r *Rounds, round int) ([]Recorded, error) {
	n := len(c.Tasks)
	out := make([]Recorded, len(r.Scenarios)*n)
	err := each(ctx, len(out), func(i int) error {
		f, d := r.Scenarios[i/n], c.Tasks[i%n]
		traces, flight, err := c.Record(b, f, d, c.Seed<<20+uint64(round)<<12+uint64(i/n)<<4+uint64(i%n), r.Seconds)
		if err != nil {
			return err
		}
		flight.Name = fmt.Sprintf("round%d %s", round, flight.Name)
		out[i] = Recorded{Flight: flight, Trace: traces[0], Task: d.Name, At: i / n}
		if closedloop.Landable(d.Path) {
			out[i].Lands = traces
		}
		return nil
	})
	return out, err
}

// each does n things, as many at once as there are cores.
func each(ctx context.Context, n int, do func(i int) error) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(kernel.Workers())
	for i := range n {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return do(i)
		})
	}
	return g.Wait()
}
