package sim

import (
	"math"

	"vnd/pkg/core/so3"
)

// Motor is one of the four motors with its propeller. The paper gives limit and time constant; the others are those
// of a three-inch propeller: 45 000 turns a minute at full thrust, C_P/C_T = 0.66, 2 g, and the bell of a 1404 motor.
type Motor struct {
	Thrust     float64 `param:"thrust" default:"3.5" min:"0.001" max:"1000" unit:"N" doc:"largest thrust of one motor, at the battery's reference voltage"`
	Gain       float64 `param:"gain" default:"0.97" min:"0.5" max:"1.5" doc:"thrust that comes over thrust that the autopilot believes in: thrust maps are off by a few percent"`
	Lag        float64 `param:"lag" default:"0.0245" min:"0.002" max:"1" unit:"s" doc:"time constant of the motor's speed"`
	Speed      float64 `param:"speed" default:"4700" min:"10" max:"20000" unit:"rad/s" doc:"speed at the largest thrust"`
	Curve      float64 `param:"curve" default:"1.0" min:"0" max:"1" doc:"thrust over what firmware drives a motor at: 0: in proportion, 1: with its square"`
	Idle       float64 `param:"idle" default:"0.05" min:"0" max:"0.5" doc:"least speed of an armed motor as a share of the largest"`
	Torque     float64 `param:"torque" default:"0.008" min:"0" max:"1" unit:"m" doc:"κ, drag torque over thrust"`
	Inertia    float64 `param:"inertia" default:"7e-7" min:"0" max:"1" unit:"kg m²" doc:"moment of what turns"`
	Radius     float64 `param:"radius" default:"0.0381" min:"0.001" max:"2" unit:"m" doc:"radius of the propeller"`
	Efficiency float64 `param:"efficiency" default:"0.6" min:"0.05" max:"1" doc:"mechanical power over electrical power"`
}

// Share is the share of its full thrust that a motor gives where it is driven at u, 0 … 1: (1 − c)·u + c·u².
func (m *Motor) Share(u float64) float64 { return u * (1 - m.Curve + m.Curve*u) }

// cut is damage to one propeller, or to two alike.
type cut struct {
	rotor     int     // 1 … 4, 0 is none
	also      int     // a second one, which is in balance; 0 is none
	thrust    float64 // share of the thrust coefficient that is left
	torque    float64 // share of the torque coefficient that is left
	imbalance float64 // mass times the distance of its centre from the axis, kg m
}

// has reports whether the propeller of motor i is damaged.
func (c *cut) has(i int) bool { return c.rotor == i+1 || c.also == i+1 }

// rotors turn speeds into forces.
type rotors struct {
	motor      Motor
	at         [4]so3.Vec3 // in the body, m
	spin       [4]float64  // +1 turns about +z (anticlockwise from above), −1 about −z
	thrust     float64     // k_f, N s²
	torque     float64     // κ, m
	inertia    float64     // kg m²
	rate       float64     // 1/lag, 1/s
	full       float64     // largest speed at the reference voltage, rad/s
	idle       float64     // rad/s
	hover      float64     // speed at which four carry the airframe, rad/s
	believed   float64     // thrust at full speed that the autopilot's map has, N
	reference  float64     // V
	efficiency float64
	drag       so3.Vec3 // of one rotor over its speed, N s²/m
	effect     float64  // strength of the ground effect
	radius     float64  // m
	floor      float64  // height of the ground, m
	cut        cut
	phase      float64 // of the unbalanced rotor, rad
}

func newRotors(w *World) rotors {
	m := &w.Motor
	k := m.Thrust / (m.Speed * m.Speed)
	hover := math.Sqrt(w.Airframe.Mass * gravity / (4 * k))
	d := w.Drag.Rotor
	return rotors{
		motor: *m,
		at:    w.Airframe.arms(), spin: [4]float64{1, 1, -1, -1},
		thrust: k, torque: m.Torque, inertia: m.Inertia, rate: 1 / m.Lag,
		full: m.Speed, idle: m.Idle * m.Speed, hover: hover,
		believed: m.Thrust / m.Gain, reference: w.Battery.Reference, efficiency: m.Efficiency,
		drag:   so3.Vec3{X: d[0], Y: d[1], Z: d[2]}.Scale(1 / (4 * hover)),
		effect: w.Ground.Effect, radius: m.Radius, floor: w.Ground.Height,
	}
}

// load is what the rotors do to the body, in the body's frame.
type load struct {
	force         so3.Vec3 // N
	torque        so3.Vec3 // about the origin, N m
	spin          float64  // H_z, angular momentum of the rotors, N m s
	accelerations [4]float64
}

// load sums the rotors up. Rotor i at r_i with speed Ω_i and velocity u_i against the air gives
//
//	f_i = k_f·Ω_i²·e_z − Ω_i·D·u_i,  τ_i = r_i × f_i − s_i·(κ·k_f·Ω_i² + J·Ω̇_i)·e_z,  Ω̇_i = (Ω_target − Ω_i)/lag
//
// with the thrust raised near the ground, and k_f and κ lowered where the propeller is cut.
func (r *rotors) load(m *motion, b *body, rot *so3.Mat3, u so3.Vec3) (l load) {
	low := b.p.Z-r.floor < 20*r.radius
	for i, speed := range b.rotor {
		at := r.at[i]
		lift := r.thrust * speed * speed
		twist := r.torque * lift
		if r.cut.has(i) {
			lift, twist = lift*r.cut.thrust, twist*r.cut.torque
		}
		if low {
			lift *= r.cushion(b.p.Z-r.floor+rot[2][0]*at.X+rot[2][1]*at.Y, rot[2][2])
		}
		l.accelerations[i] = (m.target[i] - speed) * r.rate
		twist = r.spin[i] * (twist + r.inertia*l.accelerations[i])
		l.spin += r.spin[i] * r.inertia * speed
		f := so3.Vec3{
			X: -speed * r.drag.X * (u.X - b.w.Z*at.Y),
			Y: -speed * r.drag.Y * (u.Y + b.w.Z*at.X),
			Z: lift - speed*r.drag.Z*(u.Z+b.w.X*at.Y-b.w.Y*at.X),
		}
		if r.cut.rotor == i+1 {
			f = f.Add(m.vibration)
		}
		l.force = l.force.Add(f)
		l.torque.X += at.Y * f.Z
		l.torque.Y -= at.X * f.Z
		l.torque.Z += at.X*f.Y - at.Y*f.X - twist
	}
	return l
}

// cushion is the ground effect of Cheeseman and Bennett (1955), 1/(1 − (R/4z)²), for a rotor at height z; c is the
// cosine of the tilt, with which the cushion goes. Below half a radius it grows no more.
func (r *rotors) cushion(z, c float64) float64 {
	if c <= 0 {
		return 1
	}
	x := r.radius / (4 * max(z, r.radius/2))
	return 1 / (1 - r.effect*c*x*x)
}

// shake sets the force of an unbalanced rotor, m·r·Ω² turning with the blade: its mean over the step, so that its
// impulse is right even where the rotor makes a good part of a turn in a step.
func (r *rotors) shake(m *motion, h float64) {
	m.vibration = so3.Vec3{}
	if r.cut.rotor == 0 {
		return
	}
	speed := m.body.rotor[r.cut.rotor-1]
	half := speed * h / 2
	size := r.cut.imbalance * speed * speed
	if half > 1e-6 {
		size *= math.Sin(half) / half
	}
	sin, cos := math.Sincos(r.phase + r.spin[r.cut.rotor-1]*half)
	m.vibration = so3.Vec3{X: size * cos, Y: size * sin}
	r.phase = math.Mod(r.phase+r.spin[r.cut.rotor-1]*2*half, 2*math.Pi)
}

// speed returns what a motor does when the autopilot asks it for a thrust in N: the autopilot's map gives a PWM
// value, and the battery's voltage makes it a speed.
func (r *rotors) speed(thrust, voltage float64) float64 {
	s := r.full * voltage / r.reference
	return max(r.idle, s*math.Sqrt(max(0, min(1, thrust/r.believed))))
}

// driven returns the speed that a motor comes to where it is driven at u, 0 … 1: in proportion to the voltage.
func (r *rotors) driven(u, voltage float64) float64 {
	return r.full * voltage / r.reference * math.Sqrt(r.motor.Share(max(0, min(1, u))))
}

// power returns the electrical power that the rotors draw, W.
func (r *rotors) power(b *body) float64 {
	p := 0.
	for i, speed := range b.rotor {
		q := r.torque * r.thrust * speed * speed * speed
		if r.cut.has(i) {
			q *= r.cut.torque
		}
		p += q
	}
	return p / r.efficiency
}
