// Package motors turns thrust and body rates into a command of each motor, by an airframe's rate loop and mixer, and
// back. It is for vehicles whose motors are commanded themselves.
package motors

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/rotors"
)

// Count of the motors.
const Count = 4

// Command is what each motor is driven at, 0 … 1 of full speed: front right, rear right, rear left, front left.
type Command [Count]float64

// Finite reports whether no number is NaN or infinite.
func (c Command) Finite() bool {
	sum := c[0] + c[1] + c[2] + c[3]
	return sum*0 == 0
}

// Rows of rotors.Signs: torques about x, y and z of the body.
const (
	roll = 1 + iota
	pitch
	yaw
)

// Vehicle is an airframe's motors. It allocates nothing.
type Vehicle struct {
	airframe rotors.Airframe
	arm      [3]float64 // N m of a newton at each motor with its sign, about x, y, z
	last     Command    // that went out
	slew     float64    // most that a command changes by in a second
}

// New refuses an airframe that cannot fly.
func New(a *rotors.Airframe) (*Vehicle, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	v := &Vehicle{airframe: *a, arm: [3]float64{a.ArmY, a.ArmX, a.Torque}, slew: a.Slew}
	v.Reset()
	return v, nil
}

// Reset takes the robot to have hovered.
func (v *Vehicle) Reset() {
	h := v.airframe.Hover()
	v.last = Command{h, h, h, h}
}

// Limit returns commands within least, most and slew of the last that went out, dt seconds before.
func (v *Vehicle) Limit(c Command, dt float64) Command {
	for i, u := range c {
		u = min(max(u, v.last[i]-v.slew*dt), v.last[i]+v.slew*dt)
		c[i] = min(max(u, v.airframe.Least), v.airframe.Most)
	}
	return c
}

// Within returns commands whose collective thrust is at most most, m/s²: all motors give way alike.
func (v *Vehicle) Within(c Command, most float64) Command {
	if thrust, _ := v.Collective(c); thrust > most {
		share := math.Sqrt(most / thrust)
		for i := range c {
			c[i] *= share
		}
	}
	return c
}

// Sent takes down what goes out.
func (v *Vehicle) Sent(c Command) { v.last = c }

// Collective is thrust, m/s², and angular acceleration, rad/s², of motors at rest in their speeds.
func (v *Vehicle) Collective(c Command) (thrust float64, turn so3.Vec3) {
	a := &v.airframe
	var torque [3]float64
	for i, u := range c {
		f := a.Thrust * u * u
		thrust += f / a.Mass
		for j := range torque {
			torque[j] += rotors.Signs[roll+j][i] * v.arm[j] * f
		}
	}
	return thrust, so3.Vec3{X: torque[0] / a.Inertia[0], Y: torque[1] / a.Inertia[1], Z: torque[2] / a.Inertia[2]}
}

// Equivalent is thrust and body rates that come to the same as motors for a vehicle whose rates follow commands after
// lead seconds, of one that turns at rates w.
func (v *Vehicle) Equivalent(c Command, w so3.Vec3, lead float64) quad.Command {
	thrust, turn := v.Collective(c)
	return quad.Command{Thrust: thrust, Rates: w.Add(turn.Scale(lead))}
}

// Mix is the rate loop: motors for thrust and body rates of a vehicle that turns at rates w.
func (v *Vehicle) Mix(c quad.Command, w so3.Vec3) Command {
	a := &v.airframe
	j := so3.Vec3{X: a.Inertia[0], Y: a.Inertia[1], Z: a.Inertia[2]}
	e := c.Rates.Sub(w)
	torque := so3.Vec3{X: j.X * a.RateGain[0] * e.X, Y: j.Y * a.RateGain[1] * e.Y, Z: j.Z * a.RateGain[2] * e.Z}.Add(
		w.Cross(so3.Vec3{X: j.X * w.X, Y: j.Y * w.Y, Z: j.Z * w.Z}))
	return v.share(c.Thrust*a.Mass, torque)
}

// share gives thrust, N, and torque, N m, to the motors. Where they cannot give it all, yaw gives way first, then the
// collective thrust moves, and roll and pitch shrink only when even that does not suffice (M. Faessler, D. Falanga,
// D. Scaramuzza, "Thrust mixing, saturation, and body-rate control for accurate aggressive quadrotor flight", 2017).
func (v *Vehicle) share(thrust float64, torque so3.Vec3) (u Command) {
	a := &v.airframe
	least, most := a.Thrust*a.Least*a.Least, a.Thrust*a.Most*a.Most
	var f Command
	low, high := math.Inf(1), math.Inf(-1)
	for i := range f {
		f[i] = (rotors.Signs[roll][i]*torque.X/v.arm[0] + rotors.Signs[pitch][i]*torque.Y/v.arm[1]) / Count
		low, high = min(low, f[i]), max(high, f[i])
	}
	fits := min(1, (most-least)/max(high-low, 1e-9))
	each := max(least-low*fits, min(most-high*fits, thrust/Count))
	part := 1. // of the yaw torque that fits
	for i := range f {
		f[i] = f[i]*fits + each
		switch d := rotors.Signs[yaw][i] * torque.Z / v.arm[2] / Count; {
		case d > 0:
			part = min(part, max(0, most-f[i])/d)
		case d < 0:
			part = min(part, max(0, f[i]-least)/-d)
		}
	}
	for i := range u {
		x := f[i] + part*rotors.Signs[yaw][i]*torque.Z/v.arm[2]/Count
		u[i] = min(max(math.Sqrt(max(x, 0)/a.Thrust), a.Least), a.Most)
	}
	return u
}
