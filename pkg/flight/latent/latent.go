// Package latent turns the steps of a flight into the latent z of the condition that it is flown in, row by row as they
// come. It is for the node latent_encoder, and for closed loops in simulation.
//
// Shapes: T window rows, Z latent, and those of package vnd.
package latent

import (
	"fmt"
	"math"

	"vnd/pkg/core/quad"
)

// Encoder keeps the window of the newest rows and has it read by whatever model there is. A row is the state at its
// time and the mean command until the next: where ticks are more frequent than rows, every n-th state is taken.
//
// It is for one goroutine. Push and Swap allocate nothing; the same steps give the same numbers.
type Encoder struct {
	maxAge float64 // s

	loaded *LoadedModel
	rows   *quad.Window
	sum    quad.Command // of the newest row's commands
	n      int          // how many; 0 before the first row
}

// New returns an encoder. A latent that is older than maxAge (s) is not used, see At. Before the first Swap nothing is
// encoded.
func New(maxAge float64) (*Encoder, error) {
	if !(maxAge > 0) {
		return nil, fmt.Errorf("latent: latents of at most %g s, expected a positive age", maxAge)
	}
	return &Encoder{maxAge: maxAge}, nil
}

// Swap encodes by r from the next call on, and the rows so far at once. They are kept where Δt is the same. A model
// that was in use before may come back.
func (e *Encoder) Swap(r *LoadedModel) {
	before, old := e.rows, e.loaded
	e.loaded, e.rows = r, r.rows
	switch {
	case old == r:
	case old != nil && old.Robot.Dt == r.Robot.Dt:
		for _, s := range before.Rows() {
			e.rows.Push(s)
		}
	default:
		e.n = 0
	}
	r.encode(e.whole())
}

// Reset forgets the rows so far.
func (e *Encoder) Reset() {
	e.n = 0
	if e.loaded != nil {
		e.loaded.encode(false)
	}
}

// Push takes the next step in the order of time, with the command that was sent, and reports whether it began a row:
// then Mean, Novelty and Stamp are of that row. A gap of at most the greatest age is bridged by rows between. A longer
// one or a clock set back starts the window anew, a step that is not finite likewise.
func (e *Encoder) Push(s *quad.Row) bool {
	if e.loaded == nil {
		return false
	}
	if !s.Finite() {
		e.Reset()
		return false
	}
	if e.n > 0 {
		row := e.newest()
		dt := e.loaded.Robot.Dt
		if d := s.T - row.T; d >= 0 && d < dt-dt/float64(2*e.loaded.every) {
			e.add(s)
			return false
		}
		row.Command = quad.Command{Thrust: e.sum.Thrust / float64(e.n), Rates: e.sum.Rates.Scale(1 / float64(e.n))}
		e.bridge(*row, s)
	} else {
		e.rows.Push(quad.Row{T: math.NaN()}) // which nothing follows
	}
	e.rows.Push(*s)
	e.sum, e.n = quad.Command{}, 0
	e.add(s)
	e.loaded.encode(e.whole())
	return true
}

// bridge fills a gap between two rows by rows on the way from one to the other, with the command that was held.
// So a sample that was lost does not cost the latent of a whole window.
func (e *Encoder) bridge(from quad.Row, to *quad.Row) {
	dt, gap := e.loaded.Robot.Dt, to.T-from.T
	if !(gap <= e.maxAge+dt/2) {
		return
	}
	n := math.Round(gap / dt)
	for k := 1.; k < n; k++ {
		e.rows.Push(quad.Row{T: from.T + k/n*gap, State: from.State.Between(to.State, k/n), Command: from.Command})
	}
}

func (e *Encoder) add(s *quad.Row) {
	e.sum.Thrust += s.Command.Thrust
	e.sum.Rates = e.sum.Rates.Add(s.Command.Rates)
	e.n++
}

func (e *Encoder) newest() *quad.Row {
	s := e.rows.Rows()
	return &s[len(s)-1]
}

// whole reports whether the window is whole.
func (e *Encoder) whole() bool { return e.n > 0 && e.rows.Full() }

// Known reports whether Mean is of a whole window.
func (e *Encoder) Known() bool { return e.loaded != nil && e.loaded.known }

// Mean is z[Z] of the window that ends with the newest row; 0, the prior mean, while that is not whole. It is valid
// until the next Push or Swap.
func (e *Encoder) Mean() []float32 {
	if e.loaded == nil {
		return nil
	}
	return e.loaded.z
}

// At is Mean for a tick at time now (s): the prior mean where the newest row is too old or yet to come.
func (e *Encoder) At(now float64) []float32 {
	if e.loaded != nil && !(math.Abs(now-e.Stamp()) <= e.maxAge) {
		return e.loaded.zero
	}
	return e.Mean()
}

// Novelty is 0 where the model knows the condition and 1 where it does not (vnd.Model.Novelty), or there is no whole
// window. It takes about as long as Mean did, once per row, and only where it is asked for.
func (e *Encoder) Novelty() float32 {
	if !e.Known() {
		return 1
	}
	return e.loaded.computeNovelty()
}

// Rows are the T+1 of the window that Mean is of, the newest last; its command is not over yet. nil where the window is
// not whole. They are valid until the next Push or Swap.
func (e *Encoder) Rows() []quad.Row {
	if !e.Known() {
		return nil
	}
	return e.rows.Rows()
}

// Stamp is the time of the newest row, s; −Inf before the first.
func (e *Encoder) Stamp() float64 {
	if e.n == 0 {
		return math.Inf(-1)
	}
	return e.newest().T
}

// SetMaxAge sets the age (s) from which a latent is not used.
func (e *Encoder) SetMaxAge(s float64) { e.maxAge = s }
