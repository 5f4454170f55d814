package arm

import "math"

// State is an arm's angles, rad, and rates, rad/s.
type State struct{ Q, V [Joints]float64 }

// Torque is one of each joint, N·m.
type Torque [Joints]float64

// Row is one row of a recording: the state at T, s, and the torque held from then on.
type Row struct {
	T      float64
	State  State
	Torque Torque
}

// Flatten implements vnd.Flattener: rows as measured[N][M] and actions[N][A].
func (r Robot) Flatten(rows []Row) (measured, actions []float32) {
	measured, actions = make([]float32, len(rows)*nS), make([]float32, len(rows)*nA)
	for i := range rows {
		row, s := &rows[i], measured[i*nS:][:nS]
		for j := range Joints {
			s[j], s[Joints+j] = float32(row.State.Q[j]), float32(row.State.V[j])
		}
		r.Action(&row.Torque, actions[i*nA:])
	}
	return measured, actions
}

// Action implements vnd.Recorded: a torque as a[A].
func (r Robot) Action(torque *Torque, a []float32) {
	for j, x := range torque {
		a[j] = float32(x)
	}
}

// State implements vnd.Recorded: the state of s[S].
func (r Robot) State(s []float32) (out State) {
	for j := range Joints {
		out.Q[j], out.V[j] = float64(s[j]), float64(s[Joints+j])
	}
	return out
}

// Read implements openloop.Robot: the parts of a row.
func (r Robot) Read(row *Row) (t float64, s State, torque Torque) {
	return row.T, row.State, row.Torque
}

// Distances implements openloop.Robot: how far the tools are apart, m, the rates, rad/s, and the angles, rad: norms.
func (r Robot) Distances(a, b *State) (position, velocity, attitude float64) {
	c := Panda()
	p, q := c.NewPose(), c.NewPose()
	c.Place(a.Q[:], &p)
	c.Place(b.Q[:], &q)
	var rates, angles float64
	for j := range Joints {
		rates += (a.V[j] - b.V[j]) * (a.V[j] - b.V[j])
		angles += (a.Q[j] - b.Q[j]) * (a.Q[j] - b.Q[j])
	}
	return p.Tool.Sub(q.Tool).Norm(), math.Sqrt(rates), math.Sqrt(angles)
}

// Finite implements openloop.Robot.
func (r Robot) Finite(s *State) bool {
	var sum float64
	for j := range Joints {
		sum += s.Q[j]*0 + s.V[j]*0
	}
	return sum == 0
}
