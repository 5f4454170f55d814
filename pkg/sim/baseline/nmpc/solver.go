package nmpc

import (
	"math"

	"vnd/pkg/core/quad"
)

// Weights of squared errors, in the units of each; the cost is their sum over the horizon.
type Weights struct {
	Position, Velocity, Tilt, Heading float64 // of states
	Rates                             float64 // of the body rates that act
	Thrust, Turn                      float64 // of commanded thrust and rates less the reference's
}

// Goal is a point of the reference.
type Goal struct {
	State   State        // with the thrust and rates that the reference takes
	Command quad.Command // that brings them
}

// Counts of ticks.
type Counts struct {
	Ticks    int
	Unsolved int // no step made the plan cheaper though one was promised: the plan of before was flown
}

// Solver holds a plan of N steps. It is for one goroutine and allocates only in NewSolver.
type Solver struct {
	Model   Model
	Weights Weights
	Limits  quad.Limits
	Counts  Counts

	goals  []Goal // N+1
	states []State
	plan   []vecU
	nodes  []node
	trial  trial
	begun  bool
}

// node is what the backward pass knows of a step.
type node struct {
	a    matX
	b    matB
	k    vecU     // step of the command
	gain [nU]vecX // of the command by the state
}

// trial is a rollout that may become the plan.
type trial struct {
	states []State
	plan   []vecU
}

// NewSolver plans n steps ahead.
func NewSolver(m Model, w Weights, l quad.Limits, n int) *Solver {
	return &Solver{Model: m, Weights: w, Limits: l, goals: make([]Goal, n+1), states: make([]State, n+1),
		plan: make([]vecU, n), nodes: make([]node, n),
		trial: trial{make([]State, n+1), make([]vecU, n)}}
}

// Reset forgets the plan.
func (s *Solver) Reset() { s.begun, s.Counts = false, Counts{} }

// Goals are the points of the reference for the states after 0 … N steps, to be written before Solve.
func (s *Solver) Goals() []Goal { return s.goals }

// Solve improves the plan for a state that is reached elapsed seconds after that of before, and returns its first
// command. A first plan takes as many steps as it needs, later ones take one.
func (s *Solver) Solve(now *State, elapsed float64) quad.Command {
	steps := 1
	if s.begun {
		s.shift(elapsed / s.Model.H)
	} else {
		for i := range s.plan {
			s.plan[i] = coords(&s.goals[i].Command)
		}
		s.begun, steps = true, 30
	}
	s.Counts.Ticks++
	cost := s.rollout(now, &trial{s.states, s.plan})
	for range steps {
		promised, ok := s.backward()
		if !ok {
			s.Counts.Unsolved++
			break
		}
		const least = 1e-4 // of the cost
		if promised <= least*cost {
			break
		}
		better, ok := s.forward(cost)
		if !ok {
			s.Counts.Unsolved++
			break
		}
		cost = better
	}
	return s.Limits.Clip(command(&s.plan[0]))
}

// shift moves the plan on by a share of a step.
func (s *Solver) shift(share float64) {
	share = min(max(share, 0), 1)
	for i := range len(s.plan) - 1 {
		for j := range nU {
			s.plan[i][j] += share * (s.plan[i+1][j] - s.plan[i][j])
		}
	}
}

// rollout follows a plan and returns its cost.
func (s *Solver) rollout(now *State, t *trial) (cost float64) {
	t.states[0] = *now
	for i := range t.plan {
		cost += s.advance(t, i)
	}
	return cost
}

// advance follows command i of a trial, within the limits, and returns its cost and that of the state behind it.
func (s *Solver) advance(t *trial, i int) float64 {
	c := s.Limits.Clip(command(&t.plan[i]))
	t.plan[i] = coords(&c)
	t.states[i+1] = s.Model.Step(&t.states[i], &c)
	return s.commandCost(i, &t.plan[i]) + s.stateCost(i+1, &t.states[i+1])
}

// weights are those of the coordinates of a state.
func (w *Weights) weights() vecX {
	return vecX{w.Position, w.Position, w.Position, w.Velocity, w.Velocity, w.Velocity, w.Tilt, w.Tilt, w.Heading, 0,
		w.Rates, w.Rates, w.Rates}
}

func (w *Weights) commands() vecU { return vecU{w.Thrust, w.Turn, w.Turn, w.Turn} }

func (s *Solver) stateCost(i int, x *State) (cost float64) {
	w, e := s.Weights.weights(), x.minus(&s.goals[i].State)
	for j := range e {
		cost += w[j] * e[j] * e[j] / 2
	}
	return cost
}

func (s *Solver) commandCost(i int, u *vecU) (cost float64) {
	w, goal := s.Weights.commands(), coords(&s.goals[i].Command)
	for j := range u {
		e := u[j] - goal[j]
		cost += w[j] * e * e / 2
	}
	return cost
}

// backward finds the steps and gains of all commands (Gauss–Newton: second derivatives are those of the cost alone),
// and by how much they are to lower it. It fails where a number is not finite.
func (s *Solver) backward() (promised float64, ok bool) {
	n := len(s.plan)
	var v vecX
	var vv matX
	weights, rates := s.Weights.weights(), s.Weights.commands()
	add := func(i int) {
		e := s.states[i].minus(&s.goals[i].State)
		for j := range nX {
			v[j] += weights[j] * e[j]
			vv[j][j] += weights[j]
		}
	}
	add(n)
	for i := n - 1; i >= 0; i-- {
		d := &s.nodes[i]
		c := command(&s.plan[i])
		_, way := s.Model.step(&s.states[i], &c)
		s.Model.derivatives(&way, &d.a, &d.b)
		var q quadratic
		goal := coords(&s.goals[i].Command)
		for j := range nU {
			q.u[j], q.uu[j][j] = rates[j]*(s.plan[i][j]-goal[j]), rates[j]
		}
		q.through(d, &v, &vv)
		lo, hi := s.bounds(&s.plan[i])
		if !q.solve(&lo, &hi, d) {
			return 0, false
		}
		promised += q.value(d, &v, &vv)
		if i > 0 {
			add(i)
		}
	}
	return promised, promised*0 == 0
}

// bounds of the step of a command.
func (s *Solver) bounds(u *vecU) (lo, hi vecU) {
	l := &s.Limits
	lo = vecU{l.MinThrust, -l.MaxTiltRate, -l.MaxTiltRate, -l.MaxYawRate}
	hi = vecU{l.MaxThrust, l.MaxTiltRate, l.MaxTiltRate, l.MaxYawRate}
	for j := range u {
		lo[j], hi[j] = lo[j]-u[j], hi[j]-u[j]
	}
	return lo, hi
}

// forward tries the steps, in full and shorter, and takes the first that is cheaper.
func (s *Solver) forward(cost float64) (float64, bool) {
	for _, share := range [...]float64{1, 0.5, 0.2, 0.05} {
		t := &s.trial
		t.states[0] = s.states[0]
		total := 0.
		for i := range s.plan {
			x, d := t.states[i].minus(&s.states[i]), &s.nodes[i]
			for j := range nU {
				u := s.plan[i][j] + share*d.k[j]
				for l := range nX {
					u += d.gain[j][l] * x[l]
				}
				t.plan[i][j] = u
			}
			total += s.advance(t, i)
		}
		if total < cost {
			s.states, t.states = t.states, s.states
			s.plan, t.plan = t.plan, s.plan
			return total, true
		}
	}
	return math.Inf(1), false
}
