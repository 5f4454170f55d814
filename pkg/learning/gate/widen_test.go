package gate

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestUnsureDataWidenTheInterval: what passes on good data is not shown to err as little on data of which a quarter
// counts.
func TestUnsureDataWidenTheInterval(t *testing.T) {
	verdict := func(good float64) *comparison {
		g := &Gate{Config: Config{Tolerance: .003, Level: .95, Resamples: 2000}, Good: good}
		c := &comparison{gate: g}
		rng := rand.New(rand.NewPCG(1, 2))
		for range 34 {
			e := .05 + .01*rng.NormFloat64()
			c.figures[1] = append(c.figures[1], Figures{Error: e})
			c.figures[0] = append(c.figures[0], Figures{Error: e + .006*rng.NormFloat64()})
		}
		c.stage.Current, c.stage.Candidate = summary(c.figures[1]), summary(c.figures[0])
		c.errors()
		return c
	}
	all, quarter := verdict(1), verdict(.25)
	a, q := all.stage.Difference, quarter.stage.Difference
	if len(all.stage.Reasons) > 0 {
		t.Errorf("on good data: %q", all.stage.Reasons)
	}
	if len(quarter.stage.Reasons) != 1 || !strings.Contains(quarter.stage.Reasons[0], "is not shown to err as little") {
		t.Errorf("on data of which a quarter counts: %q", quarter.stage.Reasons)
	}
	if ratio := (q.High - q.Low) / (a.High - a.Low); ratio < 1.99 || ratio > 2.01 || q.Mean != a.Mean {
		t.Errorf("the interval is %v, on good data %v", q, a)
	}
	if unknown := verdict(0); *unknown.stage.Difference != *a {
		t.Errorf("where the share is not known the interval is %v, expected %v", unknown.stage.Difference, a)
	}
}
