package quad

import (
	"math"
	"testing"
)

func TestFollows(t *testing.T) {
	const dt = 0.25 // so that halves and sums are exact
	for _, c := range []struct {
		apart float64
		want  bool
	}{
		{dt, true}, {dt / 2, true}, {1.5 * dt, true}, {dt/2 - 1e-9, false}, {1.5*dt + 1e-9, false},
		{0, false}, {-dt, false}, {2 * dt, false}, {math.NaN(), false}, {math.Inf(1), false},
	} {
		if got := Follows(8, 8+c.apart, dt); got != c.want {
			t.Errorf("%g s apart: follows %v, want %v", c.apart, got, c.want)
		}
	}
}

func TestFirstRow(t *testing.T) {
	f := Flight{Segments: [][]Step{make([]Step, 3), make([]Step, 4), make([]Step, 1)}}
	for i, want := range []int{0, 3, 7} {
		if got := f.FirstRow(i); got != want {
			t.Errorf("whole flight, segment %d begins with row %d, want %d", i, got, want)
		}
	}
	f.First = []int{2, 9, 20}
	for i, want := range f.First {
		if got := f.FirstRow(i); got != want {
			t.Errorf("segment %d begins with row %d, want %d", i, got, want)
		}
	}
}
