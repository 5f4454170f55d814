package sim

import (
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// trace is all that a flight shows.
type trace struct {
	truth   []Truth
	samples []Sample
	air     []so3.Vec3
}

// fly hovers in s for seconds and keeps everything.
func fly(t *testing.T, s *Simulator, seconds float64) (all trace) {
	t.Helper()
	for range int(seconds * 50) {
		s.Step(law(s.State(), so3.Vec3{Z: 1}, so3.Vec3{}, so3.Vec3{}), .02)
		_, air := s.Wind()
		all.truth, all.air = append(all.truth, s.Truth()), append(all.air, air)
		all.samples = append(all.samples, s.Mocap()...)
	}
	if s.Crashed() {
		t.Fatal(s.Crash())
	}
	return all
}

func equal[T comparable](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (a *trace) equals(b *trace) bool {
	return equal(a.truth, b.truth) && equal(a.samples, b.samples) && equal(a.air, b.air)
}

// TestRepeat: the same world, seed and commands give the same numbers, in a new simulator and after Reset; another
// seed others.
func TestRepeat(t *testing.T) {
	w := everything()
	start := quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}
	s := mustNew(t, w)
	first := fly(t, s, 7)
	again := fly(t, mustNew(t, w), 7)
	s.Reset(start, 1)
	reset := fly(t, s, 7)
	s.Reset(start, 2)
	other := fly(t, s, 7)
	if !first.equals(&again) || !first.equals(&reset) {
		t.Error("the same seed gives another flight")
	}
	if equal(first.truth, other.truth) || equal(first.samples, other.samples) {
		t.Error("another seed gives the same flight")
	}
}

// TestIndependence turns one disturbance on and compares what another one draws.
func TestIndependence(t *testing.T) {
	still := Default() // motion capture does not act on the flight
	faults := Default()
	faults.Mocap.Dropout.Every, faults.Mocap.Jump.Every = 1, 1
	a, b := fly(t, mustNew(t, still), 10), fly(t, mustNew(t, faults), 10)
	if !equal(a.truth, b.truth) {
		t.Error("faults of motion capture change the flight")
	}
	by := map[float64]Sample{}
	for _, s := range a.samples {
		by[s.Stamp] = s
	}
	same := 0
	for _, s := range b.samples { // those without a jump carry the same noise at the same stamp
		if o, ok := by[s.Stamp]; !ok || s.Arrival != o.Arrival {
			t.Fatalf("dropouts shift the stamps' or arrivals' noise at %v s", s.Stamp)
		} else if s == o {
			same++
		}
	}
	if same < len(b.samples)/2 || len(b.samples) >= len(a.samples) {
		t.Errorf("%d of %d samples are those of %d without faults", same, len(b.samples), len(a.samples))
	}

	gusts, more := Default(), everything()
	gusts.Gusts.Wind, more.Gusts.Wind = 4, 4
	more.Fans, more.Neighbour.Mass = Fans{}, 0
	c, d := fly(t, mustNew(t, gusts), 5), fly(t, mustNew(t, more), 5)
	if !equal(c.air, d.air) {
		t.Error("a cut propeller, a payload and faults of motion capture change the gusts")
	}
}

// TestSeeds: streams of seeds and names that differ little have nothing in common.
func TestSeeds(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(50) {
		for _, name := range []string{"gusts u", "gusts v", "mocap noise", "mocap jump"} {
			var s stream
			s.seed(seed, name)
			for range 4 {
				x := s.Uint64()
				if seen[x] {
					t.Fatalf("seed %d, %s repeats a number", seed, name)
				}
				seen[x] = true
			}
		}
	}
}

// TestAllocations: a step of control with everything on allocates nothing.
func TestAllocations(t *testing.T) {
	s := mustNew(t, everything())
	at := so3.Vec3{Z: 1}
	if n := testing.AllocsPerRun(200, func() {
		s.Step(law(s.State(), at, so3.Vec3{}, so3.Vec3{}), .02)
		s.Mocap()
		s.Truth()
		s.blown(s.Time(), at)
	}); n != 0 {
		t.Errorf("%v allocations in a step", n)
	}
}
