package control

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/estimator"
	"vnd/pkg/flight/guard"
)

// Loop is the control loop of one robot, for one goroutine. Once there is a policy, nothing of a tick allocates.
//
// It has two sides: the policy's makes a Request of each state, and the guard's a Decision of each request. Tick is
// both. Where they run in two processes, one loop has Ask, Take and Complete called, the other Accept and Decide.
type Loop struct {
	config Config
	states
	policySide
	guardSide
	request  Request
	decision Decision // of the last tick
}

// New refuses a configuration out of range; the error names the parameter at fault.
func New(c Config) (*Loop, error) {
	if c.MeasuresVelocity() { // whose topic it is matters to nobody below
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
	l.fromHere = func(float64) quad.Reference { return l.here }
	l.latent.Mean = make([]float32, 0, maxLatent)
	l.actuator.hover()
	return l, nil
}

// Tick returns the command that goes out at now (ns); false before there is a state, a policy and a task reference.
func (l *Loop) Tick(now int64) (quad.Command, bool) {
	l.decision.Stage = l.guard.Stage() // orders since the last tick count
	if !l.Ask(now, &l.request) {
		return quad.Command{}, false
	}
	l.decide(now, &l.request, &l.request.Target, &l.decision)
	l.Take(&l.decision)
	return l.decision.Sent, true
}

// Guard is the loop's guard: what it did, and what it is to do. It belongs to the loop's goroutine.
func (l *Loop) Guard() *guard.Guard { return l.guard }

// Policy and TaskReference are what flies now; nil before the first.
func (l *Loop) Policy() *LoadedPolicy         { return l.policy }
func (l *Loop) TaskReference() *TaskReference { return l.task }

// OverrideLastCommand has c taken for what the policy asked for in the last tick: by who knows what was flown.
func (l *Loop) OverrideLastCommand(c quad.Command) { l.runner.OverrideLastCommand(c) }

// Inputs are those of the policy's network in the last tick, normalised; they are valid until the next tick.
func (l *Loop) Inputs() []float32 { return l.runner.Inputs() }

// Stamp is that of the state of the last tick, ns.
func (l *Loop) Stamp() int64 { return l.lastStamp }
