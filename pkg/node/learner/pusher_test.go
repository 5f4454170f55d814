package learner

import (
	"context"
	"errors"
	"strings"
	"testing"

	"vnd/msgs"
	"vnd/pkg/bridge/pushlog/pushlogtest"
	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/node"
	robotpusher "vnd/pkg/robot/pusher"
	"vnd/pkg/ros2/dds/inproc"
	"vnd/pkg/ros2/ros"
)

// tinyPusher are parameters with which a first policy takes a moment, as does a round.
var tinyPusher = []string{"robot:=pusher", "nice:=0", "judge.use:=false", "new_rows:=100000", "base.worlds:=8",
	"base.iterations:=1", "base.hidden:=8", "base.layers:=1", "policy.worlds:=8", "policy.iterations:=1",
	"policy.warmup:=0", "fit.model.hidden:=16", "fit.model.encoder_hidden:=8", "fit.train.updates:=60",
	"gate.first_error:=100.0", "gate.shadow.flights:=2", "gate.shadow.seconds:=1.0"}

// TestPushesAreLearned: what push_controller reports becomes rows, which survive a restart, and a round learns them.
func TestPushesAreLearned(t *testing.T) {
	dir := t.TempDir()
	heavy := robotpusher.Robot{Dt: pushlearning.Dt, Mass: 1.7, Friction: 0.9}
	d := inproc.NewDomain()
	p := join(t, d)
	steps := must(ros.NewPublisher[msgs.PushStep](p.n, node.PushStep, node.StepQoS()))(t)
	args := append(tinyPusher[:len(tinyPusher):len(tinyPusher)], "directory:="+dir)
	w := watch(p, d, args...)
	first := w.bundle()
	within, done := context.WithTimeout(t.Context(), patience)
	defer done()
	if err := ros.WaitForMatched(within, steps, 1); err != nil {
		t.Fatal(err)
	}
	for i, m := range pushlogtest.Pushes(heavy, 12, 100) {
		if err := steps.Publish(m); err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 {
			w.rows(uint64(99 * (i + 1) / 100)) // so that none is lost, however busy the machine is
		}
	}
	if robot := first.Robot; robot != pusher {
		t.Errorf("a first bundle of robot %q", robot)
	}
	w.stop()
	again := watch(p, d, args...)
	if got := again.rows(12 * 99); got != 12*99 {
		t.Errorf("%d rows after a restart", got)
	}
	if a := p.trigger("train_now"); !a.Success {
		t.Error(a.Message)
	}
	again.said("round 1 on 1188 rows: bundle ")
}

// TestPushRefusals: what fits no pushed box ends the node with a line that names it.
func TestPushRefusals(t *testing.T) {
	missing := Judges{Pusher: func() (pushlearning.Judging, error) { return nil, errors.New("MuJoCo is not here") }}
	for parameter, want := range map[string]string{
		"seed:=1":                   "parameter judge.use: MuJoCo is not here",
		"base.hidden:=0":            "base.hidden",
		"bundle_key_file:=none.pem": "parameter bundle_key_file",
	} {
		err := Run(context.Background(), options(inproc.NewDomain(), "robot:=pusher", "directory:="+t.TempDir(),
			"nice:=0", parameter), missing)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", parameter, err, want)
		}
	}
}
