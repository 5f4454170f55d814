// Package vnd is a Variational Neural Dynamics model as it is used: the physics prior with its actuator, the nets,
// their normalisers and the correction, from and to a bundle. Package fit fits it; prediction, flight and policy
// learning run it.
//
// Shapes: B batch, T window rows, H rollout steps, S state, A action, X residual inputs, U tangent, C context inputs,
// Z latent.
package vnd

import (
	"fmt"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot"
	"vnd/pkg/vnd/bundle"
)

// Norm is an affine normaliser, x̂ = (x − Mean)·Scale, with statistics of the training buffer. Scale 0 switches a
// channel off.
type Norm[F kernel.Float] struct {
	Mean, Scale []F
}

// Apply normalises rows of x in place.
func (n *Norm[F]) Apply(x []F) { kernel.Normalise(len(x)/len(n.Mean), n.Mean, n.Scale, x) }

// farthest is how far rows that ApplyCut normalises may be from 0, in deviations.
const farthest = 10

// ApplyCut normalises rows of x in place, and cuts what is far away: for policies that PPO trains, at work as in
// training.
func (n *Norm[F]) ApplyCut(x []F) {
	n.Apply(x)
	for i, v := range x {
		x[i] = min(max(v, -farthest), farthest)
	}
}

// Pull scales gradients of normalised rows to gradients of raw rows, in place.
func (n *Norm[F]) Pull(dx []F) { kernel.ScaleRows(len(dx)/len(n.Scale), n.Scale, dx) }

// Model is a fitted model. Its nets and normalisers may be shared by many Contexts and Rollouts; it is not changed by
// them.
type Model[F kernel.Float] struct {
	System        robot.System[F]
	Net           *nets.Net[F]
	Context       Norm[F] // of context features [C]
	Inputs        Norm[F] // of residual inputs [X]
	Output        []F     // [U] unit of the residual's outputs per step; 0 switches a head off
	BiasShare     []F     // [U] share of the window's residual mean that the bias correction keeps
	ResidualScale []F     // [U] unit of a window's residual mean, see ResidualRatio
	Known         F       // bias correction weight of a known condition, 0 … 1
	Age           F       // steps after which a share 1/e of the latent is left; 0: it is held

	LatentPrior *LatentPrior // that Sample draws from; nil: N(0, I)
}

// dims returns the sizes that every loop here needs.
func (m *Model[F]) dims() robot.Dims { return m.System.Dims() }

// headroom is left in a bundle for its header and the normalisers, bytes.
const headroom = 256 << 10

// New returns an untrained model around a system: unit normalisers, all heads on, no bias correction.
func New[F kernel.Float](sys robot.System[F], c nets.Config) (*Model[F], error) {
	d := sys.Dims()
	c.ContextInputs, c.Inputs, c.Outputs = d.Context, d.Inputs, d.Tangent
	net, err := nets.New[F](c)
	if err != nil {
		return nil, err
	}
	if most := (bundle.MaxSize - headroom) / 4; len(net.Params) > most {
		return nil, fmt.Errorf("a model of %d numbers does not fit into a bundle, which holds %d: make model.hidden, model.blocks or model.members smaller",
			len(net.Params), most)
	}
	return &Model[F]{System: sys, Net: net,
		Context: Norm[F]{make([]F, d.Context), ones[F](d.Context)},
		Inputs:  Norm[F]{make([]F, d.Inputs), ones[F](d.Inputs)},
		Output:  ones[F](d.Tangent), BiasShare: make([]F, d.Tangent), ResidualScale: make([]F, d.Tangent)}, nil
}

func ones[F kernel.Float](n int) []F {
	x := make([]F, n)
	for i := range x {
		x[i] = 1
	}
	return x
}

// BFloat16 returns a model of the same parameters whose nets multiply in bfloat16, see nets.Net.BFloat16.
func (m *Model[F]) BFloat16() *Model[F] {
	r := *m
	r.Net = m.Net.BFloat16()
	return &r
}
