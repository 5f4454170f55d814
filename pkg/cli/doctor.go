package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/param"
	"vnd/pkg/learning/fit"
	"vnd/pkg/learning/fit/quadfit"
	"vnd/pkg/learning/openloop"
	"vnd/pkg/node/demo"
	"vnd/pkg/node/doctor"
	"vnd/pkg/ros2/dds/fastdds"
)

type doctorCommand struct {
	Config string `placeholder:"F.yaml" help:"Also check this parameter file of a fit."`
	Bundle string `placeholder:"BUNDLE" help:"Also check that this bundle can be used here."`
	Dir    string `default:"." help:"Folder that results are to be written to."`
	examination
	logged
}

// check is one thing that was looked at.
func check(name, state, detail, cost string) doctor.Check {
	return doctor.Check{Name: name, State: state, Detail: detail, Cost: cost}
}

// diagnosis is what the doctor found.
type diagnosis struct {
	OK       bool           `json:"ok"` // nothing is wrong
	Findings []doctor.Check `json:"findings"`
}

// Run implements `vnd doctor`.
func (d *doctorCommand) Run(c *console) error {
	if d.Log != "" {
		return d.examineLog(c)
	}
	if given := d.given(); given != "" {
		return fmt.Errorf("%s: expected with --log LOG", given)
	}
	if d.asked() {
		return d.examine(c)
	}
	all := append(doctor.Machine(version(), d.Dir), demoData(), doctor.Distribution(os.Getenv),
		doctor.RMW(os.Getenv, fastdds.Installed()), doctor.Rclgo(os.Getenv))
	all = append(all, doctor.Keys(os.Getenv, fastdds.Installed(), fastdds.Unlike())...)
	if d.Config != "" {
		all = append(all, configured(d.Config))
	}
	if d.Params != "" || len(d.Param) > 0 {
		all = append(all, d.node())
	}
	if d.Bundle != "" {
		all = append(all, usable(d.Bundle))
	}
	return diagnosed(c, all)
}

// diagnosed shows what was found, which is no success where something is wrong.
func diagnosed(c *console, all []doctor.Check) error {
	r := &diagnosis{OK: true, Findings: all}
	for _, f := range all {
		r.OK = r.OK && f.State != doctor.Wrong
	}
	if err := c.show(r); err != nil {
		return err
	}
	if !r.OK {
		return errUnwell
	}
	return nil
}

// WriteText implements result.
func (d *diagnosis) WriteText(w io.Writer) error {
	for _, f := range d.Findings {
		line := fmt.Sprintf("%-8s %-15s %s", f.State, f.Name, f.Detail)
		if f.Cost != "" {
			line += ": " + f.Cost
		}
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

func demoData() doctor.Check {
	top, _, err := demo.Checkout()
	if err != nil {
		return check("demo", doctor.Missing, "no "+demo.Flights+" in the current directory, above it or beside the program",
			"vnd demo needs --flights DIR")
	}
	return check("demo", doctor.OK, "flights in "+filepath.Join(top, demo.Flights), "")
}

func configured(path string) doctor.Check {
	var cfg fit.Config
	param.Default(&cfg)
	bags := flightlog.DefaultOptions().Config
	err := param.Load(path, fitNode, &cfg)
	if berr := param.Load(path, assembleNode, &bags); err == nil && !errors.Is(berr, param.ErrNoBlock) ||
		errors.Is(err, param.ErrNoBlock) {
		err = berr
	}
	if err == nil {
		err = quadfit.Check(&cfg)
	}
	if err != nil {
		return check("config", doctor.Wrong, err.Error(), "a fit would refuse it")
	}
	return check("config", doctor.OK, path, "")
}

// node checks the parameters of the controller.
func (d *doctorCommand) node() doctor.Check {
	p, err := d.parameters()
	if err == nil {
		err = p.Check()
	}
	if err != nil {
		return check("params", doctor.Wrong, err.Error(), "policy_controller would refuse it")
	}
	return check("params", doctor.OK, d.Params, "")
}

func usable(path string) doctor.Check {
	m, err := openloop.LoadModel(path)
	if err != nil {
		return check("bundle", doctor.Wrong, err.Error(), "it cannot be used")
	}
	says := fmt.Sprintf("%s is %s, Δt %g s, %d past rows", path, m.ID, m.Dt, m.Net.Context)
	return check("bundle", doctor.OK, says, "")
}
