package policy

import (
	"errors"
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd"
)

// Policy is a policy with all that it needs to fly. It is not changed by flying
// and may be shared.
type Policy[F kernel.Float] struct {
	vnd.Actor[F]
	Observation Observation
	Limits      quad.Limits
	Motors      *rotors.Limits // of each rotor's command, in place of Limits; nil: it commands thrust and body rates
	Steady
	Pinhole *Pinhole[F] // nil where it sees positions
}

// New returns an untrained policy that commands hover and does not see its
// latent.
func New[F kernel.Float](o Observation, l quad.Limits, latent int, hidden []int) (*Policy[F], error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	middle, half := make([]F, nA), []F{0, F(l.MaxTiltRate), F(l.MaxTiltRate), F(l.MaxYawRate)}
	middle[0], half[0] = F(l.MaxThrust+l.MinThrust)/2, F(l.MaxThrust-l.MinThrust)/2
	if o.BodyRates = false; len(o.Camera.Points) > 0 {
		o.Push, o.Lag = 0, 0
	}
	p, err := within(o, middle, half, latent, hidden)
	if err == nil {
		p.Limits = l
	}
	return p, err
}

// NewRotors returns an untrained policy that commands four rotors to hover, and sees body rates.
func NewRotors[F kernel.Float](o Observation, l rotors.Limits, latent int, hidden []int) (*Policy[F], error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	if len(o.Camera.Points) > 0 {
		return nil, errors.New("a policy that commands rotors sees positions, expected no points of a camera")
	}
	middle, half := make([]F, nA), make([]F, nA)
	for j := range middle {
		middle[j], half[j] = F(l.Most+l.Least)/2, F(l.Most-l.Least)/2
	}
	o.BodyRates, o.Push, o.Lag = true, 0, 0
	p, err := within(o, middle, half, latent, hidden)
	if err == nil {
		p.Motors = &l
	}
	return p, err
}

// within returns an untrained policy of commands around middle.
func within[F kernel.Float](o Observation, middle, half []F, latent int, hidden []int) (*Policy[F], error) {
	var eye *Pinhole[F]
	if len(o.Camera.Points) == 0 {
		o.Camera = Camera{}
	} else {
		err := o.Camera.check()
		if err == nil {
			eye, err = NewPinhole[F](&o.Camera.Optics)
		}
		if err != nil {
			return nil, err
		}
	}
	if o.Lag > 0 && o.Lag < leastLag {
		return nil, fmt.Errorf("observation.lag is %g s, expected 0 or at least %g s", o.Lag, leastLag)
	}
	actor, err := vnd.NewActor(o.Size(), latent, middle, half, hidden)
	if err != nil {
		return nil, err
	}
	return &Policy[F]{Actor: *actor, Observation: o, Pinhole: eye}, nil
}

// WithMeasured returns a copy that sees pushes and lags in units, m/s² and s; 0: none. It does not heed yet what it did
// not see before.
func (p *Policy[F]) WithMeasured(push, lag float64) (*Policy[F], error) {
	o := p.Observation
	o.Push, o.Lag = push, lag
	c, err := p.untrained(o)
	if err != nil {
		return nil, err
	}
	c.Steady = p.Steady
	from, to := p.Net.Tensors(), c.Net.Tensors()
	for i, t := range to[1:] {
		copy(c.Net.Params[t.Offset:][:t.Size()], p.Net.Params[from[i+1].Offset:])
	}
	p.copyInputs(&c.Observation, c.Net.Params[to[0].Offset:][:to[0].Size()],
		p.Net.Params[from[0].Offset:][:from[0].Size()], c.Net.Hidden[0], 0)
	p.copyInputs(&c.Observation, c.Norm.Mean, p.Norm.Mean, 1, 0)
	p.copyInputs(&c.Observation, c.Norm.Scale, p.Norm.Scale, 1, 1)
	return c, nil
}

// copyInputs copies what belongs to the inputs, so many numbers for each, from those of p to those of a policy that
// observes o. What belongs to a push or a lag in another unit is set to other.
func (p *Policy[F]) copyInputs(o *Observation, to, from []F, each int, other F) {
	part := func(n, before int, same bool) {
		for i := range to[:n*each] {
			to[i] = other
		}
		if same {
			copy(to[:n*each], from)
		}
		to, from = to[n*each:], from[before*each:]
	}
	was, rest := &p.Observation, o.Size()-o.MeasuredSize()
	part(rest, rest, true)
	part(o.pushSize(), was.pushSize(), o.Push == was.Push)
	part(o.lagSize(), was.lagSize(), o.Lag == was.Lag)
	copy(to, from) // of the latent
}

// untrained is a policy of the same commands that observes o.
func (p *Policy[F]) untrained(o Observation) (*Policy[F], error) {
	if p.Motors != nil {
		return NewRotors[F](o, *p.Motors, p.Latent, p.Net.Hidden)
	}
	return New[F](o, p.Limits, p.Latent, p.Net.Hidden)
}

// Action is the command in units of the limits.
func (p *Policy[F]) Action(c quad.Command) (u [nA]F) {
	var a [nA]F
	quadrotor.Action(&c, a[:])
	p.Units(a[:], u[:])
	return u
}

// Command is the inverse of Action.
func (p *Policy[F]) Command(u [nA]F) quad.Command {
	var c [nA]float64
	for j := range c {
		c[j] = float64(p.Middle[j]) + float64(p.Half[j])*float64(u[j])
	}
	return quad.Command{Thrust: c[0], Rates: so3.Vec3{X: c[1], Y: c[2], Z: c[3]}}
}

// Hover is the action that hovers.
func (p *Policy[F]) Hover() (u [nA]F) {
	if l := p.Motors; l != nil {
		h := F(l.Hover)
		p.Units([]F{h, h, h, h}, u[:])
		return u
	}
	return p.Action(quad.Command{Thrust: quad.Gravity})
}
