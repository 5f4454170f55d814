// Command own_task is the tool vnd with a task of one's own: come home from further off than hover begins.
// A task is a cost, a radius in which an episode goes on, and a draw of where it begins.
//
//	go run ./examples/own_task train --task home --out build/home.vnd
//	go run ./examples/own_task eval --task home --bundle build/home.vnd --world params/worlds/calm.yaml
package main

import (
	"math/rand/v2"

	"vnd/pkg/cli"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/task"
)

func main() {
	task.Add("home", &reference.Hover{Point: []float64{0, 0, 1.5}}, home)
	cli.Main() // with the nodes' main functions instead, the nodes know it
}

// home starts farther from its point, costs a wrong heading more, and is lost farther off.
func home(cost task.Cost, spread task.Spread, path reference.Reference) (*task.Task, error) {
	spread.Position = 1 // m, standard deviation on each axis
	cost.Heading *= 2
	return &task.Task{Cost: cost, Radius: 8, Draw: func(rng *rand.Rand) task.Episode {
		return spread.Start(path.At, rng)
	}}, nil
}
