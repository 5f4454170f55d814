package nets

import "vnd/pkg/nn/kernel"

// DecoderTape holds the activations of a decoder pass over up to maxB latents.
type DecoderTape[F kernel.Float] struct {
	rows       int    // B of the last DecodeTape
	act, slope [2][]F // [B×H] after GELU; that of GELU, later the gradient before it
}

// NewDecoderTape makes a tape for up to maxB latents.
func (n *Net[F]) NewDecoderTape(maxB int) *DecoderTape[F] {
	n.ready()
	t := &DecoderTape[F]{}
	for i := range t.act {
		t.act[i], t.slope[i] = make([]F, maxB*n.DecoderHidden), make([]F, maxB*n.DecoderHidden)
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
	for i := range t.act {
		n.decoder[i].Gelu(p, B, x, nil, t.act[i], t.slope[i])
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
	B, d := t.rows, dy
	for i := 2; i > 0; i-- {
		n.decoder[i].BackwardParams(grad, B, t.act[i-1], d)
		n.decoder[i].BackwardGelu(B, d, t.slope[i-1])
		d = t.slope[i-1]
	}
	n.decoder[0].BackwardParams(grad, B, z, d)
	n.decoder[0].BackwardInput(B, d, dz, dz)
}
