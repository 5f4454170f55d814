package manipulation

import (
	"context"
	"math"
	"math/rand/v2"

	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/train"
	"vnd/pkg/nn/layers"
	"vnd/pkg/robot"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
)

// code writes what an expert is told of a payload, kg.
func code(mass float64, z []float32) {
	clear(z)
	z[0] = float32(2*mass/arm.MaxPayload - 1)
}

// rma is rapid motor adaptation (A. Kumar et al., "RMA: rapid motor adaptation for legged robots", 2021): the base is
// improved in our dynamics with all that is hidden, as oracles are, told the payload of each episode. Then an encoder
// learns to read that of the last window, in flights that it commands itself.
func (b *Budget) rma(ctx context.Context, references []*arm.Reference, ours *Learned) (Method, error) {
	systems := make([]robot.System[float32], len(Masses))
	for i, mass := range Masses {
		truth := Truth(mass)
		truth.Steps = coarse
		systems[i] = truth.System()
	}
	expert, err := b.improve(ctx, &train.Privileged[float32]{Nominal: systems[0], Size: ours.Base.Latent,
		Draw: func(rng *rand.Rand, z []float32) robot.System[float32] {
			i := rng.IntN(len(Masses))
			code(Masses[i], z)
			return systems[i]
		}}, armlearning.Task(armlearning.Spread, references...), ours.Base)
	if err != nil {
		return Method{}, err
	}
	m, err := vnd.New[float32](ours.Model.System, ours.Model.Net.Config)
	if err != nil {
		return Method{}, err
	}
	m.Context = ours.Model.Context
	a := adapter{model: m, rng: rand.New(rand.NewPCG(b.Seed, 2))}
	m.Net.Init(a.rng)
	const rounds = 3
	for k := range rounds {
		for i, mass := range Masses {
			for j, r := range references {
				a.add(b.fly(expert, m, mass, r, b.drawn(100*(k+1)+i, j)), mass)
			}
		}
		b.Progress("RMA: the encoder errs by %.2f kg", a.learn(b.Fit.Train.Updates))
	}
	return ByPolicy("RMA", expert, m), ctx.Err()
}

// adapter is an encoder that learns to read payloads.
type adapter struct {
	model   *vnd.Model[float32]
	rng     *rand.Rand
	windows [][]arm.Row
	masses  []float64 // of each
}

// add takes a flight under a payload, kg.
func (a *adapter) add(rows []arm.Row, mass float64) {
	T := a.model.Net.Context
	for k := T; k < len(rows); k++ {
		a.windows, a.masses = append(a.windows, rows[k-T:k+1]), append(a.masses, mass)
	}
}

// learn descends the squared error of the code. It returns the root mean squared error in the end, kg.
func (a *adapter) learn(updates int) float64 {
	const batch, rate = 256, 2e-3
	net, A := a.model.Net, arm.Joints
	Z := net.Latent
	w, tape := a.model.NewWindows(batch), net.NewEncoderTape(batch)
	adam := layers.NewAdam[float32](len(net.Params))
	z, want, dz, grad := make([]float32, batch*Z), make([]float32, batch*Z), make([]float32, batch*Z),
		make([]float32, len(net.Params))
	w.Reset(batch)
	square := 1.
	for k := range updates {
		for i := range batch {
			at := a.rng.IntN(len(a.windows))
			measured, actions := armlearning.Prior.Flatten(a.windows[at])
			w.Set(i, measured, actions[:net.Context*A])
			code(a.masses[at], want[i*Z:][:Z])
		}
		net.EncodeTape(tape, batch, w.Features, z)
		clear(grad)
		loss := layers.SquaredError(batch, Z, z, want, nil, 1./batch, dz)
		net.EncodeBackward(tape, w.Features, dz, grad)
		adam.Update(net.Params, grad, layers.Schedule{Rate: rate, Total: updates}.At(k))
		net.Refresh()
		square += (loss - square) / 20
	}
	return arm.MaxPayload / 2 * math.Sqrt(square)
}
