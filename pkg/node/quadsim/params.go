package quadsim

import (
	"errors"
	"fmt"

	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/flight/policy"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
)

// Name of the node.
const Name = "quad_sim"

// Params of the node, read at its start.
type Params struct {
	World string    `param:"world" default:"" read_only:"true" doc:"parameter file of the world, such as params/worlds/recurring.yaml; empty is calm air"`
	Seed  int       `param:"seed" default:"1" min:"0" read_only:"true" doc:"seed of all randomness of the world"`
	Start []float64 `param:"start" default:"0,0,1" min:"-100" max:"100" unit:"m" read_only:"true" doc:"where the vehicle begins: x, y, z in the world; z of 0 is on the ground"`

	Speed    float64 `param:"speed" default:"1.0" min:"0.01" max:"100" read_only:"true" doc:"simulated seconds per second; where it is not 1 time is published on /clock"`
	Lockstep bool    `param:"lockstep" default:"false" read_only:"true" doc:"as fast as possible: time is published on /clock and waits for each command, or up to lockstep_patience"`
	Paced    bool    `param:"lockstep_paced" default:"false" read_only:"true" doc:"in lockstep, time waits for commands and besides passes no faster than speed"`
	Period   float64 `param:"lockstep_period" default:"0.02" min:"0.0025" max:"0.1" unit:"s" read_only:"true" doc:"time between two commands"`
	Patience float64 `param:"lockstep_patience" default:"0.2" min:"0.001" max:"60" unit:"s" read_only:"true" doc:"wall time for which simulated time waits for a command; then it goes on at speed until commands come again"`
	Step     float64 `param:"step" default:"0.002" min:"0.0005" max:"0.01" unit:"s" read_only:"true" doc:"time between two looks at motion capture and commands"`

	Interface string `param:"command_interface" default:"vnd" enum:"vnd,mavros,px4,rotors" read_only:"true" doc:"what commands the vehicle: vnd/msg/ThrustRates on command, what mavros or PX4 take, or each motor on motors"`

	Inertial bool    `param:"inertial" default:"false" read_only:"true" doc:"publish rates and specific force of the world's IMU on imu, and leave mocap/odom to state_estimator"`
	ImuRate  float64 `param:"imu_rate" default:"250.0" min:"10" max:"1000" unit:"Hz" read_only:"true" doc:"samples on imu, with inertial or command_interface rotors; the latter alone has rates and no specific force"`

	// Throttle is that of the autopilot.
	bridge.Throttle `file:"airframe"`
	Airframe        string `param:"airframe" default:"" read_only:"true" doc:"file of the vehicle: throttle; empty takes the defaults of params/airframe.yaml"`

	MocapDriver string `param:"mocap_driver" default:"" enum:",motion_capture_tracking,mocap4ros2" read_only:"true" doc:"also publish what that driver does, poses or rigid_bodies, with the bodies quadrotor and wand"`

	WorldFrame string  `param:"world_frame" default:"world" read_only:"true" doc:"name of the world's frame"`
	BodyFrame  string  `param:"body_frame" default:"base_link" read_only:"true" doc:"name of the body's frame"`
	TruthRate  float64 `param:"truth_rate" default:"100.0" min:"0" max:"1000" unit:"Hz" read_only:"true" doc:"rate of ~/ground_truth; 0 is none"`

	Camera Camera `param:"camera" read_only:"true" doc:"camera on the vehicle, and the landmarks in its view"`

	Autopilot Autopilot `param:"autopilot" doc:"simulated autopilot"`
}

// Camera is on the vehicle, and sees landmarks around a place to hover at.
type Camera struct {
	Rate    float64    `param:"rate" default:"50.0" min:"0" max:"500" unit:"Hz" doc:"frames, whose landmarks are published on features; 0: none"`
	Latency float64    `param:"latency" default:"0.02" min:"0" max:"0.5" unit:"s" doc:"time from a frame to its features"`
	At      []float64  `param:"at" default:"0,0,1,0" min:"-1000" max:"1000" doc:"place to hover at, around which the points stand: x, y, z in the world, m, and its heading, rad"`
	Frame   string     `param:"frame" default:"camera_optical" doc:"name of the camera's optical frame"`
	Outage  sim.Outage `param:"outage" doc:"times without frames"`
	policy.Optics
}

// Autopilot is the vehicle's, and what flies the rates and thrust that it asks for.
type Autopilot struct {
	closedloop.Autopilot
	Firmware string   `param:"firmware" default:"" enum:",betaflight,ardupilot,px4" read_only:"true" doc:"betaflight (make betaflight), ardupilot or px4 (the SITL at VND_ARDUPILOT or VND_PX4) fly; empty: the world's rate_loop"`
	Serial   bool     `param:"serial" default:"false" read_only:"true" doc:"betaflight_bridge or mavros flies the firmware over its serial line, which the log names; commands do not"`
	Settings []string `param:"settings" default:"" read_only:"true" doc:"settings of the firmware, each written NAME=VALUE as on its command line, such as i_roll=30"`
}

// SetAirframe sets what the airframe's file holds.
func (p *Params) SetAirframe(a *airframe.Airframe) { p.Throttle = bridge.Throttle(a.Throttle) }

func (p *Params) check() error {
	if n := len(p.Start); n != 3 {
		return fmt.Errorf("parameter start has %d numbers, expected x, y, z", n)
	}
	switch p.Interface {
	case bridge.VND:
	case bridge.Rotors:
		if p.Autopilot.Firmware != "" {
			return fmt.Errorf("command_interface rotors drives the motors themselves: autopilot.firmware is %q, "+
				"expected none", p.Autopilot.Firmware)
		}
	default:
		if err := p.Throttle.Check(); err != nil {
			return fmt.Errorf("command_interface %s: %w", p.Interface, err)
		}
	}
	if p.Autopilot.Serial && p.Autopilot.Firmware == "" {
		return errors.New("parameter autopilot.serial is true, and autopilot.firmware is empty: expected a firmware")
	}
	if n := len(p.Camera.At); n != 4 {
		return fmt.Errorf("parameter camera.at has %d numbers, expected x, y, z and the heading", n)
	}
	return nil
}

// load reads the world, with its IMU where that is wanted.
func (p *Params) load() (sim.World, error) {
	w := sim.Default()
	if p.World != "" {
		var err error
		if w, err = sim.Load(p.World); err != nil {
			return w, fmt.Errorf("parameter world: %w", err)
		}
	}
	w.Imu.Rate = 0
	if p.Inertial {
		w.Imu.Rate = p.ImuRate
	}
	return w, nil
}

func (p *Params) place() so3.Vec3 { return so3.Vec3{X: p.Start[0], Y: p.Start[1], Z: p.Start[2]} }

// simulated reports whether the node is what time follows.
func (p *Params) simulated() bool { return p.Lockstep || p.Speed != 1 }

// commandTopic is the topic and type of a command interface.
func (p *Params) commandTopic() (topic, typeName string) {
	switch p.Interface {
	case bridge.Mavros:
		return "mavros/setpoint_raw/attitude", bridge.TypeAttitudeTarget
	case bridge.PX4:
		return "fmu/in/vehicle_rates_setpoint", bridge.TypeVehicleRatesSetpoint
	case bridge.Rotors:
		return "motors", bridge.TypeActuators
	}
	return "command", bridge.TypeThrustRates
}
