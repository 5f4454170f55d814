package sim

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Motors is the firmware of a vehicle whose motors are commanded themselves: the four numbers of a command, thrust and
// body rates elsewhere, are what each motor is driven at, 0 … 1, in the order of Truth.RotorSpeed. Until a
// command other than that of the beginning arrives it hovers.
type Motors struct {
	Hover float64 // what carries the vehicle
	start quad.Command
}

// MotorCommand is what each motor is driven at, as a command that the link carries.
func MotorCommand(m [4]float64) quad.Command {
	return quad.Command{Thrust: m[0], Rates: so3.Vec3{X: m[1], Y: m[2], Z: m[3]}}
}

// Reset implements External.
func (m *Motors) Reset(_ quad.State, c quad.Command) error {
	m.start = c
	return nil
}

// Step implements Firmware.
func (m *Motors) Step(c quad.Command, _ quad.State, _, _ so3.Vec3, _ float64) ([4]float64, error) {
	if c == m.start {
		return [4]float64{m.Hover, m.Hover, m.Hover, m.Hover}, nil
	}
	return [4]float64{c.Thrust, c.Rates.X, c.Rates.Y, c.Rates.Z}, nil
}

// Close implements io.Closer.
func (m *Motors) Close() error { return nil }

// Rates returns what a gyroscope gives of body rates, rad/s: with its offset, and its noise up to 100 Hz.
func (s *Sensors) Rates(w so3.Vec3) so3.Vec3 {
	const rootBandwidth = 10 // √Hz
	return w.Add(s.gyroOffset).Add(s.gyro.normal().Scale(gyroNoise * rootBandwidth))
}

// SetDirect has the motors be driven themselves from now on, or by the world's rate loop again, and follow a command.
// Commands under way are lost, for they are of the other kind.
func (s *Simulator) SetDirect(direct bool, c quad.Command) {
	s.Fit(nil)
	if direct {
		s.Fit(&Motors{start: quad.Command{Thrust: -1}}) // which no command is
	}
	s.loop.reset()
	s.link.n, s.link.asked, s.command = 0, c, c
}
