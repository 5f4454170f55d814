package manipulation

import (
	"errors"
	"math"
	"testing"

	"vnd/pkg/robot/arm"
)

// newPlant makes one, or skips the test.
func newPlant(t *testing.T, simulator string, truth arm.Robot) *Plant {
	t.Helper()
	p, err := NewPlant(simulator, truth, arm.Home)
	skipWithout(t, err)
	t.Cleanup(p.Close)
	return p
}

// step lets steps pass.
func (p *Plant) step(t *testing.T, tau *[arm.Joints]float64, steps int) {
	t.Helper()
	for range steps {
		if err := p.Step(tau); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPlantIsTheTruthOfLaws: without brakes and stops, a plant moves as what laws and policies are flown in.
func TestPlantIsTheTruthOfLaws(t *testing.T) {
	inEach(t, func(t *testing.T, simulator string) {
		truth := Truth(2)
		p := newPlant(t, simulator, truth)
		p.Braked = false
		tau := [arm.Joints]float64{3, -2, 1, 5, 0.5, -0.5, 0.2}
		w, err := NewWorld[float32](simulator)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		s, a := newState(), make([]float32, arm.Joints)
		truth.System().Rest(s, make([]float32, arm.Joints))
		for j := range a {
			a[j] = float32(tau[j])
		}
		if err := errors.Join(w.Set(truth), w.Step(s, a)); err != nil {
			t.Fatal(err)
		}
		p.step(t, &tau, truth.Steps)
		for j := range arm.Joints {
			if off := math.Abs(p.Q[j] - float64(s[j])); off > 1e-6 || p.V[j] == 0 {
				t.Errorf("joint %d is off by %g rad, %g rad/s", j+1, off, p.V[j])
			}
		}
	})
}

// TestPlantStopsAtItsLimits: torques beyond a joint's are cut, and its end stop is where it stays. That of MuJoCo gives
// way by milliradians.
func TestPlantStopsAtItsLimits(t *testing.T) {
	inEach(t, func(t *testing.T, simulator string) {
		p := newPlant(t, simulator, Truth(0))
		tau := [arm.Joints]float64{0, 0, 0, 0, 0, 0, 1000}
		p.step(t, &tau, 1)
		if p.Q != arm.Home || p.AtStop() != -1 {
			t.Errorf("with its brakes on it moves: %v", p.Q)
		}
		p.Braked = false
		p.step(t, &tau, 2000)
		limit, gives := p.links[6], 0.
		if simulator == MuJoCo {
			gives = 0.005
		}
		if p.Q[6] < limit.Max || p.Q[6] > limit.Max+gives || math.Abs(p.V[6]) > 1e-3 || p.Torque[6] != limit.Torque ||
			p.AtStop() != 6 {
			t.Errorf("joint 7 is at %g rad, %g rad/s, %g N·m", p.Q[6], p.V[6], p.Torque[6])
		}
		p.Braked = true
		if p.step(t, &tau, 1); p.V != ([arm.Joints]float64{}) {
			t.Errorf("brakes let it move: %v", p.V)
		}
	})
}
