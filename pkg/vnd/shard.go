package vnd

import (
	"math"
	"math/rand/v2"
	"slices"

	"vnd/pkg/kernel"
	"vnd/pkg/learned"
	"vnd/pkg/model"
	"vnd/pkg/nn"
)

// tile is how many rollouts run side by side: enough rows for the matrix products, few enough that the tape of 50 steps
// stays near the cache (measured: 32 and 64 alike, 128 a tenth slower).
const tile = 64

// Losses are the parts of the objective, averaged over a batch.
type Losses struct {
	Dynamics       float64 `json:"dynamics"`
	Reconstruction float64 `json:"reconstruction"`
	MMD            float64 `json:"mmd"`
	Total          float64 `json:"total"`
}

// shard computes one worker's share of an update: the losses of its contexts and their gradient.
type shard[F kernel.Float] struct {
	cfg   *Config
	m     *learned.Model[F]
	data  *dataset
	scale []F // [H][U] weight of each error: √weight / unit, so that |scale·e| is the normalised error
	rng   *rand.Rand

	grad    []F
	windows *learned.Windows[F]
	encoder *model.EncoderTape[F]
	decoder *model.DecoderTape[F]
	mmd     *nn.MMD[F]
	z, dz   []F // [B][Z]
	prior   []F // [B][Z] samples of N(0, I)
	window  []F // [B][T·C] reconstruction target, batch first
	decoded []F
	weight  []F // [B] anchor weight of each context
	gain    []F // [B] factor on the drifting actions of each context

	rollout      *learned.Rollout[F]
	states       []F // [H+1][tile][S]
	actions      []F // [H][tile][A]
	targets      []F // [H][tile][M]
	conf         []F // [H][tile]
	errors       []F // [H][tile][U], then their gradients
	ds, dnext    []F // [tile][S]
	measured     []F // one window, [T+1][M]
	windowAction []F // [T][A]
}

// newShard allocates for up to maxB contexts of rollouts up to maxH steps.
func newShard[F kernel.Float](cfg *Config, m *learned.Model[F], data *dataset, scale []F, maxB, maxH int, rng *rand.Rand) *shard[F] {
	d, T, Z := m.System.Dims(), m.Net.Context, m.Net.Latent
	tb := min(tile, maxB)
	s := &shard[F]{cfg: cfg, m: m, data: data, scale: scale, rng: rng,
		grad: make([]F, len(m.Net.Params)), windows: m.NewWindows(maxB), z: make([]F, maxB*Z), dz: make([]F, maxB*Z),
		prior: make([]F, maxB*Z), weight: make([]F, maxB), gain: make([]F, maxB), rollout: m.NewRollout(tb, maxH),
		states: make([]F, (maxH+1)*tb*d.State), actions: make([]F, maxH*tb*d.Action), targets: make([]F, maxH*tb*d.Measured),
		conf: make([]F, maxH*tb), errors: make([]F, maxH*tb*d.Tangent), ds: make([]F, tb*d.State), dnext: make([]F, tb*d.State),
		measured: make([]F, (T+1)*d.Measured), windowAction: make([]F, T*d.Action)}
	if Z > 0 {
		s.encoder, s.mmd = m.Net.NewEncoderTape(maxB), nn.NewMMD[F](maxB, Z)
	}
	if m.Net.DecoderHidden > 0 {
		s.decoder = m.Net.NewDecoderTape(maxB)
		s.window, s.decoded = make([]F, maxB*T*d.Context), make([]F, maxB*T*d.Context)
	}
	return s
}

// gradient computes losses and gradient (into s.grad, overwritten) of the contexts at `starts` with rollouts of H steps,
// for the given update. scale is 1/contexts of the whole batch; the MMD is taken within the shard.
func (s *shard[F]) gradient(starts []start, H, update int, lambdaMMD, scale float64) (l Losses) {
	clear(s.grad)
	s.drawGains(len(starts), s.cfg.Train.GainJitter)
	s.encode(starts)
	B, Z := len(starts), s.m.Net.Latent
	clear(s.dz[:B*Z])
	if s.decoder != nil {
		l.Reconstruction = s.reconstruct(B, s.cfg.Loss.Reconstruction*scale)
	}
	if Z > 0 && lambdaMMD > 0 {
		for i := range s.prior[:B*Z] {
			s.prior[i] = F(s.rng.NormFloat64())
		}
		weight := lambdaMMD * scale * float64(B)
		l.MMD = float64(B) / weight * s.mmd.Rows(B, 0, B, s.z, s.prior, s.cfg.Loss.MMDSigma, weight, s.dz)
	}
	s.drawAnchors(B, update)
	for lo := 0; lo < B; lo += tile {
		hi := min(lo+tile, B)
		s.load(starts[lo:hi], lo, H)
		l.Dynamics += s.forward(lo, hi-lo, H, s.rng.IntN(s.m.Net.Members))
		s.backward(lo, hi-lo, H, scale)
	}
	if Z > 0 {
		s.m.Net.EncodeBackward(s.encoder, s.windows.Features, s.dz, s.grad)
	}
	return l
}

// drawAnchors decides which tiles carry the anchor: every 1/share-th of all the shard's tiles, so that shards keep step.
func (s *shard[F]) drawAnchors(B, update int) {
	tiles := (B + tile - 1) / tile
	for lo := 0; lo < B; lo += tile {
		n, share := float64(update*tiles+lo/tile), s.cfg.Anchor.Share
		on := F(math.Floor((n+1)*share) - math.Floor(n*share))
		for b := lo; b < min(lo+tile, B); b++ {
			s.weight[b] = on
		}
	}
}

// drawGains draws the factors by which each context's drifting actions are recorded wrongly: the encoder learns to read
// the gain of a session that it has not seen.
func (s *shard[F]) drawGains(B int, jitter float64) {
	for b := range B {
		s.gain[b] = F(math.Exp(jitter * s.rng.NormFloat64()))
	}
}

// vary multiplies the drifting channels of rows of actions.
func (s *shard[F]) vary(actions []F, gain F) {
	d, sp := s.m.System.Dims(), s.m.System.GainDrift()
	for i := 0; i < len(actions); i += d.Action {
		for j := sp.Lo; j < sp.Hi; j++ {
			actions[i+j] *= gain
		}
	}
}

// encode reads the windows and writes z with a tape.
func (s *shard[F]) encode(starts []start) {
	B, d, T := len(starts), s.m.System.Dims(), s.m.Net.Context
	s.windows.Reset(B)
	for b, st := range starts {
		g, k := &s.data.segments[st.Segment], int(st.At)
		convert(s.measured, g.measured[(k-T)*d.Measured:(k+1)*d.Measured])
		convert(s.windowAction, g.actions[(k-T)*d.Action:k*d.Action])
		s.vary(s.windowAction, s.gain[b])
		s.windows.Set(b, s.measured, s.windowAction)
	}
	if s.m.Net.Latent > 0 {
		s.m.Net.EncodeTape(s.encoder, B, s.windows.Features, s.z)
	}
}

func convert[F kernel.Float](dst []F, src []float32) {
	for i, x := range src {
		dst[i] = F(x)
	}
}

// reconstruct adds λ_rec ‖G(z) − norm(H)‖² to dz and the gradient, and returns the summed square error per channel.
func (s *shard[F]) reconstruct(B int, scale float64) float64 {
	d, T := s.m.System.Dims(), s.m.Net.Context
	n := T * d.Context
	for b := range B {
		for t := range T {
			copy(s.window[b*n+t*d.Context:][:d.Context], s.windows.Features[(t*B+b)*d.Context:])
		}
	}
	s.m.Net.DecodeTape(s.decoder, B, s.z, s.decoded)
	dy := s.decoded[:B*n]
	sum := 0.
	for i := range dy {
		e := dy[i] - s.window[i]
		sum += float64(e) * float64(e)
		dy[i] = F(2 * scale / float64(n) * float64(e))
	}
	s.m.Net.DecodeBackward(s.decoder, s.z, dy, s.dz, s.grad)
	return sum / float64(n)
}

// load copies commands, targets and confidences of a tile, time-major. A doubtful transition casts doubt on all that
// follows it, a doubtful window on all of its rollout.
func (s *shard[F]) load(starts []start, lo, H int) {
	d, B := s.m.System.Dims(), len(starts)
	for b, st := range starts {
		g, k := &s.data.segments[st.Segment], int(st.At)
		conf := slices.Min(g.weight[k-s.m.Net.Context : k])
		for h := range H {
			row := h*B + b
			convert(s.actions[row*d.Action:], g.actions[(k+h)*d.Action:][:d.Action])
			s.vary(s.actions[row*d.Action:][:d.Action], s.gain[lo+b])
			convert(s.targets[row*d.Measured:], g.measured[(k+h+1)*d.Measured:][:d.Measured])
			conf = min(conf, g.weight[k+h])
			s.conf[row] = F(conf)
		}
	}
}

// forward rolls a tile out and returns the sum over contexts of the mean normalised Huber loss; errors become gradients.
func (s *shard[F]) forward(lo, B, H, member int) float64 {
	d, Z := s.m.System.Dims(), s.m.Net.Latent
	n := B * d.State
	copy(s.states[:n], s.windows.Start[lo*d.State:][:n])
	s.rollout.Begin(member, B, H, s.z[lo*Z:(lo+B)*Z])
	if s.weight[lo] > 0 {
		s.rollout.Leftover(s.windows, lo)
		s.rollout.Anchor(s.weight[lo : lo+B])
	}
	sum := 0.
	for h := range H {
		next := s.states[(h+1)*n:][:n]
		s.rollout.Step(h, s.states[h*n:][:n], s.actions[h*B*d.Action:][:B*d.Action], next)
		sum += s.compare(h, B, next)
	}
	return sum / float64(H*d.Tangent)
}

// compare writes the gradient of step h's normalised Huber loss to s.errors and returns the loss.
func (s *shard[F]) compare(h, B int, next []F) (sum float64) {
	d, delta := s.m.System.Dims(), F(s.cfg.Loss.Huber)
	e := s.errors[h*B*d.Tangent:][:B*d.Tangent]
	s.m.System.Minus(B, next, d.State, s.targets[h*B*d.Measured:], d.Measured, e)
	for b := range B {
		w := s.conf[h*B+b]
		for j := range d.Tangent {
			k := s.scale[h*d.Tangent+j]
			x := e[b*d.Tangent+j] * k
			switch {
			case x > delta:
				sum += float64(w * delta * (x - delta/2))
				x = delta
			case x < -delta:
				sum += float64(w * delta * (-x - delta/2))
				x = -delta
			default:
				sum += float64(w * x * x / 2)
			}
			e[b*d.Tangent+j] = w * x * k
		}
	}
	return sum
}

// backward pulls the tile's errors back to the weights and the latents.
func (s *shard[F]) backward(lo, B, H int, scale float64) {
	d, Z := s.m.System.Dims(), s.m.Net.Latent
	n, u := B*d.State, B*d.Tangent
	f := F(scale / float64(H*d.Tangent))
	dnext, ds := s.dnext[:n], s.ds[:n]
	clear(dnext)
	for h := H - 1; h >= 0; h-- {
		de := s.errors[h*u:][:u]
		for i := range de {
			de[i] *= f
		}
		s.m.System.MinusVJP(B, s.states[(h+1)*n:][:n], d.State, s.targets[h*B*d.Measured:], d.Measured, de, dnext)
		clear(ds)
		s.rollout.Backward(h, dnext, ds, nil)
		dnext, ds = ds, dnext
	}
	anchored := s.weight[lo] > 0
	if anchored {
		s.rollout.AnchorBackward(s.weight[lo : lo+B])
	}
	s.rollout.Grads(anchored, s.dz[lo*Z:(lo+B)*Z], s.grad)
}
