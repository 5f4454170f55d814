// Command own_task trains a policy for a task of one's own: hold a height and a heading, wherever the robot drifts to.
// A task is a cost, a radius in which an episode goes on, and a draw of where it begins.
//
//	go run ./examples/own_task
package main

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/task"
	"vnd/pkg/learning/train"
)

// altitude costs an error in height and heading, speed, tilt and changes of the command, and no sideways error.
func altitude() *task.Task {
	var around task.Spread
	param.Default(&around)
	return &task.Task{
		Name:   "altitude",
		Cost:   task.Cost{Height: 2, Heading: 0.2, Velocity: 0.4, Attitude: 0.4, Change: 0.1, Collision: 1, Delta: 1},
		Radius: 4,
		Draw: func(rng *rand.Rand) task.Episode {
			height := 1 + rng.Float64() // m
			return around.Start(func(float64) quad.Reference {
				return quad.Reference{P: so3.Vec3{Z: height}}
			}, rng)
		},
	}
}

func main() {
	log.SetFlags(0)
	var cfg train.Config
	param.Default(&cfg)
	cfg.Hidden, cfg.Envs, cfg.Horizon, cfg.Epochs = 32, 32, 50, 80
	world := &train.NominalWorld[float32]{} // quadrotors with gains, lags and delays drawn at random
	param.Default(&world.Nominal)
	var limits quad.Limits
	param.Default(&limits)
	r, err := train.Run(context.Background(), cfg, world, world.Nominal.Dt, train.Options{
		Seed: 1, Tasks: []*task.Task{altitude()}, Limits: limits})
	if err != nil {
		log.Fatal(err)
	}
	c := r.Curve.Figures
	fmt.Printf("altitude: the cost fell from %.3f to %.3f in %d epochs, %.1f s\n",
		c[0].Cost, c[len(c)-1].Cost, len(c), r.Seconds)
}
