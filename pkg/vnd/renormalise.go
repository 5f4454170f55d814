package vnd

import (
	"strings"

	"vnd/pkg/nn/kernel"
)

// Renormalise gives a model other normalisers and other units of its outputs. Its weights make up for that: it says the
// same as before, but for rounding. A channel that was off has no weight yet. One that is on must stay on.
func (m *Model[F]) Renormalise(context, inputs Norm[F], output []F) {
	tensors := m.Net.Tensors()
	for i := range tensors {
		name, weight := strings.CutSuffix(tensors[i].Name, ".w")
		if !weight || i+1 == len(tensors) || tensors[i+1].Name != name+".b" {
			continue
		}
		w := m.Net.Params[tensors[i].Offset:][:tensors[i].Size()]
		b := m.Net.Params[tensors[i+1].Offset:][:tensors[i+1].Size()]
		switch member := strings.HasPrefix(name, "residual."); {
		case name == "encoder.dense":
			m.Context.becomes(&context, w, b)
		case name == "decoder.head":
			m.Context.decodes(&context, w, b)
		case member && strings.HasSuffix(name, ".in"):
			m.Inputs.becomes(&inputs, w[:m.Net.Inputs*len(b)], b) // behind them come those of a latent
		case member && strings.HasSuffix(name, ".head"):
			for j := range w {
				w[j] *= ratio(m.Output[j%len(b)], output[j%len(b)])
			}
			for j := range b {
				b[j] *= ratio(m.Output[j], output[j])
			}
		}
	}
	m.Context, m.Inputs, m.Output = context, inputs, output
	m.Net.Refresh()
}

// ratio is that of two scales; of one that stays 0 it is 1.
func ratio[F kernel.Float](was, is F) F {
	if is == 0 {
		return 1
	}
	return was / is
}

// becomes has a layer w [rows·C × out], b [out] read rows that another normaliser makes.
func (n *Norm[F]) becomes(is *Norm[F], w, b []F) {
	for r := range len(w) / len(b) {
		c, row := r%len(n.Scale), w[r*len(b):][:len(b)]
		moved, share := (is.Mean[c]-n.Mean[c])*n.Scale[c], ratio(n.Scale[c], is.Scale[c])
		for j := range row {
			b[j] += row[j] * moved
			row[j] *= share
		}
	}
}

// decodes has a layer w [in × rows·C], b [rows·C] write rows as another normaliser makes them.
func (n *Norm[F]) decodes(is *Norm[F], w, b []F) {
	for j := range b {
		if c := j % len(n.Scale); n.Scale[c] > 0 {
			grows := is.Scale[c] / n.Scale[c]
			for i := j; i < len(w); i += len(b) {
				w[i] *= grows
			}
			b[j] = b[j]*grows + (n.Mean[c]-is.Mean[c])*is.Scale[c]
		}
	}
}
