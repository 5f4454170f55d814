package train

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/nets"
)

// principal has Adam step in coordinates of the first layer's weights in which what the policy sees is uncorrelated
// (LeCun et al., Efficient BackProp, 1998, 4.3): x̂ = T·(x − mean), along the principal axes of x. Neighbouring points
// of a reference are nearly the same, yet their differences tell how it accelerates, and steps along the inputs
// themselves hardly reach those. What the policy computes stays the same.
type principal struct {
	in, out      int
	weight, bias int       // where the first layer begins in the parameters
	mean         []float32 // [in]
	to           []float32 // [in][in] T
	params       []float32 // of the policy, with the first layer's in these coordinates
	grad         []float32
}

// mostStretch is by how much coordinates are stretched at most. Those that vary by less than 1 are brought towards 1.
// The others keep their size: a short training has to come far along them.
const mostStretch = 2.5

// coordinates are of what the policy sees before its training. They are nil for a new policy, which will see other
// things once it flies.
func (t *trainer) coordinates() *principal {
	if t.opt.New {
		return nil
	}
	return newPrincipal(t.actor.Net, t.glance())
}

// glance is what the policy sees in some episodes, a row for each step.
func (t *trainer) glance() (rows []float32) {
	const enough, far = 1500, 100 // rows, deviations
	w, B := t.tile(t.actor, t.opt.Task), min(tileRows(t.cfg.Envs), t.cfg.Envs)
	for k := 0; len(rows) < enough*t.actor.Net.Inputs; k++ {
		w.begin(B, t.cfg.Horizon, t.rng(0, k), t.sample)
		w.forward(epoch{H: t.cfg.Horizon, gamma: t.cfg.Discount})
		for h := range t.cfg.Horizon {
			x := w.observe(h)
			for i, v := range x { // one robot that the model throws about is not what the others see
				x[i] = min(max(v, -far), far)
			}
			rows = append(rows, x...)
		}
	}
	return rows
}

// newPrincipal makes the coordinates of rows of inputs, nil where they are not finite.
func newPrincipal(net *nets.Policy[float32], rows []float32) *principal {
	first := net.Tensors()
	c := &principal{in: net.Inputs, out: net.Hidden[0], weight: first[0].Offset, bias: first[1].Offset,
		mean: make([]float32, net.Inputs), to: make([]float32, net.Inputs*net.Inputs),
		params: slices.Clone(net.Params), grad: make([]float32, len(net.Params))}
	variances, axes := c.axes(rows)
	if axes == nil {
		return nil
	}
	was, is := c.weights(net.Params), c.weights(c.params)
	for i, v := range variances {
		stretch := min(max(1/math.Sqrt(max(v, 0)), 1), mostStretch)
		clear(is[i*c.out:][:c.out])
		for j := range c.in {
			axis := axes.At(j, i)
			c.to[i*c.in+j] = float32(stretch * axis)
			kernel.Axpy(float32(axis/stretch), was[j*c.out:][:c.out], is[i*c.out:][:c.out])
		}
	}
	c.shift(net.Params, c.params, 1)
	return c
}

// axes are the principal ones of rows, [in] each, and the variances along them. It keeps their mean. There are none
// where rows are not finite.
func (c *principal) axes(rows []float32) (variances []float64, axes *mat.Dense) {
	n := len(rows) / c.in
	for k := range n {
		kernel.Axpy(1/float32(n), rows[k*c.in:][:c.in], c.mean)
	}
	centred := mat.NewDense(c.in, n, nil)
	for k, x := range rows {
		centred.Set(k%c.in, k/c.in, float64(x-c.mean[k%c.in]))
	}
	covariance := mat.NewSymDense(c.in, nil)
	covariance.SymOuterK(1/float64(n), centred)
	var e mat.EigenSym
	if x := mat.Sum(covariance); math.IsNaN(x) || math.IsInf(x, 0) || !e.Factorize(covariance, true) {
		return nil, nil
	}
	axes = new(mat.Dense)
	e.VectorsTo(axes)
	return e.Values(nil), axes
}

// weights are those of the first layer, [in][out].
func (c *principal) weights(params []float32) []float32 { return params[c.weight:][:c.in*c.out] }

// shift adds to the first layer's bias what the mean has under the weights of a policy, or takes it away.
func (c *principal) shift(policy, to []float32, sign float32) {
	weights, bias := c.weights(policy), to[c.bias:][:c.out]
	for j, m := range c.mean {
		kernel.Axpy(sign*m, weights[j*c.out:][:c.out], bias)
	}
}

// pull writes a gradient of the policy's parameters in these coordinates.
func (c *principal) pull(grad []float32) {
	copy(c.grad, grad)
	centred, bias := slices.Clone(c.weights(grad)), grad[c.bias:][:c.out]
	for j, m := range c.mean {
		kernel.Axpy(-m, bias, centred[j*c.out:][:c.out])
	}
	kernel.Gemm(false, false, c.in, c.out, c.in, c.to, c.in, centred, c.out, 0, c.weights(c.grad), c.out)
}

// put writes the parameters as the policy has them.
func (c *principal) put(params []float32) {
	copy(params, c.params)
	kernel.Gemm(true, false, c.in, c.out, c.in, c.to, c.in, c.weights(c.params), c.out, 0, c.weights(params), c.out)
	c.shift(params, params, -1)
}
