package vnd

import (
	"math"
	"slices"
	"sync"
	"time"

	"vnd/pkg/kernel"
	"vnd/pkg/quad"
	"vnd/pkg/transition"
)

const (
	validations        = 25   // per fit
	validationContexts = 2048 // at most
)

// validate scores the averaged weights on the validation flights and keeps them when they are the best so far. The loss
// is that of training at full horizon, half of the rollouts with the anchor.
func (t *trainer) validate() {
	if len(t.val) == 0 {
		return
	}
	raw := t.model.Net.Params
	t.model.Net.Params = t.state.Average
	loss := t.loss(t.val)
	t.model.Net.Params = raw
	t.state.Newest = loss
	if loss < t.state.BestLoss {
		t.state.BestLoss, t.state.BestUpdate = loss, t.state.Update
		t.state.Best = append(t.state.Best[:0], t.state.Average...)
	}
}

// loss is the mean normalised loss over contexts.
func (t *trainer) loss(starts []start) float64 {
	n := len(t.shards)
	sums := make([]float64, n)
	var wg sync.WaitGroup
	for k, s := range t.shards {
		part := starts[k*len(starts)/n : (k+1)*len(starts)/n]
		wg.Go(func() { sums[k] = s.loss(part, t.cfg.Loss.Steps, cap(s.weight)) })
	}
	wg.Wait()
	total := 0.
	for _, x := range sums {
		total += x
	}
	return total / float64(len(starts))
}

// loss is the summed loss of the contexts, at most chunk of them at a time.
func (s *shard[F]) loss(starts []start, H, chunk int) (sum float64) {
	for len(starts) > 0 {
		part := starts[:min(chunk, len(starts))]
		starts = starts[len(part):]
		s.drawGains(len(part), 0)
		s.encode(part)
		for b := range part {
			s.weight[b] = F(b / tile % 2)
		}
		for lo := 0; lo < len(part); lo += tile {
			hi := min(lo+tile, len(part))
			s.load(part[lo:hi], lo, H)
			sum += s.forward(lo, hi-lo, H, lo/tile%s.m.Net.Members)
		}
	}
	return sum
}

// tell reports progress.
func (t *trainer) tell(share float64) {
	if t.opt.Progress == nil {
		return
	}
	left := time.Duration(0)
	if share > 0 {
		left = time.Duration(float64(t.state.Elapsed) * (1 - share) / share)
	}
	v := t.state.Newest
	if math.IsInf(t.state.BestLoss, 1) {
		v = math.NaN()
	}
	t.opt.Progress(Progress{Phase: "fit", Share: share, Update: t.state.Update, Horizon: t.horizon(share),
		Losses: t.state.Recent, Validation: v, Left: left})
}

func (t *trainer) metrics() Metrics {
	held := make([]bool, len(t.data.flights))
	for _, st := range t.val {
		held[t.data.segments[st.Segment].flight] = true
	}
	m := Metrics{Updates: t.state.Update, Contexts: len(t.train), Seconds: t.state.Elapsed.Seconds(),
		Compressed: t.state.Update < t.cfg.Train.Updates, Losses: t.state.Recent, BestUpdate: t.state.BestUpdate,
		ValidationFlights: t.data.flightNames(held), Kernel: kernel.Name(), Workers: len(t.shards), Seed: t.opt.Seed}
	if t.state.Best != nil {
		m.Validation = t.state.BestLoss
	}
	return m
}

func steps(segs []transition.Segment) [][]quad.Step {
	out := make([][]quad.Step, len(segs))
	for i, s := range segs {
		for _, r := range s.Rows {
			out[i] = append(out[i], r.Step)
		}
	}
	return out
}

// known is the share of windows of known flights whose surprise is at most 1.
const known = .98

// leftovers sets the model's unit of leftovers: their RMS over the windows, times what makes the surprise of a share
// `known` of them at most 1.
func (t *trainer) leftovers(starts []start) {
	s, U := t.shards[0], t.model.System.Dims().Tangent
	var left []float32
	for len(starts) > 0 {
		part := starts[:min(len(starts), tile, cap(s.weight))]
		starts = starts[len(part):]
		s.drawGains(len(part), 0)
		s.encode(part)
		s.rollout.Begin(0, len(part), 1, s.z[:len(part)*t.model.Net.Latent])
		left = append(left, s.rollout.Leftover(s.windows, 0)...)
	}
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
