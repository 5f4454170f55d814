package control

import (
	"fmt"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Validity says whether a sample can be the state of the robot, and else why not: an invalid one is never flown.
type Validity uint8

// Validities; of several faults the first in this order is reported.
const (
	Valid       Validity = iota // the sample can be the state
	NotFinite                   // its position is no number
	NotUnit                     // its quaternion has not unit norm
	NoVelocity                  // an odometry without a finite twist
	TooFar                      // many times further off than the geofence: most likely in millimetres
	BelowGround                 // below the ground: most likely z points down
	UpsideDown                  // before the flight: most likely the body's axes are others
	Early                       // its stamp is in the future
	OffTrack                    // off the track of the others: a reflection, or a second source
	validities
)

const (
	maxFenceReaches = 10.0 // times the geofence's reach
	maxBelowGround  = 0.5  // m below the ground
	byDegrees       = 0.05 // m from one sample to the next
	upsideDown      = -0.5 // upward part of the body's z axis
)

// validity checks a sample. flown is whether there was a tick already: in flight a robot may be upside down. height is
// that of the last valid sample, m: in a frame that has moved, a robot that lands may go below the ground by degrees.
func (c *Config) validity(m *Sample, flown bool, height float64) Validity {
	p := m.State.P
	switch sum := p.X + p.Y + p.Z; {
	case sum*0 != 0:
		return NotFinite
	case !(math.Abs(m.State.Q.Norm()-1) <= quad.NormSlack):
		return NotUnit
	case c.MeasuresVelocity() && !m.HasVelocity:
		return NoVelocity
	case largest(p) > maxFenceReaches*c.reach():
		return TooFar
	case p.Z < c.Guard.Ground-maxBelowGround && !(flown && math.Abs(p.Z-height) < byDegrees):
		return BelowGround
	case !flown && m.State.Q.ZAxis().Z < upsideDown:
		return UpsideDown
	}
	return Valid
}

func largest(v so3.Vec3) float64 { return max(math.Abs(v.X), math.Abs(v.Y), math.Abs(v.Z)) }

// reach is the geofence's coordinate furthest from the origin, m.
func (c *Config) reach() float64 {
	lo, hi := c.Fence()
	return max(largest(lo), largest(hi))
}

// ExplainInvalid says in a line what is wrong with a sample of a topic, and what was expected.
func (c *Config) ExplainInvalid(topic string, m *Sample, d Validity) string {
	p, up := m.State.P, m.State.Q.ZAxis()
	at := fmt.Sprintf("position (%.4g, %.4g, %.4g) m", p.X, p.Y, p.Z)
	switch d {
	case NotFinite:
		return fmt.Sprintf("topic %s: %s, expected finite numbers", topic, at)
	case NotUnit:
		return fmt.Sprintf("topic %s: a quaternion of norm %.4g, expected 1 ± %g", topic, m.State.Q.Norm(),
			quad.NormSlack)
	case NoVelocity:
		return fmt.Sprintf("topic %s: the twist's velocity is not finite, which state_source odometry needs", topic)
	case TooFar:
		hint := ""
		if largest(p) < 1000*c.reach() {
			hint = "; are these millimetres?"
		}
		return fmt.Sprintf("topic %s: %s is far outside the geofence, expected metres within ±%g%s", topic, at,
			c.reach(), hint)
	case BelowGround:
		return fmt.Sprintf("topic %s: %s is below the ground at %g m (guard.ground), expected z up; mocap_frame is "+
			"ned where z points down", topic, at, c.Guard.Ground)
	case UpsideDown:
		return fmt.Sprintf("topic %s: the body's z axis is (%.2f, %.2f, %.2f) before the flight, expected up; "+
			"mocap_frame is ned where body axes are forward, right, down", topic, up.X, up.Y, up.Z)
	case Early:
		return fmt.Sprintf("topic %s: the stamp is in the future, expected the present: are the clocks synchronised?",
			topic)
	case OffTrack:
		return fmt.Sprintf("topic %s: %s is off the track of the samples around it, expected one source of one body",
			topic, at)
	}
	return ""
}
