package cli

import (
	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/param"
	"vnd/pkg/learning/fit"
	"vnd/pkg/sim/experiment"
)

// Documents returns what `go generate` writes, by path below the top folder: the docs' tables of parameters and a
// parameter file of each, with the defaults.
func Documents() map[string]string {
	var cfg fit.Config
	param.Default(&cfg)
	var training trainConfig
	param.Default(&training)
	var loop experiment.Config
	param.Default(&loop)
	var airframe Airframe
	param.Default(&airframe)
	bags := flightlog.DefaultOptions().Config
	return map[string]string{
		"docs/reference/parameters.md": "# Parameters\n\n" +
			"Every parameter stands in the source with its default, unit and range; this page is generated from there (`make gen`).\n" +
			"A file is a ROS 2 parameter file: `params/fit.yaml`, `params/train.yaml`, `params/assemble.yaml` and `params/airframe.yaml` hold all defaults, copy what you change.\n" +
			"Unknown names, other types and values out of range are refused with file and line.\n\n" +
			"## Fit\n\n`vnd fit --config F.yaml -p NAME:=VALUE …`, node name `" + fitNode + "`.\n\n" +
			param.Markdown(&cfg) +
			"\n## Bags\n\n`vnd fit|predict|score|bag … --config F.yaml`, node name `" + assembleNode + "`.\n\n" +
			param.Markdown(&bags) +
			"\n## Training\n\n`vnd train --config F.yaml -p NAME:=VALUE …`, node name `" + trainNode + "`.\n\n" +
			param.Markdown(&training) +
			"\n## Loop\n\n`vnd loop --config F.yaml -p NAME:=VALUE …`, node name `" + loopNode + "`.\n\n" +
			param.Markdown(&loop) +
			"\n## Airframe\n\n`vnd fit --airframe F.yaml …`, node name `" + airframeNode + "`.\n\n" +
			param.Markdown(&airframe),
		"params/fit.yaml":      param.YAML(fitNode, &cfg),
		"params/train.yaml":    param.YAML(trainNode, &training),
		"params/loop.yaml":     param.YAML(loopNode, &loop),
		"params/assemble.yaml": param.YAML(assembleNode, &bags),
		"params/airframe.yaml": param.YAML(airframeNode, &airframe),
	}
}
