package closedloop

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/flight/motors"
	"vnd/pkg/sim"
)

// Motors is a command of each motor that arrives now, 0 … 1 of full speed, in the order of package motors. What is not
// finite does not arrive.
func (v *Vehicle) Motors(m motors.Command) {
	if !m.Finite() || v.mode == Crashed {
		return
	}
	v.motors = arranged(m)
	v.direct, v.at, v.mode = true, v.sim.Time(), Offboard
	v.command.Thrust = v.lift(&m)
}

// arranged is a command of motors in the simulator's order, as its link carries it.
func arranged(m motors.Command) quad.Command {
	return sim.MotorCommand([4]float64{m[0], m[2], m[3], m[1]})
}

// lift is the thrust that motors bring about, m/s².
func (v *Vehicle) lift(m *motors.Command) (thrust float64) {
	for _, u := range m {
		thrust += v.world.Motor.Share(u) * v.world.Motor.Thrust / v.world.Airframe.Mass
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
