package logs

import (
	"slices"
	"testing"
)

// Velocities are compared row by row: what a channel's rate is must not be asked anew at each.
func TestVelocitiesAreComparedInOnePass(t *testing.T) {
	l := flown(20)
	l.estimateVelocity()
	const most = 100 // as slices grow: there are 2000 rows
	if n := testing.AllocsPerRun(1, func() { l.checkVelocity() }); n > most {
		t.Errorf("%.0f allocations, at most %d", n, most)
	}
}

func TestStepIsThatOfTheRowsThatAreLeft(t *testing.T) {
	s := &flown(1).Series[Battery]
	s.keep(func(i int) bool { return s.step() > 0 && i%2 == 0 })
	if got := s.step(); got != 0.4 {
		t.Errorf("%g s from row to row, expected 0.4", got)
	}
}

func TestDropTakesEachRunOutOfItsChannel(t *testing.T) {
	l := &Log{}
	for _, c := range checked {
		for i := range 10 {
			l.Series[c].add(float64(i), nil)
		}
	}
	l.Drop([]Suspect{{Channel: Rates, From: 8, To: 8}, {Channel: Rates, From: 2, To: 6},
		{Channel: Rates, From: 3, To: 4}, {Channel: Motors, From: 0, To: 1}})
	for c, want := range map[Channel][]float64{Rates: {0, 1, 7, 9}, Motors: {2, 3, 4, 5, 6, 7, 8, 9}} {
		if got := l.Series[c].T; !slices.Equal(got, want) {
			t.Errorf("%s: rows %v, expected %v", c, got, want)
		}
	}
	if got := len(l.Series[Position].T); got != 10 {
		t.Errorf("%d positions, expected 10", got)
	}
}
