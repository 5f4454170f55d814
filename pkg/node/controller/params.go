package controller

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"vnd/pkg/bridge"
	"vnd/pkg/core/param"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/flight/battery"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/reference"
	"vnd/pkg/node"
	"vnd/pkg/robot/rotors"
)

// What makes a tick.
const (
	onMocap = "mocap"
	onClock = "clock"
)

// File is what a parameter file says of the node: its own parameters, and the one that every node has.
type File struct {
	Simulated bool `param:"use_sim_time" default:"false" doc:"as every node has it"`
	Params
}

// GuardProcessParams are the parameters of a guard in a process of its own.
type GuardProcessParams struct {
	GuardProcess  bool    `param:"guard_process" default:"false" read_only:"true" doc:"the guard, and all that commands the vehicle, runs in the process flight_guard, which takes the parameters of this node"`
	GuardSocket   string  `param:"guard_socket" default:"" read_only:"true" doc:"name of the Unix socket between policy_controller and flight_guard; empty takes one of ROS_DOMAIN_ID and the namespace"`
	PolicyTimeout float64 `param:"policy_timeout" default:"0.06" min:"0.005" max:"0.1" unit:"s" doc:"time without a command of the policy after which flight_guard flies by itself"`
	RealTime      int     `param:"real_time" default:"40" min:"0" max:"98" read_only:"true" doc:"priority of flight_guard (SCHED_FIFO), and its memory is locked, where the machine allows that; 0: neither"`
	GuardCPU      int     `param:"guard_cpu" default:"-1" min:"-1" max:"1023" doc:"processor that flight_guard's thread keeps to; -1: any"`
}

// Params of the node. They are read when it is configured.
type Params struct {
	Autostart  bool   `param:"autostart" default:"false" doc:"configure and activate at the start; else somebody does, as launch files do"`
	Robot      string `param:"robot" default:"quadrotor" doc:"bundles of other robots are refused"`
	BundleFile string `param:"bundle_file" default:"" read_only:"true" doc:"bundle to begin with; empty waits for one on the topic bundle"`
	node.Trust
	Task      string `param:"task" default:"" doc:"task to begin with: hover, track, land, features or your own; empty takes the first that the bundle was trained for"`
	Reference string `param:"reference_json" default:"" doc:"reference of the parameter task, one JSON object; empty takes the task's own; a file (kind csv) only at the start"`

	Tick string `param:"tick" default:"mocap" enum:"mocap,clock" doc:"mocap: ticks at the samples nearest to the rate, and by the clock where none come; clock: by the clock alone"`

	CommandInterface string `param:"command_interface" default:"vnd" enum:"vnd,mavros,ardupilot,px4,px4_mode,betaflight,crazyswarm2,crazyswarm2_full_state,aerostack2,mrs,rotors" doc:"vnd: topic command; mavros, ardupilot: by mavros; px4: offboard mode; px4_mode: a mode of its own; rotors: motors; others by name"`

	LostState          string  `param:"lost_state" default:"auto" enum:"auto,autopilot,law" doc:"where states stop: autopilot: its failsafe lands; law: the guard's does; auto: autopilot of mavros, ardupilot, px4…"`
	AutopilotNamespace string  `param:"autopilot_namespace" default:"" doc:"where mavros/… and fmu/… are; empty is the node's own namespace, / is /mavros/… and /fmu/…"`
	ArdupilotMode      string  `param:"ardupilot_mode" default:"GUIDED" enum:"GUIDED,GUIDED_NOGPS" doc:"mode in which ArduPilot follows; GUIDED_NOGPS needs no position"`
	Mass               float64 `param:"mass" default:"0.0" min:"0" max:"200" unit:"kg" doc:"mass of the vehicle with all that it carries; command_interface aerostack2 needs it, for forces in newtons"`
	EmergencyService   bool    `param:"emergency_service" default:"false" read_only:"true" doc:"offer ~/emergency, which turns the motors off at once, wherever the robot is"`
	Airframe           string  `param:"airframe" default:"" read_only:"true" doc:"file of the vehicle: limits, guard, throttle; empty takes the defaults of params/airframe.yaml"`
	bridge.Throttle    `file:"airframe"`

	Rotors rotors.Airframe `param:"rotors" file:"airframe" doc:"rotors: body and rotors, for policies that command motors"`

	Battery battery.Config `param:"battery" file:"airframe" doc:"battery: how its charge is known, and what a low one brings about"`

	WorldFrame string `param:"world_frame" default:"" doc:"name of the world's frame: samples of another one are refused; empty takes the first that comes"`
	BodyFrame  string `param:"body_frame" default:"base_link" doc:"name of the body's frame, for commands"`
	Body       string `param:"body" default:"" doc:"name of the rigid body, for state_source named_poses and rigid_bodies; empty takes the only one"`
	MocapFrame string `param:"mocap_frame" default:"auto" enum:"auto,enu,ned" doc:"axes of mocap topics; auto: ned where the frame's name ends in _ned, else enu"`
	TwistFrame string `param:"twist_frame" default:"auto" enum:"auto,body,world" doc:"frame of an odometry's twist; auto: the child frame, as REP-105 has it"`

	Features bridge.FeaturesOptions `param:"features" doc:"features: what a camera sees, for policies that fly by landmarks"`

	GuardProcessParams
	control.Config
}

// sendsThrust reports whether commands need no throttle, on a topic of ours, with the battery beside it.
func (p *Params) sendsThrust() bool {
	return p.CommandInterface == bridge.VND || p.CommandInterface == bridge.Betaflight || p.commandsMotors()
}

// commandsCrazyflie reports whether a Crazyflie is commanded, by crazyswarm2's server.
func (p *Params) commandsCrazyflie() bool {
	return p.CommandInterface == bridge.Crazyswarm2 || p.CommandInterface == bridge.Crazyswarm2FullState
}

// autopilotLands reports whether the autopilot lands by itself where states stop. A Crazyflie's estimate comes of the
// same motion capture, Betaflight has none, and platforms repeat the last command. Full states without a state would
// have the Crazyflie stay where it was last seen, so that its own commander lands it.
func (p *Params) autopilotLands() bool {
	landing := []string{bridge.Mavros, bridge.Ardupilot, bridge.PX4, bridge.PX4Mode, bridge.Crazyswarm2FullState}
	lands := slices.Contains(landing, p.CommandInterface)
	return p.LostState == "autopilot" || p.LostState == "auto" && lands
}

// SetAirframe sets what the airframe's file holds.
func (p *Params) SetAirframe(a *airframe.Airframe) {
	p.Limits, p.Guard, p.Throttle, p.Battery = a.Limits, a.Guard, bridge.Throttle(a.Throttle), a.Battery
	p.Rotors = a.Rotors
}

// ReadFile reads what the parameter file at path says of the node of this full name, over what the airframe's file
// holds: airframeFile, or else the one that the parameter file names. Both may be empty. Where the error is
// param.ErrNoBlock, the parameters are good.
func ReadFile(path, node, airframeFile string) (*File, error) {
	p := new(File)
	param.Default(p)
	var said []param.Assignment
	if path != "" {
		var err error
		if said, err = param.Assignments(path, node); err != nil {
			return nil, err
		}
	}
	if airframeFile == "" {
		airframeFile = airframe.Named(said)
	}
	a, warning, err := airframe.LoadBeside(airframeFile, said)
	if err != nil {
		return nil, err
	}
	if warning != "" {
		param.Warn(warning)
	}
	p.SetAirframe(&a)
	if path != "" {
		err = param.Load(path, node, p)
	}
	p.Airframe = airframeFile
	return p, err
}

// Check refuses what no flight can begin with.
func (p *Params) Check() error {
	if err := errors.Join(p.Config.Check(), p.Trust.Check(), p.Battery.Check(), p.Features.Check()); err != nil {
		return err
	}
	if err := p.checkThrust(); err != nil {
		return fmt.Errorf("command_interface %s: %w", p.CommandInterface, err)
	}
	if err := p.checkLostState(); err != nil {
		return fmt.Errorf("command_interface %s: parameter lost_state is %s, %w", p.CommandInterface, p.LostState,
			err)
	}
	if err := p.checkMotors(); err != nil {
		return err
	}
	if p.commandsCrazyflie() {
		if err := p.checkCrazyflie(); err != nil {
			return fmt.Errorf("command_interface %s: %w", p.CommandInterface, err)
		}
	}
	if p.Task == "" && p.Reference != "" {
		return fmt.Errorf("parameter reference_json is set, and parameter task is not: whose reference is it?")
	}
	if p.Task != "" {
		if _, err := p.taskReference(p.Task, p.Reference, reference.Parse); err != nil {
			return err
		}
	}
	return nil
}

// checkThrust refuses what tells nobody how much thrust is meant.
func (p *Params) checkThrust() error {
	switch {
	case p.sendsThrust() || p.CommandInterface == bridge.Crazyswarm2FullState:
		return nil
	case p.CommandInterface != bridge.Aerostack2:
		return p.Throttle.Check()
	case p.Mass == 0:
		return errors.New("parameter mass is not set: that of the vehicle with all that it carries, in kg")
	}
	return nil
}

// checkLostState refuses who cannot land: the law by setpoints that hold a position, and what repeats the last command.
func (p *Params) checkLostState() error {
	repeats := p.CommandInterface == bridge.Aerostack2 || p.CommandInterface == bridge.MRS
	switch {
	case p.LostState == "law" && p.CommandInterface == bridge.Crazyswarm2FullState:
		return errors.New("expected auto: its setpoints hold the place that was seen last")
	case p.LostState == "autopilot" && repeats:
		return errors.New("expected auto: the platform repeats the last command, and does not land")
	}
	return nil
}

// checkCrazyflie refuses a Crazyflie without a name, and more setpoints than its radio takes beside poses and logs.
func (p *Params) checkCrazyflie() error {
	const most = 50 // Hz
	switch {
	case strings.Trim(p.AutopilotNamespace, "/") == "":
		return errors.New("parameter autopilot_namespace is not set: the Crazyflie's name in crazyflies.yaml, as " +
			"/cf231")
	case p.Rate > most:
		return fmt.Errorf("parameter rate is %g, expected at most %d: as many setpoints a second go out to its radio",
			p.Rate, most)
	}
	lo, hi := p.Fence()
	if reach := max(-lo.X, -lo.Y, -lo.Z, hi.X, hi.Y, hi.Z); p.CommandInterface == bridge.Crazyswarm2FullState &&
		reach > bridge.FullStateReach {
		return fmt.Errorf("the geofence (guard.fence_min, guard.fence_max) reaches %g m from the origin, expected at "+
			"most %g: more does not go into a setpoint's 16 bits", reach, bridge.FullStateReach)
	}
	return nil
}

// taskReference is a task with its reference; an empty one is the task's own. What leaves the geofence is refused.
func (p *Params) taskReference(task, json string, parse func(string, []byte) (reference.Reference, error)) (
	*control.TaskReference, error) {
	var path reference.Reference
	if json != "" {
		var err error
		if path, err = parse("reference_json", []byte(json)); err != nil {
			return nil, err
		}
	}
	c, err := control.NewTaskReference(task, path)
	if err != nil {
		return nil, err
	}
	lo, hi := p.Fence()
	return c, reference.Check(c.Path, lo, hi)
}

// receivedTask is taskReference for a message, from anybody: no file is opened for it, and it stays within speed and
// thrust of the vehicle.
func (p *Params) receivedTask(task, json string) (*control.TaskReference, error) {
	k, err := p.taskReference(task, json, reference.ParseReceived)
	if err != nil || json == "" {
		return k, err
	}
	return k, reference.CheckPace(k.Path, p.Guard.MaxSpeed, p.Limits.MaxThrust)
}

// PoseOptions are what is said of messages with poses.
func (p *Params) PoseOptions() bridge.PoseOptions {
	return bridge.PoseOptions{World: p.MocapFrame, Twist: p.TwistFrame, Body: p.Body}
}

// autopilotName is a topic or service of the autopilot, in its namespace.
func (p *Params) autopilotName(name string) string {
	if p.AutopilotNamespace == "" {
		return name
	}
	return strings.TrimSuffix(p.AutopilotNamespace, "/") + "/" + name
}

// AutopilotTopics are those of the autopilot's state and of its battery, PX4's without the version behind the name.
func (p *Params) AutopilotTopics() [2]string {
	if p.CommandInterface == bridge.PX4 || p.CommandInterface == bridge.PX4Mode {
		return [2]string{p.autopilotName("fmu/out/vehicle_status"), p.autopilotName("fmu/out/battery_status")}
	}
	switch p.CommandInterface {
	case bridge.Crazyswarm2, bridge.Crazyswarm2FullState:
		return [2]string{p.autopilotName("status"), p.autopilotName("status")}
	case bridge.Aerostack2:
		return [2]string{p.autopilotName("platform/info"), p.autopilotName("sensor_measurements/battery")}
	case bridge.MRS:
		return [2]string{p.autopilotName("hw_api/status"), p.autopilotName("hw_api/battery_state")}
	case bridge.Betaflight:
		return [2]string{p.autopilotName("betaflight_bridge/state"), "battery"}
	}
	return [2]string{p.autopilotName("mavros/state"), p.autopilotName("mavros/battery")}
}

// StateTopic is the topic and type of the state's source. That of PX4 may have a version behind its name.
func (p *Params) StateTopic() (topic, typeName string) {
	switch p.Source {
	case control.FromOdometry:
		return "mocap/odom", bridge.TypeOdometry
	case control.FromCovariance:
		return "mocap/pose_with_covariance", bridge.TypePoseWithCovariance
	case control.FromNamedPoses:
		return "poses", bridge.TypeNamedPoseArray
	case control.FromRigidBodies:
		return "rigid_bodies", bridge.TypeRigidBodies
	case control.FromMavros:
		return p.autopilotName("mavros/local_position/odom"), bridge.TypeOdometry
	case control.FromPX4:
		return p.autopilotName("fmu/out/vehicle_odometry"), bridge.TypeVehicleOdometry
	}
	return "mocap/pose", bridge.TypePoseStamped
}

// CommandTopic is the topic and type of the commands.
func (p *Params) CommandTopic() (topic, typeName string) {
	switch p.CommandInterface {
	case bridge.Mavros, bridge.Ardupilot:
		return p.autopilotName("mavros/setpoint_raw/attitude"), bridge.TypeAttitudeTarget
	case bridge.Crazyswarm2:
		return p.autopilotName("cmd_vel_legacy"), bridge.TypeTwist
	case bridge.Crazyswarm2FullState:
		return p.autopilotName("cmd_full_state"), bridge.TypeFullState
	case bridge.Aerostack2:
		return p.autopilotName("actuator_command/thrust"), bridge.TypeThrust
	case bridge.MRS:
		return p.autopilotName("hw_api/attitude_rate_cmd"), bridge.TypeAttitudeRate
	case bridge.PX4, bridge.PX4Mode:
		return p.autopilotName("fmu/in/vehicle_rates_setpoint"), bridge.TypeVehicleRatesSetpoint
	case bridge.Rotors:
		return motorsTopic, bridge.TypeActuators
	}
	return "command", bridge.TypeThrustRates
}
