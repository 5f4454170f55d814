package quadrotor

import "testing"

// TestActuatorDelaysByWholeAndHalfSteps: a step of the thrust command acts as many control steps later, the longest
// delay among them, and half of it a step before the other half.
func TestActuatorDelaysByWholeAndHalfSteps(t *testing.T) {
	const before, after = 9.81, 12.
	for _, c := range []struct {
		name  string
		delay float64
		want  [10]float64 // share of the step that acts, by control step
	}{
		{"none", 0, [10]float64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
		{"one", 1, [10]float64{0, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
		{"two and a half", 2.5, [10]float64{0, 0, 0.5, 1, 1, 1, 1, 1, 1, 1}},
		{"the longest", MaxDelay, [10]float64{8: 1, 9: 1}},
		{"beyond the longest", MaxDelay + 1, [10]float64{8: 1, 9: 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sys := NewQuadrotor[float64](0.02, Actuator{ThrustGain: 1, RateGain: 1, ThrustDelay: c.delay})
			s, next, none := make([]float64, nS), make([]float64, nS), make([]float64, nU)
			s[iQ], s[iT] = 1, before
			for i := range MaxDelay {
				s[iD+4*i] = before
			}
			for k, share := range c.want {
				sys.Step(1, s, []float64{after, 0, 0, 0}, none, next)
				s, next = next, s
				if got := (s[iT] - before) / (after - before); got < share-1e-9 || got > share+1e-9 {
					t.Errorf("step %d: %.3f of the command acts, want %.3f", k, got, share)
				}
			}
		})
	}
}
