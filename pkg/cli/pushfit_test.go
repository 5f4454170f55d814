package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/bridge/pushlog/pushlogtest"
	"vnd/pkg/flight/pushcontrol"
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

// TestPusherIsTrained: from nothing in the prior, on from that, and in a fitted model, which stays in its bundle.
func TestPusherIsTrained(t *testing.T) {
	dir := t.TempDir()
	first, on, model, both := filepath.Join(dir, "first"), filepath.Join(dir, "on"), filepath.Join(dir, "model"),
		filepath.Join(dir, "both")
	train := func(out string, more ...string) (r trainResult, b *bundle.Bundle) {
		code, stdout, stderr := run(t, append([]string{"--json", "train", "--robot", "pusher", "--task", "push",
			"--out", out, "-p", "iterations:=2", "-p", "worlds:=8", "-p", "hidden:=8", "-p", "layers:=1", "-p",
			"warmup:=0"}, more...)...)
		err := json.Unmarshal([]byte(stdout), &r)
		if err == nil {
			b, err = bundle.Read(out)
		}
		if code != 0 || err != nil || r.ID != b.ID || r.Epochs != 2 {
			t.Fatalf("%d, %v: %s %s", code, err, stdout, stderr)
		}
		if _, err := pushcontrol.Load(b); err != nil {
			t.Error(err)
		}
		return r, b
	}
	_, b := train(first)
	if r, next := train(on, "--bundle", first); r.Parent != b.ID || next.ID == b.ID {
		t.Errorf("%+v after %s", r, b.ID)
	}
	if code, _, stderr := run(t, "fit", "--robot", "pusher", "--out", model, "-p", "train.updates:=100", "-p",
		"model.hidden:=16", "-p", "model.encoder_hidden:=8", pushBag(t)); code != 0 {
		t.Fatal(stderr)
	}
	if _, b := train(both, "--bundle", model); !vnd.In(b) {
		t.Error("the model is gone")
	}
	var text strings.Builder
	share := 0.83
	if err := (&trainResult{There: &share}).WriteText(&text); err != nil || !strings.Contains(text.String(),
		"83 % of the last pushes are there") {
		t.Errorf("%v, %q", err, text.String())
	}
}

// The demo of a pushed box refuses what a quadrotor's alone has, and programs or MuJoCo that are not there.
func TestPusherDemoRefusals(t *testing.T) {
	programs := t.TempDir()
	t.Setenv("VND_SIMULATORS", programs)
	for _, name := range []string{"push_sim", "push_controller", "background_learner", "transition_recorder"} {
		if err := os.WriteFile(filepath.Join(programs, name), nil, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for args, want := range map[string]string{
		"--task hover":                          "--task: expected with --robot quadrotor alone",
		"--params f --seconds 0 --programs bin": "there is no program push_sim in bin: make build",
		"--params f --programs " + programs:     "MuJoCo",
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
	fit, train := "fit --robot pusher --out "+out+" ", "train --robot pusher --out "+out+" --task "
	const quad = "../flight/control/testdata/a.vnd"
	for line, want := range map[string]string{
		fit + "--push-steps x " + b:    `(--push-steps): there is no topic "x"`,
		fit + arm:                      "there is no topic of type vnd/msg/PushStep",
		fit + "--airframe f.yaml " + b: "--airframe: expected with --robot quadrotor alone",
		fit + "--joints a " + b:        "--joint-states, --commands and --joints: ",
		"fit --robot arm --push-steps x --out " + out + " " + b: "--push-steps: expected with --robot pusher alone",
		"fit --robot arm --out " + out + " " + b:                "there is no topic of type sensor_msgs/msg/JointState",
		train + "hover":                                         "--task hover: expected push with --robot pusher",
		train + "push --plot x.png":                             "--plot: not expected with --robot pusher",
		train + "push -p worlds:=0":                             "worlds",
		train + "push -p bank_share:=0":                         "bank_share",
		train + "push --bundle nowhere.vnd":                     "nowhere.vnd",
		train + "push --bundle " + quad:                         `is of robot "quadrotor" at 0.02 s, expected "pusher"`,
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
