package cli

import (
	"errors"
	"fmt"
	"path/filepath"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/armlog"
	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/bridge/pushlog"
	"vnd/pkg/learning/armlearning"
	"vnd/pkg/learning/continual/stretches"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/robot/arm"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
)

// robotArm is the --robot of an arm, and robotPusher that of a pushed box.
const (
	robotArm    = "arm"
	robotPusher = pusher.Name
)

// stretchTopics say where bags of an arm or a pushed box have what is fitted.
type stretchTopics struct {
	JointStates string   `placeholder:"TOPIC" help:"Of an arm: sensor_msgs/JointState."`
	Commands    string   `placeholder:"TOPIC" help:"Of an arm: torques, N·m."`
	Joints      []string `placeholder:"NAME,…" help:"Of an arm, as commanded; else a Panda's."`
	PushSteps   string   `placeholder:"TOPIC" help:"Of a pushed box: vnd/PushStep."`
}

// checkStretches refuses what the fit of an arm or a pushed box has not.
func (f *fitCommand) checkStretches() error {
	switch {
	case f.Airframe != "":
		return errors.New("--airframe: expected with --robot quadrotor alone")
	case f.Config != "" && hasBlock(f.Config, assembleNode, &flightlog.Config{}):
		return fmt.Errorf("%s: node %q: expected with --robot quadrotor alone", f.Config, assembleNode)
	}
	return bridge.PandaJoints(f.Joints).Check(arm.Joints)
}

// checkTopics refuses topics of another robot.
func (f *fitCommand) checkTopics() error {
	switch {
	case f.Robot != robotArm && (f.JointStates != "" || f.Commands != "" || len(f.Joints) > 0):
		return errors.New("--joint-states, --commands and --joints: expected with --robot arm alone")
	case f.Robot != robotPusher && f.PushSteps != "":
		return errors.New("--push-steps: expected with --robot pusher alone")
	}
	return nil
}

// armReadings reads bags of an arm.
func (c *console) armReadings(f fitting) (*readings, error) {
	prior := armlearning.Prior
	o := armlog.Options{Joints: bridge.PandaJoints(f.topics.Joints), States: f.topics.JointStates,
		Commands: f.topics.Commands, Delta: prior.Dt, Window: f.cfg.Model.Context}
	return stretchReadings(c, f, prior, func(file string) ([][]arm.Row, []flightlog.Warning, error) {
		return armlog.Read(file, o)
	}, func(_ int, rows []arm.Row) (learned, held [][]arm.Row) {
		return stretches.HoldOut(rows, stretches.Block(&f.cfg), f.cfg.Train.Validation)
	})
}

// pushReadings reads bags of a pushed box.
func (c *console) pushReadings(f fitting) (*readings, error) {
	s := pushlog.Stream{Dt: pushlearning.Dt, Least: pushlearning.LeastRows}
	return stretchReadings(c, f, pushlearning.Prior, func(file string) ([][]pusher.Row, []flightlog.Warning, error) {
		return pushlog.Read(file, f.topics.PushSteps, s)
	}, pushlearning.HoldOut)
}

// stretchReadings reads bags of a robot whose prior is known. holdOut cuts the stretch with a number into what is
// learned and what judges the fit.
func stretchReadings[Row, Command, State any](c *console, f fitting, prior stretches.Recorded[Row, Command, State],
	read func(file string) ([][]Row, []flightlog.Warning, error),
	holdOut func(number int, rows []Row) (learned, held [][]Row)) (*readings, error) {
	files, err := flightlog.Expand(f.inputs)
	if err != nil {
		return nil, err
	}
	r := &readings{flights: len(files)}
	var all []fit.Recording
	var judged [][]Row
	number := 0
	for _, file := range files {
		segments, warnings, err := read(file)
		if err != nil {
			return nil, err
		}
		for _, w := range warnings {
			c.warn(w.String())
		}
		for _, rows := range segments {
			learned, held := holdOut(number, rows)
			number++
			all = append(all, stretches.Recordings(prior, filepath.Clean(file), learned, held)...)
			judged = append(judged, held...)
			r.rows += len(rows)
		}
	}
	r.seconds = float64(r.rows) * prior.Period()
	r.fit = func(opt fit.Options) (*fit.Fit, error) {
		return fit.Run(c.ctx, f.cfg, fit.KnownRobot(prior, all), opt)
	}
	r.judge = func(m *vnd.Model[float32]) (*stretches.Prediction, error) {
		if len(judged) == 0 {
			c.warn("nothing is held out to judge the fit by: expected more recordings, or train.validation above 0")
			return nil, nil
		}
		p, err := stretches.Predict(prior, m, judged)
		if err == nil && !p.Better() {
			c.warn(fmt.Sprintf("%s is no better than its prior, and should not be trained in: %s", f.out, p))
		}
		return &p, err
	}
	return r, nil
}
