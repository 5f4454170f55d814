package quadrotor

import "vnd/pkg/core/quad"

// Acting returns what an actuator makes of the commands of rows that are dt seconds apart: for each row but the last,
// the thrust and rates that act until the next.
func Acting(a Actuator, dt float64, rows []quad.Row) []quad.Command {
	n := len(rows) - 1
	if n < 1 {
		return nil
	}
	m := NewQuadrotor[float64](dt, a)
	measured, actions := Flatten[float64](rows)
	states, last := make([]float64, n*nS), make([]float64, nS)
	m.Window(n, measured, actions, last, nil, states, nil)
	out := make([]quad.Command, n)
	for k := range out {
		e := m.act(states[k*nS:][:nS], actions[k*nA:][:nA])
		out[k].Thrust, out[k].Rates.X, out[k].Rates.Y, out[k].Rates.Z = e[0], e[1], e[2], e[3]
	}
	return out
}
