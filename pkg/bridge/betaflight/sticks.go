// Package betaflight flies boards with Betaflight: commands to stick positions, settings over the board's console.
// Its folders hold the rates profiles, the protocols of the wire and the firmware as a process.
package betaflight

import (
	"fmt"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/betaflight/rates"
	"vnd/pkg/core/quad"
)

// Positions are those of roll, pitch, throttle and yaw, in the order of the receiver's channels (map AETR), in µs of a
// servo's pulse: 1000 … 2000.
type Positions [4]float64

// Channels of Positions.
const (
	Roll = iota
	Pitch
	Throttle
	Yaw
	Aux1 // and those after it are switches
)

// Pulses, µs.
const (
	Low    = 1000.0
	Middle = 1500.0
	High   = 2000.0
)

// Thrust is how throttle becomes thrust on a board that turns its motors at Idle of full output, at least.
type Thrust struct {
	// Throttle has the stick that hovers, and the curve of thrust over the motors' output.
	bridge.Throttle
	Idle float64 // motor_idle, 0 … 1
}

// overOutput is how the motors' output becomes thrust. At Idle that is Least; where Least is 0, as Curve has it.
func (t *Thrust) overOutput() bridge.Throttle {
	o := bridge.Throttle{Hover: t.Output(t.Hover), Curve: t.Curve, Voltage: t.Voltage}
	if t.Least > 0 {
		idle, _ := o.Thrust(t.Idle, 0)
		idle /= quad.Gravity
		o.Least = (t.Least - idle) / (1 - idle)
	}
	return o
}

// Of is the throttle, 0 … 1, of a thrust per mass in m/s² at a battery's voltage; volts of 0 is not known.
func (t *Thrust) Of(thrust, volts float64) (throttle float64, clipped bool) {
	o := t.overOutput()
	output, beyond := o.Of(thrust, volts)
	u := (output - t.Idle) / (1 - t.Idle)
	return max(u, 0), beyond || u < 0
}

// Output is what drives the motors, 0 … 1, at a throttle.
func (t *Thrust) Output(throttle float64) float64 { return t.Idle + (1-t.Idle)*throttle }

// Scaled is t where thrust is gain times what it says.
func (t *Thrust) Scaled(gain float64) Thrust {
	s := Thrust{t.Throttle.Scaled(gain), t.Idle}
	s.Hover, _ = t.Of(quad.Gravity/gain, 0)
	return s
}

// Sticks turns commands into stick positions, as a board's settings ask for.
type Sticks struct {
	Rates    rates.Profile
	Thrust   Thrust
	MinCheck float64 // min_check, µs: the stick that is no throttle
}

// cutOff is what the firmware takes off a throttle on average, where it cuts it to thousandths twice.
const cutOff = 0.001

// Check refuses what no board has.
func (s *Sticks) Check() error {
	if err := s.Thrust.Check(); err != nil {
		return err
	}
	if !(s.Thrust.Idle >= 0 && s.Thrust.Idle < s.Thrust.Hover) {
		return fmt.Errorf("motor idle of %g, expected less than the throttle that hovers, %g", s.Thrust.Idle,
			s.Thrust.Hover)
	}
	if !(s.MinCheck >= Low && s.MinCheck < Middle) {
		return fmt.Errorf("min_check of %g µs, expected 1000 to 1500", s.MinCheck)
	}
	return s.Rates.Check()
}

// Of are the positions that ask for a command at a battery's voltage; volts of 0 is not known. reached is false where
// the profile does not reach a rate, or the motors the thrust. A stick to the front pitches the nose down, as a
// positive rate about y (left) does; one to the right yaws against z (up).
func (s *Sticks) Of(c quad.Command, volts float64) (p Positions, reached bool) {
	roll, a := s.Rates.Stick(rates.Roll, c.Rates.X)
	pitch, b := s.Rates.Stick(rates.Pitch, c.Rates.Y)
	yaw, d := s.Rates.Stick(rates.Yaw, -c.Rates.Z)
	throttle, clipped := s.Thrust.Of(c.Thrust, volts)
	if throttle > 0 {
		throttle = min(throttle+cutOff, 1)
	}
	const half = High - Middle
	return Positions{Middle + half*roll, Middle + half*pitch, s.MinCheck + (High-s.MinCheck)*throttle,
		Middle + half*yaw}, a && b && d && !clipped
}

// Dither rounds positions to whole steps and carries what is left over into the next frame, so that the mean over
// frames is exact.
type Dither struct{ left Positions }

// Round returns positions as whole µs.
func (d *Dither) Round(p Positions) (us [4]uint16) {
	for i := range p {
		want := max(Low, min(High, p[i])) + d.left[i]
		us[i] = uint16(max(Low, min(High, want+0.5)))
		d.left[i] = max(-1, min(1, want-float64(us[i])))
	}
	return us
}
