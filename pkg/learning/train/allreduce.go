package train

import "vnd/pkg/core/dist"

// agree ends all ranks where one ends.
func (t *trainer) agree(err error) error { return dist.Agree(t.opt.Ranks, err) }

// partial is what the parts of a rank came to beside their gradients.
type partial struct {
	Figures   []Figures
	NonFinite string
}

// allReduce gives every rank the gradients and figures [parts] of all, and returns the
// term of the cost that was not finite first, "" while all were.
func (t *trainer) allReduce(figures []Figures) (nonFinite string, err error) {
	for _, w := range t.tiles {
		if w.nonFinite != "" {
			nonFinite = w.nonFinite
		}
	}
	g := t.opt.Ranks
	if g.Size() == 1 {
		return nonFinite, nil
	}
	if err := dist.Floats(g, t.all); err != nil {
		return "", err
	}
	all, err := dist.Gather(g, partial{figures[t.lo:t.hi], nonFinite})
	part := 0
	for _, c := range all {
		part += copy(figures[part:], c.Figures)
		if c.NonFinite != "" {
			nonFinite = c.NonFinite
		}
	}
	return nonFinite, err
}
