package nets

import "vnd/pkg/nn/kernel"

// ResidualTape holds a rollout of up to maxH steps of up to maxB states through
// one residual net whose latent z is held. B is that of the last Condition.
// Layer 0 is the input layer, layer l the l-th block.
type ResidualTape[F kernel.Float] struct {
	rows    int
	weights bool // keeps what the gradients of weights and latent need

	film   [][]F // per block [B×2H] γ, β
	dfilm  [][]F // their gradients, summed over the steps
	joined []F   // [B×H] without FiLM: z times the rows of z in the input weight
	djoin  []F   // its gradient, summed over the steps

	x     []F   // [steps×B×X]
	pre   [][]F // per block with FiLM [steps×B×H] what is modulated
	act   [][]F // per layer [steps×B×H] after GELU
	slope [][]F // per layer [steps×B×H] that of GELU, later the gradient before it (and before FiLM)
	dy    []F   // [steps×B×U]

	once [3][]F // [B×H] two act in turns and a slope, for what is not kept
}

// NewResidualTape makes a tape for up to maxB states and maxH steps; maxH = 0
// serves passes without a tape.
func (n *Net[F]) NewResidualTape(maxB, maxH int) *ResidualTape[F] {
	t := n.NewPassTape(maxB, maxH)
	rows := maxB * maxH
	t.weights = true
	t.x, t.dy = kernel.Tape[F](rows*n.Inputs), kernel.Tape[F](rows*n.Outputs)
	for range t.film {
		t.dfilm, t.pre = append(t.dfilm, make([]F, maxB*2*n.Hidden)), append(t.pre, kernel.Tape[F](rows*n.Hidden))
	}
	for range n.Blocks + 1 {
		t.act = append(t.act, kernel.Tape[F](rows*n.Hidden))
	}
	return t
}

// NewPassTape makes a tape whose gradients pass through to the inputs alone: the
// net is frozen and there is no ResidualGrads. It takes a third of the memory.
func (n *Net[F]) NewPassTape(maxB, maxH int) *ResidualTape[F] {
	n.ready()
	t := &ResidualTape[F]{}
	if n.usesFilm() {
		for range n.Blocks {
			t.film = append(t.film, make([]F, maxB*2*n.Hidden))
		}
	}
	if n.joinsInput() {
		t.joined, t.djoin = make([]F, maxB*n.Hidden), make([]F, maxB*n.Hidden)
	}
	for range n.Blocks + 1 {
		t.slope = append(t.slope, kernel.Tape[F](maxB*maxH*n.Hidden))
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
	for b := range r.film {
		r.film[b].Forward(p, B, z, t.film[b])
		if t.weights {
			clear(t.dfilm[b][:B*2*n.Hidden])
		}
	}
	if n.joinsInput() {
		r.join.Product(B, z, t.joined)
		clear(t.djoin[:B*n.Hidden])
	}
}

// Residual writes y [B×U] = D(x, z) for x [B×X] under the conditions of the last
// Condition. It leaves the recorded steps alone and allocates nothing.
func (n *Net[F]) Residual(t *ResidualTape[F], member, B int, x, y []F) {
	for l := range n.Blocks + 1 {
		act := t.once[l%2]
		n.layer(t, member, l, B, x, nil, act, t.once[2])
		x = act
	}
	n.residuals[member].head.Forward(n.Params, B, x, y)
}

// ResidualTape is Residual, with the same numbers bit for bit, and records the
// pass as step h. ResidualBackward uses the record up.
func (n *Net[F]) ResidualTape(t *ResidualTape[F], member, h, B int, x, y []F) {
	from, to := h*B*n.Hidden, (h+1)*B*n.Hidden
	if t.weights {
		copy(t.x[h*B*n.Inputs:(h+1)*B*n.Inputs], x)
	}
	for l := range n.Blocks + 1 {
		act, pre := t.once[l%2], []F(nil)
		if t.weights {
			act = t.act[l][from:to]
			if l > 0 && n.usesFilm() {
				pre = t.pre[l-1][from:to]
			}
		}
		n.layer(t, member, l, B, x, pre, act, t.slope[l][from:to])
		x = act
	}
	n.residuals[member].head.Forward(n.Params, B, x, y)
}

// layer computes act = GELU(x·W + b), with the latent's part added, or
// act = GELU((1+γ)·pre + β), pre = x·W + b, in blocks with FiLM.
func (n *Net[F]) layer(t *ResidualTape[F], member, l, B int, x, pre, act, slope []F) {
	r, p := &n.residuals[member], n.Params
	switch {
	case l == 0:
		r.in.Gelu(p, B, x, t.joined, act, slope)
	case n.usesFilm():
		r.blocks[l-1].Film(p, B, x, t.film[l-1], pre, act, slope)
	default:
		r.blocks[l-1].Gelu(p, B, x, nil, act, slope)
	}
}

// ResidualBackward takes dy [B×U], the gradient of the outputs of step h, and
// writes dx [B×X], that of its inputs, unless dx is nil. It keeps in the tape
// what ResidualGrads needs. Steps may come in any order, each once.
func (n *Net[F]) ResidualBackward(t *ResidualTape[F], member, h int, dy, dx []F) {
	r, B := &n.residuals[member], t.rows
	from, to := h*B*n.Hidden, (h+1)*B*n.Hidden
	if t.weights {
		copy(t.dy[h*B*n.Outputs:(h+1)*B*n.Outputs], dy)
	}
	d, reader := dy, &r.head
	for l := n.Blocks; l >= 0; l-- {
		slope := t.slope[l][from:to]
		switch {
		case l == 0 || !n.usesFilm():
			reader.BackwardGelu(B, d, slope)
		case t.weights:
			reader.BackwardFilm(B, d, t.film[l-1], t.pre[l-1][from:to], slope, t.dfilm[l-1])
		default:
			reader.BackwardFilm(B, d, t.film[l-1], nil, slope, nil)
		}
		if d = slope; l > 0 {
			reader = &r.blocks[l-1]
		}
	}
	if n.joinsInput() {
		kernel.Axpy(1, d, t.djoin)
	}
	if dx != nil {
		r.in.BackwardInput(B, d, nil, dx)
	}
}

// ResidualGrads ends a rollout after ResidualBackward of the steps 0 … H-1: it
// adds the gradients of the member's parameters to grad, and that of z to dz
// [B×Z] (z and dz may be nil without a latent). Each layer's weights take one
// product over all H·B rows.
func (n *Net[F]) ResidualGrads(t *ResidualTape[F], member, H int, z, dz, grad []F) {
	r, B, hid := &n.residuals[member], t.rows, n.Hidden
	rows := H * B
	r.in.BackwardParams(grad, rows, t.x, t.slope[0])
	for b := range r.blocks {
		r.blocks[b].BackwardParams(grad, rows, t.act[b], t.slope[b+1])
	}
	r.head.BackwardParams(grad, rows, t.act[n.Blocks], t.dy)
	for b := range r.film {
		r.film[b].BackwardParams(grad, B, z, t.dfilm[b])
		r.film[b].BackwardInput(B, t.dfilm[b], dz, dz)
	}
	if n.joinsInput() {
		kernel.Gemm(true, false, n.Latent, hid, B, z, n.Latent, t.djoin, hid, 1, grad[r.join.Weight:], hid)
		r.join.BackwardInput(B, t.djoin, dz, dz)
	}
}
