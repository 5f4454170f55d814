package pushing

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/layers"
	"vnd/pkg/vnd"
)

// rma is rapid motor adaptation (A. Kumar et al., "RMA: rapid motor adaptation for legged robots", 2021): a reader
// learns from what policies see what the oracle is informed of, in pushes of the oracle that it informs itself.
func (b *Budget) rma(ctx context.Context, oracle *vnd.Actor[float32]) (Method, error) {
	r, err := newReader(oracle, b.Seed)
	if err != nil {
		return Method{}, err
	}
	m := Method{Name: "RMA", Policy: oracle, Informed: true, Reader: r}
	l := &lessons{reader: r, rng: rand.New(rand.NewPCG(b.Seed, 11))}
	const rounds = 3
	for range rounds {
		if err := b.watch(&m, l); err != nil {
			return m, err
		}
		b.Progress("RMA: the reader errs by %.3f of what is hidden", l.learn(b.Fit.Train.Updates))
	}
	return m, ctx.Err()
}

// Reader reads what is hidden from what a policy sees.
type Reader struct{ *vnd.Actor[float32] }

// newReader makes one that has learned nothing, for a policy that is informed.
func newReader(informed *vnd.Actor[float32], seed uint64) (*Reader, error) {
	hidden := make([]float32, informed.Size()-pushcontrol.Sees)
	one := slices.Repeat([]float32{1}, len(hidden))
	a, err := vnd.NewActor(pushcontrol.Sees, 0, hidden, one, []int{128, 64})
	if err != nil {
		return nil, err
	}
	a.Net.Init(rand.New(rand.NewPCG(seed, 10)), hidden)
	copy(a.Norm.Mean, informed.Norm.Mean)
	copy(a.Norm.Scale, informed.Norm.Scale)
	return &Reader{a}, nil
}

// over returns what replaces the last numbers of x[n][O], the truth, by what is read from those before them.
func (r *Reader) over(n int) func(x []float32) {
	p, hidden := pushcontrol.NewPolicy(r.Actor, n), r.Net.Actions
	seen, read := make([]float32, n*pushcontrol.Sees), make([]float32, n*hidden)
	row := func(x []float32, i int) []float32 { return x[i*(pushcontrol.Sees+hidden):][:pushcontrol.Sees+hidden] }
	return func(x []float32) {
		for i := range n {
			copy(seen[i*pushcontrol.Sees:][:pushcontrol.Sees], row(x, i))
		}
		p.Act(seen, read)
		for i := range n {
			copy(row(x, i)[pushcontrol.Sees:], read[i*hidden:])
		}
	}
}

// lessons are what a reader learns from.
type lessons struct {
	reader *Reader
	rng    *rand.Rand
	rows   [][]float32 // of what was seen, and the truth behind it
}

// watch has a method push hidden boxes for the length of an episode, and keeps some rows.
func (b *Budget) watch(m *Method, l *lessons) error {
	const every = 4 // steps
	real, err := NewReal(b.Oracle.Worlds, kernel.Workers(), drawn)
	if err != nil {
		return err
	}
	defer real.Close()
	e, err := pushlearning.NewEpisodes(m.task(b.Task), real, l.rng)
	if err != nil {
		return err
	}
	a := m.acting(e)
	step, inform := 0, a.Inform
	a.Inform = func(x []float32) {
		if step++; step%every == 0 {
			l.rows = slices.AppendSeq(l.rows, slices.Chunk(slices.Clone(x), len(x)/e.Size()))
		}
		inform(x)
	}
	for range b.Task.Steps {
		if a.Decide(); err == nil {
			err = a.Step()
		}
	}
	return err
}

// learn descends the squared error of what is read. It returns the root of its mean in the end.
func (l *lessons) learn(updates int) float64 {
	const batch, rate, S = 256, 1e-3, pushcontrol.Sees
	net := l.reader.Net
	Z, tape, adam := net.Actions, net.NewTape(batch, 1), layers.NewAdam[float32](len(net.Params))
	seen, dx, grad := make([]float32, batch*S), make([]float32, batch*S), make([]float32, len(net.Params))
	z, want, dz := make([]float32, batch*Z), make([]float32, batch*Z), make([]float32, batch*Z)
	square := 1.
	for k := range updates {
		for i := range batch {
			row := l.rows[l.rng.IntN(len(l.rows))]
			copy(want[i*Z:], row[copy(seen[i*S:][:S], row):])
		}
		l.reader.Norm.ApplyCut(seen)
		net.Forward(tape, 0, batch, seen, z)
		loss := layers.SquaredError(batch, Z, z, want, nil, 1./batch, dz)
		clear(grad)
		net.Backward(tape, 0, dz, dx)
		net.Grads(tape, 1, grad)
		adam.Update(net.Params, grad, layers.Schedule{Rate: rate, Total: updates}.At(k))
		net.Refresh()
		square += (loss/float64(Z) - square) / 20
	}
	return math.Sqrt(square)
}
