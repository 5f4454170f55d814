package nets

import "vnd/pkg/nn/kernel"

// EncoderTape holds the activations of an encoder pass over up to maxB contexts.
// The letters are those of the package; E is EncoderDense, H EncoderHidden.
type EncoderTape[F kernel.Float] struct {
	rows int // B of the last EncodeTape

	flat  []F // mlp: [B×T·C] the window of each context in one row
	act   []F // gru: [T×B×E], mlp: [B×E]; after GELU
	slope []F // that of GELU, later the gradient before it
	gates []F // gru: [T×B×3H] r, u, c, later the gradient of the input's product
	gh    []F // gru: [T×B×3H] the product of h, later its gradient
	h     []F // gru: [(T+1)×B×H] h_0 … h_T; mlp: [B×H]
	hs    []F // mlp: [B×H] slope of GELU, later the gradient before it
	dh    []F // [B×H]
	work  []F // [B×H]
}

// NewEncoderTape makes a tape for up to maxB contexts.
func (n *Net[F]) NewEncoderTape(maxB int) *EncoderTape[F] {
	n.ready()
	t := &EncoderTape[F]{}
	if n.Latent == 0 {
		return t
	}
	e, h := n.EncoderDense, n.EncoderHidden
	t.dh, t.work = make([]F, maxB*h), make([]F, maxB*h)
	rows := maxB
	if n.Encoder == EncoderMLP {
		t.flat = make([]F, maxB*n.Context*n.ContextInputs)
		t.h, t.hs = make([]F, maxB*h), make([]F, maxB*h)
	} else {
		rows *= n.Context
		t.gates, t.gh = kernel.Tape[F](rows*3*h), kernel.Tape[F](rows*3*h)
		t.h = kernel.Tape[F]((rows + maxB) * h)
	}
	t.act, t.slope = kernel.Tape[F](rows*e), kernel.Tape[F](rows*e)
	return t
}

// Encode writes the latents z [B×Z] of the contexts ctx [T×B×C]. It uses the
// tape as scratch only and allocates nothing.
func (n *Net[F]) Encode(tape *EncoderTape[F], B int, ctx, z []F) { n.encode(tape, B, ctx, z, false) }

// EncodeTape is Encode, with the same numbers bit for bit, and keeps the tape
// for one EncodeBackward.
func (n *Net[F]) EncodeTape(tape *EncoderTape[F], B int, ctx, z []F) { n.encode(tape, B, ctx, z, true) }

func (n *Net[F]) encode(t *EncoderTape[F], B int, ctx, z []F, keep bool) {
	if n.Latent == 0 {
		return
	}
	t.rows = B
	l, p := &n.encoder, n.Params
	var last []F // [B×H] what the latent is read from
	if n.Encoder == EncoderMLP {
		flatten(n.Context, B, n.ContextInputs, ctx, t.flat)
		l.dense.Gelu(p, B, t.flat, nil, t.act, t.slope)
		l.hidden.Gelu(p, B, t.act, nil, t.h, t.hs)
		last = t.h
	} else {
		rows := n.Context * B
		l.dense.Gelu(p, rows, ctx, nil, t.act, t.slope)
		l.gru.Input.Product(rows, t.act, t.gates)
		if keep {
			l.gru.Run(p, n.Context, B, t.gates, t.gh, t.h)
			last = t.h[rows*n.EncoderHidden:]
		} else {
			last = l.gru.RunLast(p, n.Context, B, t.gates, t.gh, t.h)
		}
	}
	l.latent.Forward(p, B, last, z)
}

// EncodeBackward adds the gradients of the encoder's parameters to grad, given
// the context of the last EncodeTape and dz [B×Z]. It uses up the tape.
func (n *Net[F]) EncodeBackward(t *EncoderTape[F], ctx, dz, grad []F) {
	if n.Latent == 0 {
		return
	}
	if n.Encoder == EncoderMLP {
		n.backwardMLP(t, dz, grad)
		return
	}
	l, B := &n.encoder, t.rows
	rows := n.Context * B
	l.latent.BackwardParams(grad, B, t.h[rows*n.EncoderHidden:], dz)
	l.latent.BackwardInput(B, dz, nil, t.dh)
	l.gru.Backward(n.Context, B, t.gates, t.gh, t.h, t.dh, t.work, grad)
	l.gru.Input.BackwardParams(grad, rows, t.act, t.gates)
	l.gru.Input.BackwardGelu(rows, t.gates, t.slope)
	l.dense.BackwardParams(grad, rows, ctx, t.slope)
}

func (n *Net[F]) backwardMLP(t *EncoderTape[F], dz, grad []F) {
	l, B := &n.encoder, t.rows
	l.latent.BackwardParams(grad, B, t.h, dz)
	l.latent.BackwardGelu(B, dz, t.hs)
	l.hidden.BackwardParams(grad, B, t.act, t.hs)
	l.hidden.BackwardGelu(B, t.hs, t.slope)
	l.dense.BackwardParams(grad, B, t.flat, t.slope)
}

// flatten turns ctx [T×B×C] into rows [B×T·C].
func flatten[F kernel.Float](T, B, C int, ctx, flat []F) {
	for t := range T {
		for b := range B {
			copy(flat[(b*T+t)*C:(b*T+t+1)*C], ctx[(t*B+b)*C:])
		}
	}
}
