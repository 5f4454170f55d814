package armcontrol

import (
	"fmt"

	"vnd/pkg/core/so3"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Task is that of an arm.
const Task = "track_pose"

// Policy is a bundle's, with the latent that its encoder makes of what was done before. That allocates at each tick.
type Policy struct {
	ID string
	Dt float64 // s

	actor   *vnd.Actor[float32]
	tape    *nets.PolicyTape[float32]
	x, u, a []float32
	past    []float32           // [K][A] in half ranges, the newest last
	model   *vnd.Model[float32] // nil: it sees the prior mean
	windows *vnd.Windows[float32]
	encoder *nets.EncoderTape[float32]
	roll    *vnd.Rollout[float32]
	z       []float32 // of the last window
	states  []float32 // [≤T+1][M], the newest last
	actions []float32 // [≤T][A]
}

// Load unpacks the policy of a bundle. It refuses, in words, those of other robots and tasks.
func Load(b *bundle.Bundle) (*Policy, error) {
	switch {
	case b.Robot != arm.Name:
		return nil, fmt.Errorf("bundle %s is of robot %q, expected %q", b.ID, b.Robot, arm.Name)
	case !vnd.HasActor(b):
		return nil, fmt.Errorf("bundle %s has no policy", b.ID)
	case b.Task != Task:
		return nil, fmt.Errorf("bundle %s is of task %q, expected %q", b.ID, b.Task, Task)
	case b.Dt > Period:
		return nil, fmt.Errorf("bundle %s commands each %g s, expected at most %g", b.ID, b.Dt, Period)
	}
	a, err := vnd.ActorFromBundle(b)
	if err != nil {
		return nil, err
	}
	past := a.Size() - arm.Observed
	if len(a.Half) != arm.Joints || past < 0 || past%arm.Joints != 0 {
		return nil, fmt.Errorf("bundle %s: policy of %d inputs and %d actions, expected %d and past actions, %d", b.ID,
			a.Size(), len(a.Half), arm.Observed, arm.Joints)
	}
	p := &Policy{ID: b.ID, Dt: b.Dt, actor: a, tape: a.Net.NewTape(1, 1), x: make([]float32, a.Net.Inputs),
		u: make([]float32, arm.Joints), a: make([]float32, arm.Joints), past: make([]float32, past)}
	if vnd.In(b) && a.Latent > 0 && a.UsesLatent() {
		if p.model, _, err = vnd.FromBundle(b, arm.Reader); err != nil {
			return nil, err
		}
		if z := p.model.Net.Latent; z != a.Latent {
			return nil, fmt.Errorf("bundle %s: policy with a latent of %d, its model has one of %d", b.ID, a.Latent, z)
		}
		p.read(p.model)
	}
	p.Forget()
	return p, nil
}

// read has the policy see latents of a model.
func (p *Policy) read(m *vnd.Model[float32]) {
	p.model, p.windows, p.encoder, p.roll = m, m.NewWindows(1), m.Net.NewEncoderTape(1), m.NewMeanRollout(1, 1)
	p.z = make([]float32, m.Net.Latent)
}

// Forget begins anew, as at rest.
func (p *Policy) Forget() {
	p.states, p.actions = p.states[:0], p.actions[:0]
	p.actor.Units(make([]float32, arm.Joints), p.u)
	for k := 0; k < len(p.past); k += arm.Joints {
		copy(p.past[k:], p.u)
	}
}

// learnPast takes over what was seen and commanded under another policy.
func (p *Policy) learnPast(q *Policy) {
	p.Forget()
	p.states = append(p.states, q.states...)
	for a := q.actions; len(a) > 0; a = a[arm.Joints:] {
		var tau [arm.Joints]float64
		for j := range tau {
			tau[j] = float64(a[j])
		}
		p.Push(&tau)
	}
}

// Torque writes what the policy commands at a state s[S] with the tool there, N·m. It comes after See and before Push.
func (p *Policy) Torque(s []float32, tool so3.Vec3, to *arm.Target, tau *[arm.Joints]float64) {
	O, A := p.actor.Size(), arm.Joints
	arm.Observe(s, tool, to, p.x)
	for k := 0; k < len(p.past); k += A { // the newest first
		copy(p.x[arm.Observed+k:][:A], p.past[len(p.past)-A-k:])
	}
	clear(p.x[O:])
	if p.Known() {
		copy(p.x[O:], p.z)
	}
	p.actor.Norm.Apply(p.x)
	p.actor.Net.Forward(p.tape, 0, 1, p.x, p.u)
	p.actor.Actions(p.u, p.a)
	for j := range tau {
		tau[j] = float64(p.a[j])
	}
}

// Known reports whether there is a latent of the last window.
func (p *Policy) Known() bool {
	return p.model != nil && len(p.actions) == p.model.Net.Context*arm.Joints &&
		len(p.states) == (p.model.Net.Context+1)*2*arm.Joints
}

// See takes the state s[S] at a tick.
func (p *Policy) See(s []float32) {
	if p.model != nil {
		p.states = append(p.states, s...)
		p.states = p.states[max(0, len(p.states)-(p.model.Net.Context+1)*2*arm.Joints):]
	}
	if p.Known() {
		p.windows.Reset(1)
		p.windows.Set(0, p.states, p.actions)
		p.model.Net.Encode(p.encoder, 1, p.windows.Features, p.z)
	}
}

// Latent is that of the window that ended with the last state, and its novelty, see vnd.Model.Novelty. It comes after
// See and before the next one; none of the two where no window is whole.
func (p *Policy) Latent() (z []float32, novelty float32) {
	if p.model == nil || len(p.states) != (p.model.Net.Context+1)*2*arm.Joints {
		return nil, 1
	}
	p.roll.Begin(0, 1, 1, p.z)
	return p.z, p.model.Novelty(p.roll.ResidualMean(p.windows, 0))
}

// Push takes what was commanded at a tick, N·m, whoever commanded it.
func (p *Policy) Push(tau *[arm.Joints]float64) {
	for j, x := range tau {
		p.a[j] = float32(x)
	}
	if n := len(p.past); n > 0 {
		copy(p.past, p.past[arm.Joints:])
		p.actor.Units(p.a, p.past[n-arm.Joints:])
	}
	if p.model != nil {
		p.actions = append(p.actions, p.a...)
		p.actions = p.actions[max(0, len(p.actions)-p.model.Net.Context*arm.Joints):]
	}
}
