package baseline

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/guard"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/sim/baseline/nmpc"
)

// NMPC flies a path by nonlinear model predictive control of thrust and body rates over 1 s, in 20 steps. With L1
// adaptation its model has the estimated push (D. Hanover et al., "Performance, precision, and payloads: adaptive
// nonlinear MPC for quadrotors", 2021). There the estimate corrects rotor thrusts behind the controller; here, above
// thrust and rates, it enters the prediction, so that forces from the side are answered, too. Whole steps of the
// identified delay are predicted before the plan begins; what is left of it counts as lag. It ticks once per Δt, is for
// one goroutine, and observes what it flies.
type NMPC struct {
	*L1
	solver *nmpc.Solver
	path   guard.Path
	dt     float64
	delay  int     // steps
	lead   float64 // s, of the rates that are commanded against those that act
	last   float64 // time of the command before, s
}

// NMPCConfig is that of the model predictive controller.
type NMPCConfig struct {
	Weights nmpc.Weights
	Cutoff  float64 // of the filter behind the L1 estimate, rad/s; 0 is without
}

// NewNMPC makes one for a robot, at Δt = dt seconds.
func NewNMPC(c NMPCConfig, l quad.Limits, r Airframe, dt float64, path guard.Path) (*NMPC, error) {
	const horizon, steps = 1.0, 20 // s
	if err := l.Check(); err != nil {
		return nil, err
	}
	a := r.Actuator
	whole := math.Floor(min(a.ThrustDelay, a.RateDelay, quadrotor.MaxDelay))
	m := nmpc.Model{H: horizon / steps, Drag: r.Drag, ThrustGain: a.ThrustGain, RateGain: a.RateGain,
		ThrustLag: a.ThrustLag + (a.ThrustDelay-whole)*dt, RateLag: a.RateLag + (a.RateDelay-whole)*dt,
		YawLag: a.YawLag}
	n := &NMPC{L1: NewL1(r, c.Cutoff, dt), solver: nmpc.NewSolver(m, c.Weights, l, steps), path: path, dt: dt,
		delay: int(whole), lead: m.RateLag}
	n.Reset()
	return n, nil
}

// Reset implements quad.Controller.
func (n *NMPC) Reset() {
	n.L1.Reset()
	n.solver.Reset()
	n.last = math.NaN()
}

// Counts are those of the ticks since the reset.
func (n *NMPC) Counts() nmpc.Counts { return n.solver.Counts }

// Command implements quad.Controller.
func (n *NMPC) Command(t float64, s *quad.State) quad.Command {
	elapsed := t - n.last
	if !(elapsed > 0) {
		elapsed = 0
	}
	n.last = t
	m := &n.solver.Model
	m.Push = n.Push()
	now := nmpc.State{}
	now.State, now.Thrust, now.Rates = n.plant.ahead(s, n.delay, m.Push)
	begin := t + float64(n.delay)*n.dt
	goals := n.solver.Goals()
	for i := range goals {
		goals[i] = n.goal(begin + float64(i)*m.H)
	}
	return n.solver.Solve(&now, elapsed)
}

// goal is the reference of a moment, by flatness.
func (n *NMPC) goal(t float64) (g nmpc.Goal) {
	m := &n.solver.Model
	at := func(t float64) quad.Reference {
		r := n.path.At(t)
		r.A = r.A.Add(r.V.Scale(m.Drag)).Sub(m.Push)
		return r
	}
	r := at(t)
	g.State.State = quad.State{P: r.P, V: r.V, Q: quadrotor.FlatAttitude(&r)}
	g.State.Thrust = lift(&r)
	g.State.Rates = flatRates(t, at)
	g.Command = quad.Command{Thrust: g.State.Thrust / m.ThrustGain, Rates: flatRates(t+n.lead, at)}
	return g
}
