package vnd_test

import (
	"fmt"
	"log"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// A second of hover, predicted from the window before it: the thrust is a tenth too much.
func ExamplePredictor() {
	const dt, window, steps = .02, 20, 50
	robot := quadrotor.Robot{Dt: dt, Prior: true, Actuator: quadrotor.NominalActuator()}
	// vnd fit and vnd.FromBundle make one that has learned. Without learning it is the physics prior.
	model, err := vnd.New(robot.System(), nets.Config{Context: window, Latent: 3, Encoder: nets.EncoderGRU,
		EncoderDense: 8, EncoderHidden: 8, Hidden: 16, Blocks: 2, Members: 1})
	if err != nil {
		log.Fatal(err)
	}
	command := quad.Command{Thrust: 1.1 * quad.Gravity}
	rows := make([]quad.Row, window+1) // at rest in the origin
	for k := range rows {
		rows[k] = quad.Row{T: float64(k) * dt, State: quad.State{Q: so3.Quat{W: 1}}, Command: command}
	}
	future, states := make([]quad.Command, steps), make([]quad.State, steps)
	for k := range future {
		future[k] = command
	}
	err = vnd.NewPredictor(model, robot).Predict([][]quad.Row{rows}, [][]quad.Command{future}, [][]quad.State{states})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("it climbs %.2f m\n", states[steps-1].P.Z)
	// Output: it climbs 0.49 m
}
