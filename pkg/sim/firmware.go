package sim

import (
	"io"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// External is software of others in place of a part of the simulator: a Firmware or a Plant. It runs until it is
// closed.
type External interface {
	io.Closer
	// Reset starts it anew, in a vehicle that rests in a state until the first step, and has it follow a command.
	Reset(s quad.State, c quad.Command) error
}

// Firmware is an autopilot's own software in place of the rate controller and the mixer.
type Firmware interface {
	External
	// Step has it follow a command for h seconds, with the attitude and position of a state, gyroscope ω_B in rad/s and
	// accelerometer f_B in m/s². It returns what it drives the motors at, 0 … 1, in the order of Truth.RotorSpeed.
	Step(c quad.Command, s quad.State, gyro, accel so3.Vec3, h float64) (motors [4]float64, err error)
}

// NewFirmware starts one for the vehicle of a world.
type NewFirmware func(World) (Firmware, error)

// Plant is another simulator's vehicle in place of the autopilot, the motors and the motion. Of this simulator remain
// link, wind, schedule, motion capture and the ground that a crash is judged by.
type Plant interface {
	External
	// Follow has it follow a command for h seconds, under the acceleration of a wind in the world, m/s². It returns
	// where it is then, and its body rates in rad/s.
	Follow(c quad.Command, wind so3.Vec3, h float64) (s quad.State, rates so3.Vec3, err error)
}

// NewExternal starts one for the vehicle of a world.
type NewExternal func(World) (External, error)

// Fit gives the vehicle a Firmware or a Plant, from the next Reset on; nil takes it away. The Link's delay stays before
// it.
func (s *Simulator) Fit(e External) {
	s.external = e
	s.firmware, _ = e.(Firmware)
	s.plant, _ = e.(Plant)
}

// restart starts what is external where the vehicle was put.
func (s *Simulator) restart() {
	s.was = s.body.v
	if s.external == nil {
		return
	}
	if err := s.external.Reset(s.State(), s.command); err != nil {
		s.crash = crash{why: silent, cause: err}
	}
}

// plantStep is what a Plant follows at once, s: a sample of motion capture, by default.
const plantStep = 0.005

// follow moves the vehicle as the plant does: it is asked at the begin of a plantStep, and the vehicle is there at its
// end.
func (s *Simulator) follow() {
	if s.crash.why != flying {
		return
	}
	n := max(1, int64(plantStep/s.world.Step+0.5))
	if s.tick%n == 0 {
		state, rates, err := s.plant.Follow(s.command, s.wind, float64(n)*s.world.Step)
		if err != nil {
			s.crash = crash{why: silent, at: s.Time(), cause: err}
			return
		}
		s.next = s.body
		s.next.p, s.next.q, s.next.v, s.next.w = state.P, state.Q, state.V, rates
	}
	if s.tick%n == n-1 {
		s.body = s.next
	}
}

// driven gives the rotors the speeds that what the firmware drives them at makes.
func (s *Simulator) driven() {
	b := &s.body
	force := b.v.Sub(s.was).Scale(1 / s.world.Step)
	force.Z += gravity
	s.was = b.v
	motors, err := s.firmware.Step(s.command, s.State(), b.w, b.q.Conj().Rotate(force), s.world.Step)
	if err != nil {
		s.crash = crash{why: silent, at: s.Time(), cause: err}
	}
	for i, u := range motors {
		s.target[i] = s.rotors.driven(u, s.voltage)
	}
}
