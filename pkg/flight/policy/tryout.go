package policy

import (
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

// What a policy must show before it may fly, by TryOut.
const (
	tryOutSeconds = 1.2
	tryOutOffset  = 0.15 // m from the point to hold, at the start
	tryOutRadius  = 2.0  // m, at most
	tryOutTilt    = 1.3  // rad, at most
)

// TryOut has the policy of a bundle hold a point for a second in the physics prior, behind the actuator of its model.
// It takes a millisecond and refuses what turns over or falls: reversed rates, drawn weights, too little thrust. A weak
// policy that drifts off passes: the guard is for that. A policy that sees features is not flown.
func TryOut(b *bundle.Bundle) error {
	l, err := Load(b)
	if err != nil || l.Policy.Pinhole != nil {
		return err
	}
	actuator := quadrotor.Actuator{ThrustGain: 1, RateGain: 1, ThrustLag: 0.03, RateLag: 0.04}
	if l.Model != nil {
		actuator = l.Robot.Actuator
	}
	place := so3.Vec3{Z: 1}
	f := NewRunner(l.Policy, l.Dt, func(float64) quad.Reference { return quad.Reference{P: place} })
	sys := quadrotor.NewQuadrotor[float64](l.Dt, actuator)
	d := sys.Dims()
	s, next := robot.Settled(sys), make([]float64, d.State)
	a, none := make([]float64, d.Action), make([]float64, d.Tangent)
	start := quad.State{P: place.Add(so3.Vec3{X: tryOutOffset, Z: tryOutOffset}), Q: so3.Identity()}
	quadrotor.Measured(&start, s)
	for k := range int(tryOutSeconds / l.Dt) {
		state := quadrotor.State(s)
		off, tilt := state.P.Sub(place).Norm(), state.Q.Tilt()
		if !(off < tryOutRadius) || !(tilt < tryOutTilt) {
			return fmt.Errorf("bundle %s cannot hold a point: after %.1f s it is %.1f m off and tilts by %.1f rad",
				l.ID, float64(k)*l.Dt, off, tilt)
		}
		c := f.Command(float64(k)*l.Dt, &state)
		if !c.Finite() {
			return fmt.Errorf("bundle %s: a command that is not finite", l.ID)
		}
		c = l.Policy.Limits.Clip(c)
		quadrotor.Action(&c, a)
		sys.Step(1, s, a, none, next)
		s, next = next, s
	}
	return nil
}
