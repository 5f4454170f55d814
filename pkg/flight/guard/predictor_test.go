package guard

import (
	"math"
	"testing"
)

// After a time without states one that is late is late, as before.
func TestTimesWithoutStatesAreNotUsual(t *testing.T) {
	var l Lateness
	for _, age := range []float64{0.02, 0.025, 0.015} {
		if late := l.Of(age); late != 0 {
			t.Errorf("of %g s: late by %g s", age, late)
		}
	}
	const without = 3.0 // s
	for age := 0.04; age < without; age += 0.02 {
		l.Of(age)
	}
	if late := l.Of(0.07); math.Abs(late-0.05) > 0.001 {
		t.Errorf("late by %.3f s, expected 0.05", late)
	}
	for range 2000 {
		l.Of(0.03)
	}
	if late := l.Of(0.05); math.Abs(late-0.02) > 0.001 {
		t.Errorf("where all have become a little older: late by %.3f s, expected 0.02", late)
	}
}
