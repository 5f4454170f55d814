package pushlearning

import (
	"math/rand/v2"

	"vnd/pkg/robot"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
)

// Plant is where boxes are pushed: worlds of MuJoCo, or a model of them.
type Plant interface {
	Size() int // N
	// Begin begins world i anew, at rest, under a hidden condition that is drawn.
	Begin(i int, s *pusher.State, rng *rand.Rand) error
	Step(commands []pusher.Command) error
	State(i int, s *pusher.State)
	// Hidden writes the numbers of a world's condition, as many as HiddenSize says.
	Hidden(i int, x []float32)
	HiddenSize() int
}

// Imagined is a system, or a model around it under latents that are drawn of those that were met.
type Imagined struct {
	system        robot.System[float32]
	model         *vnd.Model[float32] // nil: the system alone
	roll          *vnd.Rollout[float32]
	n             int
	s, a, none, z []float32
	stale         bool // there are new latents
}

// NewImagined makes n boxes that follow a system, or a model, unless that is nil.
func NewImagined(n int, sys robot.System[float32], m *vnd.Model[float32]) *Imagined {
	p := &Imagined{system: sys, model: m, n: n}
	d := p.system.Dims()
	p.s, p.a, p.none = make([]float32, n*d.State), make([]float32, n*d.Action), make([]float32, n*d.Tangent)
	if m != nil {
		p.roll, p.z = m.NewMeanRollout(n, 1), make([]float32, n*m.Net.Latent)
	}
	return p
}

// Size implements Plant.
func (p *Imagined) Size() int { return p.n }

func (p *Imagined) row(i int) []float32 { return p.s[i*len(p.s)/p.n:][:len(p.s)/p.n] }

// Begin implements Plant.
func (p *Imagined) Begin(i int, s *pusher.State, rng *rand.Rand) error {
	s.Write(p.row(i))
	if p.model != nil {
		p.model.Sample(rng, p.z[i*p.HiddenSize():][:p.HiddenSize()])
		p.stale = true
	}
	return nil
}

// Step implements Plant.
func (p *Imagined) Step(commands []pusher.Command) error {
	for i, c := range commands {
		p.a[2*i], p.a[2*i+1] = float32(c[0]), float32(c[1])
	}
	if p.model == nil {
		p.system.Step(p.n, p.s, p.a, p.none, p.s)
		return nil
	}
	if p.stale {
		p.roll.Begin(0, p.n, 1, p.z)
		p.stale = false
	}
	p.roll.Step(0, p.s, p.a, p.s)
	return nil
}

// State implements Plant.
func (p *Imagined) State(i int, s *pusher.State) { s.Read(p.row(i)) }

// HiddenSize implements Plant.
func (p *Imagined) HiddenSize() int { return len(p.z) / p.n }

// Hidden implements Plant.
func (p *Imagined) Hidden(i int, x []float32) { copy(x, p.z[i*p.HiddenSize():][:p.HiddenSize()]) }
