// Package sim is the quadrotor that the learner must not know: a rigid body with four motors under a rate controller,
// in a world of wind, ground, payloads and faults, seen through motion capture.
//
// A World is what is true of it, read from YAML; a Simulator flies one. Within a step the motion is integrated by RK4,
// attitude on SO(3) through Exp; what is sampled there (rate controller, gusts, fans, battery) is held over a step.
// The same world, seed and commands give the same bytes. Every disturbance has a stream of random numbers of its own,
// so that turning one on shifts no other.
//
// World W is ENU with z up, body B is FLU with its origin amid the rotors; SI units, radians.
package sim

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

//go:generate go run generate.go

// Simulator flies one world. It allocates nothing after New and is not safe for concurrent use.
type Simulator struct {
	world World
	motion
	tick      int64 // steps since the start
	schedule  schedule
	condition condition // now in force
	link      link
	loop      rateLoop
	mixer     mixer
	battery   pack
	gusts     gusts
	fans      fans
	neighbour neighbour
	mocap     mocap
	imu       imu
	command   quad.Command // that the autopilot follows
	crash     crash
	touch     Touchdown
	external  External // nil: none
	firmware  Firmware // it, in place of loop and mixer; nil: none
	plant     Plant    // it, in place of the motion too; nil: none
	next      body     // at the end of what the plant follows
	was       so3.Vec3 // v_W before the step, m/s, for the firmware's accelerometer
}

// Truth is what no sensor tells: for evaluation and pictures only.
type Truth struct {
	Time       float64    // s since the start
	State      quad.State // of the body's origin
	Rates      so3.Vec3   // ω_B, rad/s
	RotorSpeed [4]float64 // rad/s; front right, rear left, front left, rear right
	Voltage    float64    // of the battery under load, V
	Charge     float64    // share of the battery's capacity that is left
	Condition  string     // name of the world's present condition
}

// New returns a world at its start, hovering 1 m above the ground. It refuses a world that Check refuses.
func New(w World, seed uint64) (*Simulator, error) {
	if err := w.Check(); err != nil {
		return nil, err
	}
	s := &Simulator{world: w}
	s.rotors = newRotors(&s.world)
	s.ground = newGround(&s.world)
	s.drag = newDrag(&s.world)
	s.loop = newRateLoop(&s.world)
	s.mixer = newMixer(&s.world)
	s.fans = newFans(&w.Fans)
	s.neighbour = newNeighbour(&s.world)
	s.schedule = newSchedule(&s.world)
	s.Reset(quad.State{P: so3.Vec3{Z: w.Ground.Height + 1}, Q: so3.Identity()}, seed)
	return s, nil
}

// Reset starts the world anew at a state, without body rates, and with the randomness of a seed: time, schedule,
// battery and sensors begin again. The rotors idle where the feet touch the ground and turn at hover speed elsewhere.
func (s *Simulator) Reset(state quad.State, seed uint64) {
	s.tick, s.crash, s.touch = 0, crash{}, Touchdown{}
	s.body = body{p: state.P, q: state.Q.Normalize(), v: state.V}
	s.link = newLink(&s.world)
	s.battery = newPack(&s.world)
	s.gusts.start(&s.world, seed)
	s.mocap.reset(&s.world, seed)
	s.condition, s.cable = condition{}, cable{}
	s.imu.reset(&s.world, &s.body, seed)
	s.enter(s.schedule.begin())
	s.loop.reset()
	s.ground.release()
	s.command = quad.Command{}
	speed := s.rotors.idle
	if s.ground.clearance(&s.body) > 0 {
		speed = s.rotors.hover
		s.command.Thrust = quad.Gravity
	}
	s.link.asked = s.command
	s.body.rotor = [4]float64{speed, speed, speed, speed}
	s.rotors.phase = 0
	s.voltage = s.battery.step(s.rotors.power(&s.body), 0)
	s.mixer.saturated = false
	s.restart()
}

// Spin gives the body rates, ω_B in rad/s, as a hand does that throws it.
func (s *Simulator) Spin(rates so3.Vec3) { s.body.w = rates }

// Step holds a command from now on for dt seconds: the time moves on to the grid of the world's integration steps, and
// what dt has beyond that grid counts in the next call. A command that is not finite is a lost one: the autopilot keeps
// the last. After a crash the motors stop, and time goes on.
func (s *Simulator) Step(c quad.Command, dt float64) {
	s.link.send(s.Time(), c)
	s.link.until += dt
	for (float64(s.tick)+.5)*s.world.Step < s.link.until {
		s.advance()
	}
}

// advance takes one integration step: disturbances, autopilot, motion, sensors.
func (s *Simulator) advance() {
	t, h := s.Time(), s.world.Step
	if next, ok := s.schedule.due(t); ok {
		s.enter(next)
	}
	s.air = s.gusts.step().Scale(s.condition.gusts).Add(s.blown(t, s.body.p))
	s.voltage = s.battery.step(s.rotors.power(&s.body), h)
	s.command = s.link.follow(t, s.command)
	before := s.body
	s.move(h)
	s.crash.look(s, &before)
	s.ground.grip(&s.body, h)
	s.touch.look(s, &before)
	s.tick++
	s.mocap.step(s.Time(), &s.body)
	s.imu.step(s.Time(), &s.body)
}

// move takes the vehicle through one step.
func (s *Simulator) move(h float64) {
	if s.plant != nil {
		s.follow()
		return
	}
	s.targets()
	s.rotors.shake(&s.motion, h)
	s.motion.step(h)
}

// targets gives the rotors the speeds that rate controller and mixer ask for.
func (s *Simulator) targets() {
	if s.crash.why != flying {
		s.target = [4]float64{}
		return
	}
	if s.firmware != nil {
		s.driven()
		return
	}
	torque := s.loop.step(s.command.Thrust, s.command.Rates, s.body.w, s.mixer.saturated)
	thrust := s.mixer.mix(s.command.Thrust*s.world.Airframe.Mass, torque)
	for i, f := range thrust {
		s.target[i] = s.rotors.speed(f, s.voltage)
	}
}

// enter puts a condition into force.
func (s *Simulator) enter(index int) {
	before := s.condition.payload
	s.condition = s.schedule.conditions[index]
	s.wind = s.condition.wind
	if p := s.condition.payload; p != before {
		s.hang(p, &s.world.Ground)
	}
	s.mass = loaded(&s.world.Airframe, s.condition.payload)
	s.rotors.cut = s.condition.cut
	s.link.delay = s.world.Link.Delay + s.condition.linkDelay
	if s.condition.charge >= 0 {
		s.battery.charge = s.condition.charge
	}
}

// Time returns the seconds since the start.
func (s *Simulator) Time() float64 { return float64(s.tick) * s.world.Step }

// State returns the true state of the body's origin.
func (s *Simulator) State() quad.State { return quad.State{P: s.body.p, Q: s.body.q, V: s.body.v} }

// Truth returns everything that is true now.
func (s *Simulator) Truth() Truth {
	return Truth{s.Time(), s.State(), s.body.w, s.body.rotor, s.voltage, s.battery.charge, s.condition.name}
}

// Condition returns the name of the present condition.
func (s *Simulator) Condition() string { return s.condition.name }

// Wind returns what the world's air does to the body: the wind as an acceleration w_W in m/s² (the paper's model), and
// the velocity of the air where the body is, from gusts, fans and a second vehicle, in m/s in the world.
func (s *Simulator) Wind() (acceleration, air so3.Vec3) { return s.wind, s.air }

// blown is the air of fans and of a second vehicle at a place, m/s in the world.
func (s *Simulator) blown(t float64, p so3.Vec3) so3.Vec3 {
	return s.fans.at(p, s.condition.fan).Scale(s.condition.fans).
		Add(s.neighbour.air(t, p).Scale(s.condition.downwash))
}

// Mocap returns the samples that have arrived since the last call, oldest first. The slice holds until the next call;
// more than 1024 samples that nobody asks for lose the oldest.
func (s *Simulator) Mocap() []Sample { return s.mocap.take(s.Time()) }

// Inertial returns the samples of the IMU since the last call, as Mocap does.
func (s *Simulator) Inertial() []Inertial { return s.imu.take(s.Time()) }

// Crashed reports whether the flight is over.
func (s *Simulator) Crashed() bool { return s.crash.why != flying }

// Crash says in words why the flight is over, "" while it is not.
func (s *Simulator) Crash() string { return s.crash.String() }

func finiteNumber(x float64) bool { return x*0 == 0 }
