package train

import "vnd/pkg/core/dist"

// agree ends all ranks where one ends.
func (t *trainer) agree(err error) error { return dist.Agree(t.opt.Ranks, err) }

// came is what the parts of a rank came to beside their gradients.
type came struct {
	Figures []Figures
	Blame   string
}

// meet gives every rank the gradients and figures [parts] of all, and returns the
// term of the cost that was not finite first, "" while all were.
func (t *trainer) meet(figures []Figures) (blame string, err error) {
	for _, w := range t.tiles {
		if w.blame != "" {
			blame = w.blame
		}
	}
	g := t.opt.Ranks
	if g.Size() == 1 {
		return blame, nil
	}
	if err := dist.Floats(g, t.all); err != nil {
		return "", err
	}
	all, err := dist.Gather(g, came{figures[t.lo:t.hi], blame})
	part := 0
	for _, c := range all {
		part += copy(figures[part:], c.Figures)
		if c.Blame != "" {
			blame = c.Blame
		}
	}
	return blame, err
}
