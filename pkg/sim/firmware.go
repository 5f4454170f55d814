package sim

import (
	"io"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Firmware is an autopilot's own software in place of the simulator's rate controller and mixer. It runs
// until it is closed.
type Firmware interface {
	io.Closer
	// Reset starts it anew, in a vehicle that rests in a state until the first Step, and has it follow a command.
	Reset(s quad.State, c quad.Command) error
	// Step has it follow a command for h seconds, with the attitude and position of a state, gyroscope ω_B in rad/s and
	// accelerometer f_B in m/s². It returns what it drives the motors at, 0 … 1 of full speed, in the order of
	// Truth.RotorSpeed.
	Step(c quad.Command, s quad.State, gyro, accel so3.Vec3, h float64) (motors [4]float64, err error)
}

// NewFirmware starts one for the vehicle of a world.
type NewFirmware func(World) (Firmware, error)

// Fit gives the vehicle a firmware, from the next Reset on; nil takes it away. The Link's delay stays before it.
func (s *Simulator) Fit(f Firmware) { s.firmware = f }

// restart starts the firmware where the vehicle was put.
func (s *Simulator) restart() {
	s.was = s.body.v
	if s.firmware == nil {
		return
	}
	if err := s.firmware.Reset(s.State(), s.command); err != nil {
		s.crash = crash{why: silent, cause: err}
	}
}

// driven gives the rotors the speeds that the firmware asks for: at one output a motor turns in proportion to the
// voltage.
func (s *Simulator) driven() {
	b := &s.body
	force := b.v.Sub(s.was).Scale(1 / s.world.Step)
	force.Z += gravity
	s.was = b.v
	motors, err := s.firmware.Step(s.command, s.State(), b.w, b.q.Conj().Rotate(force), s.world.Step)
	if err != nil {
		s.crash = crash{why: silent, at: s.Time(), cause: err}
	}
	full := s.rotors.full * s.voltage / s.rotors.reference
	for i, m := range motors {
		s.target[i] = full * max(0, min(1, m))
	}
}
