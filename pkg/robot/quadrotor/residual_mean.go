package quadrotor

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// ResidualMean averages what the prior leaves of measured accelerations: wind, drag, thrust that is off. It is for one
// goroutine.
type ResidualMean struct {
	system                   *Quadrotor[float64] // in the world, where wind is constant
	dt                       float64
	steps                    int
	state, states, residuals []float64 // [S], [T][S], [T][U]
}

// NewResidualMean prepares for windows of so many steps of dt seconds behind an actuator.
func NewResidualMean(a Actuator, dt float64, steps int) *ResidualMean {
	return &ResidualMean{NewQuadrotor[float64](dt, a).InWorld(), dt, steps, make([]float64, nS),
		make([]float64, steps*nS),
		make([]float64, steps*nU)}
}

// Mean returns the mean over the window of measured less prior acceleration, m/s² in the world. rows are one more than
// the window has steps.
func (l *ResidualMean) Mean(rows []quad.Row) (mean so3.Vec3) {
	measured, actions := Flatten[float64](rows)
	l.system.Window(l.steps, measured, actions, l.state, nil, l.states, l.residuals)
	for i := range l.steps {
		v := l.residuals[i*nU+uV:]
		mean = mean.Add(so3.Vec3{X: v[0], Y: v[1], Z: v[2]})
	}
	return mean.Scale(1 / (float64(l.steps) * l.dt))
}
