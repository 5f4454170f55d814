package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/flight/armcontrol"
	"vnd/pkg/learning/continual/stretches"
	"vnd/pkg/learning/train"
	"vnd/pkg/ros2/bag/bagtest"
	"vnd/pkg/vnd/bundle"
)

// pandaBag is a bag of a Panda of MuJoCo.
func pandaBag(t *testing.T) string {
	t.Helper()
	return bagtest.Unpack(t, filepath.Join("..", "bridge", "armlog", "testdata", "panda_bag.tar.zst"))
}

// A bag of an arm becomes a model. A policy is trained in it, goes on to be trained, and a controller loads it.
func TestArmFromItsBag(t *testing.T) {
	dir := t.TempDir()
	model, policy, better := filepath.Join(dir, "m"), filepath.Join(dir, "p"), filepath.Join(dir, "b")
	code, stdout, stderr := run(t, "--json", "fit", "--robot", "arm", "--out", model, "-p", "train.updates:=4", "-p",
		"model.hidden:=8", pandaBag(t))
	var r fitResult
	if err := json.Unmarshal([]byte(stdout), &r); code != 0 || err != nil || r.Flights != 1 || r.Rows < 149 {
		t.Fatalf("%d, %v: %s %s", code, err, stdout, stderr)
	}
	train := []string{"train", "--robot", "arm", "--task", "track_pose", "-p", "epochs:=2", "-p", "envs:=4", "-p",
		"horizon:=5"}
	for _, x := range [][]string{{"--bundle", model, "--out", policy, "-p", "hidden:=8"},
		{"--bundle", policy, "--out", better}} {
		if code, _, stderr := run(t, append(train, x...)...); code != 0 {
			t.Fatalf("%v: %s", x, stderr)
		}
	}
	b, err := bundle.Read(better)
	if err != nil {
		t.Fatal(err)
	}
	before, err := bundle.Read(policy)
	if err != nil || b.Parent != before.ID {
		t.Errorf("its parent is %q, expected %q, %v", b.Parent, before.ID, err)
	}
	if _, err := armcontrol.Load(b); err != nil {
		t.Error(err)
	}
}

func TestArmRefusals(t *testing.T) {
	dir := t.TempDir()
	square := filepath.Join(dir, "square.json")
	if err := os.WriteFile(square, []byte(`{"kind": "square"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	quad, out, b := "../flight/control/testdata/a.vnd", filepath.Join(dir, "out"), pandaBag(t)
	fit, train := "fit --robot arm --out "+out+" ", "train --robot arm --out "+out+" "
	for line, want := range map[string]string{
		fit + "--joints a,b " + b:                         "joints has 2 names, expected 7",
		fit + "--commands torques " + b:                   `(--commands): there is no topic "torques"`,
		fit + "--airframe f.yaml " + b:                    "--airframe: expected with --robot quadrotor alone",
		"fit --joint-states x --out " + out + " " + b:     "--joint-states, --commands and --joints: ",
		"fit --out " + out + " " + b:                      "no topic with poses",
		train + "--task hover":                            "--task hover: expected track_pose with --robot arm",
		train + "--task track_pose --reference " + square: square + `: reference "square"`,
		train + "--task track_pose --bundle " + quad:      `is of robot "quadrotor" at 0.02 s`,
		train + "--task track_pose --plot x.png":          "--plot: not expected with --robot arm",
		train + "--task track_pose -p epochs:=0":          "epochs",
		"train --out " + out + " --task track_pose":       "track_pose",
		train + "--task track_pose --bundle nowhere.vnd":  "nowhere.vnd",
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

// A model that is known to be no better than its prior is refused.
func TestWorseFitsAreRefused(t *testing.T) {
	dir := t.TempDir()
	model, out := filepath.Join(dir, "m"), filepath.Join(dir, "p")
	code, _, stderr := run(t, "fit", "--robot", "arm", "--out", model, "-p", "train.updates:=4", "-p",
		"model.hidden:=8", pandaBag(t))
	b, err := bundle.Read(model)
	if code != 0 || err != nil {
		t.Fatal(stderr, err)
	}
	file := filepath.Join(dir, "five.yaml")
	if err := os.WriteFile(file, []byte("train: {ros__parameters: {latent: 5}}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, five := range [][2]string{{"-p", "latent:=5"}, {"--config", file}} {
		code, _, stderr = run(t, "train", "--robot", "arm", "--task", "track_pose", "--bundle", model, "--out", out,
			five[0], five[1])
		if want := "latent is 5, expected 2, as " + model + " has"; code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %q, expected %q", five, code, stderr, want)
		}
	}
	if err := b.SetMetrics(heldOut, stretches.Prediction{Model: 0.002, Prior: 0.001}); err != nil {
		t.Fatal(err)
	}
	if err := bundle.Write(model, b); err != nil {
		t.Fatal(err)
	}
	code, _, stderr = run(t, "train", "--robot", "arm", "--task", "track_pose", "--bundle", model, "--out", out)
	const want = "predictions are off by 2 mm after 0.1 s, by the prior alone by 1 mm, expected less"
	if code == 0 || !strings.Contains(stderr, want) || strings.Count(stderr, "\n") != 1 {
		t.Errorf("%d, %q, expected %q in one line", code, stderr, want)
	}
}

// A policy that is off in its own model says so.
func TestTrainingSaysHowFarItIsOff(t *testing.T) {
	var out strings.Builder
	r := trainResult{Last: train.Figures{Error: 0.163, Collided: 0.16}}
	if err := r.WriteText(&out); err != nil || !strings.Contains(out.String(), "0.163 m off, 16 % of episodes lost") {
		t.Errorf("%q, %v", out.String(), err)
	}
}

// The demo of an arm refuses what a quadrotor's alone has, and programs that are not there.
func TestArmDemoRefusals(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("VND_SIMULATORS", dir)
	for args, want := range map[string]string{
		"--part fit":                            "--task: expected with --robot quadrotor alone",
		"--task hover":                          "--task: expected with --robot quadrotor alone",
		"--params f --seconds 0 --programs bin": "there is no program arm_sim in bin: make build",
		"--simulator mujoco":                    "MuJoCo",
		"--simulator gazebo":                    `must be one of "","mujoco"`,
		"--robot pusher --simulator mujoco":     "--simulator: expected with --robot arm alone",
		"--robot quadrotor --simulator mujoco":  "--simulator: expected with --robot arm alone",
	} {
		code, _, stderr := run(t, strings.Fields("demo --robot arm --out "+filepath.Join(dir, "out")+" "+args)...)
		if code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: %d, %q, expected %q", args, code, stderr, want)
		}
	}
}
