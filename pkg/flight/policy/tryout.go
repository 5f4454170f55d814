package policy

import (
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/vnd/bundle"
)

// What a policy must show before it may fly, by TryOut and TryOutMotors.
const (
	tryOutSeconds = 1.2
	tryOutOffset  = 0.15 // m from the point to hold, at the start
	tryOutRadius  = 2.0  // m, at most
	tryOutTilt    = 1.3  // rad, at most
	tryOutLag     = 0.03 // s, of rotors
)

var tryOutPlace = so3.Vec3{Z: 1}

func tryOutReference(float64) quad.Reference { return quad.Reference{P: tryOutPlace} }

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
	f := NewRunner(l.Policy, l.Dt, tryOutReference)
	return tryOut(b, quadrotor.NewQuadrotor[float64](l.Dt, actuator), func(t float64, s, a []float64) {
		state := quadrotor.State(s)
		c := l.Policy.Limits.Clip(f.Command(t, &state))
		quadrotor.Action(&c, a)
	})
}

// TryOutMotors is TryOut for a policy that commands rotors, in the model of the airframe that it is to fly.
func TryOutMotors(b *bundle.Bundle, a *rotors.Airframe) error {
	f, err := NewRotorRunner(b, tryOutReference)
	if err != nil {
		return err
	}
	m, err := a.Model(b.Dt, tryOutLag)
	if err != nil {
		return err
	}
	err = tryOut(b, rotors.NewSystem[float64](m), func(t float64, s, a []float64) {
		w := s[statePart:]
		state := rotors.State{State: quadrotor.State(s), W: so3.Vec3{X: w[0], Y: w[1], Z: w[2]}}
		u := f.Motors(t, &state)
		copy(a, u[:])
	})
	if err != nil {
		return fmt.Errorf("%w: expected a policy for the rotors of the airframe's file", err)
	}
	return nil
}

// tryOut flies a robot whose measured state begins with position, attitude and velocity, by what act makes of its state
// s at t.
func tryOut(b *bundle.Bundle, sys robot.System[float64], act func(t float64, s, a []float64)) error {
	d := sys.Dims()
	s, next := robot.Settled(sys), make([]float64, d.State)
	a, none := make([]float64, d.Action), make([]float64, d.Tangent)
	start := quad.State{P: tryOutPlace.Add(so3.Vec3{X: tryOutOffset, Z: tryOutOffset}), Q: so3.Identity()}
	quadrotor.Measured(&start, s)
	for k := range int(tryOutSeconds / b.Dt) {
		t, state := float64(k)*b.Dt, quadrotor.State(s)
		off, tilt := state.P.Sub(tryOutPlace).Norm(), state.Q.Tilt()
		if !(off < tryOutRadius) || !(tilt < tryOutTilt) {
			return fmt.Errorf("bundle %s cannot hold a point: after %.1f s it is %.1f m off and tilts by %.1f rad",
				b.ID, t, off, tilt)
		}
		act(t, s, a)
		if sum := a[0] + a[1] + a[2] + a[3]; sum*0 != 0 {
			return fmt.Errorf("bundle %s: a command that is not finite", b.ID)
		}
		sys.Step(1, s, a, none, next)
		s, next = next, s
	}
	return nil
}
