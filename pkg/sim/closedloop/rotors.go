package closedloop

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/sim"
)

// RotorController turns states with body rates into a command for each motor, 0 … 1 of full speed, in the order of
// package rotors.
type RotorController interface {
	Limits() rotors.Limits
	Motors(t float64, s *rotors.State) [4]float64
	Reset()
}

// FlyRotors is Fly for a controller of the motors, which sees the gyroscope too. The commands of the trace are those of
// sim.Motors.
func FlyRotors(s *Setup, c RotorController) (*Trace, error) {
	l := c.Limits()
	hover := l.Hover / l.Full
	direct := *s
	direct.External = &sim.Motors{Hover: hover}
	direct.Limits = quad.Limits{MaxThrust: 1, MaxTiltRate: 1, MaxYawRate: 1}
	p := &motorLoop{RotorController: c}
	p.sensors.Reset(s.Seed)
	return fly(&direct, p, sim.MotorCommand([4]float64{hover, hover, hover, hover}), nil)
}

// motorLoop commands motors as a quad.Controller commands thrust and body rates.
type motorLoop struct {
	RotorController
	sensors sim.Sensors
	rates   so3.Vec3
}

// Inform implements Informed: of the truth it takes what a gyroscope measures.
func (p *motorLoop) Inform(t sim.Truth) { p.rates = p.sensors.Rates(t.Rates) }

// Command implements quad.Controller.
func (p *motorLoop) Command(t float64, s *quad.State) quad.Command {
	return arranged(p.Motors(t, &rotors.State{State: *s, W: p.rates}))
}
