package model

import "vnd/pkg/kernel"

// DecoderTape holds the activations of a decoder pass over up to maxB latents.
type DecoderTape[F kernel.Float] struct {
	rows     int    // B of the last DecodeTape
	pre, act [2][]F // [B×H] before GELU, later its gradient; after GELU
	dact     []F    // [B×H]
}

// NewDecoderTape makes a tape for up to maxB latents.
func (n *Net[F]) NewDecoderTape(maxB int) *DecoderTape[F] {
	t := &DecoderTape[F]{dact: make([]F, maxB*n.DecoderHidden)}
	for i := range t.pre {
		t.pre[i], t.act[i] = make([]F, maxB*n.DecoderHidden), make([]F, maxB*n.DecoderHidden)
	}
	return t
}

// DecodeTape writes y [B×T·C], the windows decoded from z [B×Z], each context's
// rows in the order of time, and keeps the tape for one DecodeBackward. Without
// a decoder it does nothing.
func (n *Net[F]) DecodeTape(t *DecoderTape[F], B int, z, y []F) {
	if !n.hasDecoder() {
		return
	}
	p, x := n.Params, z
	t.rows = B
	for i, layer := range n.decoder[:2] {
		layer.Product(p, B, x, t.pre[i])
		kernel.BiasGelu(B, n.DecoderHidden, t.pre[i], layer.BiasOf(p), t.act[i])
		x = t.act[i]
	}
	n.decoder[2].Forward(p, B, x, y)
}

// DecodeBackward takes z [B×Z] of the last DecodeTape and dy [B×T·C], and adds
// the gradients of the decoder's parameters to grad and that of z to dz [B×Z].
func (n *Net[F]) DecodeBackward(t *DecoderTape[F], z, dy, dz, grad []F) {
	if !n.hasDecoder() {
		return
	}
	p, B := n.Params, t.rows
	n.decoder[2].BackwardParams(grad, B, t.act[1], dy)
	n.decoder[2].BackwardInput(p, B, dy, 0, t.dact)
	pre := t.pre[1][:B*n.DecoderHidden]
	kernel.GeluBackward(pre, t.dact)
	n.decoder[1].BackwardParams(grad, B, t.act[0], pre)
	n.decoder[1].BackwardInput(p, B, pre, 0, t.dact)
	pre = t.pre[0][:B*n.DecoderHidden]
	kernel.GeluBackward(pre, t.dact)
	n.decoder[0].BackwardParams(grad, B, z, pre)
	n.decoder[0].BackwardInput(p, B, pre, 1, dz)
}
