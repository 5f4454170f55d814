package quad

import (
	"math"
	"slices"
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

func TestSegments(t *testing.T) {
	at := func(times ...float64) (rows []Row) {
		for _, x := range times {
			rows = append(rows, Row{T: x})
		}
		return rows
	}
	for _, c := range []struct {
		times []float64
		want  []int // lengths
	}{
		{nil, nil}, {[]float64{3}, []int{1}}, {[]float64{0, 0.25, 0.5}, []int{3}},
		{[]float64{0, 0.25, 1, 1.25, 1.5}, []int{2, 3}},
		{[]float64{0, 0, 0.25}, []int{1, 2}}, {[]float64{0, 0.25, math.NaN(), 0.75}, []int{2, 1, 1}},
		{[]float64{0, 1, 2}, []int{1, 1, 1}},
	} {
		rows := at(c.times...)
		got := Segments(rows, 0.25)
		var lengths []int
		n := 0
		for _, s := range got {
			if &s[0] != &rows[n] || cap(s) != len(s) {
				t.Errorf("%v: a segment is not rows %d to %d alone", c.times, n, n+len(s))
			}
			lengths, n = append(lengths, len(s)), n+len(s)
		}
		if !slices.Equal(lengths, c.want) {
			t.Errorf("%v: lengths %v, want %v", c.times, lengths, c.want)
		}
	}
}

func TestFirstRow(t *testing.T) {
	f := Flight{Segments: [][]Row{make([]Row, 3), make([]Row, 4), make([]Row, 1)}}
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
