// Command own_module stands in a module of its own. It listens to the bundles that a learner publishes, and says what
// each would predict: how far the vehicle is after a second of hover. With arguments it reads bundles from files.
package main

import (
	"fmt"
	"os"
	"strings"

	"vnd/msgs"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

func main() {
	if len(os.Args) < 2 || strings.HasPrefix(os.Args[1], "--ros-args") {
		ros.Main("bundle_reader", listen)
		return
	}
	for _, file := range os.Args[1:] {
		b, err := bundle.Read(file)
		if err == nil {
			err = say(b)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

func listen(n *ros.Node) error {
	_, err := ros.NewSubscription(n, "bundle", ros.LatchedQoS(1), func(m *msgs.Bundle, _ ros.Info) {
		b, err := bundle.Decode("the topic bundle", m.Data)
		if err == nil {
			err = say(b)
		}
		if err != nil {
			n.Log().Error().Err(err).Send()
		}
	})
	return err
}

// say prints where a second of hover ends by a bundle's model.
func say(b *bundle.Bundle) error {
	m, robot, err := vnd.FromBundle(b, quadrotor.Reader)
	if err != nil {
		return err
	}
	hover := quad.Command{Thrust: quad.Gravity}
	rows, future := make([]quad.Row, m.Net.Context+1), make([]quad.Command, int(1/b.Dt))
	for k := range rows {
		rows[k] = quad.Row{T: float64(k) * b.Dt, State: quad.State{Q: so3.Identity()}, Command: hover}
	}
	for k := range future {
		future[k] = hover
	}
	states := make([]quad.State, len(future))
	if err := vnd.NewPredictor(m, robot).Predict([][]quad.Row{rows}, [][]quad.Command{future},
		[][]quad.State{states}); err != nil {
		return err
	}
	fmt.Printf("bundle %.12s: hover drifts by %.2f m in a second\n", b.ID, states[len(states)-1].P.Norm())
	return nil
}
