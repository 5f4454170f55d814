// Command vnd_nodes is all nodes in one file, a fifth of their size. A link by the name of a node starts that one, and
// so does the name as first argument.
package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"vnd/pkg/node/armcontroller"
	"vnd/pkg/node/armsim"
	"vnd/pkg/node/betaflightbridge"
	"vnd/pkg/node/controller"
	"vnd/pkg/node/encoder"
	"vnd/pkg/node/flight"
	"vnd/pkg/node/learner"
	"vnd/pkg/node/pushcontroller"
	"vnd/pkg/node/pushsim"
	"vnd/pkg/node/quadsim"
	"vnd/pkg/node/recorder"
	"vnd/pkg/node/stateestimator"
	"vnd/pkg/node/visualizer"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/sim/pushing"
)

var programs = map[string]func(){
	"arm_controller":      armcontroller.Main,
	"arm_sim":             armsim.Main,
	"background_learner":  learn,
	"betaflight_bridge":   betaflightbridge.Main,
	"flight":              flight.Main,
	"flight_guard":        controller.MainGuard,
	"latent_encoder":      encoder.Main,
	"policy_controller":   controller.Main,
	"push_controller":     pushcontroller.Main,
	"push_sim":            pushsim.Main,
	"quad_sim":            quadsim.Main,
	"state_estimator":     stateestimator.Main,
	"transition_recorder": recorder.Main,
	"visualizer":          visualizer.Main,
}

func learn() {
	learner.Main(learner.Judges{Quadrotor: closedloop.NewJudge, Pusher: pushing.NewJudging})
}

func main() {
	run := programs[filepath.Base(os.Args[0])]
	if run == nil && len(os.Args) > 1 {
		run, os.Args = programs[os.Args[1]], os.Args[1:]
	}
	if run == nil {
		fmt.Fprintln(os.Stderr, "vnd_nodes: expected a node as first argument:",
			strings.Join(slices.Sorted(maps.Keys(programs)), ", "))
		os.Exit(2)
	}
	run()
}
