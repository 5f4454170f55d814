package fit

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHeldOutRecordingsAreTheValidation: what is held out already is, and nothing else.
func TestHeldOutRecordingsAreTheValidation(t *testing.T) {
	rows := Recording{Weight: slices.Repeat([]float32{1}, 100)}
	var all []Recording
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		rows.Name, rows.HeldOut = name, name == "b" || name == "e"
		all = append(all, rows, rows)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	if got := newTrainingSet(all).split(0.5, 20, 5, rng); !slices.Equal(got, []bool{1: true, 4: true, 5: false}) {
		t.Errorf("held out: %v", got)
	}
	if got := newTrainingSet(all[:2]).split(0.5, 20, 5, rng); got[0] {
		t.Error("the only flight is held out")
	}
}
