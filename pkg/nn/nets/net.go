package nets

import (
	"fmt"
	"math/rand/v2"
	"sync"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/layers"
)

// Tensor names a part of the flat parameter slice.
type Tensor struct {
	Name   string // path of layers, such as "residual.0.block1.film.w"
	Shape  []int  // [inputs, outputs] of a weight, [outputs] of a bias
	Offset int    // of its first number
}

// Size is the number of numbers of the tensor.
func (t Tensor) Size() int {
	n := 1
	for _, s := range t.Shape {
		n *= s
	}
	return n
}

// Net is the layout of the nets and their parameters.
type Net[F kernel.Float] struct {
	Config
	Params []F

	once    sync.Once
	tensors []Tensor
	inits   []initial

	encoder   encoderLayers[F]
	residuals []residualLayers[F] // one per member
	decoder   [3]layers.Dense[F]
}

type encoderLayers[F kernel.Float] struct {
	dense  layers.Dense[F] // gru: C → E per step; mlp: T·C → E
	gru    layers.GRU[F]
	hidden layers.Dense[F] // mlp: E → H
	latent layers.Dense[F] // H → Z
}

type residualLayers[F kernel.Float] struct {
	in     layers.Dense[F] // X → H
	join   layers.Dense[F] // Z → H without FiLM: what z adds, the last rows of in's weight as laid out
	blocks []layers.Dense[F]
	film   []layers.Dense[F] // Z → 2H per block: γ then β
	head   layers.Dense[F]   // H → U
}

// Refresh tells the net that Params have changed since the first tape was made: what the passes read is a copy. No pass
// may run beside it.
func (n *Net[F]) Refresh() {
	n.once.Do(func() {})
	n.read()
}

// ready sees that what the passes read is there.
func (n *Net[F]) ready() { n.once.Do(n.read) }

// read lets every layer copy its weights.
func (n *Net[F]) read() {
	dense := []*layers.Dense[F]{&n.encoder.dense, &n.encoder.gru.Input, &n.encoder.gru.Hidden, &n.encoder.hidden,
		&n.encoder.latent}
	for i := range n.decoder {
		dense = append(dense, &n.decoder[i])
	}
	for m := range n.residuals {
		r := &n.residuals[m]
		dense = append(dense, &r.in, &r.join, &r.head)
		for b := range r.blocks {
			dense = append(dense, &r.blocks[b])
		}
		for b := range r.film {
			dense = append(dense, &r.film[b])
		}
	}
	for _, d := range dense {
		d.Refresh(n.Params) // a layer that the net lacks has no numbers
	}
}

// initial says how a weight is drawn; biases start at 0.
type initial struct {
	tensor  int
	gain    float64
	squares bool // Glorot per gate of a GRU rather than LeCun
}

// The last layer of a residual and the generators of γ and β start small, so
// that an untrained model is close to its prior and its blocks to plain ones.
const smallGain = 0.1

// New lays out the nets with parameters 0. The error names a bad field.
func New[F kernel.Float](c Config) (*Net[F], error) {
	if err := c.check(); err != nil {
		return nil, err
	}
	n := &Net[F]{Config: c}
	n.layOut()
	last := n.tensors[len(n.tensors)-1]
	if size := last.Offset + last.Size(); size > maxNumbers {
		return nil, fmt.Errorf("model: %d numbers, want at most %d", size, maxNumbers)
	}
	n.Params = make([]F, last.Offset+last.Size())
	return n, nil
}

// BFloat16 returns a net of the same Params that multiplies in bfloat16 between hidden layers, where the kernels have
// that; what enters and leaves encoder, residuals and decoder is not rounded. Its copy of Params wants a Refresh of its
// own.
func (n *Net[F]) BFloat16() *Net[F] {
	r := &Net[F]{Config: n.Config, Params: n.Params}
	r.layOut()
	e := &r.encoder
	for _, d := range []*layers.Dense[F]{&e.gru.Input, &e.gru.Hidden, &e.hidden, &r.decoder[1]} {
		d.BFloat16 = true
	}
	for m := range r.residuals {
		for b := range r.residuals[m].blocks {
			r.residuals[m].blocks[b].BFloat16 = true
		}
	}
	return r
}

func (n *Net[F]) layOut() {
	if n.Latent > 0 {
		n.layEncoder()
	}
	for m := range n.Members {
		n.layResidual(fmt.Sprintf("residual.%d.", m))
	}
	if n.hasDecoder() {
		h := n.DecoderHidden
		n.decoder[0] = n.layDense("decoder.dense1", n.Latent, h, 1)
		n.decoder[1] = n.layDense("decoder.dense2", h, h, 1)
		n.decoder[2] = n.layDense("decoder.head", h, n.Context*n.ContextInputs, 1)
	}
}

func (n *Net[F]) layEncoder() {
	e, h := n.EncoderDense, n.EncoderHidden
	if n.Encoder == EncoderMLP {
		n.encoder.dense = n.layDense("encoder.dense", n.Context*n.ContextInputs, e, 1)
		n.encoder.hidden = n.layDense("encoder.hidden", e, h, 1)
	} else {
		n.encoder.dense = n.layDense("encoder.dense", n.ContextInputs, e, 1)
		g := &n.encoder.gru
		g.Input = layers.Dense[F]{In: e, Out: 3 * h, Weight: n.lay("encoder.gru.wi", e, 3*h),
			Bias: n.lay("encoder.gru.bi", 3*h)}
		g.Hidden = layers.Dense[F]{In: h, Out: 3 * h, Weight: n.lay("encoder.gru.wh", h, 3*h),
			Bias: n.lay("encoder.gru.bh", 3*h)}
		k := len(n.tensors)
		n.inits = append(n.inits, initial{tensor: k - 4, gain: 1, squares: true},
			initial{tensor: k - 2, gain: 1, squares: true})
	}
	n.encoder.latent = n.layDense("encoder.latent", h, n.Latent, 1)
}

func (n *Net[F]) layResidual(prefix string) {
	var r residualLayers[F]
	inputs := n.Inputs
	if n.joinsInput() {
		inputs += n.Latent
	}
	r.in = n.layDense(prefix+"in", inputs, n.Hidden, 1)
	if r.in.In = n.Inputs; n.joinsInput() {
		r.join = layers.Dense[F]{In: n.Latent, Out: n.Hidden, Weight: r.in.Weight + n.Inputs*n.Hidden}
	}
	for b := range n.Blocks {
		name := fmt.Sprintf("%sblock%d", prefix, b+1)
		r.blocks = append(r.blocks, n.layDense(name, n.Hidden, n.Hidden, 1))
		if n.usesFilm() {
			r.film = append(r.film, n.layDense(name+".film", n.Latent, 2*n.Hidden, smallGain))
		}
	}
	r.head = n.layDense(prefix+"head", n.Hidden, n.Outputs, smallGain)
	n.residuals = append(n.residuals, r)
}

// layDense lays name.w [in×out] and name.b [out].
func (n *Net[F]) layDense(name string, in, out int, gain float64) layers.Dense[F] {
	n.inits = append(n.inits, initial{tensor: len(n.tensors), gain: gain})
	return layers.Dense[F]{In: in, Out: out, Weight: n.lay(name+".w", in, out), Bias: n.lay(name+".b", out)}
}

// lay appends a tensor and returns its offset.
func (n *Net[F]) lay(name string, shape ...int) int {
	offset := 0
	if k := len(n.tensors); k > 0 {
		offset = n.tensors[k-1].Offset + n.tensors[k-1].Size()
	}
	n.tensors = append(n.tensors, Tensor{name, shape, offset})
	return offset
}

// Tensors lists the parts of Params in their order.
func (n *Net[F]) Tensors() []Tensor { return n.tensors }

// Init draws the weights and clears the biases.
func (n *Net[F]) Init(rng *rand.Rand) {
	clear(n.Params)
	for _, i := range n.inits {
		t := n.tensors[i.tensor]
		w := n.Params[t.Offset : t.Offset+t.Size()]
		if i.squares {
			layers.GlorotUniform(rng, w, t.Shape[0], t.Shape[1]/3, i.gain)
		} else {
			layers.LeCunUniform(rng, w, t.Shape[0], i.gain)
		}
	}
}
