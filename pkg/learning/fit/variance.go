package fit

import (
	"math"

	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
)

// scales are what errors of the loss are measured in.
type scales[F kernel.Float] struct {
	unit  []F // [H][U] √weight / unit of each error
	grown []F // [H][U][U] see growth; nil where states are true
}

// growthStarts is how many contexts the growth is taken from: the prior's rollouts are much alike.
const growthStarts = 64

// growth returns by how much errors of a start grow along the prior's rollouts: the mean square of ∂(error j after
// h+1 steps)/∂(error i at the start), [H][j][i], over some contexts. An error comes in as the tangent of the first
// step.
func growth(sys robot.System[float32], d *trainingSet, starts []start, T, H int) []float32 {
	const nudge = 1e-2
	dim := sys.Dims()
	U := dim.Tangent
	out := make([]float32, H*U*U)
	s, e := make([]float32, dim.State), make([]float32, U)
	roll := func(g *segment, k, i int) []float32 {
		sys.Window(T, g.Measured[(k-T)*dim.Measured:], g.Actions[(k-T)*dim.Action:], s, nil, nil, nil)
		now, next, off, all := append([]float32(nil), s...), make([]float32, dim.State), make([]float32, U),
			make([]float32, 0, H*dim.State)
		if i >= 0 {
			off[i] = nudge
		}
		for h := range H {
			sys.Step(1, now, g.Actions[(k+h)*dim.Action:], off, next)
			all = append(all, next...)
			now, next = next, now
			clear(off)
		}
		return all
	}
	for _, st := range starts {
		g, k := &d.segments[st.Segment], int(st.At)
		bare := roll(g, k, -1)
		for i := range U {
			nudged := roll(g, k, i)
			for h := range H {
				sys.Minus(1, nudged[h*dim.State:], dim.State, bare[h*dim.State:], dim.State, e)
				for j, x := range e {
					out[(h*U+j)*U+i] += x * x / (nudge * nudge * float32(len(starts)))
				}
			}
		}
	}
	return out
}

// discount writes the scales of context b of B, whose rollout begins at row k: the errors of a model that is right have
// the variance of the start, grown along the rollout, and that of the target (Fuller, Measurement Error Models, 1987).
// It comes on top of the unit's.
func (w *worker[F]) discount(b, B, H int, g *segment, k int) {
	if w.each == nil {
		return
	}
	U := w.m.System.Dims().Tangent
	for h := range H {
		scale, out := w.scale[h*U:][:U], w.each[(h*B+b)*U:][:U]
		if copy(out, scale); g.Variance == nil {
			continue
		}
		start, target := g.Variance[k*U:][:U], g.Variance[(k+h+1)*U:][:U]
		for j, s := range scale {
			v := F(target[j])
			for i, x := range w.grown[(h*U+j)*U:][:U] {
				v += x * F(start[i])
			}
			out[j] = s / F(math.Sqrt(float64(1+s*s*v)))
		}
	}
}

// normalise multiplies errors of step h, or their gradients, by their scales.
func (w *worker[F]) normalise(h, B int, e []F) {
	U := w.m.System.Dims().Tangent
	if w.each != nil {
		for i, s := range w.each[h*B*U:][:B*U] {
			e[i] *= s
		}
		return
	}
	scale := w.scale[h*U:][:U]
	for i := range e {
		e[i] *= scale[i%U]
	}
}

// unsure reports whether some states are not taken for true.
func (d *trainingSet) unsure() bool {
	for i := range d.segments {
		if d.segments[i].Variance != nil {
			return true
		}
	}
	return false
}
