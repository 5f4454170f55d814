// Command background_learner learns from what was flown, beside the flight. It fits a model and trains a policy in it;
// what passes the gate goes out as the next bundle.
package main

import (
	"vnd/pkg/node/learner"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/sim/pushing"
)

func main() {
	learner.Main(learner.Judges{Quadrotor: closedloop.NewJudge, Pusher: pushing.NewJudging})
}
