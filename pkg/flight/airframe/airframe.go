// Package airframe is the file in which a lab writes its vehicle once: limits, geofence and measured response.
// Nodes, training, simulation and the reading of bags take it.
package airframe

import (
	"cmp"
	"fmt"
	"os"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/battery"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/preflight"
	"vnd/pkg/flight/reference"
	"vnd/pkg/robot/rotors"
)

// Node is the node name of an airframe's block in a parameter file.
const Node = "airframe"

// Load reads an airframe's file, or takes the defaults.
func Load(path string) (Airframe, error) {
	var a Airframe
	param.Default(&a)
	if path != "" {
		if err := param.Load(path, Node, &a); err != nil {
			return a, err
		}
	}
	if err := cmp.Or(a.Check(), a.Rotors.Check()); err != nil {
		if path == "" {
			path = "airframe"
		}
		return a, fmt.Errorf("%s: %w", path, err)
	}
	a.informGuard()
	return a, nil
}

// informGuard gives the guard the response that was identified, unless its own was written.
func (a *Airframe) informGuard() {
	var assumed guard.Config
	param.Default(&assumed)
	g, r := &a.Guard.Response, &a.Response
	if !r.Known() || *g != assumed.Response {
		return
	}
	g.ThrustDelay, g.ThrustLag = min(r.ThrustDelay, guard.LongestDelay), min(r.ThrustLag, guard.LongestLag)
	g.RateDelay, g.RateLag = min(r.RateDelay, guard.LongestDelay), min(r.RateLag, guard.LongestLag)
}

// Throttle is what an autopilot's throttle is worth; package bridge turns it into thrust.
type Throttle struct {
	Hover   float64 `param:"hover_throttle" default:"0.0" min:"0" max:"1" doc:"throttle that holds the vehicle; every command_interface but vnd needs it"`
	Curve   float64 `param:"thrust_curve" default:"0.0" min:"0" max:"1" doc:"0: thrust goes with throttle, also where the autopilot sees to that (PX4's THR_MDL_FAC is set); 1: with its square"`
	Least   float64 `param:"least_thrust" default:"0.0" min:"0" max:"0.9" doc:"thrust at no throttle over that of a hover, where motors go on turning: ArduPilot's MOT_SPIN_MIN"`
	Voltage float64 `param:"battery_voltage" default:"0.0" min:"0" max:"200" unit:"V" doc:"voltage at which hover_throttle holds the vehicle: throttle makes up for a battery at another; 0: it does not"`
}

// Airframe is a parameter file that says what the vehicle can do.
type Airframe struct {
	quad.Limits
	Throttle
	MaxRate  float64            `param:"max_rate" default:"20.0" min:"0.1" max:"200" unit:"rad/s" doc:"greatest body rate that recordings may hold; flights are limited by max_tilt_rate and max_yaw_rate"`
	Rotors   rotors.Airframe    `param:"rotors" doc:"rotors: body and rotors, for policies that command motors themselves"`
	Battery  battery.Config     `param:"battery" doc:"battery: how its charge is known, and what a low one brings about"`
	Guard    guard.Config       `param:"guard" doc:"guard: the geofence, and what else it allows"`
	Response preflight.Response `param:"response" doc:"response to commands as vnd doctor --hover identifies it: training and, at its defaults, guard.response take it over"`
}

// Allows refuses a reference that leaves the geofence.
func (a *Airframe) Allows(name string, r reference.Reference) error {
	corner := func(x []float64) (v so3.Vec3, err error) {
		if len(x) != 3 {
			return v, fmt.Errorf("parameter guard.fence_min or guard.fence_max has %d numbers, expected x, y, z",
				len(x))
		}
		return so3.Vec3{X: x[0], Y: x[1], Z: x[2]}, nil
	}
	lo, err := corner(a.Guard.FenceMin)
	if err != nil {
		return err
	}
	hi, err := corner(a.Guard.FenceMax)
	if err != nil {
		return err
	}
	if err := reference.Check(r, lo, hi); err != nil {
		return fmt.Errorf("%s: %w (parameters guard.fence_min, guard.fence_max of the airframe)", name, err)
	}
	return nil
}

// Reference returns the reference of a task, inside the geofence: that of a file, or the
// default; nil for a landing, which each flight has for itself.
func (a *Airframe) Reference(name, file string) (r reference.Reference, err error) {
	if file != "" {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		if r, err = reference.Parse(file, data); err != nil {
			return nil, err
		}
		return r, a.Allows(file, r)
	}
	if name == "land" {
		return nil, nil
	}
	if r, err = reference.OfTask(name); err != nil {
		return nil, fmt.Errorf("--task %s: expected hover, track, land or features", name)
	}
	return r, a.Allows("--task "+name, r)
}
