package fit

import (
	"errors"
	"math"
	"slices"
)

const (
	validations        = 25   // per fit
	validationContexts = 2048 // at most
)

// validate scores the averaged weights on the validation flights and keeps them when they are the best since the
// training has settled. The loss is that of training at full horizon under the mean of the ensemble, every other
// context with the bias correction.
func (t *trainer) validate() error {
	if len(t.val[1]) == 0 {
		return nil
	}
	loss, err := t.score(t.val, t.state.Average)
	if err != nil {
		return err
	}
	t.state.Newest = loss
	if t.share() >= t.cfg.Train.Settle && loss < t.state.BestLoss {
		t.state.BestLoss, t.state.BestUpdate, t.state.BestShare = loss, t.state.Update, t.share()
		t.state.Best = append(t.state.Best[:0], t.state.Average...)
	}
	return nil
}

// score is the loss under given weights, without the bias correction on one half of the contexts and with it on the
// other.
func (t *trainer) score(halves [2][]start, weights []float32) (float64, error) {
	net := t.model.Net
	raw := net.Params
	net.Params = weights
	net.Refresh()
	bare, err := t.pool.loss(halves[0], t.cfg.Loss.Steps, false)
	corrected, err2 := t.pool.loss(halves[1], t.cfg.Loss.Steps, true)
	net.Params = raw
	net.Refresh()
	return (bare + corrected) / 2, errors.Join(err, err2)
}

// scoreUnseen makes the loss of the model to go on from, on the recordings that it was not fitted to, the first
// validation.
func (t *trainer) scoreUnseen() error {
	if t.opt.From == nil || t.state.Update > 0 {
		return nil
	}
	all := t.data.starts(t.cfg.Model.Context, t.cfg.Loss.Steps, 1, func(int) bool { return true })
	learned := len(t.data.segments) - t.opt.Unseen
	unseen := slices.DeleteFunc(all, func(s start) bool { return int(s.Segment) < learned })
	halves := alternate(thin(unseen, validationContexts))
	if len(halves[1]) == 0 {
		return nil
	}
	var err error
	t.state.Newest, err = t.score(halves, t.model.Net.Params)
	return err
}

// alternate deals starts to the two halves of validation.
func alternate(starts []start) (out [2][]start) {
	for i, s := range starts {
		out[i%2] = append(out[i%2], s)
	}
	return out
}

// loss is the summed loss of the contexts under the mean of the ensemble.
func (w *worker[F]) loss(starts []start, H int, corrected bool) (sum float64) {
	w.eachTile(starts, func(part []start, z []F) {
		w.load(part, nil, H)
		sum += w.forward(w.mean, w.own.windows, 0, 0, z, len(part), H, corrected)
	})
	return sum
}

// eachTile encodes contexts tile by tile, as they were recorded.
func (w *worker[F]) eachTile(starts []start, visit func(part []start, z []F)) {
	z := make([]F, len(w.weight)*w.m.Net.Latent)
	for part := range slices.Chunk(starts, len(w.weight)) {
		w.read(w.own, part, nil)
		if w.m.Net.Latent > 0 {
			w.m.Net.Encode(w.own.encoder, len(part), w.own.windows.Features, z)
		}
		visit(part, z[:len(part)*w.m.Net.Latent])
	}
}

// latents encodes contexts, [N][Z].
func (t *trainer) latents(starts []start) []float32 {
	Z := t.model.Net.Latent
	out, parts := make([]float32, len(starts)*Z), (len(starts)+tile-1)/tile
	t.pool.eachOf(parts, func(w *worker[float32], k int) {
		at := k * len(starts) / parts
		w.eachTile(starts[at:(k+1)*len(starts)/parts], func(part []start, z []float32) {
			at += copy(out[at*Z:], z) / max(Z, 1)
		})
	})
	return out
}

// known is the share of windows of known flights whose residual ratio is at most 1.
const known = .98

// scaleResiduals sets the model's unit of residual means: their RMS over the windows, times what makes the ratio of
// a share `known` of them at most 1.
func (t *trainer) scaleResiduals(starts []start) {
	U := t.model.System.Dims().Tangent
	left, parts := make([]float32, len(starts)*U), (len(starts)+tile-1)/tile
	t.pool.eachOf(parts, func(w *worker[float32], k int) {
		at := k * len(starts) / parts
		w.eachTile(starts[at:(k+1)*len(starts)/parts], func(part []start, z []float32) {
			w.mean.Begin(0, len(part), 1, z)
			at += copy(left[at*U:], w.mean.ResidualMean(w.own.windows, 0)) / U
		})
	})
	unit := t.model.ResidualScale
	for j := range unit {
		sum := 0.
		for i := j; i < len(left); i += U {
			sum += float64(left[i]) * float64(left[i])
		}
		unit[j] = float32(math.Sqrt(sum * float64(U) / float64(len(left))))
	}
	var ratios []float32
	for i := 0; i < len(left); i += U {
		ratios = append(ratios, t.model.ResidualRatio(left[i:i+U]))
	}
	slices.Sort(ratios)
	for j := range unit {
		unit[j] *= ratios[int(known*float64(len(ratios)-1))]
	}
}
