package quadgate

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// StretchTime is how long a stretch is, s.
const StretchTime = 20

// Stretch is what a policy has flown without a break, a row a step of Dt seconds.
type Stretch struct {
	Dt        float64
	Tripped   bool // the guard ended it, and no more is known
	Rows      []quad.Row
	Reference []quad.Reference // as many; of it P, V and Yaw are known
}

// Pushes are the horizontal accelerations in the world, m/s², that a robot felt beyond those by its commands and its
// drag: means over a second each.
func (s *Stretch) Pushes(r *Identified) []so3.Vec3 {
	pushes, velocity := residuals([][]quad.Row{s.Rows}, r.Actuator, s.Dt)
	for i := range pushes {
		pushes[i] = pushes[i].Add(velocity[i].Scale(r.Drag))
		pushes[i].Z = 0
	}
	return pushes
}

// Errors are the distances from the reference, m.
func (s *Stretch) Errors() []float64 {
	out := make([]float64, len(s.Rows))
	for i := range out {
		out[i] = s.Rows[i].State.P.Sub(s.Reference[i].P).Norm()
	}
	return out
}
