package cli

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/armlog"
	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/learning/fit"
	"vnd/pkg/robot/arm"
	"vnd/pkg/sim/manipulation"
)

// robotArm is the --robot of an arm.
const robotArm = "arm"

// armTopics say where an arm's bags have what is fitted.
type armTopics struct {
	JointStates string   `placeholder:"TOPIC" help:"Of an arm: sensor_msgs/JointState."`
	Commands    string   `placeholder:"TOPIC" help:"Of an arm: torques, N·m."`
	Joints      []string `placeholder:"NAME,…" help:"Of an arm, as commanded; else a Panda's."`
}

// onlyArm refuses what an arm's fit has not.
func (f *fitCommand) onlyArm() error {
	switch {
	case f.Airframe != "":
		return errors.New("--airframe: expected with --robot quadrotor alone")
	case f.Config != "" && hasBlock(f.Config, assembleNode, &flightlog.Config{}):
		return fmt.Errorf("%s: node %q: expected with --robot quadrotor alone", f.Config, assembleNode)
	}
	return bridge.PandaJoints(f.Joints).Check(arm.Joints)
}

// onlyQuadrotor refuses what an arm's fit alone has.
func (f *fitCommand) onlyQuadrotor() error {
	if f.JointStates != "" || f.Commands != "" || len(f.Joints) > 0 {
		return errors.New("--joint-states, --commands and --joints: expected with --robot arm alone")
	}
	return nil
}

// armReadings reads bags of an arm.
func (c *console) armReadings(f fitting) (*readings, error) {
	files, err := flightlog.Expand(f.inputs)
	if err != nil {
		return nil, err
	}
	prior, r := manipulation.Prior, &readings{flights: len(files)}
	o := armlog.Options{Joints: bridge.PandaJoints(f.arm.Joints), States: f.arm.JointStates, Commands: f.arm.Commands,
		Delta: prior.Dt, Window: f.cfg.Model.Context}
	var all []fit.Recording
	for _, file := range files {
		segments, warnings, err := armlog.Read(file, o)
		if err != nil {
			return nil, err
		}
		for _, w := range warnings {
			c.warn(w.String())
		}
		for _, rows := range segments {
			measured, actions := prior.Flatten(rows)
			all = append(all, fit.Recording{Name: filepath.Clean(file), Measured: measured, Actions: actions,
				Weight: slices.Repeat([]float32{1}, len(rows))})
			r.rows += len(rows)
		}
	}
	r.seconds = float64(r.rows) * prior.Dt
	r.fit = func(opt fit.Options) (*fit.Fit, error) {
		return fit.Run(c.ctx, f.cfg, fit.KnownRobot(prior, all), opt)
	}
	return r, nil
}
