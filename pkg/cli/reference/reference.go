// Package reference generates the reference of all parameters, of commands and of nodes, and the files with their
// defaults.
package reference

import (
	"fmt"
	"strings"

	"vnd/pkg/cli"
	"vnd/pkg/core/param"
	"vnd/pkg/node/armcontroller"
	"vnd/pkg/node/armsim"
	"vnd/pkg/node/betaflightbridge"
	"vnd/pkg/node/controller"
	"vnd/pkg/node/encoder"
	"vnd/pkg/node/learner"
	"vnd/pkg/node/pushcontroller"
	"vnd/pkg/node/pushsim"
	"vnd/pkg/node/quadsim"
	"vnd/pkg/node/recorder"
	"vnd/pkg/node/stateestimator"
	"vnd/pkg/node/visualizer"
	"vnd/pkg/sim"
)

//go:generate go run generate.go

const top = `# Parameters

Every parameter stands in the source with its default, unit and range.
This page is generated from there (` + "`make gen`" + `).
A file is a ROS 2 parameter file: those in ` + "`params/`" + ` hold all defaults, copy what you change.
Unknown names, other types and values out of range are refused with file and line.
A read-only parameter is set at the start alone.
What is marked "in the airframe file" describes the vehicle.
It is written once, in a copy of ` + "`params/airframe.yaml`" + `.
The parameter ` + "`airframe`" + ` of nodes and the option ` + "`--airframe`" + ` of commands name that copy.
What is ` + "`limits.max_thrust`" + ` as a parameter of a node is ` + "`max_thrust`" + ` in it.
`

// Documents returns what go generate writes, by path below the module's folder.
func Documents() map[string]string {
	files := map[string]string{}
	var page strings.Builder
	page.WriteString(top)
	add := func(s cli.Section, block string) {
		fmt.Fprintf(&page, "\n## %s\n\n`%s`, node name `%s`, defaults in `%s`.\n\n", s.Title, s.Use, s.Node, s.File)
		page.WriteString(param.Markdown(s.Ptr))
		files[s.File] = param.YAML(block, s.Ptr)
	}
	for _, s := range cli.Sections() {
		add(s, s.Node)
	}
	for _, s := range nodes() {
		add(s, "/**/"+s.Node) // in any namespace
	}
	world := sim.Default()
	const use = "`vnd eval --world F.yaml` and `quad_sim`"
	fmt.Fprintf(&page, "\n## World\n\n%s, node name `%s`, defaults in `params/worlds/calm.yaml`.\n\n%s", use, sim.Node,
		param.Markdown(&world))
	files["docs/reference/parameters.md"] = page.String()
	return files
}

// nodes are the parameters of the nodes.
func nodes() []cli.Section {
	return []cli.Section{
		ofNode[controller.Params](controller.Name),
		ofNode[encoder.Params](encoder.Name),
		ofNode[recorder.Params](recorder.Name),
		ofNode[learner.Params](learner.Name),
		ofNode[quadsim.Params](quadsim.Name),
		ofNode[betaflightbridge.Params](betaflightbridge.Name),
		ofNode[stateestimator.Params](stateestimator.Name),
		ofNode[visualizer.Params](visualizer.Name),
		ofNode[armsim.Params](armsim.Name),
		ofNode[armcontroller.Params](armcontroller.Name),
		learnerOf[learner.ArmParams]("arm", "an arm", learner.ArmFile),
		learnerOf[learner.PushParams]("pusher", "a pushed box", learner.PushFile),
		ofNode[pushsim.Params](pushsim.Name),
		ofNode[pushcontroller.Params](pushcontroller.Name),
	}
}

// learnerOf is the learner of another robot, which has a file of its own.
func learnerOf[P any](robot, title, file string) cli.Section {
	s := ofNode[P](learner.Name)
	s.Title, s.File, s.Use = learner.Name+" of "+title, "params/"+file, s.Use+" -p robot:="+robot
	return s
}

func ofNode[P any](name string) cli.Section {
	p := new(P)
	param.Default(p)
	use := name + " --ros-args --params-file F.yaml -p NAME:=VALUE"
	return cli.Section{Title: name, Use: use, Node: name, File: "params/" + name + ".yaml", Ptr: p}
}
