package gate

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// compared compares errors of candidate and current bundle, of which a negative one is a crash of 4 m.
func compared(candidate, current []float64) *comparison {
	c := &comparison{gate: &Gate{Config: Config{Tolerance: .001, Level: .95, Resamples: 500}}}
	for who, errors := range [][]float64{candidate, current} {
		for _, e := range errors {
			f := Figures{Error: e}
			if e < 0 {
				f = Figures{Error: 4, Crashes: 1}
			}
			c.figures[who] = append(c.figures[who], f)
		}
	}
	c.stage.Current, c.stage.Candidate = summary(c.figures[1]), summary(c.figures[0])
	c.errors()
	return c
}

// with returns 34 equal errors, of which the first few are crashes.
func with(crashes int, e float64) []float64 {
	out := make([]float64, 34)
	for i := range out {
		if out[i] = e; i < crashes {
			out[i] = -1
		}
	}
	return out
}

// TestCrashesDoNotHideErrors: a crash of the current bundle lets no candidate pass that errs by a tenth more, and
// crashes of both do not keep one back that errs by a tenth less.
func TestCrashesDoNotHideErrors(t *testing.T) {
	for name, row := range map[string]struct {
		candidate, current []float64
		pass               bool
		pairs              int
	}{
		"the current one crashes once, the candidate errs more": {with(0, .11), with(1, .10), false, 33},
		"the same, the candidate errs less":                     {with(0, .09), with(1, .10), true, 33},
		"both crash three times, the candidate errs less":       {with(3, .09), with(3, .10), true, 31},
		"the current one crashes in five more":                  {with(0, .11), with(5, .10), true, 34},
		"the current one crashes in four more":                  {with(0, .11), with(4, .10), false, 30},
		"hardly a flight without a crash":                       {with(27, .11), with(27, .10), false, 34},
	} {
		c := compared(row.candidate, row.current)
		if pass := len(c.stage.Reasons) == 0; pass != row.pass || c.stage.Compared != row.pairs {
			t.Errorf("%s: passes %v with %d pairs, expected %v with %d: %q", name, pass, c.stage.Compared, row.pass,
				row.pairs, c.stage.Reasons)
		}
	}
}

// TestCrashesInOtherFlights: a crash where the current bundle does not crash takes four of its own elsewhere to be made
// up for, and no fewer.
func TestCrashesInOtherFlights(t *testing.T) {
	for theirs, pass := range []bool{false, false, false, false, true} {
		current := with(theirs, .10)
		candidate := with(0, .09)
		candidate[len(candidate)-1] = -1
		c := compared(candidate, current)
		c.stage.Reasons = nil
		if c.crashes(true); len(c.stage.Reasons) == 0 != pass {
			t.Errorf("%d crashes against one: passes %v, expected %v: %q", theirs, !pass, pass, c.stage.Reasons)
		}
	}
}

// TestSignTest: beside binomial sums by hand, and the two tails together are 1.
func TestSignTest(t *testing.T) {
	for _, x := range []struct {
		heads, tails int
		want         float64
	}{{0, 0, 1}, {1, 0, .5}, {5, 0, 1. / 32}, {6, 0, 1. / 64}, {2, 1, .5}, {7, 1, 9. / 256}, {0, 3, 1}} {
		if got := signTest(x.heads, x.tails); math.Abs(got-x.want) > 1e-12 {
			t.Errorf("%d heads, %d tails: %g, expected %g", x.heads, x.tails, got, x.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		heads, tails := rapid.IntRange(1, 60).Draw(t, "heads"), rapid.IntRange(0, 60).Draw(t, "tails")
		if sum := signTest(heads, tails) + signTest(tails+1, heads-1); math.Abs(sum-1) > 1e-9 {
			t.Fatalf("%d heads, %d tails: both tails are %g", heads, tails, sum)
		}
	})
}
