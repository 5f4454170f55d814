package vnd

import (
	"fmt"

	"vnd/pkg/nn/nets"
)

// Recorded is a robot as its recordings have it: rows of a state and a command.
type Recorded[Row, Command, State any] interface {
	Flattener[Row]
	Action(c *Command, a []float32) // writes a[A]
	State(s []float32) State        // of s[S]
}

// Predictor rolls a model out from recorded windows, open loop.
type Predictor[Row, Command, State any] struct {
	m       *Model[float32]
	robot   Recorded[Row, Command, State]
	maxB    int // windows that the buffers hold
	windows *Windows[float32]
	z       []float32
	encoder *nets.EncoderTape[float32]
	roll    *Rollout[float32]
	maxH    int
	weight  []float32
	spread  []float32
}

// predictBatch windows are taken at a time.
const predictBatch = 64

// NewPredictor prepares predictions of a model of a robot.
func NewPredictor[Row, Command, State any](m *Model[float32],
	q Recorded[Row, Command, State]) *Predictor[Row, Command, State] {
	return &Predictor[Row, Command, State]{m: m, robot: q}
}

// reserve makes buffers for B windows: who asks about one alone, as a live picture does, keeps a 64th.
func (p *Predictor[Row, Command, State]) reserve(B int) {
	if B <= p.maxB {
		return
	}
	p.maxB, p.roll = B, nil
	p.windows, p.z, p.weight = p.m.NewWindows(B), make([]float32, B*p.m.Net.Latent), make([]float32, B)
	if p.m.Net.Latent > 0 {
		p.encoder = p.m.Net.NewEncoderTape(B)
	}
}

// Predict writes the states that follow windows under the future commands, the first of which is that of the present
// row. Of a window it reads the last T+1 rows: T past ones and the present one. Nothing else of the future is used.
func (p *Predictor[Row, Command, State]) Predict(windows [][]Row, future [][]Command, out [][]State) error {
	p.spread = p.spread[:0]
	for lo := 0; lo < len(windows); lo += predictBatch {
		hi := min(lo+predictBatch, len(windows))
		if err := p.batch(windows[lo:hi], future[lo:hi], out[lo:hi]); err != nil {
			return err
		}
	}
	return nil
}

func (p *Predictor[Row, Command, State]) batch(windows [][]Row, future [][]Command, out [][]State) error {
	d, T, B := p.m.dims(), p.m.Net.Context, len(windows)
	p.reserve(B)
	p.windows.Reset(B)
	for b, w := range windows {
		if len(w) < T+1 {
			return fmt.Errorf("window of %d rows, the model reads %d past rows and the present one", len(w), T)
		}
		measured, actions := p.robot.Flatten(w[len(w)-1-T:])
		p.windows.Set(b, measured, actions[:T*d.Action])
	}
	if p.m.Net.Latent > 0 {
		p.m.Net.Encode(p.encoder, B, p.windows.Features, p.z)
	}
	p.rollout(future, out)
	return nil
}

func (p *Predictor[Row, Command, State]) rollout(future [][]Command, out [][]State) {
	d, B, Z := p.m.dims(), len(future), p.m.Net.Latent
	H := len(future[0])
	if p.roll == nil || p.maxH < H {
		p.roll, p.maxH = p.m.NewMeanRollout(p.maxB, H), H
	}
	r := p.roll
	r.Begin(0, B, H, p.z[:B*Z])
	c := r.ResidualMean(p.windows, 0)
	for b := range B {
		p.weight[b] = p.m.BiasWeight(c[b*d.Tangent:][:d.Tangent])
	}
	r.CorrectBias(p.weight[:B])
	s, next, a := append([]float32(nil), p.windows.Start[:B*d.State]...), make([]float32, B*d.State),
		make([]float32, B*d.Action)
	for h := range H {
		for b := range B {
			p.robot.Action(&future[b][h], a[b*d.Action:])
		}
		r.Step(h, s, a, next)
		s, next = next, s
		for b := range B {
			out[b][h] = p.robot.State(s[b*d.State:][:d.State])
		}
	}
	p.spread = append(p.spread, r.Spread()...)
}

// Spread returns how much the members of the ensemble disagreed in each prediction of the last Predict, see
// Rollout.Spread. It is 0 without an ensemble.
func (p *Predictor[Row, Command, State]) Spread() []float32 { return p.spread }
