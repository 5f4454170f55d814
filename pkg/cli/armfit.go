package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/armlog"
	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/continual/stretches"
	"vnd/pkg/learning/fit"
	"vnd/pkg/robot/arm"
	"vnd/pkg/vnd"
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

// notArm refuses what an arm's fit alone has.
func (f *fitCommand) notArm() error {
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
	prior, r := armlearning.Prior, &readings{flights: len(files)}
	o := armlog.Options{Joints: bridge.PandaJoints(f.arm.Joints), States: f.arm.JointStates, Commands: f.arm.Commands,
		Delta: prior.Dt, Window: f.cfg.Model.Context}
	var all []fit.Recording
	var judged [][]arm.Row
	for _, file := range files {
		segments, warnings, err := armlog.Read(file, o)
		if err != nil {
			return nil, err
		}
		for _, w := range warnings {
			c.warn(w.String())
		}
		for _, rows := range segments {
			learned, held := stretches.HoldOut(rows, stretches.Block(&f.cfg), f.cfg.Train.Validation)
			all = append(all, stretches.Recordings(prior, filepath.Clean(file), learned, held)...)
			judged = append(judged, held...)
			r.rows += len(rows)
		}
	}
	r.seconds = float64(r.rows) * prior.Dt
	r.fit = func(opt fit.Options) (*fit.Fit, error) {
		return fit.Run(c.ctx, f.cfg, fit.KnownRobot(prior, all), opt)
	}
	r.judge = func(m *vnd.Model[float32]) (*stretches.Prediction, error) { return c.judgeArm(&f, m, judged) }
	return r, nil
}

// judgeArm compares a model with its prior on what was held out, and says so where it is no better. nil: there is
// nothing to compare them on.
func (c *console) judgeArm(f *fitting, m *vnd.Model[float32], held [][]arm.Row) (*stretches.Prediction, error) {
	if len(held) == 0 {
		c.warn("nothing is held out to judge the fit by: expected longer recordings, or train.validation above 0")
		return nil, nil
	}
	p, err := armlearning.Predict(m, held)
	if err != nil {
		return nil, err
	}
	if !p.Better() {
		c.warn(fmt.Sprintf("%s: vnd train refuses it: %s", f.out, p))
	}
	return &p, nil
}
