package node_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/gate"
	"vnd/pkg/node/armcontroller"
	"vnd/pkg/node/armsim"
	"vnd/pkg/node/betaflightbridge"
	"vnd/pkg/node/learner"
	"vnd/pkg/node/pushcontroller"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
	"vnd/pkg/ros2/ros/lifecycle"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// addArm adds what the nodes of an arm use.
func addArm(t *testing.T, all map[string]*used) {
	t.Helper()
	graphOf(t, func(d *inproc.Domain) {
		running(t, d, armsim.New, "lockstep:=true") // publishes /clock
		running(t, d, func(_ context.Context, c *ros.Context) error {
			n, err := armcontroller.New(c)
			if err == nil {
				err = n.Change(lifecycle.Configure)
			}
			return err
		}, "use_sim_time:=true")
		runLearner(t, d, "robot:=arm", "base.epochs:=1")
	}, nil, map[string]*used{armsim.Name: all[armsim.Name], armcontroller.Name: all[armcontroller.Name],
		learner.Name: all[learner.Name]})
}

// runLearner runs a learner in a folder of its own until the test ends.
func runLearner(t *testing.T, d *inproc.Domain, args ...string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := started(func() error {
		return learner.Run(ctx, ofJazzy(d, append(args, "directory:="+t.TempDir(), "nice:=0", "use_sim_time:=true")...),
			learner.Judges{})
	})
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// noJudge is a judge of the learner's gate that never flies.
func noJudge(gate.JudgeConfig, []reference.Reference, quad.Limits, *rotors.Airframe, *guard.Config) gate.Judge {
	return nil
}

// addPusher adds what the controller and the learner of a pushed box use.
func addPusher(t *testing.T, all map[string]*used) {
	t.Helper()
	p := must(vnd.NewActor(pushcontrol.Sees, 0, make([]float32, 2), []float32{1, 1}, []int{4}))(t)
	b, file := &bundle.Bundle{Robot: pusher.Name, Dt: 0.02}, filepath.Join(t.TempDir(), "still.vnd")
	if err := errors.Join(vnd.PutActor(b, p, nil, "push"), bundle.Write(file, b)); err != nil {
		t.Fatal(err)
	}
	graphOf(t, func(d *inproc.Domain) {
		running(t, d, func(_ context.Context, c *ros.Context) error { return pushcontroller.New(c) },
			"use_sim_time:=true", "bundle_file:="+file)
		runLearner(t, d, "robot:=pusher", "bundle_file:="+file, "judge.use:=false")
	}, nil, map[string]*used{pushcontroller.Name: all[pushcontroller.Name], learner.Name: all[learner.Name]})
}

// addBridge adds what the bridge to a Betaflight board uses, which waits for a board that says nothing.
func addBridge(t *testing.T, all map[string]*used) {
	t.Helper()
	board := must(net.Listen("tcp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { board.Close() })
	graphOf(t, func(d *inproc.Domain) {
		running(t, d, betaflightbridge.New, "port:=tcp:"+board.Addr().String(), "hover_throttle:=0.4",
			"use_sim_time:=true")
	}, nil, map[string]*used{betaflightbridge.Name: all[betaflightbridge.Name]})
}
