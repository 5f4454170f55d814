package rotors

import "vnd/pkg/nn/kernel/tape"

// Lanes is how many rollouts go at once.
const Lanes = tape.Lanes

// Rollout runs a model from Lanes starts: over the history with the true states, then open loop with the recorded
// motors alone.
type Rollout struct {
	m      *Model
	steps  int
	starts [Lanes]Start
	x, dx  []float64 // memory of the program and its adjoints
	states []float64 // [1 + History + steps][S][Lanes]
	ds     []float64 // [S][Lanes]
}

// NewRollout returns a rollout of up to the given steps.
func (m *Model) NewRollout(steps int) *Rollout {
	n := m.prog.Registers() * Lanes
	return &Rollout{m: m, steps: steps, x: make([]float64, n), dx: make([]float64, n),
		states: make([]float64, (1+m.Config.History+steps)*len(m.in.state)*Lanes),
		ds:     make([]float64, len(m.in.state)*Lanes)}
}

// row returns the states [S][Lanes] before step t, counted from the beginning of the history.
func (r *Rollout) row(t int) []float64 {
	n := len(r.m.in.state) * Lanes
	return r.states[t*n:][:n]
}

// After returns the states [S][Lanes] after h steps from the starts.
func (r *Rollout) After(h int) []float64 { return r.row(r.m.Config.History + h) }

// Forward predicts the given steps from the starts, whose rows have History rows before them.
func (r *Rollout) Forward(starts [Lanes]Start, steps int) {
	r.starts = starts
	clear(r.row(0))
	for l, s := range starts { // nothing is missed in the first row
		for i, x := range s.Flight.State[s.Row-r.m.Config.History] {
			r.row(0)[i*Lanes+l] = x
		}
	}
	for t := range r.m.Config.History + steps {
		r.step(t)
		next := r.row(t + 1)
		for i, o := range r.m.out {
			copy(next[i*Lanes:][:Lanes], r.x[int(o)*Lanes:][:Lanes])
		}
	}
}

// lanes returns the memory of a register.
func (r *Rollout) lanes(x []float64, at reg) []float64 { return x[int(at)*Lanes:][:Lanes] }

// step runs the program from the states before step t.
func (r *Rollout) step(t int) {
	m, history := r.m, r.m.Config.History
	copy(r.x, r.row(t))
	first, keep := 0., 0.
	if t == 0 {
		first = 1
	}
	if t <= history {
		keep = 1
	}
	for l, s := range r.starts {
		row := s.Row - history + t
		for i, in := range m.in.motors {
			r.lanes(r.x, in)[l] = s.Flight.Motors[row][i]
		}
		volts := 0.
		if m.Config.Input == Commands {
			volts = s.Flight.Volts[min(row, s.Row)] // what comes later is not known
		}
		r.lanes(r.x, m.in.volts)[l], r.lanes(r.x, m.in.keep)[l], r.lanes(r.x, m.in.first)[l] = volts, keep, first
		truth := [Measured]float64{}
		if keep == 1 {
			truth = r.signed(s.Flight.State[row], l)
		}
		for i, in := range m.in.truth {
			r.lanes(r.x, in)[l] = truth[i]
		}
	}
	m.prog.Forward(m.Theta, r.x)
}

// signed gives a true quaternion the sign of the predicted one.
func (r *Rollout) signed(truth [Measured]float64, lane int) [Measured]float64 {
	same := 0.
	for i := atQ; i < atV; i++ {
		same += truth[i] * r.x[i*Lanes+lane]
	}
	if same < 0 {
		for i := atQ; i < atV; i++ {
			truth[i] = -truth[i]
		}
	}
	return truth
}

// Backward adds to dtheta the gradient of a loss of the states after 1 … steps of the last Forward. add is called for
// each, last first, and adds the loss's derivative by those states to ds[S][Lanes].
func (r *Rollout) Backward(steps int, dtheta []float64, add func(h int, states, ds []float64)) {
	history := r.m.Config.History
	clear(r.ds)
	for t := history + steps - 1; t >= 0; t-- {
		if h := t + 1 - history; h >= 1 {
			add(h, r.row(t+1), r.ds)
		}
		r.step(t)
		for i, o := range r.m.out {
			d := r.lanes(r.dx, o)
			for l, v := range r.ds[i*Lanes:][:Lanes] {
				d[l] += v
			}
		}
		r.m.prog.Backward(r.m.Theta, r.x, r.dx, dtheta)
		copy(r.ds, r.dx[:len(r.ds)])
		clear(r.dx[:r.m.in.count*Lanes])
	}
}

// MeasuredOf returns the measured state of a lane. Its quaternion is of unit norm to within the integration's error.
func MeasuredOf(states []float64, lane int) (x [Measured]float64) {
	for i := range x {
		x[i] = states[i*Lanes+lane]
	}
	return x
}
