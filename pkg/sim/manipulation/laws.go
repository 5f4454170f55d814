package manipulation

import "vnd/pkg/robot/arm"

// Law is a controller of the arm that sees what policies see.
type Law interface {
	// Torque writes what to command, N·m, Dt after the last call.
	Torque(x *arm.Seen, tau *[arm.Joints]float64)
}

// Adaptive is the law of Slotine and Li, "On the Adaptive Control of Robot Manipulators" (IJRR 1987): computed torque
// with what it estimates of payload and friction. Its feedback is in units of the arm's inertia.
type Adaptive struct {
	Slope    float64 // Λ, 1/s: s = ė + Λ e
	Feedback float64 // 1/s, of s
	Rate     float64 // of the masses' estimates, kg per N·m·rad/s and s; that of friction is a tenth
	unknown  *arm.Regressor
	estimate [arm.Parameters]float64
}

// NewAdaptive returns one that has estimated nothing yet.
func NewAdaptive(slope, feedback, rate float64) *Adaptive {
	return &Adaptive{Slope: slope, Feedback: feedback, Rate: rate, unknown: arm.NewRegressor()}
}

// Torque implements Law.
func (l *Adaptive) Torque(x *arm.Seen, tau *[arm.Joints]float64) {
	var s, a [arm.Joints]float64
	for j := range a {
		s[j] = -x.OffV[j] - l.Slope*x.OffQ[j]
		a[j] = x.A[j] - l.Slope*x.OffV[j] + l.Feedback*s[j]
	}
	l.unknown.At(&x.Q, &x.V, &a, tau)
	for k := range l.estimate {
		rate, power := l.Rate, 0.
		if k >= arm.Masses {
			rate /= 10
		}
		for j, y := range l.unknown.Columns[k] {
			power += y * s[j]
		}
		l.estimate[k] += Dt * rate * power
		for j, y := range l.unknown.Columns[k] {
			tau[j] += y * l.estimate[k]
		}
	}
}
