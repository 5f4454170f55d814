package guard

import (
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Config is what a guard allows, and how its law flies. Distances in m in the world, angles in rad, times in s.
type Config struct {
	MaxAge        float64   `param:"max_age" default:"0.1" min:"0.01" max:"0.1" unit:"s" doc:"age of the state above which no policy's command goes out"`
	MaxFrameAge   float64   `param:"max_frame_age" default:"0.2" min:"0.02" max:"1" unit:"s" doc:"age of the newest frame that shows the landmarks above which no command of a policy that flies by them goes out"`
	MaxGap        float64   `param:"max_gap" default:"0.1" min:"0.005" max:"1" unit:"s" doc:"time between two ticks above which ticks were missed"`
	FenceMin      []float64 `param:"fence_min" default:"-4,-4,-0.5" min:"-10000" max:"10000" unit:"m" doc:"lower corner of the geofence: x, y, z in the world"`
	FenceMax      []float64 `param:"fence_max" default:"4,4,4" min:"-10000" max:"10000" unit:"m" doc:"upper corner of the geofence: x, y, z in the world"`
	Ground        float64   `param:"ground" default:"0.0" min:"-10000" max:"10000" unit:"m" doc:"height of the floor: a robot at rest on it gets the least thrust when the guard trips"`
	Brake         float64   `param:"brake" default:"6.0" min:"0.5" max:"20" unit:"m/s²" doc:"deceleration a with which the guard's law plans to stop from the speed v: it holds v²/2a ahead"`
	Reaction      float64   `param:"reaction" default:"0.1" min:"0" max:"1" unit:"s" doc:"time that passes before the deceleration brake is there"`
	MaxTilt       float64   `param:"max_tilt" default:"1.2" min:"0.2" max:"3.2" unit:"rad" doc:"greatest tilt of a policy's flight; from .05 rad before it on, its body rates are cut"`
	MaxSpeed      float64   `param:"max_speed" default:"6.0" min:"0.5" max:"50" unit:"m/s" doc:"greatest speed of a policy's flight"`
	Jump          float64   `param:"jump" default:"0.05" min:"0.02" max:"5" unit:"m" doc:"distance between measured and expected position from which a state is not believed"`
	JumpAngle     float64   `param:"jump_angle" default:"0.12" min:"0.02" max:"3.2" unit:"rad" doc:"angle between measured and expected attitude from which a state is not believed"`
	Settle        float64   `param:"settle" default:"0.6" min:"0.02" max:"5" unit:"s" doc:"time after which states that agree among themselves are believed again, after a jump"`
	Saturation    float64   `param:"saturation" default:"0.6" min:"0.05" max:"60" unit:"s" doc:"time for which a policy may ask for the limits or more"`
	Hold          float64   `param:"hold" default:"3.0" min:"0" max:"600" unit:"s" doc:"time for which the guard's law holds a point before it lands"`
	Blind         float64   `param:"blind" default:"0.3" min:"0" max:"5" unit:"s" doc:"time that the guard's law holds, beyond max_age without a state, before an autopilot is left to land"`
	BlindHold     float64   `param:"blind_hold" default:"0.5" min:"0" max:"5" unit:"s" doc:"time that the guard's law holds, beyond max_age without a true state, before it lands on dead reckoning"`
	BlindDescent  float64   `param:"blind_descent" default:"0.5" min:"0.05" max:"2" unit:"m/s" doc:"speed of the law's landing without a usable state"`
	BlindMaxTilt  float64   `param:"blind_max_tilt" default:"0.45" min:"0.05" max:"1.3" unit:"rad" doc:"greatest tilt that the law asks for without a usable state"`
	ReturnAfter   float64   `param:"return_after" default:"1.0" min:"0.1" max:"60" unit:"s" doc:"time without a fault after which the policy flies again by itself"`
	Returns       int       `param:"returns" default:"3" min:"0" max:"60" doc:"how often a minute the policy may fly again after a fault; the same cause twice a minute lands"`
	TakeoffHeight float64   `param:"takeoff_height" default:"1.0" min:"0.3" max:"100" unit:"m" doc:"height above the ground to which the guard's law takes off"`
	TakeoffSpeed  float64   `param:"takeoff_speed" default:"0.4" min:"0.05" max:"3" unit:"m/s" doc:"speed with which the guard's law takes off"`
	Descent       float64   `param:"descent" default:"0.4" min:"0.05" max:"2" unit:"m/s" doc:"speed of the law's landing"`
	Response      Response  `param:"response" doc:"response to commands that the guard's model assumes; at its defaults it takes the identified one (section response)"`
	Gains         Gains     `param:"gains" doc:"gains of the guard's law"`
}

// box is the geofence, m in the world.
type box struct{ lo, hi so3.Vec3 }

func newBox(lo, hi []float64) (box, error) {
	if len(lo) != 3 || len(hi) != 3 {
		return box{}, fmt.Errorf("fence_min and fence_max have %d and %d numbers, expected x, y, z", len(lo), len(hi))
	}
	for i, axis := range []string{"x", "y", "z"} {
		if !(lo[i]+2*inset < hi[i]) {
			return box{}, fmt.Errorf("fence_min and fence_max: %s from %g to %g m, expected more than %g m between "+
				"them", axis, lo[i], hi[i], 2*inset)
		}
	}
	return box{so3.Vec3{X: lo[0], Y: lo[1], Z: lo[2]}, so3.Vec3{X: hi[0], Y: hi[1], Z: hi[2]}}, nil
}

func (b *box) contains(p so3.Vec3) bool {
	return p.X >= b.lo.X && p.X <= b.hi.X && p.Y >= b.lo.Y && p.Y <= b.hi.Y && p.Z >= b.lo.Z && p.Z <= b.hi.Z
}

// inside returns the point of the box closest to p that is margin away from its faces.
func (b *box) inside(p so3.Vec3, margin float64) so3.Vec3 {
	clip := func(x, lo, hi float64) float64 { return min(max(x, lo+margin), hi-margin) }
	return so3.Vec3{X: clip(p.X, b.lo.X, b.hi.X), Y: clip(p.Y, b.lo.Y, b.hi.Y), Z: clip(p.Z, b.lo.Z, b.hi.Z)}
}

// stoppingPoint is where a robot comes to rest that brakes now.
func (c *Config) stoppingPoint(s *quad.State) so3.Vec3 {
	return s.P.Add(s.V.Scale(c.Reaction + s.V.Norm()/(2*c.Brake)))
}
