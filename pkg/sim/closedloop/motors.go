package closedloop

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/sim"
)

// Motors is a command of each motor that arrives now, 0 … 1 of full speed, in the order of package rotors. What is not
// finite does not arrive.
func (v *Vehicle) Motors(m [4]float64) {
	if sum := m[0] + m[1] + m[2] + m[3]; sum-sum != 0 || v.mode == Crashed {
		return
	}
	v.motors = sim.MotorCommand([4]float64{m[0], m[2], m[3], m[1]})
	v.direct, v.at, v.mode = true, v.sim.Time(), Offboard
	v.command.Thrust = v.lift(&m)
}

// lift is the thrust that motors bring about, m/s².
func (v *Vehicle) lift(m *[4]float64) (thrust float64) {
	for _, u := range m {
		thrust += u * u * v.world.Motor.Thrust / v.world.Airframe.Mass
	}
	return thrust
}

// follow has the simulator follow a command for dt seconds: the autopilot's or, in its place, that of the motors.
func (v *Vehicle) follow(c quad.Command, dt float64) {
	direct := v.direct && v.mode == Offboard
	if direct {
		c = v.motors
	}
	if direct != v.driven {
		v.driven = direct
		v.sim.SetDirect(direct, c)
	}
	v.sim.Step(c, dt)
}
