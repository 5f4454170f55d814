package pushing

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/robot/pusher"
)

// TestJudgeDrawsBoxesOfAForce: what is drawn of a box is within its bounds, and takes the force that it has, as far as
// any such box can.
func TestJudgeDrawsBoxesOfAForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for _, product := range []float64{0.01, 0.05, 0.4, 1, 2.2, 9} {
		for range 50 {
			c := condition(pusher.Robot{Mass: 0.8, Friction: product / 0.8}, rng)
			want := min(max(product, leastMass*leastFriction), mostMass*mostFriction)
			if err := c.Check(); err != nil || math.Abs(c.Mass*c.Friction-want) > 1e-9 {
				t.Fatalf("%g: %+v, %v", product, c, err)
			}
		}
	}
}

// TestJudgeFlies: the same trial is the same for a bundle, and other trials are others. A tool that is driven off the
// table ends one.
func TestJudgeFlies(t *testing.T) {
	newWorlds(t, 1) // or it skips
	task := pushlearning.DefaultTask
	task.Steps = 150
	p := untrained(t, 8, 8)
	b, err := pushlearning.First(p, "test")
	if err != nil {
		t.Fatal(err)
	}
	j := Judging(task, nil)
	fly := func(number uint64) *gate.Flight {
		f, err := j.Fly(t.Context(), b, gate.Trial{Number: number})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	one, again, other := fly(1), fly(1), fly(2)
	if n := len(one.Errors); n == 0 || len(again.Errors) != n || again.Errors[n-1] != one.Errors[n-1] ||
		other.Errors[0] == one.Errors[0] {
		t.Errorf("%d ticks, again %d, in another trial %d", n, len(again.Errors), len(other.Errors))
	}
	if one.Crash == "" && len(one.Errors) != task.Steps {
		t.Errorf("%d ticks of %d", len(one.Errors), task.Steps)
	}
}
