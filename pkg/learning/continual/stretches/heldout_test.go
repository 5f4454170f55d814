package stretches

import (
	"testing"

	"vnd/pkg/robot/arm"
)

// TestHoldOut: blocks are evenly spread, no row is lost, and what is short is learned from.
func TestHoldOut(t *testing.T) {
	const block = 10
	for _, x := range []struct {
		rows          int
		share         float64
		learned, held int // parts
	}{{205, 0.1, 3, 2}, {200, 0.1, 2, 2}, {50, 0.1, 1, 1}, {19, 0.1, 1, 0}, {100, 0, 1, 0}} {
		rows := make([]arm.Row, x.rows)
		for i := range rows {
			rows[i].T = float64(i)
		}
		learned, held := HoldOut(rows, block, x.share)
		if len(learned) != x.learned || len(held) != x.held {
			t.Errorf("%d rows: %d parts, %d held out, expected %d and %d", x.rows, len(learned), len(held), x.learned,
				x.held)
		}
		seen := map[float64]bool{}
		for _, part := range append(learned, held...) {
			for _, row := range part {
				seen[row.T] = true
			}
		}
		for _, part := range held {
			if len(part) != block {
				t.Errorf("%d rows: a block of %d", x.rows, len(part))
			}
		}
		if len(seen) != x.rows {
			t.Errorf("%d rows: %d in the parts", x.rows, len(seen))
		}
	}
}

// TestBetter: no model is told from its prior by less than what places are known to.
func TestBetter(t *testing.T) {
	for p, want := range map[Prediction]bool{{0.001, 0.002}: true, {0.002, 0.001}: false, {0.001, 0.001}: false,
		{2e-5, 1e-9}: true, {1e-4, 1e-9}: false} {
		if p.Better() != want {
			t.Errorf("%v: %t", p, !want)
		}
	}
}
