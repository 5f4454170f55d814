package pendulum

import "math"

// State is the angle from hanging, rad, within ±π, and its rate, rad/s.
type State struct{ Angle, Rate float64 }

// Row is one row of a recording: the state at T, s, and the torque, N·m, held from then on.
type Row struct {
	T      float64
	State  State
	Torque float64
}

// Flatten implements vnd.Flattener: rows as measured[N][M] and actions[N][A].
func (r Robot) Flatten(rows []Row) (measured, actions []float32) {
	for _, row := range rows {
		measured = append(measured, float32(row.State.Angle), float32(row.State.Rate))
		actions = append(actions, float32(row.Torque))
	}
	return measured, actions
}

// Action implements vnd.Recorded: a torque as a[A].
func (r Robot) Action(torque *float64, a []float32) { a[0] = float32(*torque) }

// State implements vnd.Recorded: the state of s[S].
func (r Robot) State(s []float32) State { return State{float64(s[0]), float64(s[1])} }

// Read implements openloop.Robot: the parts of a row.
func (r Robot) Read(row *Row) (t float64, s State, torque float64) {
	return row.T, row.State, row.Torque
}

// Distances implements openloop.Robot: how far rates are apart, rad/s, and angles, rad, the shorter way round. There is
// no position.
func (r Robot) Distances(a, b *State) (position, velocity, attitude float64) {
	return 0, math.Abs(a.Rate - b.Rate), math.Abs(math.Remainder(a.Angle-b.Angle, 2*math.Pi))
}

// Finite implements openloop.Robot.
func (r Robot) Finite(s *State) bool { return s.Angle*0 == 0 && s.Rate*0 == 0 }
