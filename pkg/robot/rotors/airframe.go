package rotors

import (
	"fmt"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/nn/kernel"
)

// Airframe is what physics knows of a quadrotor: a Model without a recording is made of it. The defaults are Kolibri's,
// as the paper's "Quadrotor dynamics model" has it. Motor commands are 0 … 1 and go with the rotors' speeds.
type Airframe struct {
	Mass    float64   `param:"mass" default:"0.192" min:"0.001" max:"100" unit:"kg" doc:"mass"`
	Inertia []float64 `param:"inertia" default:"1.42e-4,1.65e-4,2.13e-4" min:"1e-9" max:"100" unit:"kg m²" doc:"principal moments about x, y, z of the body"`
	ArmX    float64   `param:"arm_x" default:"0.041" min:"0.001" max:"5" unit:"m" doc:"rotors are this far before and behind the centre"`
	ArmY    float64   `param:"arm_y" default:"0.041" min:"0.001" max:"5" unit:"m" doc:"rotors are this far left and right of the centre"`
	Thrust  float64   `param:"thrust" default:"3.5" min:"0.001" max:"1000" unit:"N" doc:"thrust of one rotor at its greatest speed"`
	Torque  float64   `param:"torque" default:"0.008" min:"0.0001" max:"1" unit:"m" doc:"drag torque of a rotor over its thrust"`
	Speed   float64   `param:"speed" default:"4700" min:"10" max:"20000" unit:"rad/s" doc:"greatest speed of a rotor: a motor command of 1"`
	Rotor   float64   `param:"rotor_inertia" default:"7e-7" min:"0" max:"1" unit:"kg m²" doc:"moment of what turns in one motor"`
	Least   float64   `param:"min_command" default:"0.1" min:"0" max:"0.9" doc:"least motor command that a policy may give"`
	Most    float64   `param:"max_command" default:"0.7" min:"0.1" max:"1" doc:"greatest motor command that a policy may give"`
	Slew    float64   `param:"slew" default:"30" min:"0.5" max:"1000" unit:"1/s" doc:"greatest change of a motor command in a second, with command_interface rotors"`

	RateGain []float64 `param:"rate_gain" default:"20,20,8" min:"0.1" max:"1000" unit:"1/s" doc:"angular acceleration for an error in body rates about x, y, z, where the guard flies by motors"`
}

// Hover is the motor command that carries the airframe, 0 … 1.
func (a *Airframe) Hover() float64 { return math.Sqrt(a.Mass * quad.Gravity / (4 * a.Thrust)) }

// Check refuses an airframe that cannot fly.
func (a *Airframe) Check() error {
	if len(a.Inertia) != 3 {
		return fmt.Errorf(`parameter "rotors.inertia" has %d numbers, expected x, y, z`, len(a.Inertia))
	}
	if x, y, z := a.Inertia[0], a.Inertia[1], a.Inertia[2]; x+y < z || y+z < x || z+x < y {
		return fmt.Errorf(`parameter "rotors.inertia" %v is no body's, expected each to be at most the sum of the `+
			`other two`, a.Inertia)
	}
	if n := len(a.RateGain); n != 3 {
		return fmt.Errorf(`parameter "rotors.rate_gain" has %d numbers, expected x, y, z`, n)
	}
	if hover := a.Hover(); !(a.Least < hover && hover < a.Most) {
		return fmt.Errorf(`parameters "rotors.min_command" %g and "rotors.max_command" %g: hovering takes %.3g`,
			a.Least, a.Most, hover)
	}
	return nil
}

// Limits are those of each motor, in the unit of a model's motors.
type Limits struct {
	Least float64 `json:"least"`
	Most  float64 `json:"most"`
	Hover float64 `json:"hover"`
	Full  float64 `json:"full"` // at which a motor gives all
}

// Check refuses limits under which the robot cannot hover.
func (l *Limits) Check() error {
	if !(l.Least >= 0 && l.Least < l.Hover && l.Hover < l.Most && l.Most <= l.Full) || math.IsInf(l.Full, 1) {
		return fmt.Errorf("motors of %g to %g of %g, hovering takes %g", l.Least, l.Most, l.Full, l.Hover)
	}
	return nil
}

// Model returns the model of an airframe for steps of dt seconds, with rotors of a lag in s.
func (a *Airframe) Model(dt, lag float64) (*Model, error) {
	m, err := New(Config{Input: Commands, Period: dt, Motor: a.Hover(), Volts: 1})
	if err == nil {
		a.put(m.Theta, &m.index, &m.Config, lag)
	}
	return m, err
}

// Vary returns the system whose thrust, torques and lag of the rotors are so many times as great.
func (m *System[F]) Vary(thrust, torque, lag float64) *System[F] {
	like := *m
	like.theta = append([]float64(nil), m.theta...)
	like.theta[m.index.thrust] *= thrust
	for _, i := range m.index.torque {
		like.theta[i] *= torque
	}
	x := m.theta[m.index.lag]
	rest := .5 - x/(2*math.Sqrt(1+x*x)) // of a deviation after a step
	like.theta[m.index.lag] = shareOf(1 - math.Pow(rest, 1/lag))
	return &like
}

// Limits are those of an airframe in the unit of the model's motors.
func (m *System[F]) Limits(a *Airframe) Limits {
	full := 1.
	if m.config.Input == Speeds {
		full = a.Speed
	}
	return Limits{full * a.Least, full * a.Most, float64(m.hover), full}
}

// put writes what physics knows. Forces are those of squared speeds in units of the typical one.
func (a *Airframe) put(theta []float64, at *index, c *Config, lag float64) {
	rest := math.Exp(-c.Period / max(lag, 1e-4)) // of a deviation after a step
	theta[at.lag] = shareOf(1 - rest)
	theta[at.lead] = (1 - max(lag, 1e-4)/c.Period*(1-rest)) / (1 - rest) // the mean over the step acts
	theta[at.torqueLag] = shareOf(1)
	lift := a.Thrust * c.Motor * c.Motor // N at the typical speed
	theta[at.thrust] = 4 * lift / a.Mass / unitForce
	for i, arm := range []float64{a.ArmY, a.ArmX, a.Torque} {
		theta[at.torque[i]] = lift * arm / a.Inertia[i] / unitTorque
	}
	theta[at.rise] = a.Rotor * a.Speed * c.Motor / (unitRise * c.Period) / a.Inertia[2] / unitTorque
}

// shareOf is the parameter of a share, see builder.share.
func shareOf(share float64) float64 {
	const almost = 1 - 1e-6
	y := min(2*share-1, almost)
	return y / math.Sqrt(1-y*y)
}

// Collective adds to c[B][4] what motors a[B][4] do together in the units of thrust and body rates: thrust for their
// mean over hover, and rates, rad/s, for their differences over hover that roll, pitch and yaw. It is linear.
func Collective[F kernel.Float](hover, rates F, a, c []F) {
	for i := range a {
		for j, unit := range units(hover, rates) {
			c[i/nA*nA+j] += unit * F(Signs[j][i%nA]) * a[i]
		}
	}
}

// CollectiveVJP adds the pullback of dc[B][4] to da[B][4].
func CollectiveVJP[F kernel.Float](hover, rates F, dc, da []F) {
	for i := range da {
		for j, unit := range units(hover, rates) {
			da[i] += unit * F(Signs[j][i%nA]) * dc[i/nA*nA+j]
		}
	}
}

func units[F kernel.Float](hover, rates F) [nA]F {
	thrust, rate := quad.Gravity/(nA*hover), rates/(nA*hover)
	return [nA]F{thrust, rate, rate, rate}
}
