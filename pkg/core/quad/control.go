package quad

import (
	"fmt"

	"vnd/pkg/core/so3"
)

// Reference is where the robot is to be, and how it is to move there, at one
// moment.
type Reference struct {
	P, V, A so3.Vec3 // p_W m, v_W m/s, a_W m/s²
	Yaw     float64  // of the body x axis about z_W, rad
	YawRate float64  // rad/s
}

// Controller turns states into commands, once per tick.
type Controller interface {
	// Command is for the state s of time t (s on the flight's clock). Times
	// ascend; after a gap the caller resets.
	Command(t float64, s *State) Command
	// Reset forgets the past.
	Reset()
}

// Limits bound the commands to an airframe. JSON has the field names of the first bundles.
type Limits struct {
	MinThrust   float64 `param:"min_thrust" default:"1.0" min:"0" max:"9" unit:"m/s²" doc:"least collective thrust, mass-normalised"`
	MaxThrust   float64 `param:"max_thrust" default:"20.0" min:"9.9" max:"200" unit:"m/s²" doc:"greatest collective thrust, mass-normalised; hover takes 9.81"`
	MaxTiltRate float64 `json:"MaxTilt" param:"max_tilt_rate" default:"6.0" min:"0.5" max:"40" unit:"rad/s" doc:"greatest body rate about x and about y"`
	MaxYawRate  float64 `json:"MaxYaw" param:"max_yaw_rate" default:"3.0" min:"0.1" max:"40" unit:"rad/s" doc:"greatest body rate about z"`
}

// Check refuses limits under which the robot cannot hover.
func (l *Limits) Check() error {
	switch {
	case !(l.MaxThrust > Gravity):
		return fmt.Errorf("max_thrust is %g m/s²: hovering takes more than %g", l.MaxThrust, Gravity)
	case !(l.MinThrust >= 0 && l.MinThrust < Gravity):
		return fmt.Errorf("min_thrust is %g m/s²: hovering takes 0 … %g", l.MinThrust, Gravity)
	case !(l.MaxTiltRate > 0 && l.MaxYawRate > 0):
		return fmt.Errorf("max_tilt_rate %g and max_yaw_rate %g rad/s must be positive", l.MaxTiltRate, l.MaxYawRate)
	}
	return nil
}

// Clip returns c within the limits.
func (l *Limits) Clip(c Command) Command {
	clip := func(x, lo, hi float64) float64 { return min(max(x, lo), hi) }
	return Command{Thrust: clip(c.Thrust, l.MinThrust, l.MaxThrust), Rates: so3.Vec3{
		X: clip(c.Rates.X, -l.MaxTiltRate, l.MaxTiltRate),
		Y: clip(c.Rates.Y, -l.MaxTiltRate, l.MaxTiltRate),
		Z: clip(c.Rates.Z, -l.MaxYawRate, l.MaxYawRate),
	}}
}

// Units returns a command in half the ranges that the limits leave: thrust, rates about x, y, z, each within ±1.
func (l *Limits) Units(c Command) [4]float64 {
	middle, half := (l.MaxThrust+l.MinThrust)/2, (l.MaxThrust-l.MinThrust)/2
	return [4]float64{(c.Thrust - middle) / half, c.Rates.X / l.MaxTiltRate, c.Rates.Y / l.MaxTiltRate,
		c.Rates.Z / l.MaxYawRate}
}
