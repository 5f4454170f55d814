package model

import "vnd/pkg/kernel"

// ResidualTape holds a rollout of up to maxH steps of up to maxB states through
// one residual net whose latent z is held. B is that of the last Condition.
// Layer 0 is the input layer, layer l the l-th block.
type ResidualTape[F kernel.Float] struct {
	rows int

	film   [][]F // per block [B×2H] γ, β
	dfilm  [][]F // their gradients, summed over the steps
	joined []F   // [B×H] without FiLM: z times the rows of z in the input weight
	djoin  []F   // its gradient, summed over the steps

	x   []F   // [steps×B×X]
	pre [][]F // per layer [steps×B×H] before GELU (and FiLM), later its gradient
	act [][]F // per layer [steps×B×H] after GELU
	dy  []F   // [steps×B×U]

	dact [2][]F // [B×H] gradient of act, in turns
	once [3][]F // [B×H] pre and two act for passes without a tape
}

// NewResidualTape makes a tape for up to maxB states and maxH steps; maxH = 0
// serves passes without a tape.
func (n *Net[F]) NewResidualTape(maxB, maxH int) *ResidualTape[F] {
	t := &ResidualTape[F]{}
	if n.usesFilm() {
		for range n.Blocks {
			t.film = append(t.film, make([]F, maxB*2*n.Hidden))
			t.dfilm = append(t.dfilm, make([]F, maxB*2*n.Hidden))
		}
	}
	if n.joinsInput() {
		t.joined, t.djoin = make([]F, maxB*n.Hidden), make([]F, maxB*n.Hidden)
	}
	rows := maxB * maxH
	t.x, t.dy = make([]F, rows*n.Inputs), make([]F, rows*n.Outputs)
	for range n.Blocks + 1 {
		t.pre = append(t.pre, make([]F, rows*n.Hidden))
		t.act = append(t.act, make([]F, rows*n.Hidden))
	}
	for i := range t.dact {
		t.dact[i] = make([]F, maxB*n.Hidden)
	}
	for i := range t.once {
		t.once[i] = make([]F, maxB*n.Hidden)
	}
	return t
}

// Condition begins a rollout of B states with latents z [B×Z]: what z does to
// the net is computed once for all steps, and its gradient starts at 0. Without
// a latent z may be nil. All later calls on the tape must name the same member.
func (n *Net[F]) Condition(t *ResidualTape[F], member, B int, z []F) {
	t.rows = B
	r, p := &n.residuals[member], n.Params
	for b, film := range r.film {
		film.Forward(p, B, z, t.film[b])
		clear(t.dfilm[b][:B*2*n.Hidden])
	}
	if n.joinsInput() {
		kernel.Gemm(false, false, B, n.Hidden, n.Latent, z, n.Latent, p[n.joinWeight(member):], n.Hidden, 0, t.joined, n.Hidden)
		clear(t.djoin[:B*n.Hidden])
	}
}

// joinWeight is the offset of the rows of z in a member's input weight.
func (n *Net[F]) joinWeight(member int) int {
	return n.residuals[member].in.Weight + n.Inputs*n.Hidden
}

// Residual writes y [B×U] = D(x, z) for x [B×X] under the conditions of the last
// Condition. It leaves the recorded steps alone and allocates nothing.
func (n *Net[F]) Residual(t *ResidualTape[F], member, B int, x, y []F) {
	act := n.input(t, member, B, x, t.once[0], t.once[1])
	other := t.once[2]
	for b := range n.Blocks {
		act, other = n.block(t, member, b, B, act, t.once[0], other), act
	}
	n.residuals[member].head.Forward(n.Params, B, act, y)
}

// ResidualTape is Residual, with the same numbers bit for bit, and records the
// pass as step h. ResidualBackward uses the record up.
func (n *Net[F]) ResidualTape(t *ResidualTape[F], member, h, B int, x, y []F) {
	from, to := h*B*n.Hidden, (h+1)*B*n.Hidden
	copy(t.x[h*B*n.Inputs:(h+1)*B*n.Inputs], x)
	act := n.input(t, member, B, x, t.pre[0][from:to], t.act[0][from:to])
	for b := range n.Blocks {
		act = n.block(t, member, b, B, act, t.pre[b+1][from:to], t.act[b+1][from:to])
	}
	n.residuals[member].head.Forward(n.Params, B, act, y)
}

// input computes act = GELU(pre), pre = x·W + b, and returns act.
func (n *Net[F]) input(t *ResidualTape[F], member, B int, x, pre, act []F) []F {
	in, p := n.residuals[member].in, n.Params
	kernel.Gemm(false, false, B, n.Hidden, n.Inputs, x, n.Inputs, p[in.Weight:], n.Hidden, 0, pre, n.Hidden)
	if n.joinsInput() {
		kernel.Axpy(1, t.joined[:B*n.Hidden], pre)
	}
	kernel.BiasGelu(B, n.Hidden, pre, in.BiasOf(p), act)
	return act
}

// block computes act = GELU((1+γ)·pre + β), pre = h·W + b, and returns act.
func (n *Net[F]) block(t *ResidualTape[F], member, b, B int, h, pre, act []F) []F {
	layer, p := n.residuals[member].blocks[b], n.Params
	layer.Product(p, B, h, pre)
	if n.usesFilm() {
		kernel.FilmGelu(B, n.Hidden, pre, layer.BiasOf(p), t.film[b], act)
	} else {
		kernel.BiasGelu(B, n.Hidden, pre, layer.BiasOf(p), act)
	}
	return act
}

// ResidualBackward takes dy [B×U], the gradient of the outputs of step h, and
// writes dx [B×X], that of its inputs, unless dx is nil. It keeps in the tape
// what ResidualGrads needs. Steps may come in any order, each once.
func (n *Net[F]) ResidualBackward(t *ResidualTape[F], member, h int, dy, dx []F) {
	r, p, B := &n.residuals[member], n.Params, t.rows
	from, to := h*B*n.Hidden, (h+1)*B*n.Hidden
	copy(t.dy[h*B*n.Outputs:(h+1)*B*n.Outputs], dy)
	d, other := t.dact[0], t.dact[1]
	r.head.BackwardInput(p, B, dy, 0, d)
	for b := n.Blocks - 1; b >= 0; b-- {
		pre := t.pre[b+1][from:to]
		if n.usesFilm() {
			kernel.FilmGeluBackward(B, n.Hidden, pre, d, t.film[b], t.dfilm[b])
		} else {
			kernel.GeluBackward(pre, d)
		}
		r.blocks[b].BackwardInput(p, B, pre, 0, other)
		d, other = other, d
	}
	pre := t.pre[0][from:to]
	kernel.GeluBackward(pre, d)
	if n.joinsInput() {
		kernel.Axpy(1, pre, t.djoin)
	}
	if dx != nil {
		kernel.Gemm(false, true, B, n.Inputs, n.Hidden, pre, n.Hidden, p[r.in.Weight:], n.Hidden, 0, dx, n.Inputs)
	}
}

// ResidualGrads ends a rollout after ResidualBackward of the steps 0 … H-1: it
// adds the gradients of the member's parameters to grad, and that of z to dz
// [B×Z] (z and dz may be nil without a latent). Each layer's weights take one
// product over all H·B rows.
func (n *Net[F]) ResidualGrads(t *ResidualTape[F], member, H int, z, dz, grad []F) {
	r, p, B, hid := &n.residuals[member], n.Params, t.rows, n.Hidden
	rows := H * B
	kernel.Gemm(true, false, n.Inputs, hid, rows, t.x, n.Inputs, t.pre[0], hid, 1, grad[r.in.Weight:], hid)
	kernel.ColumnSums(rows, hid, t.pre[0], grad[r.in.Bias:])
	for b, layer := range r.blocks {
		layer.BackwardParams(grad, rows, t.act[b], t.pre[b+1])
	}
	r.head.BackwardParams(grad, rows, t.act[n.Blocks], t.dy)
	for b, film := range r.film {
		film.BackwardParams(grad, B, z, t.dfilm[b])
		film.BackwardInput(p, B, t.dfilm[b], 1, dz)
	}
	if n.joinsInput() {
		w := n.joinWeight(member)
		kernel.Gemm(true, false, n.Latent, hid, B, z, n.Latent, t.djoin, hid, 1, grad[w:], hid)
		kernel.Gemm(false, true, B, n.Latent, hid, t.djoin, hid, p[w:], hid, 1, dz, n.Latent)
	}
}
