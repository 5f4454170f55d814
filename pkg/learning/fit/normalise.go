package fit

import (
	"math"
	"math/rand/v2"
	"slices"

	"vnd/pkg/robot"
	"vnd/pkg/vnd"
)

// statisticsContexts is how many contexts the normalisers and the loss scale are taken from.
const statisticsContexts = 4000

// thin keeps at most n of the starts, evenly.
func thin(s []start, n int) []start {
	if len(s) <= n {
		return s
	}
	out := make([]start, n)
	for i := range out {
		out[i] = s[i*len(s)/n]
	}
	return out
}

// moments gathers mean and standard deviation per channel.
type moments struct {
	n       float64
	sum, sq []float64
}

func newMoments(w int) *moments { return &moments{sum: make([]float64, w), sq: make([]float64, w)} }

func (m *moments) add(row []float32) {
	m.n++
	for j, x := range row {
		m.sum[j] += float64(x)
		m.sq[j] += float64(x) * float64(x)
	}
}

// norm returns the affine normaliser. A channel that does not vary, but for rounding, is switched off.
func (m *moments) norm() vnd.Norm[float32] {
	n := vnd.Norm[float32]{Mean: make([]float32, len(m.sum)), Scale: make([]float32, len(m.sum))}
	for j := range m.sum {
		mean := m.sum[j] / m.n
		n.Mean[j] = float32(mean)
		if std := math.Sqrt(max(0, m.sq[j]/m.n-mean*mean)); std > 1e-4*(1e-2+math.Abs(mean)) {
			n.Scale[j] = float32(1 / std)
		}
	}
	return n
}

// statistics sets the model's normalisers (with the commands' gains varied as in training), output units and switches
// from training contexts, and returns the weight of each error of the loss, [H][U]: √weight over the RMS error that the
// recent-mean baseline makes after that many steps.
func statistics(cfg *Config, m *vnd.Model[float32], d *trainingSet, starts []start, H int, rng *rand.Rand) []float32 {
	dim, T := m.System.Dims(), m.Net.Context
	ctx, in := newMoments(dim.Context), newMoments(dim.Inputs)
	feat, states, r := make([]float32, T*dim.Context), make([]float32, T*dim.State), make([]float32, T*dim.Tangent)
	s, x, actions := make([]float32, dim.State), make([]float32, dim.Inputs), make([]float32, T*dim.Action)
	drift := m.System.GainDrift()
	unit := make([]float64, dim.Tangent)
	sq := make([]float64, H*dim.Tangent)
	for _, st := range starts {
		g, k := &d.segments[st.Segment], int(st.At)
		gain := float32(math.Exp(cfg.Train.GainJitter * rng.NormFloat64()))
		for i, a := range g.Actions[(k-T)*dim.Action : k*dim.Action] {
			if c := i % dim.Action; c >= drift.Lo && c < drift.Hi {
				a *= gain
			}
			actions[i] = a
		}
		m.System.Window(T, g.Measured[(k-T)*dim.Measured:], actions, s, feat, states, nil)
		for t := range T {
			ctx.add(feat[t*dim.Context:][:dim.Context])
			m.System.Inputs(1, states[t*dim.State:][:dim.State], actions[t*dim.Action:][:dim.Action], x)
			in.add(x)
		}
		m.System.Window(T, g.states()[(k-T)*dim.Measured:], g.Actions[(k-T)*dim.Action:], s, nil, nil, r)
		for t := range T {
			for j := range unit {
				unit[j] += float64(r[t*dim.Tangent+j]) * float64(r[t*dim.Tangent+j]) / float64(T*len(starts))
			}
		}
		recentMean(m.System, g, k, T, H, s, r, sq)
	}
	m.Context, m.Inputs = ctx.norm(), in.norm()
	widen(m.System.InputSpans(), m.Inputs.Scale)
	widen(m.System.ContextSpans(), m.Context.Scale)
	spans := m.System.TangentSpans()
	shareSpans(spans, unit)
	for j, u := range unit {
		m.Output[j] = float32(math.Sqrt(u))
		m.BiasShare[j] = 1
	}
	switchOff(cfg, m)
	return errorScale(cfg, spans, sq, H, len(starts))
}

// widen has channels vary by at least the spread of their span. One that is switched off stays so.
func widen(spans []robot.Span, scale []float32) {
	for _, sp := range spans {
		if sp.Spread > 0 {
			for j := sp.Lo; j < sp.Hi; j++ {
				scale[j] = min(scale[j], 1/sp.Spread)
			}
		}
	}
}

// left is how many of its deviations of before a channel has to vary by, or to have moved by, for its normaliser to
// follow.
const left = 2

// followed is a normaliser of before, with those channels as the data are now that have left it. One that varies less
// than before stays as it is: of what was flown before more may come.
func followed(was, is *vnd.Norm[float32]) vnd.Norm[float32] {
	out := vnd.Norm[float32]{Mean: slices.Clone(was.Mean), Scale: slices.Clone(was.Scale)}
	for j, s := range was.Scale {
		moved := math.Abs(float64((is.Mean[j] - was.Mean[j]) * s))
		switch {
		case is.Scale[j] == 0:
		case s == 0:
			out.Mean[j], out.Scale[j] = is.Mean[j], is.Scale[j]
		case s > left*is.Scale[j] || moved > left:
			out.Mean[j], out.Scale[j] = is.Mean[j], min(s, is.Scale[j])
		}
	}
	return out
}

// grown are units of before, with those as the data are now that are far greater. One that is off stays off.
func grown(was, is []float32) []float32 {
	out := slices.Clone(was)
	for j, u := range was {
		if u > 0 && is[j] > left*u {
			out[j] = is[j]
		}
	}
	return out
}

// recentMean rolls out the prior plus the mean one-step residual of the window and adds its square errors to sq[H][U].
func recentMean(sys robot.System[float32], g *segment, k, T, H int, start, r []float32, sq []float64) {
	dim := sys.Dims()
	mean, e := make([]float32, dim.Tangent), make([]float32, dim.Tangent)
	for i, x := range r {
		mean[i%dim.Tangent] += x / float32(T)
	}
	s, next := append([]float32(nil), start...), make([]float32, dim.State)
	for h := range H {
		sys.Step(1, s, g.Actions[(k+h)*dim.Action:], mean, next)
		s, next = next, s
		sys.Minus(1, s, dim.State, g.states()[(k+h+1)*dim.Measured:], dim.Measured, e)
		for j, x := range e {
			sq[h*dim.Tangent+j] += float64(x) * float64(x)
		}
	}
}

// shareSpans replaces each entry by the mean over its span, so that the axes of one quantity share a unit.
func shareSpans(spans []robot.Span, x []float64) {
	for _, sp := range spans {
		mean := 0.
		for _, v := range x[sp.Lo:sp.Hi] {
			mean += v / float64(sp.Hi-sp.Lo)
		}
		for j := sp.Lo; j < sp.Hi; j++ {
			x[j] = mean
		}
	}
}

// switchOff applies the configuration's switches of inputs and heads.
func switchOff(cfg *Config, m *vnd.Model[float32]) {
	off := func(spans []robot.Span, name string, scale []float32, on bool) {
		for _, sp := range spans {
			if sp.Name == name && !on {
				clear(scale[sp.Lo:sp.Hi])
			}
		}
	}
	in, ctx, out := m.System.InputSpans(), m.System.ContextSpans(), m.System.TangentSpans()
	off(in, "position", m.Inputs.Scale, cfg.Inputs.Position)
	off(in, "last_command", m.Inputs.Scale, cfg.Inputs.LastCommand)
	off(in, "actuator", m.Inputs.Scale, cfg.Inputs.Actuator)
	off(in, "thrust_vector", m.Inputs.Scale, cfg.Inputs.Actuator)
	off(ctx, "actuator", m.Context.Scale, cfg.Inputs.Actuator)
	off(ctx, "residual", m.Context.Scale, cfg.Inputs.Residuals)
	for name, on := range map[string]bool{"position": cfg.Heads.Position, "velocity": cfg.Heads.Velocity,
		"rotation": cfg.Heads.Rotation, "rates": cfg.Heads.Rotation} {
		off(out, name, m.Output, on)
		off(out, name, m.BiasShare, on)
	}
}

// errorScale turns summed square errors of the baseline into the weights of the loss.
func errorScale(cfg *Config, spans []robot.Span, sq []float64, H, n int) []float32 {
	U := len(sq) / H
	weight := map[string]float64{"position": cfg.Loss.Position, "velocity": cfg.Loss.Velocity,
		"rotation": cfg.Loss.Rotation}
	scale := make([]float32, len(sq))
	for h := range H {
		row := sq[h*U : (h+1)*U]
		shareSpans(spans, row)
		for _, sp := range spans {
			w, ok := weight[sp.Name]
			if !ok {
				w = 1
			}
			for j := sp.Lo; j < sp.Hi; j++ {
				scale[h*U+j] = float32(math.Sqrt(w / max(row[j]/float64(n), 1e-12)))
			}
		}
	}
	return scale
}
