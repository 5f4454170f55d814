package manipulation

import (
	"math"
	"testing"

	"vnd/pkg/robot/arm"
)

// TestPlantIsTheTruthOfLaws: without brakes and stops, a plant moves as what laws and policies are flown in.
func TestPlantIsTheTruthOfLaws(t *testing.T) {
	truth := Truth(2)
	p := NewPlant(truth, arm.Home)
	p.Braked = false
	s, tau := newState(), [arm.Joints]float64{3, -2, 1, 5, 0.5, -0.5, 0.2}
	truth.System().Rest(s, make([]float32, arm.Joints))
	a := make([]float32, arm.Joints)
	for j := range a {
		a[j] = float32(tau[j])
	}
	truth.System().Step(1, s, a, newState(), s)
	for range truth.Steps {
		p.Step(&tau)
	}
	for j := range arm.Joints {
		if off := math.Abs(p.Q[j] - float64(s[j])); off > 1e-6 || p.V[j] == 0 {
			t.Errorf("joint %d is off by %g rad, %g rad/s", j+1, off, p.V[j])
		}
	}
}

// TestPlantStopsAtItsLimits: torques beyond a joint's are cut, and its end stop is where it stays.
func TestPlantStopsAtItsLimits(t *testing.T) {
	p := NewPlant(Truth(0), arm.Home)
	tau := [arm.Joints]float64{0, 0, 0, 0, 0, 0, 1000}
	p.Step(&tau)
	if p.Q != arm.Home || p.AtStop() != -1 {
		t.Errorf("with its brakes on it moves: %v", p.Q)
	}
	p.Braked = false
	for range 2000 {
		p.Step(&tau)
	}
	if limit := p.links[6]; p.Q[6] != limit.Max || p.V[6] != 0 || p.Torque[6] != limit.Torque || p.AtStop() != 6 {
		t.Errorf("joint 7 is at %g rad, %g rad/s, %g N·m", p.Q[6], p.V[6], p.Torque[6])
	}
	p.Braked = true
	if p.Step(&tau); p.V != ([arm.Joints]float64{}) {
		t.Errorf("brakes let it move: %v", p.V)
	}
}
