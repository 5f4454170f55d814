package pushing

import (
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/flight/pushcontrol"
)

// TestReaderReplacesTheTruth: it learns what is hidden from what is seen, and a policy that it informs never has the
// truth.
func TestReaderReplacesTheTruth(t *testing.T) {
	const hidden, rows = 2, 500
	b := DefaultBudget()
	informed, err := b.informed(untrained(t, 8, 8), hidden)
	if err != nil {
		t.Fatal(err)
	}
	r, err := newReader(informed, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := &lessons{reader: r, rng: rand.New(rand.NewPCG(1, 2))}
	for range rows {
		x := make([]float32, informed.Size())
		for i := range x {
			x[i] = float32(l.rng.NormFloat64())
		}
		x[pushcontrol.Sees], x[pushcontrol.Sees+1] = min(max(x[3]/2, -0.9), 0.9), 0.5
		l.rows = append(l.rows, x)
	}
	first, last := l.learn(1), l.learn(300)
	if !(last < 0.2 && last < first/2) {
		t.Errorf("it errs by %.2f, untrained by %.2f", last, first)
	}
	x := slices.Concat(l.rows[0], l.rows[1])
	lied := slices.Clone(x)
	lied[pushcontrol.Sees], lied[len(x)-1] = 7, 7
	inform := r.over(2)
	inform(lied)
	read := lied[len(x)-1]
	if inform(x); !slices.Equal(x, lied) || !(read > 0.3 && read < 0.7) {
		t.Errorf("it reads %g, expected 0.5 whatever the truth is said to be", read)
	}
	if n := len(x) / 2; !slices.Equal(x[:n-hidden], l.rows[0][:n-hidden]) {
		t.Error("what is seen is no longer what it was")
	}
}
