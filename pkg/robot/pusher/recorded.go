package pusher

import "math"

// Row is one row of a recording: the state at T, s, and the command held from then on.
type Row struct {
	T       float64
	State   State
	Command Command
}

// Flatten implements vnd.Flattener: rows as measured[N][M] and actions[N][A].
func (r Robot) Flatten(rows []Row) (measured, actions []float32) {
	measured, actions = make([]float32, len(rows)*nS), make([]float32, len(rows)*nA)
	for i := range rows {
		rows[i].State.Write(measured[i*nS:])
		r.Action(&rows[i].Command, actions[i*nA:])
	}
	return measured, actions
}

// Action implements vnd.Recorded: a command as a[A].
func (r Robot) Action(c *Command, a []float32) { a[0], a[1] = float32(c[0]), float32(c[1]) }

// State implements vnd.Recorded: the state of s[S].
func (r Robot) State(s []float32) (out State) {
	out.Read(s)
	return out
}

// Read implements openloop.Robot: the parts of a row.
func (r Robot) Read(row *Row) (t float64, s State, c Command) { return row.T, row.State, row.Command }

// Distances implements openloop.Robot: those of the boxes.
func (r Robot) Distances(a, b *State) (position, velocity, attitude float64) {
	p, q, v, w := a.Box, b.Box, a.BoxVelocity, b.BoxVelocity
	return math.Hypot(p[0]-q[0], p[1]-q[1]), math.Hypot(v[0]-w[0], v[1]-w[1]), math.Abs(wrap(p[2] - q[2]))
}

// Finite implements openloop.Robot.
func (r Robot) Finite(s *State) bool {
	var sum float64
	for _, part := range [][]float64{s.Box[:], s.BoxVelocity[:], s.Tool[:], s.ToolVelocity[:]} {
		for _, x := range part {
			sum += x * 0
		}
	}
	return sum == 0
}
