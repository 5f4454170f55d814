package logs

import (
	"errors"
	"fmt"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Row is one row of a flight: what was measured at T, and what was commanded over [T, T+Δt).
type Row struct {
	quad.Row
	Rates   so3.Vec3   // ω_B measured, rad/s
	Motors  [4]float64 // 0…1: front right, rear right, rear left, front left
	Battery float64    // V
}

// Flight is a log on one grid of times.
type Flight struct {
	Segments [][]Row
	Motors   bool // Row.Motors is there
	Battery  bool
	Commands bool // Row.Command is there
}

// Rows is the number of all.
func (f *Flight) Rows() (n int) {
	for _, s := range f.Segments {
		n += len(s)
	}
	return n
}

// Quad returns the flight with commands of thrust and rates.
func (f *Flight) Quad(name string) quad.Flight {
	out := quad.Flight{Name: name}
	for _, s := range f.Segments {
		rows := make([]quad.Row, len(s))
		for i := range s {
			rows[i] = s[i].Row
		}
		out.Segments = append(out.Segments, rows)
	}
	return out
}

// gapOf is the longest time that a channel is interpolated over, s.
func (s *Series) gapOf() float64 { return min(max(2.5*s.step(), 0.05), 0.25) }

const (
	minSegment = 25  // rows, below which a piece of flight is left out
	heldFor    = 0.5 // s, that a command or a voltage holds at most
)

// Flight puts the channels on a grid of delta s. Rows on the ground, in gaps and at the ends are left out.
func (l *Log) Flight(delta float64) (Flight, error) {
	for _, c := range []Channel{Position, Attitude} {
		if !l.Has(c) {
			return Flight{}, fmt.Errorf("%s: no state: no %s; the log has %s", l.Path, c, l.Summary())
		}
	}
	f := Flight{Motors: l.Has(Motors), Battery: l.Has(Battery)}
	f.Commands = l.Has(Thrust) && l.Has(Commands) && l.Throttle.Hover > 0
	if !f.Motors && !f.Commands {
		return f, fmt.Errorf("%s: %w", l.Path, l.noCommands())
	}
	g := newGrid(l, delta, &f)
	var segment []Row
	for k, last := 0., math.Inf(-1); ; k++ {
		t := g.start + k*delta
		if !(t <= g.end && t > last) { // at the end, or where Δt is less than the clock's resolution
			break
		}
		last = t
		if r, ok := g.row(t); ok {
			segment = append(segment, r)
			continue
		}
		f.close(segment)
		segment = nil
		k = max(k, g.behindGap(t, delta))
	}
	f.close(segment)
	if len(f.Segments) == 0 {
		return f, fmt.Errorf("%s: no %g s of flight with all of %s", l.Path, minSegment*delta, l.Summary())
	}
	return f, nil
}

// behindGap is the row before the first that may follow a gap of the positions at t, so that no gap is walked through.
func (g *grid) behindGap(t, delta float64) float64 {
	s := &g.l.Series[Position]
	if i := s.before(t) + 1; i < len(s.T) && s.T[i]-t > g.gaps[Position] {
		return math.Floor((s.T[i]-g.start)/delta) - 1
	}
	return 0
}

func (f *Flight) close(segment []Row) {
	if len(segment) >= minSegment {
		f.Segments = append(f.Segments, segment)
	}
}

// noCommands says what a log has instead of commands.
func (l *Log) noCommands() error {
	if l.Has(Thrust) && l.Has(Commands) {
		return errors.New("no motor commands; its thrust commands are shares of the greatest thrust: " +
			"give --hover-throttle, the share that hovers")
	}
	return fmt.Errorf("no motor commands and no commands of thrust and rates; the log has %s", l.Summary())
}

// grid makes rows out of channels.
type grid struct {
	l          *Log
	f          *Flight
	delta      float64
	start, end float64
	gaps       [channels]float64
	last       so3.Quat
	rates      bool
}

func newGrid(l *Log, delta float64, f *Flight) *grid {
	g := &grid{l: l, f: f, delta: delta, start: math.Inf(-1), end: math.Inf(1), last: so3.Identity()}
	g.rates = l.Has(Rates)
	for c := range channels {
		s := &l.Series[c]
		g.gaps[c] = s.gapOf()
		if c == Position || c == Attitude {
			g.start, g.end = max(g.start, s.T[0]), min(g.end, s.T[len(s.T)-1])
		}
	}
	return g
}

// row is the row at t; ok is false on the ground and where a channel has a gap.
func (g *grid) row(t float64) (r Row, ok bool) {
	r.T = t
	if !g.l.flying(t) || !g.state(t, &r.State) || !g.measured(t, &r) {
		return r, false
	}
	var thrust [1]float64
	var rates [3]float64
	s := &g.l.Series
	if g.f.Commands {
		if !s[Thrust].mean(t, g.delta, heldFor, thrust[:]) || !s[Commands].mean(t, g.delta, heldFor, rates[:]) {
			return r, false
		}
		r.Command.Rates = vec(rates[:])
		r.Command.Thrust, _ = g.l.Throttle.Thrust(thrust[0], 0)
	}
	if g.f.Motors {
		if !s[Motors].mean(t, g.delta, max(0.1, g.gaps[Motors]), r.Motors[:]) {
			return r, false
		}
		for i, m := range r.Motors {
			r.Motors[i] = min(max(m, 0), 1) // a pulse just beyond its range
		}
	}
	return r, true
}

// state interpolates position, velocity and attitude at t.
func (g *grid) state(t float64, out *quad.State) bool {
	s := &g.l.Series
	i, k, share, ok := s[Attitude].around(t, g.gaps[Attitude])
	if !ok {
		return false
	}
	q := quat(s[Attitude].Row(i)).Slerp(quat(s[Attitude].Row(k)), share)
	if q.W*g.last.W+q.X*g.last.X+q.Y*g.last.Y+q.Z*g.last.Z < 0 {
		q = so3.Quat{W: -q.W, X: -q.X, Y: -q.Y, Z: -q.Z}
	}
	var v [3]float64
	if !s[Velocity].linear(t, g.gaps[Velocity], v[:]) {
		return false
	}
	p, ok := g.position(t)
	if !ok {
		return false
	}
	g.last = q
	*out = quad.State{P: p, Q: q, V: vec(v[:])}
	return true
}

// position is the cubic through the positions on both sides of t with the velocities there.
func (g *grid) position(t float64) (so3.Vec3, bool) {
	s := &g.l.Series
	i, k, u, ok := s[Position].around(t, g.gaps[Position])
	if !ok {
		return so3.Vec3{}, false
	}
	a, b := vec(s[Position].Row(i)), vec(s[Position].Row(k))
	h := s[Position].T[k] - s[Position].T[i]
	var va, vb [3]float64
	if h == 0 || !s[Velocity].linear(s[Position].T[i], g.gaps[Velocity], va[:]) ||
		!s[Velocity].linear(s[Position].T[k], g.gaps[Velocity], vb[:]) {
		return a.Add(b.Sub(a).Scale(u)), true
	}
	u2, u3 := u*u, u*u*u
	return a.Scale(2*u3 - 3*u2 + 1).Add(b.Scale(3*u2 - 2*u3)).
		Add(vec(va[:]).Scale(h * (u3 - 2*u2 + u))).Add(vec(vb[:]).Scale(h * (u3 - u2))), true
}

// measured fills in body rates and voltage. Without a gyro the rates are the turning of the attitude over ±Δt/2.
func (g *grid) measured(t float64, r *Row) bool {
	s := &g.l.Series
	var w [3]float64
	if g.rates && !s[Rates].linear(t, g.gaps[Rates], w[:]) {
		return false
	}
	r.Rates = vec(w[:])
	if !g.rates {
		i, k, _, ok := s[Attitude].around(t, g.gaps[Attitude])
		if !ok {
			return false
		}
		if i == k {
			i, k = max(0, i-1), min(len(s[Attitude].T)-1, k+1)
		}
		a, b := quat(s[Attitude].Row(i)), quat(s[Attitude].Row(k))
		r.Rates = so3.Log(a.Conj().Mul(b)).Scale(1 / (s[Attitude].T[k] - s[Attitude].T[i]))
	}
	if g.f.Battery {
		var v [1]float64
		if !s[Battery].held(t, 10, v[:]) && !s[Battery].linear(t, 10, v[:]) {
			return false
		}
		r.Battery = v[0]
	}
	return true
}
