package closedloop

import (
	"errors"
	"fmt"
	"math"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/sim"
)

// Autopilot is what the simulated vehicle does by itself.
type Autopilot struct {
	Timeout float64 `param:"timeout" default:"0.5" min:"0.02" max:"10" unit:"s" doc:"time without a command after which the autopilot descends"`
	Descent float64 `param:"descent" default:"0.5" min:"0.05" max:"3" unit:"m/s" doc:"speed with which the autopilot descends without commands"`
	Height  float64 `param:"takeoff_height" default:"1.0" min:"0.2" max:"20" unit:"m" doc:"height above where it stood to which the autopilot takes off"`
	Climb   float64 `param:"takeoff_speed" default:"0.5" min:"0.05" max:"3" unit:"m/s" doc:"speed with which the autopilot takes off"`
}

// Mode says whom a vehicle obeys.
type Mode uint8

// Modes. Every command leads to Offboard, from each of the others.
const (
	Waiting  Mode = iota // for commands: it holds where it is, in the air or on the ground
	Offboard             // commands
	Failsafe             // none came for too long: it descends
	Disarmed             // it stands on the ground after that
	Crashed
	Climbing // it takes off by itself, to hold there
)

var modes = [...]string{"waiting for a command", "offboard", "failsafe: descends", "disarmed", "crashed", "takes off"}

// String names the mode.
func (m Mode) String() string { return modes[m] }

// Vehicle is a simulated robot as it stands in a laboratory: the full quadrotor in a world, its autopilot with a
// failsafe, and the motion capture around it. The autopilot sees its own sensors and the poses of motion capture, never
// the truth. It is for one goroutine.
type Vehicle struct {
	world     sim.World
	seed      uint64
	start     quad.State
	autopilot Autopilot

	sim        *sim.Simulator
	sensors    sim.Sensors
	navigation navigation // the autopilot's state
	law        *guard.Law // of the autopilot
	mode       Mode
	command    quad.Command
	at         float64 // when that came, s
	anchor     so3.Vec3
	lowered    float64 // when the failsafe lowered the anchor last, s
	landed     bool    // as far as the autopilot can tell

	motors quad.Command // of the motors
	direct bool         // the newest command is that of the motors
	driven bool         // the simulator follows such commands

	external     bool // poses reach the autopilot by Pose alone
	poses, taken []sim.Sample
}

// NewVehicle puts a robot into the world in a parameter file ("" is calm air), upright and at rest at a place: in the
// air or, at the height of its feet or below, on the ground.
func NewVehicle(path string, seed uint64, place so3.Vec3, a Autopilot) (*Vehicle, error) {
	w := sim.Default()
	if path != "" {
		var err error
		if w, err = sim.Load(path); err != nil {
			return nil, err
		}
	}
	return NewVehicleIn(w, seed, place, a)
}

// NewVehicleIn is NewVehicle for a world that is at hand.
func NewVehicleIn(w sim.World, seed uint64, place so3.Vec3, a Autopilot) (*Vehicle, error) {
	place.Z = math.Max(place.Z, w.Ground.Height+w.Ground.Feet)
	s, err := sim.New(w, seed)
	if err != nil {
		return nil, err
	}
	v := &Vehicle{world: w, seed: seed, start: quad.State{P: place, Q: so3.Identity()}, autopilot: a, sim: s}
	var gains guard.Gains
	var limits quad.Limits
	param.Default(&gains)
	param.Default(&limits)
	if v.law, err = guard.NewLaw(gains, limits); err != nil {
		return nil, err
	}
	v.Reset()
	return v, nil
}

// Fit gives the vehicle a firmware, which flies the rates and thrust that are asked for, and begins anew; nil is the
// world's rate loop.
func (v *Vehicle) Fit(f sim.Firmware) error {
	v.sim.Fit(f)
	v.Reset()
	if v.mode == Crashed {
		return errors.New(v.sim.Crash())
	}
	return nil
}

// Reset begins anew, with the same randomness.
func (v *Vehicle) Reset() {
	if v.driven {
		v.driven = false
		v.sim.SetDirect(false, quad.Command{})
	}
	v.sim.Reset(v.start, v.seed)
	v.sensors.Reset(v.seed)
	v.navigation.reset(v.start)
	v.law.Reset()
	v.mode, v.anchor, v.poses = Waiting, v.start.P, v.poses[:0]
	s := v.sim.State()
	v.landed = v.grounded(&s)
	if v.sim.Crashed() { // a firmware did not start
		v.mode = Crashed
	}
}

// Impose puts one of the world's conditions into force, for good.
func (v *Vehicle) Impose(condition string) error { return v.sim.Impose(condition) }

// World is what is true of the vehicle and its surroundings.
func (v *Vehicle) World() sim.World { return v.world }

// Command is one that arrives now. What is not finite does not arrive.
func (v *Vehicle) Command(c quad.Command) {
	r := c.Rates
	if x := c.Thrust + r.X + r.Y + r.Z; x*0 != 0 || v.mode == Crashed {
		return
	}
	v.command, v.direct, v.at, v.mode = c, false, v.sim.Time(), Offboard
}

// TakeOff has the autopilot take off and hold. It does so from the ground alone.
func (v *Vehicle) TakeOff() error {
	if !v.Grounded() || v.mode == Crashed {
		return fmt.Errorf("take-off is refused: the vehicle is %s", v.Status())
	}
	v.mode, v.anchor, v.at, v.landed = Climbing, v.navigation.state.P, v.sim.Time(), false
	v.law.Reset()
	return nil
}

// Hold has the autopilot hold the vehicle where it is.
func (v *Vehicle) Hold() {
	if v.mode != Crashed {
		v.mode, v.anchor = Waiting, v.navigation.state.P
		v.law.Reset()
	}
}

// StopMotors has the autopilot stop the motors, wherever the vehicle is.
func (v *Vehicle) StopMotors() {
	if v.mode != Crashed {
		v.mode = Disarmed
	}
}

// Advance lets dt seconds pass.
func (v *Vehicle) Advance(dt float64) {
	const step = 0.005 // s, in which the autopilot flies by itself
	for left := dt; left > 1e-9; left -= step {
		before, then, c := v.sim.State(), v.sim.Time(), v.obey()
		v.follow(c, min(left, step))
		if v.sim.Crashed() {
			v.mode = Crashed
		}
		if passed := v.sim.Time() - then; passed > 0 {
			v.sense(&before, c.Thrust, passed)
		}
	}
}

// sense has the autopilot read its sensors after a step from a true state.
func (v *Vehicle) sense(before *quad.State, thrust, dt float64) {
	const baroInterval = 0.02 // s
	now := v.sim.State()
	turn, push := v.sensors.Inertial(before, &now, dt)
	v.navigation.predict(turn, push, dt)
	v.navigation.support(push, thrust, dt)
	if h, due := v.sensors.Height(v.sim.Time(), now.P.Z); due {
		v.navigation.height(h, baroInterval)
	}
	const enough = 0.5 // s of ground under the feet
	switch {
	case v.navigation.supported > enough:
		v.landed = true
	case thrust > 0.9*quad.Gravity:
		v.landed = false
	}
	for _, s := range v.sim.Mocap() {
		const most = 1024 // that nobody asks for
		if len(v.poses) == most {
			v.poses = append(v.poses[:0], v.poses[1:]...)
		}
		v.poses = append(v.poses, s)
		if !v.external {
			v.navigation.pose(&s)
		}
	}
}

// ExternalPoses has poses reach the autopilot by Pose alone, as where a companion computer relays them.
func (v *Vehicle) ExternalPoses() { v.external = true }

// Pose is one of motion capture that reaches the autopilot now.
func (v *Vehicle) Pose(s sim.Sample) { v.navigation.pose(&s) }

// obey is the command that the vehicle follows now.
func (v *Vehicle) obey() quad.Command {
	now, s := v.sim.Time(), v.navigation.state
	stops := v.mode == Offboard && now-v.at > v.autopilot.Timeout
	if lost := (v.mode == Waiting && !v.landed || v.mode == Climbing) && !v.navigation.located(); stops || lost {
		v.mode, v.anchor, v.lowered = Failsafe, s.P, now
		v.law.Reset()
	}
	switch v.mode {
	case Offboard:
		return v.command
	case Waiting:
		if v.landed {
			return quad.Command{}
		}
		return v.law.Track(now, &s, &quad.Reference{P: v.anchor})
	case Failsafe:
		return v.descend(now, &s)
	case Climbing:
		return v.climb(now, &s)
	}
	return quad.Command{}
}

// climb is the take-off's command, straight up until the vehicle is at its height.
func (v *Vehicle) climb(now float64, s *quad.State) quad.Command {
	r := quad.Reference{P: v.anchor, V: so3.Vec3{Z: v.autopilot.Climb}, Yaw: s.Q.Yaw()}
	r.P.Z += v.autopilot.Climb * (now - v.at)
	if top := v.anchor.Z + v.autopilot.Height; r.P.Z >= top {
		r.P.Z, r.V.Z = top, 0
		v.mode, v.anchor = Waiting, r.P
	}
	return v.law.Track(now, s, &r)
}

// descend is the failsafe's command, straight down until the vehicle stands. Without a position it is level, for drift
// cannot be seen; and on the ground, as PX4 is from ground contact on.
func (v *Vehicle) descend(now float64, s *quad.State) quad.Command {
	const ahead = 0.5 // m: the ground is where the reference is that far below a vehicle that does not move
	if v.landed {
		v.mode = Disarmed
		return quad.Command{}
	}
	const contact = 0.1 // s
	v.anchor.Z = min(max(v.anchor.Z-v.autopilot.Descent*(now-v.lowered), s.P.Z-ahead), s.P.Z)
	v.lowered = now
	r := quad.Reference{P: v.anchor, V: so3.Vec3{Z: -v.autopilot.Descent}, Yaw: s.Q.Yaw()}
	stands := v.navigation.supported > contact
	if stands {
		r.P.Z -= ahead // press it to the ground
	}
	if stands || !v.navigation.located() {
		v.law.Reset() // whose integral would lean
		r.P.X, r.P.Y, r.V.X, r.V.Y = s.P.X, s.P.Y, s.V.X, s.V.Y
	}
	return v.law.Track(now, s, &r)
}

func (v *Vehicle) grounded(s *quad.State) bool {
	return s.P.Z < v.world.Ground.Height+v.world.Ground.Feet+0.01
}

// Grounded reports whether the vehicle stands, as far as its autopilot can tell.
func (v *Vehicle) Grounded() bool { return v.landed }

// Mode says whom the vehicle obeys.
func (v *Vehicle) Mode() Mode { return v.mode }

// Status says so in words.
func (v *Vehicle) Status() string {
	if v.mode == Crashed {
		return fmt.Sprintf("crashed: %s", v.sim.Crash())
	}
	return v.mode.String()
}

// Time since the start, s.
func (v *Vehicle) Time() float64 { return v.sim.Time() }

// Truth is what no sensor tells.
func (v *Vehicle) Truth() sim.Truth { return v.sim.Truth() }

// Mocap returns the samples that have arrived since the last call, oldest first, until the next call.
func (v *Vehicle) Mocap() []sim.Sample {
	v.poses, v.taken = v.taken[:0], v.poses
	return v.taken
}

// Inertial returns the samples of the world's IMU since the last call, as Mocap does.
func (v *Vehicle) Inertial() []sim.Inertial { return v.sim.Inertial() }
