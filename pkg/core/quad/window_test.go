package quad

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// Whatever is pushed, the window holds the newest rows since the last gap, in order, at most C+1 of them.
func TestWindowHoldsTheNewestUnbrokenRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		C := rapid.IntRange(1, 7).Draw(t, "C")
		w, err := NewWindow(C, .02)
		if err != nil {
			t.Fatal(err)
		}
		var want []Row
		now := 0.
		for i := range rapid.IntRange(1, 80).Draw(t, "rows") {
			gap := rapid.SampledFrom([]float64{.02, .02, .02, .02, .021, .019, .04, 0, -.02, math.NaN()}).Draw(t, "gap")
			if i > 0 && !(gap >= .01 && gap <= .03) {
				want = nil
			}
			if gap == gap {
				now += gap
			}
			s := Row{T: now}
			if gap != gap {
				s.T = gap
			}
			s.Command.Thrust = float64(i)
			w.Push(s)
			if want = append(want, s); gap != gap {
				// the clock is unknown after it: the next row starts anew
				now = 0
				w.Push(Row{T: now})
				want = []Row{{T: now}}
			}
			want = want[max(0, len(want)-C-1):]
			got := w.Rows()
			if len(got) != len(want) || w.Full() != (len(want) == C+1) {
				t.Fatalf("%d rows, full %v; want %d rows of %d", len(got), w.Full(), len(want), C+1)
			}
			for j := range want {
				if got[j] != want[j] {
					t.Fatalf("row %d is %v, want %v", j, got[j], want[j])
				}
			}
		}
	})
}

func TestPushAllocatesNothing(t *testing.T) {
	w, err := NewWindow(20, .02)
	if err != nil {
		t.Fatal(err)
	}
	k := 0.
	if n := testing.AllocsPerRun(500, func() { w.Push(Row{T: k * .02}); k++ }); n != 0 {
		t.Errorf("%g allocations per row", n)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		C  int
		dt float64
	}{{0, .02}, {20, 0}, {20, math.NaN()}} {
		if _, err := NewWindow(c.C, c.dt); err == nil {
			t.Errorf("window of %d rows at %g s was accepted", c.C, c.dt)
		}
	}
}
