package vnd

import (
	"math"
	"slices"
	"sync"
)

const (
	validations        = 25   // per fit
	validationContexts = 2048 // at most
)

// validate scores the averaged weights on the validation flights and keeps them when they are the best since the training
// has settled. The loss
// is that of training at full horizon under the mean of the ensemble, every other context with the anchor.
func (t *trainer) validate() {
	if len(t.val[1]) == 0 {
		return
	}
	net := t.model.Net
	raw := net.Params
	net.Params = t.state.Average
	net.Refresh()
	loss := (t.loss(t.val[0], false) + t.loss(t.val[1], true)) / 2
	net.Params = raw
	net.Refresh()
	t.state.Newest = loss
	if t.share() >= t.cfg.Train.Settle && loss < t.state.BestLoss {
		t.state.BestLoss, t.state.BestUpdate, t.state.BestShare = loss, t.state.Update, t.share()
		t.state.Best = append(t.state.Best[:0], t.state.Average...)
	}
}

// alternate deals starts to the two halves of validation.
func alternate(starts []start) (out [2][]start) {
	for i, s := range starts {
		out[i%2] = append(out[i%2], s)
	}
	return out
}

// loss is the mean normalised loss over contexts.
func (t *trainer) loss(starts []start, anchored bool) float64 {
	n := len(t.shards)
	sums := make([]float64, n)
	var wg sync.WaitGroup
	for k, s := range t.shards {
		part := starts[k*len(starts)/n : (k+1)*len(starts)/n]
		wg.Go(func() { sums[k] = s.loss(part, t.cfg.Loss.Steps, anchored) })
	}
	wg.Wait()
	total := 0.
	for _, x := range sums {
		total += x
	}
	return total / float64(len(starts))
}

// loss is the summed loss of the contexts under the mean of the ensemble.
func (s *shard[F]) loss(starts []start, H int, anchored bool) (sum float64) {
	s.eachTile(starts, func(part []start, z []F) {
		s.load(part, nil, H)
		sum += s.forward(s.mean, 0, 0, z, len(part), H, anchored)
	})
	return sum
}

// eachTile encodes contexts tile by tile, as they were recorded.
func (s *shard[F]) eachTile(starts []start, visit func(part []start, z []F)) {
	z := make([]F, len(s.weight)*s.m.Net.Latent)
	for part := range slices.Chunk(starts, len(s.weight)) {
		s.read(part, nil)
		if s.m.Net.Latent > 0 {
			s.m.Net.Encode(s.encoder, len(part), s.windows.Features, z)
		}
		visit(part, z[:len(part)*s.m.Net.Latent])
	}
}

// known is the share of windows of known flights whose surprise is at most 1.
const known = .98

// leftovers sets the model's unit of leftovers: their RMS over the windows, times what makes the surprise of a share
// `known` of them at most 1.
func (t *trainer) leftovers(starts []start) {
	s, U := t.shards[0], t.model.System.Dims().Tangent
	var left []float32
	s.eachTile(starts, func(part []start, z []float32) {
		s.mean.Begin(0, len(part), 1, z)
		left = append(left, s.mean.Leftover(s.windows, 0)...)
	})
	unit := t.model.Leftover
	for j := range unit {
		sum := 0.
		for i := j; i < len(left); i += U {
			sum += float64(left[i]) * float64(left[i])
		}
		unit[j] = float32(math.Sqrt(sum * float64(U) / float64(len(left))))
	}
	var surprise []float32
	for i := 0; i < len(left); i += U {
		surprise = append(surprise, t.model.Surprise(left[i:i+U]))
	}
	slices.Sort(surprise)
	for j := range unit {
		unit[j] *= surprise[int(known*float64(len(surprise)-1))]
	}
}
