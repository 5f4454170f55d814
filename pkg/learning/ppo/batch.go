package ppo

import (
	"math"
	"math/rand/v2"
)

// batch is an iteration: H steps of N worlds.
type batch struct {
	N, H, O, V, A int
	x, v          []float32 // [H][N][O] and [H+1][N][V], normalised
	u, old        []float32 // [H][N][A] actions, and [H][N] their log-probabilities
	reward, value []float32 // [H][N] and [H+1][N]
	end           []End     // [H][N]
	gain, target  []float32 // [H][N] advantages, and returns for the critic

	seen, known statistics // of all that was observed

	last     []float32 // [N][O] of the step that begins the next iteration
	within   []float32 // [N][A] actions as the world takes them
	sums     []float64 // [N] rewards of the episodes that go on
	returns  float64   // of those that ended
	episodes int
}

func newBatch(w World, H int) *batch {
	O, V, A := w.Sizes()
	N := w.Size()
	floats := func(n int) []float32 { return make([]float32, n) }
	return &batch{N: N, H: H, O: O, V: V, A: A, x: floats(H * N * O), v: floats((H + 1) * N * V), u: floats(H * N * A),
		old: floats(H * N), reward: floats(H * N), value: floats((H + 1) * N), end: make([]End, H*N),
		gain: floats(H * N), target: floats(H * N), last: floats(N * O), within: floats(N * A),
		sums: make([]float64, N)}
}

// collect acts in the world for H steps.
func (b *batch) collect(l *learner[float32], w World, rng *rand.Rand) error {
	b.returns, b.episodes = 0, 0
	for h := range b.H {
		lo, hi := h*b.N, (h+1)*b.N
		x, v := b.x[lo*b.O:hi*b.O], b.v[lo*b.V:hi*b.V]
		w.Observe(x, v)
		b.seen.add(x, b.O)
		b.known.add(v, b.V)
		l.act(x, rng, b.u[lo*b.A:hi*b.A], b.old[lo:hi])
		l.judge(v, b.value[lo:hi])
		for i, u := range b.u[lo*b.A : hi*b.A] {
			b.within[i] = min(max(u, -1), 1)
		}
		if err := w.Step(b.within, b.reward[lo:hi], b.end[lo:hi]); err != nil {
			return err
		}
		for i := range b.N {
			if b.sums[i] += float64(b.reward[lo+i]); b.end[lo+i] != GoesOn {
				b.returns += b.sums[i]
				b.episodes++
				b.sums[i] = 0
			}
		}
	}
	rest := b.v[b.H*b.N*b.V:]
	w.Observe(b.last, rest)
	l.judge(rest, b.value[b.H*b.N:])
	return nil
}

// estimate writes advantages and returns (Schulman et al., 2016). Where an episode was cut, the value before its last
// step stands for the one after it, which nobody has seen.
func (b *batch) estimate(c *Config) {
	discount, decay := float32(c.Discount), float32(c.Discount*c.Lambda)
	for i := range b.N {
		var gain float32
		for h := b.H - 1; h >= 0; h-- {
			k := h*b.N + i
			next := b.value[k+b.N]
			switch b.end[k] {
			case Over:
				next, gain = 0, 0
			case Cut:
				next, gain = b.value[k], 0
			}
			gain = b.reward[k] + discount*next - b.value[k] + decay*gain
			b.gain[k], b.target[k] = gain, gain+b.value[k]
		}
	}
	standardise(b.gain)
}

// standardise gives x mean 0 and deviation 1.
func standardise(x []float32) {
	var mean, square float64
	for _, v := range x {
		mean += float64(v) / float64(len(x))
	}
	for _, v := range x {
		square += (float64(v) - mean) * (float64(v) - mean) / float64(len(x))
	}
	scale := 1 / (math.Sqrt(square) + 1e-8)
	for i, v := range x {
		x[i] = float32((float64(v) - mean) * scale)
	}
}

func (b *batch) progress() (p Progress) {
	for _, r := range b.reward {
		p.Reward += float64(r) / float64(len(b.reward))
	}
	p.Episodes, p.Return = b.episodes, b.returns/float64(b.episodes)
	return p
}
