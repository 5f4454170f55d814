package vnd

import (
	"slices"

	"vnd/pkg/kernel"
	"vnd/pkg/learned"
	"vnd/pkg/model"
	"vnd/pkg/nn"
)

// tile is how many rollouts run side by side: enough rows for the matrix products, few enough that the tape of 50 steps
// stays near the cache.
const tile = 64

// Losses are the parts of the objective, averaged over a batch.
type Losses struct {
	Dynamics       float64 `json:"dynamics"`
	Reconstruction float64 `json:"reconstruction"`
	MMD            float64 `json:"mmd"`
	Total          float64 `json:"total"`
}

// batch is what one update trains on. The trainer alone draws it, so that it is the same for any number of workers.
type batch[F kernel.Float] struct {
	starts   []start
	gains    []float64 // [B] factor on the drifting actions of each context
	samples  []F       // [B][Z] of N(0, I), for the MMD
	z, dz    []F       // [B][Z] latents and their gradient
	H        int       // steps of the rollouts
	member   int       // of the ensemble
	anchored bool
	mmd      float64 // λ_mmd
}

// shard is one worker's share of a batch: contexts lo … hi−1, their losses and their gradient.
type shard[F kernel.Float] struct {
	cfg    *Config
	m      *learned.Model[F]
	data   *dataset
	scale  []F // [H][U] √weight / unit of each error: |scale·e| is the normalised error
	lo, hi int

	grad    []F
	windows *learned.Windows[F]
	encoder *model.EncoderTape[F]
	decoder *model.DecoderTape[F]
	mmd     *nn.MMD[F]
	window  []F // [B][T·C] reconstruction target, batch first
	decoded []F
	weight  []F // [tile] anchor weight

	rollout      *learned.Rollout[F] // of one member, with its way back
	mean         *learned.Rollout[F] // of the ensemble
	states       []F                 // [H+1][tile][S]
	actions      []F                 // [H][tile][A]
	targets      []F                 // [H][tile][M]
	conf         []F                 // [H][tile]
	errors       []F                 // [H][tile][U], then their gradients
	zero         []F                 // [tile][U]
	ds, dnext    []F                 // [tile][S]
	measured     []F                 // one window, [T+1][M]
	windowAction []F                 // [T][A]
}

// newShard allocates for contexts lo … hi−1 of batches of B, with rollouts up to H steps.
func newShard[F kernel.Float](cfg *Config, m *learned.Model[F], data *dataset, scale []F, lo, hi, B, H int) *shard[F] {
	d, T, n, tb := m.System.Dims(), m.Net.Context, hi-lo, min(tile, hi-lo)
	s := &shard[F]{cfg: cfg, m: m, data: data, scale: scale, lo: lo, hi: hi,
		grad: make([]F, len(m.Net.Params)), windows: m.NewWindows(n), weight: make([]F, tb),
		rollout: m.NewRollout(tb, H), mean: m.NewMeanRollout(tb, H),
		states: make([]F, (H+1)*tb*d.State), actions: make([]F, H*tb*d.Action), targets: make([]F, H*tb*d.Measured),
		conf: make([]F, H*tb), errors: make([]F, H*tb*d.Tangent), zero: make([]F, tb*d.Tangent),
		ds: make([]F, tb*d.State), dnext: make([]F, tb*d.State),
		measured: make([]F, (T+1)*d.Measured), windowAction: make([]F, T*d.Action)}
	if m.Net.Latent > 0 {
		s.encoder, s.mmd = m.Net.NewEncoderTape(n), nn.NewMMD[F](B, m.Net.Latent)
	}
	if m.Net.DecoderHidden > 0 {
		s.decoder = m.Net.NewDecoderTape(n)
		s.window, s.decoded = make([]F, n*T*d.Context), make([]F, n*T*d.Context)
	}
	return s
}

// encode reads the windows of the shard's contexts and writes their latents, with a tape.
func (s *shard[F]) encode(b *batch[F]) {
	Z := s.m.Net.Latent
	s.read(b.starts[s.lo:s.hi], b.gains[s.lo:s.hi])
	if Z > 0 {
		s.m.Net.EncodeTape(s.encoder, s.hi-s.lo, s.windows.Features, b.z[s.lo*Z:s.hi*Z])
	}
}

// read fills the windows. gains may be nil for ones.
func (s *shard[F]) read(starts []start, gains []float64) {
	d, T := s.m.System.Dims(), s.m.Net.Context
	s.windows.Reset(len(starts))
	for i, st := range starts {
		g, k := &s.data.segments[st.Segment], int(st.At)
		convert(s.measured, g.measured[(k-T)*d.Measured:(k+1)*d.Measured])
		convert(s.windowAction, g.actions[(k-T)*d.Action:k*d.Action])
		s.vary(s.windowAction, gains, i)
		s.windows.Set(i, s.measured, s.windowAction)
	}
}

// vary multiplies the drifting channels of rows of actions: the encoder learns to read the gain of a session that it has
// not seen.
func (s *shard[F]) vary(actions []F, gains []float64, i int) {
	if gains == nil {
		return
	}
	A, sp := s.m.System.Dims().Action, s.m.System.GainDrift()
	for k := 0; k < len(actions); k += A {
		for j := sp.Lo; j < sp.Hi; j++ {
			actions[k+j] *= F(gains[i])
		}
	}
}

func convert[F kernel.Float](dst []F, src []float32) {
	for i, x := range src {
		dst[i] = F(x)
	}
}

// gradient computes the shard's part of the losses, summed over its contexts, and of their gradient, into s.grad and b.dz.
// Every shard must have encoded.
func (s *shard[F]) gradient(b *batch[F]) (l Losses) {
	clear(s.grad)
	Z, B := s.m.Net.Latent, len(b.starts)
	z, dz, scale := b.z[s.lo*Z:s.hi*Z], b.dz[s.lo*Z:s.hi*Z], 1/float64(B)
	clear(dz)
	if s.decoder != nil {
		l.Reconstruction = s.reconstruct(z, dz, s.cfg.Loss.Reconstruction*scale)
	}
	if Z > 0 && b.mmd > 0 {
		l.MMD = s.mmd.Rows(B, s.lo, s.hi, b.z, b.samples, s.cfg.Loss.MMDSigma, b.mmd, b.dz) / b.mmd * float64(B)
	}
	for lo := s.lo; lo < s.hi; lo += tile {
		hi := min(lo+tile, s.hi)
		s.load(b.starts[lo:hi], b.gains[lo:hi], b.H)
		l.Dynamics += s.forward(s.rollout, b.member, lo-s.lo, b.z[lo*Z:hi*Z], hi-lo, b.H, b.anchored)
		s.backward(b.dz[lo*Z:hi*Z], hi-lo, b.H, b.anchored, scale)
	}
	if Z > 0 {
		s.m.Net.EncodeBackward(s.encoder, s.windows.Features, dz, s.grad)
	}
	return l
}

// reconstruct adds the gradient of scale·‖G(z) − norm(H)‖², averaged over the window's channels, and returns the summed
// square error per channel.
func (s *shard[F]) reconstruct(z, dz []F, scale float64) float64 {
	d, T, B := s.m.System.Dims(), s.m.Net.Context, s.hi-s.lo
	n := T * d.Context
	for b := range B {
		for t := range T {
			copy(s.window[b*n+t*d.Context:][:d.Context], s.windows.Features[(t*B+b)*d.Context:])
		}
	}
	s.m.Net.DecodeTape(s.decoder, B, z, s.decoded)
	each := scale / float64(n)
	sum := nn.SquaredError(B, n, s.decoded, s.window, nil, each, s.decoded)
	s.m.Net.DecodeBackward(s.decoder, z, s.decoded, dz, s.grad)
	return sum / scale
}

// load copies commands, targets and confidences of a tile, time-major. A doubtful transition casts doubt on all that
// follows it, a doubtful window on all of its rollout. gains may be nil for ones.
func (s *shard[F]) load(starts []start, gains []float64, H int) {
	d, B, T := s.m.System.Dims(), len(starts), s.m.Net.Context
	for b, st := range starts {
		g, k := &s.data.segments[st.Segment], int(st.At)
		conf := slices.Min(g.weight[k-T : k])
		for h := range H {
			row := h*B + b
			convert(s.actions[row*d.Action:], g.actions[(k+h)*d.Action:][:d.Action])
			s.vary(s.actions[row*d.Action:][:d.Action], gains, b)
			convert(s.targets[row*d.Measured:], g.measured[(k+h+1)*d.Measured:][:d.Measured])
			conf = min(conf, g.weight[k+h])
			s.conf[row] = F(conf)
		}
	}
}

// forward rolls a tile of B contexts out, whose windows begin at lo, and returns the sum over contexts of the mean
// normalised Huber loss; errors become gradients.
func (s *shard[F]) forward(r *learned.Rollout[F], member, lo int, z []F, B, H int, anchored bool) float64 {
	d := s.m.System.Dims()
	n := B * d.State
	copy(s.states[:n], s.windows.Start[lo*d.State:][:n])
	r.Begin(member, B, H, z)
	if anchored {
		r.Leftover(s.windows, lo)
		r.Anchor(s.ones(B))
	}
	sum := 0.
	for h := range H {
		next := s.states[(h+1)*n:][:n]
		r.Step(h, s.states[h*n:][:n], s.actions[h*B*d.Action:][:B*d.Action], next)
		sum += s.compare(h, B, next)
	}
	return sum / float64(H*d.Tangent)
}

// ones is the anchor's weight in training.
func (s *shard[F]) ones(B int) []F {
	for b := range B {
		s.weight[b] = 1
	}
	return s.weight[:B]
}

// compare writes the gradient of step h's normalised Huber loss to s.errors and returns the loss.
func (s *shard[F]) compare(h, B int, next []F) float64 {
	d := s.m.System.Dims()
	e, scale := s.errors[h*B*d.Tangent:][:B*d.Tangent], s.scale[h*d.Tangent:][:d.Tangent]
	s.m.System.Minus(B, next, d.State, s.targets[h*B*d.Measured:], d.Measured, e)
	for i := range e {
		e[i] *= scale[i%d.Tangent]
	}
	sum := nn.Huber(B, d.Tangent, e, s.zero, s.conf[h*B:][:B], s.cfg.Loss.Huber, 1, e)
	for i := range e {
		e[i] *= scale[i%d.Tangent]
	}
	return sum
}

// backward pulls the tile's errors back to the weights and to its latents.
func (s *shard[F]) backward(dz []F, B, H int, anchored bool, scale float64) {
	d := s.m.System.Dims()
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
	if anchored {
		s.rollout.AnchorBackward(s.ones(B))
	}
	s.rollout.Grads(anchored, dz, s.grad)
}
