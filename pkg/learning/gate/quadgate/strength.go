package quadgate

import (
	"math"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/quadrotor"
)

// averagedOver is the time over which what the prior leaves is averaged, s: winds last longer, noise and turns of a
// flight do not.
const averagedOver = 1

// DisturbanceStrength is how strong the disturbances of recorded flights were, m/s², see gate.Trial: all but two
// seconds in a hundred are weaker. They are what the physics prior leaves of the measured accelerations, less the drag.
// No candidate has a say in it, whose model may explain nothing: it would set its own examination.
func DisturbanceStrength(flown [][]quad.Row, dt float64) float64 {
	left, velocity := residuals(flown, quadrotor.NominalActuator(), dt)
	if len(left) == 0 {
		return math.Inf(1)
	}
	for i := range left {
		left[i].Z, velocity[i].Z = 0, 0
	}
	strengths, k := make([]float64, len(left)), drag(left, velocity)
	for i := range left {
		strengths[i] = left[i].Add(velocity[i].Scale(k)).Norm()
	}
	slices.Sort(strengths)
	return strengths[int(0.98*float64(len(strengths)-1))]
}

func meanVelocity(rows []quad.Row) (v so3.Vec3) {
	for i := range rows {
		v = v.Add(rows[i].State.V)
	}
	return v.Scale(1 / float64(len(rows)))
}

// drag is the k, 1/s, for which accelerations less −k·v are least.
func drag(left, velocity []so3.Vec3) float64 {
	along, square := 0., 0.
	for i, v := range velocity {
		along -= left[i].Dot(v)
		square += v.Dot(v)
	}
	if !(along > 0 && square > 0) {
		return 0
	}
	return along / square
}
