package control

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/estimator"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/inertial"
)

// Loop is the control loop of one robot, for one goroutine. Once there is a policy, nothing of a tick allocates.
//
// It has two sides. The policy's side answers each state with a Request, and the guard's side each request with a
// Decision. Tick runs both. Where they are two processes, one calls Ask, Take and Complete of its loop, and the other
// Accept and Decide.
type Loop struct {
	config Config
	states
	policySide
	guardSide
	rotors   *rotorSide // nil: commands are thrust and body rates
	request  Request
	decision Decision // of the last tick
}

// New refuses a configuration out of range; the error names the parameter at fault.
func New(c Config) (*Loop, error) {
	if c.MeasuresVelocity() { // below, all topics with a velocity are alike
		c.Source = FromOdometry
	} else {
		c.Source = FromPose
	}
	e, err := estimator.New(c.Estimate)
	if err != nil {
		return nil, err
	}
	g, err := guard.New(c.Guard, c.Limits)
	if err != nil {
		return nil, err
	}
	l := &Loop{config: c, states: states{estimator: e}, guardSide: guardSide{guard: g}}
	l.ahead = g.Ahead
	if c.FiltersPoses() {
		l.filter = inertial.NewCommandEstimator(g.Moves)
	}
	l.fromHere = func(float64) quad.Reference { return l.here }
	l.latent.Mean = make([]float32, 0, maxLatent)
	l.actuator.hover()
	return l, nil
}

// Tick returns the command that goes out at now (ns); false before there is a state, a policy and a task reference.
func (l *Loop) Tick(now int64) (quad.Command, bool) {
	l.decision.Stage = l.guard.Stage() // an order since the last tick may have changed it
	if !l.Ask(now, &l.request) {
		return quad.Command{}, false
	}
	l.decide(now, &l.request, l.request.Target, &l.decision)
	l.Take(&l.decision)
	return l.decision.Sent, true
}

// Decision is that of the last tick, until the next.
func (l *Loop) Decision() *Decision { return &l.decision }

// Guard is the loop's guard. It belongs to the loop's goroutine.
func (l *Loop) Guard() *guard.Guard { return l.guard }

// Policy and TaskReference are what flies now; nil before the first.
func (l *Loop) Policy() *LoadedPolicy         { return l.policy }
func (l *Loop) TaskReference() *TaskReference { return l.task }

// OverrideLastCommand replaces what the policy takes for its last command. A replay calls it, for it knows what was
// flown.
func (l *Loop) OverrideLastCommand(c quad.Command) { l.runner.OverrideLastCommand(c) }

// Inputs are those of the policy's network in the last tick, normalised; they are valid until the next tick.
func (l *Loop) Inputs() []float32 { return l.runner.Inputs() }

// Stamp and State are those of the last tick, ns and in the world, until the next sample.
func (l *Loop) Stamp() int64       { return l.lastStamp }
func (l *Loop) State() *quad.State { return &l.state }
