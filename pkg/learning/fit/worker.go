package fit

import (
	"slices"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/layers"
	"vnd/pkg/nn/nets"
	"vnd/pkg/vnd"
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

// batch is what one update trains on. The trainer alone draws it.
type batch[F kernel.Float] struct {
	starts    []start
	gains     []float64 // [B] factor on the drifting actions of each context
	samples   []F       // [B][Z] of N(0, I), for the MMD
	z, dz     []F       // [B][Z] latents and their gradient
	H         int       // steps of the rollouts
	member    int       // of the ensemble
	corrected bool
	mmd       float64 // λ_mmd
}

// shard is a share of a batch, contexts lo … hi−1, with their windows and what is kept of encoding them. How a batch is
// cut follows from its size alone, and the shards' gradients are added in order: a fit is the same for any number of
// threads and of processes.
type shard[F kernel.Float] struct {
	lo, hi  int
	grad    []F
	windows *vnd.Windows[F]
	encoder *nets.EncoderTape[F]
}

// shardCount is how many a batch is cut into: of 64 contexts or more where that makes four, else of 32 or more, below
// which matrix products are slow; at most 16, since each keeps a gradient.
func shardCount(batch int) int { return max(1, min(batch/tile, 16), min(batch/(tile/2), 4)) }

// newShard allocates for contexts lo … hi−1.
func newShard[F kernel.Float](m *vnd.Model[F], lo, hi int, grad []F) *shard[F] {
	p := &shard[F]{lo: lo, hi: hi, grad: grad, windows: m.NewWindows(hi - lo)}
	if m.Net.Latent > 0 {
		p.encoder = m.Net.NewEncoderTape(hi - lo)
	}
	return p
}

// worker is what one thread works shards through with.
type worker[F kernel.Float] struct {
	cfg   *Config
	m     *vnd.Model[F]
	nets  *nets.Net[F] // what gradients go through: m's, or the same parameters in bfloat16
	data  *trainingSet
	scale []F // [H][U] √weight / unit of each error: |scale·e| is the normalised error
	grown []F // [H][U][U] by which errors of a start grow, see growth; nil: starts have none
	each  []F // [H][tile][U] scale with what start and target of each context err by; nil: as grown

	decoder *nets.DecoderTape[F]
	mmd     *layers.MMD[F]
	window  []F // [rows][T·C] reconstruction target, batch first
	decoded []F
	own     *shard[F] // a tile outside of batches
	weight  []F       // [tile] bias correction weight

	rollout      *vnd.Rollout[F] // of one member, with its way back
	mean         *vnd.Rollout[F] // of the ensemble
	states       []F             // [H+1][tile][S]
	actions      []F             // [H][tile][A]
	targets      []F             // [H][tile][M]
	conf         []F             // [H][tile]
	errors       []F             // [H][tile][U], then their gradients
	zero         []F             // [tile][U]
	ds, dnext    []F             // [tile][S]
	measured     []F             // one window, [T+1][M]
	windowAction []F             // [T][A]
}

// newWorker allocates for shards of up to `rows` contexts of batches of B, with rollouts up to H steps, whose gradients
// go through rolled and what is validated through m.
func newWorker[F kernel.Float](cfg *Config, m, rolled *vnd.Model[F], data *trainingSet, s scales[F], rows, B,
	H int) *worker[F] {
	d, T, tb := m.System.Dims(), m.Net.Context, min(tile, B)
	w := &worker[F]{cfg: cfg, m: m, nets: rolled.Net, data: data, scale: s.unit, grown: s.grown,
		own: newShard(m, 0, tb, nil), weight: make([]F, tb),
		rollout: rolled.NewRollout(tb, H), mean: m.NewMeanRollout(tb, H),
		states: make([]F, (H+1)*tb*d.State), actions: make([]F, H*tb*d.Action), targets: make([]F, H*tb*d.Measured),
		conf: make([]F, H*tb), errors: make([]F, H*tb*d.Tangent), zero: make([]F, tb*d.Tangent),
		ds: make([]F, tb*d.State), dnext: make([]F, tb*d.State),
		measured: make([]F, (T+1)*d.Measured), windowAction: make([]F, T*d.Action)}
	if s.grown != nil {
		w.each = make([]F, H*tb*d.Tangent)
	}
	if m.Net.Latent > 0 {
		w.mmd = layers.NewMMD[F](B, m.Net.Latent)
	}
	if m.Net.DecoderHidden > 0 {
		w.decoder = m.Net.NewDecoderTape(rows)
		w.window, w.decoded = make([]F, rows*T*d.Context), make([]F, rows*T*d.Context)
	}
	return w
}

// encode reads the windows of a shard's contexts and writes their latents, with a tape.
func (w *worker[F]) encode(b *batch[F], p *shard[F]) {
	Z := w.m.Net.Latent
	w.read(p, b.starts[p.lo:p.hi], b.gains[p.lo:p.hi])
	if Z > 0 {
		w.nets.EncodeTape(p.encoder, p.hi-p.lo, p.windows.Features, b.z[p.lo*Z:p.hi*Z])
	}
}

// read fills the windows of a shard. gains may be nil for ones, as in validation. In training every other row's window
// is as it is known afterwards: who saw poor windows alone would not read good ones.
func (w *worker[F]) read(p *shard[F], starts []start, gains []float64) {
	d, T := w.m.System.Dims(), w.m.Net.Context
	p.windows.Reset(len(starts))
	for i, st := range starts {
		g, k := &w.data.segments[st.Segment], int(st.At)
		from := g.Measured
		if gains != nil && k%2 == 1 {
			from = g.states()
		}
		convert(w.measured, from[(k-T)*d.Measured:(k+1)*d.Measured])
		convert(w.windowAction, g.Actions[(k-T)*d.Action:k*d.Action])
		w.vary(w.windowAction, gains, i)
		p.windows.Set(i, w.measured, w.windowAction)
	}
}

// vary multiplies the drifting channels of rows of actions: the encoder learns to read the gain of a session that it
// has not seen.
func (w *worker[F]) vary(actions []F, gains []float64, i int) {
	if gains == nil {
		return
	}
	A, sp := w.m.System.Dims().Action, w.m.System.GainDrift()
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

// gradient computes a shard's part of the losses, summed over its contexts, and of their gradient, into p.grad and
// b.dz. The whole batch must have been encoded.
func (w *worker[F]) gradient(b *batch[F], p *shard[F]) (l Losses) {
	clear(p.grad)
	Z, B := w.m.Net.Latent, len(b.starts)
	z, dz, scale := b.z[p.lo*Z:p.hi*Z], b.dz[p.lo*Z:p.hi*Z], 1/float64(B)
	clear(dz)
	if w.decoder != nil {
		l.Reconstruction = w.reconstruct(p, z, dz, w.cfg.Loss.Reconstruction*scale)
	}
	if Z > 0 && b.mmd > 0 {
		l.MMD = w.mmd.Rows(B, p.lo, p.hi, b.z, b.samples, w.cfg.Loss.MMDSigma, b.mmd, b.dz) / b.mmd * float64(B)
	}
	for lo := p.lo; lo < p.hi; lo += tile {
		hi := min(lo+tile, p.hi)
		w.load(b.starts[lo:hi], b.gains[lo:hi], b.H)
		l.Dynamics += w.forward(w.rollout, p.windows, b.member, lo-p.lo, b.z[lo*Z:hi*Z], hi-lo, b.H, b.corrected)
		w.backward(b.dz[lo*Z:hi*Z], hi-lo, b.H, b.corrected, scale, p.grad)
	}
	kernel.Pause()
	if Z > 0 {
		w.nets.EncodeBackward(p.encoder, p.windows.Features, dz, p.grad)
	}
	return l
}

// reconstruct adds the gradient of scale·‖G(z) − norm(H)‖², averaged over the window's channels, and returns the summed
// square error per channel.
func (w *worker[F]) reconstruct(p *shard[F], z, dz []F, scale float64) float64 {
	d, T, B := w.m.System.Dims(), w.m.Net.Context, p.hi-p.lo
	n := T * d.Context
	for b := range B {
		for t := range T {
			copy(w.window[b*n+t*d.Context:][:d.Context], p.windows.Features[(t*B+b)*d.Context:])
		}
	}
	w.nets.DecodeTape(w.decoder, B, z, w.decoded)
	each := scale / float64(n)
	sum := layers.SquaredError(B, n, w.decoded, w.window, nil, each, w.decoded)
	w.nets.DecodeBackward(w.decoder, z, w.decoded, dz, p.grad)
	return sum / scale
}

// load copies starts, commands, targets and confidences of a tile, time-major. A doubtful transition casts doubt on all
// that follows it, a doubtful window on all of its rollout. gains may be nil for ones.
func (w *worker[F]) load(starts []start, gains []float64, H int) {
	d, B, T := w.m.System.Dims(), len(starts), w.m.Net.Context
	for b, st := range starts {
		g, k := &w.data.segments[st.Segment], int(st.At)
		convert(w.states[b*d.State:], g.states()[k*d.Measured:][:d.Measured])
		w.discount(b, B, H, g, k)
		conf := slices.Min(g.Weight[k-T : k])
		for h := range H {
			row := h*B + b
			convert(w.actions[row*d.Action:], g.Actions[(k+h)*d.Action:][:d.Action])
			w.vary(w.actions[row*d.Action:][:d.Action], gains, b)
			convert(w.targets[row*d.Measured:], g.states()[(k+h+1)*d.Measured:][:d.Measured])
			conf = min(conf, g.Weight[k+h])
			w.conf[row] = F(conf)
		}
	}
}

// forward rolls a tile of B contexts out, whose windows begin at lo, and returns the sum over contexts of the mean
// normalised Huber loss; errors become gradients.
func (w *worker[F]) forward(r *vnd.Rollout[F], of *vnd.Windows[F], member, lo int, z []F, B, H int,
	corrected bool) float64 {
	d := w.m.System.Dims()
	n := B * d.State
	for b := range B { // what is measured of it is there already
		copy(w.states[b*d.State+d.Measured:(b+1)*d.State], of.Start[(lo+b)*d.State+d.Measured:])
	}
	r.Begin(member, B, H, z)
	if corrected {
		r.ResidualMean(of, lo)
		r.CorrectBias(w.ones(B))
	}
	sum := 0.
	for h := range H {
		kernel.Pause()
		next := w.states[(h+1)*n:][:n]
		r.Step(h, w.states[h*n:][:n], w.actions[h*B*d.Action:][:B*d.Action], next)
		sum += w.compare(h, B, next)
	}
	return sum / float64(H*d.Tangent)
}

// ones is the bias correction's weight in training.
func (w *worker[F]) ones(B int) []F {
	for b := range B {
		w.weight[b] = 1
	}
	return w.weight[:B]
}

// compare writes the gradient of step h's normalised Huber loss to w.errors and returns the loss.
func (w *worker[F]) compare(h, B int, next []F) float64 {
	d := w.m.System.Dims()
	e := w.errors[h*B*d.Tangent:][:B*d.Tangent]
	w.m.System.Minus(B, next, d.State, w.targets[h*B*d.Measured:], d.Measured, e)
	w.normalise(h, B, e)
	sum := layers.Huber(B, d.Tangent, e, w.zero, w.conf[h*B:][:B], w.cfg.Loss.Huber, 1, e)
	w.normalise(h, B, e)
	return sum
}

// backward pulls the tile's errors back to its latents and adds the gradient of the weights to grad.
func (w *worker[F]) backward(dz []F, B, H int, corrected bool, scale float64, grad []F) {
	d := w.m.System.Dims()
	n, u := B*d.State, B*d.Tangent
	f := F(scale / float64(H*d.Tangent))
	dnext, ds := w.dnext[:n], w.ds[:n]
	clear(dnext)
	for h := H - 1; h >= 0; h-- {
		kernel.Pause()
		de := w.errors[h*u:][:u]
		for i := range de {
			de[i] *= f
		}
		w.m.System.MinusVJP(B, w.states[(h+1)*n:][:n], d.State, w.targets[h*B*d.Measured:], d.Measured, de, dnext)
		clear(ds)
		w.rollout.Backward(h, dnext, ds, nil)
		dnext, ds = ds, dnext
	}
	if corrected {
		w.rollout.CorrectBiasBackward(w.ones(B))
	}
	w.rollout.Grads(corrected, dz, grad)
}
