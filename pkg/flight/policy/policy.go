package policy

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/nets"
	"vnd/pkg/vnd"
)

// Policy is a policy with all that it needs to fly. It is not changed by flying
// and may be shared.
type Policy[F kernel.Float] struct {
	Observation Observation
	Limits      quad.Limits
	Latent      int // Z; the last channels of the input
	Norm        vnd.Norm[F]
	Net         *nets.Policy[F]
	Pinhole     *Pinhole[F] // nil where it sees positions
}

// New returns an untrained policy that commands hover and does not see its
// latent.
func New[F kernel.Float](o Observation, l quad.Limits, latent int, hidden []int) (*Policy[F], error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	var eye *Pinhole[F]
	if len(o.Camera.Points) == 0 {
		o.Camera = Camera{}
	} else {
		var err error
		if eye, err = NewPinhole[F](&o.Camera); err != nil {
			return nil, err
		}
	}
	net, err := nets.NewPolicy[F](nets.PolicyConfig{Inputs: o.Size() + latent, Actions: nU, Hidden: hidden})
	if err != nil {
		return nil, err
	}
	p := &Policy[F]{Observation: o, Limits: l, Latent: latent, Net: net, Pinhole: eye}
	p.Norm.Mean, p.Norm.Scale = make([]F, net.Inputs), make([]F, net.Inputs)
	for i := range p.Norm.Scale {
		p.Norm.Scale[i] = 1
	}
	return p, nil
}

// Scale returns middle and half range of the commands: a = middle + half·u.
func (p *Policy[F]) Scale() (middle, half [nU]F) {
	l := &p.Limits
	middle[0], half[0] = F(l.MaxThrust+l.MinThrust)/2, F(l.MaxThrust-l.MinThrust)/2
	half[1], half[2], half[3] = F(l.MaxTiltRate), F(l.MaxTiltRate), F(l.MaxYawRate)
	return middle, half
}

// Action is the command in units of the limits.
func (p *Policy[F]) Action(c quad.Command) (u [nU]F) {
	middle, half := p.Scale()
	for j, x := range [nU]float64{c.Thrust, c.Rates.X, c.Rates.Y, c.Rates.Z} {
		u[j] = min(max((F(x)-middle[j])/half[j], -1), 1)
	}
	return u
}

// Command is the inverse of Action.
func (p *Policy[F]) Command(u [nU]F) quad.Command {
	middle, half := p.Scale()
	var c [nU]float64
	for j := range c {
		c[j] = float64(middle[j]) + float64(half[j])*float64(u[j])
	}
	return quad.Command{Thrust: c[0], Rates: so3.Vec3{X: c[1], Y: c[2], Z: c[3]}}
}

// Hover is the action that hovers.
func (p *Policy[F]) Hover() [nU]F { return p.Action(quad.Command{Thrust: quad.Gravity}) }
