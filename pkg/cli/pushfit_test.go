package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/bridge/pushlog/pushlogtest"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

func pushBag(t *testing.T) string {
	t.Helper()
	heavy := pusher.Robot{Dt: 0.02, Mass: 1.7, Friction: 0.9}
	return pushlogtest.Bag(t, pushlogtest.Pushes(heavy, 12, 100), "/push_step")
}

// TestPusherFromItsBag: a bag of pushes becomes a model of the box, which predicts what was held out better than the
// prior.
func TestPusherFromItsBag(t *testing.T) {
	model := filepath.Join(t.TempDir(), "m")
	code, stdout, stderr := run(t, "--json", "fit", "--robot", "pusher", "--out", model, "-p", "train.updates:=100",
		"-p", "model.hidden:=16", "-p", "model.encoder_hidden:=8", pushBag(t))
	var r fitResult
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil || r.Flights != 1 || r.Rows != 12*99 {
		t.Fatalf("%d, %v: %s %s", code, err, stdout, stderr)
	}
	if r.HeldOut == nil || !r.HeldOut.Better() || len(r.Warnings) > 0 {
		t.Errorf("%v: %q", r.HeldOut, r.Warnings)
	}
	b, err := bundle.Read(model)
	if err == nil {
		_, _, err = vnd.FromBundle(b, pusher.Reader)
	}
	if err != nil {
		t.Error(err)
	}
}

// The demo of a pushed box refuses what a quadrotor's alone has, and programs that are not there.
func TestPusherDemoRefusals(t *testing.T) {
	for args, want := range map[string]string{
		"--task hover":                          "--task: expected with --robot quadrotor alone",
		"--params f --seconds 0 --programs bin": "there is no program push_sim in bin: make build",
	} {
		out := filepath.Join(t.TempDir(), "out")
		code, _, stderr := run(t, strings.Fields("demo --robot pusher --out "+out+" "+args)...)
		if code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %q, expected %q", args, code, stderr, want)
		}
	}
}

func TestPusherRefusals(t *testing.T) {
	out, b, arm := filepath.Join(t.TempDir(), "out"), pushBag(t), pandaBag(t)
	fit := "fit --robot pusher --out " + out + " "
	for line, want := range map[string]string{
		fit + "--push-steps x " + b:    `(--push-steps): there is no topic "x"`,
		fit + arm:                      "there is no topic of type vnd/msg/PushStep",
		fit + "--airframe f.yaml " + b: "--airframe: expected with --robot quadrotor alone",
		fit + "--joints a " + b:        "--joint-states, --commands and --joints: ",
		"fit --robot arm --push-steps x --out " + out + " " + b: "--push-steps: expected with --robot pusher alone",
		"fit --robot arm --out " + out + " " + b:                "there is no topic of type sensor_msgs/msg/JointState",
	} {
		code, _, stderr := run(t, strings.Fields(line)...)
		if code == 0 || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: %d, %q, expected %q in one line", line, code, stderr, want)
		}
		if _, err := os.Stat(out); err == nil {
			t.Errorf("%s leaves %s", line, out)
		}
	}
}
