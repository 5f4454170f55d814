package cli

import (
	"fmt"
	"strings"

	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/param"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/learning/fit"
	"vnd/pkg/sim/experiment"
)

// Section is a set of parameters that is read together: a table of the reference and a file with the defaults.
type Section struct {
	Title string
	Use   string // the command line that takes them
	Node  string // node name of their block in a parameter file
	File  string // below the module's folder
	Ptr   any    // to a struct with tags, filled with the defaults
}

// Sections are the parameters of the commands.
func Sections() []Section {
	bags := flightlog.DefaultOptions().Config
	return []Section{
		{"Fit", "vnd fit --config F.yaml -p NAME:=VALUE …", fitNode, "params/fit.yaml", defaults[fit.Config]()},
		{"Bags", "vnd fit|predict|score|bag … --config F.yaml", assembleNode, "params/assemble.yaml", &bags},
		{"Training", "vnd train --config F.yaml -p NAME:=VALUE …", trainNode, "params/train.yaml",
			defaults[trainConfig]()},
		{"Loop", "vnd loop --config F.yaml -p NAME:=VALUE …", loopNode, "params/loop.yaml",
			defaults[experiment.Config]()},
		{"Airframe", "vnd fit --airframe F.yaml …", airframe.Node, "params/airframe.yaml",
			defaults[airframe.Airframe]()},
	}
}

func defaults[P any]() *P {
	p := new(P)
	param.Default(p)
	return p
}

// settings is the defaults, then a file, then single parameters.
func settings[T any](node, file string, params []string) (*T, error) {
	cfg := new(T)
	param.Default(cfg)
	return cfg, settle(cfg, node, file, params)
}

// settle sets what file and single parameters say.
func settle(cfg any, node, file string, params []string) error {
	if file != "" {
		if err := param.Load(file, node, cfg); err != nil {
			return err
		}
	}
	return set(cfg, params)
}

// set sets single parameters, NAME:=VALUE.
func set(cfg any, params []string) error {
	for _, p := range params {
		name, value, ok := strings.Cut(p, ":=")
		if !ok {
			return fmt.Errorf("-p %s: expected NAME:=VALUE", p)
		}
		if err := param.Set(cfg, name, value); err != nil {
			return err
		}
	}
	return nil
}
