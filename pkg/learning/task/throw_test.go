package task

import (
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/so3"
)

// TestThrowsAreOfEveryAttitude: robots leave the hand upside down as often as upright, and no faster than they may.
func TestThrowsAreOfEveryAttitude(t *testing.T) {
	const n = 2000
	throw, rng, hand := Throw{Speed: 3, Rates: 8}, rand.New(rand.NewPCG(1, 1)), so3.Vec3{Z: 15}
	over, fast, spun := 0, 0., 0.
	for range n {
		s, w := throw.Release(hand, rng)
		if s.P != hand {
			t.Fatalf("released at %v", s.P)
		}
		if s.Q.ZAxis().Z < 0 {
			over++
		}
		fast, spun = max(fast, s.V.Norm()), max(spun, w.Norm())
	}
	if over < 0.45*n || over > 0.55*n {
		t.Errorf("%d of %d upside down", over, n)
	}
	if fast > throw.Speed || fast < 0.95*throw.Speed || spun > throw.Rates || spun < 0.95*throw.Rates {
		t.Errorf("up to %.2f m/s and %.2f rad/s of %+v", fast, spun, throw)
	}
}
