package controller

import (
	"fmt"

	"vnd/pkg/bridge"
	"vnd/pkg/control"
	"vnd/pkg/reference"
)

// What makes a tick.
const (
	onMocap = "mocap"
	onClock = "clock"
)

// Params of the node. They are read when it is configured.
type Params struct {
	Autostart  bool   `param:"autostart" default:"false" doc:"configure and activate at the start; else somebody does, as launch files do"`
	Robot      string `param:"robot" default:"quadrotor" doc:"bundles of other robots are refused"`
	BundleFile string `param:"bundle_file" default:"" doc:"bundle to begin with; empty waits for one on the topic bundle"`
	Task       string `param:"task" default:"" doc:"task to begin with: hover, track, land; empty takes the first that the bundle was trained for"`
	Reference  string `param:"reference_json" default:"" doc:"its reference, one JSON object; empty takes the task's own"`

	Tick string `param:"tick" default:"mocap" enum:"mocap,clock" doc:"mocap: ticks at the samples nearest to the rate, and by the clock where none come; clock: by the clock alone"`

	CommandInterface string  `param:"command_interface" default:"vnd" enum:"vnd,mavros,px4" doc:"vnd: vnd/msg/ThrustRates on command; mavros and px4: the topics and types of that stack"`
	HoverThrottle    float64 `param:"hover_throttle" default:"0.0" min:"0" max:"1" doc:"throttle that holds the vehicle; mavros and px4 need it"`

	WorldFrame string `param:"world_frame" default:"" doc:"name of the world's frame: samples of another one are refused; empty takes the first that comes"`
	BodyFrame  string `param:"body_frame" default:"base_link" doc:"name of the body's frame, for commands"`
	MocapFrame string `param:"mocap_frame" default:"auto" enum:"auto,enu,ned" doc:"axes of mocap topics; auto: ned where the frame's name ends in _ned, else enu"`
	TwistFrame string `param:"twist_frame" default:"auto" enum:"auto,body,world" doc:"frame of an odometry's twist; auto: the child frame, as REP-105 has it"`

	control.Config
}

// check refuses what no flight can begin with.
func (p *Params) check() error {
	if err := p.Config.Check(); err != nil {
		return err
	}
	if p.CommandInterface != bridge.VND {
		if err := bridge.CheckHover(p.HoverThrottle); err != nil {
			return fmt.Errorf("command_interface %s: %w", p.CommandInterface, err)
		}
	}
	if p.Task == "" && p.Reference != "" {
		return fmt.Errorf("parameter reference_json is set, and parameter task is not: whose reference is it?")
	}
	if p.Task != "" {
		if _, err := p.course(p.Task, p.Reference); err != nil {
			return err
		}
	}
	return nil
}

// course makes the course of a task; an empty reference is the task's own. What leaves the geofence is refused.
func (p *Params) course(task, json string) (*control.Course, error) {
	var path reference.Reference
	if json != "" {
		var err error
		if path, err = reference.Parse("reference_json", []byte(json)); err != nil {
			return nil, err
		}
	}
	c, err := control.NewCourse(task, path)
	if err != nil {
		return nil, err
	}
	lo, hi := p.Fence()
	return c, reference.Check(c.Path, lo, hi)
}

func (p *Params) poseOptions() bridge.PoseOptions {
	return bridge.PoseOptions{World: p.MocapFrame, Twist: p.TwistFrame}
}
