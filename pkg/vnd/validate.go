package vnd

import (
	"math"
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
			sum += s.forward(lo, hi-lo, H, lo/tile)
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

// leftovers sets the model's Leftover: the RMS of the windows' mean leftovers.
func (t *trainer) leftovers(starts []start) {
	s, d := t.shards[0], t.model.System.Dims()
	sum := make([]float64, d.Tangent)
	n := 0
	for lo := 0; lo < len(starts); lo += tile {
		part := starts[lo:min(lo+tile, len(starts), lo+cap(s.weight))]
		s.drawGains(len(part), 0)
		s.encode(part)
		s.rollout.Begin(0, len(part), s.z)
		for i, c := range s.rollout.Leftover(0, s.windows, 0) {
			sum[i%d.Tangent] += float64(c) * float64(c)
		}
		n += len(part)
	}
	for j := range sum {
		t.model.Leftover[j] = float32(math.Sqrt(sum[j] / float64(n)))
	}
}
