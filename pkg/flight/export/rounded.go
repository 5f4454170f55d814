package export

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"vnd/pkg/vnd/bundle"
)

// Rounded is a bundle of the numbers that its C source with int8 weights has: to fly it in simulation before it flies
// on a microcontroller.
func Rounded(b *bundle.Bundle) (*bundle.Bundle, error) {
	r := *b
	r.ID, r.Parent = "", b.ID
	r.Signature = nil
	r.Tensors = slices.Clone(b.Tensors)
	for i := range r.Tensors {
		t := &r.Tensors[i]
		part, _, _ := strings.Cut(t.Name, ".")
		if len(t.Shape) == 2 && slices.Contains([]string{"policy", "encoder", "residual"}, part) {
			t.Data = rounded(&dense{in: t.Shape[0], out: t.Shape[1], w: t.Data})
		}
	}
	data, err := r.Encode()
	if err != nil {
		return nil, err
	}
	return bundle.Decode("rounded bundle of "+b.ID, data)
}

// rounded is a layer's weights as C with int8 multiplies by them.
func rounded(d *dense) []float32 {
	w, scale := round(d)
	out := make([]float32, len(w))
	for i, v := range w {
		out[i] = float32(v) * scale[i%d.out]
	}
	return out
}

// CommandError is by how much the policies of two bundles, of the same sizes, differ on inputs drawn about those of
// training: the greatest difference and the root of the mean square, in half ranges of a command.
func CommandError(a, b *bundle.Bundle) (worst, rms float64, err error) {
	const rows = 1000
	p, err := policyIn(a)
	if err != nil {
		return 0, 0, err
	}
	q, err := policyIn(b)
	if err != nil {
		return 0, 0, err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, rows*p.Net.Inputs)
	for i := range x {
		if x[i] = float32(rng.NormFloat64()); p.Norm.Scale[i%p.Net.Inputs] == 0 {
			x[i] = 0
		}
	}
	u, v := make([]float32, rows*p.Net.Actions), make([]float32, rows*p.Net.Actions)
	p.Net.Forward(p.Net.NewTape(rows, 1), 0, rows, x, u)
	q.Net.Forward(q.Net.NewTape(rows, 1), 0, rows, x, v)
	for i := range u {
		d := math.Abs(float64(u[i] - v[i]))
		worst, rms = max(worst, d), rms+d*d
	}
	return worst, math.Sqrt(rms / float64(len(u))), nil
}
