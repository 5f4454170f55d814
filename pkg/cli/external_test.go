package cli

import (
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/sim/experiment"
	"vnd/pkg/sim/peer"
)

// Software of others that cannot fly is refused in one line.
func TestEvalRefusesWhatCannotFly(t *testing.T) {
	t.Setenv("VND_SIMULATORS", t.TempDir())
	t.Setenv("VND_BETAFLIGHT", t.TempDir())
	policy := filepath.Join("..", "flight", "control", "testdata", "a.vnd")
	in := func(world string, more ...string) []string {
		world = filepath.Join("..", "..", "params", "worlds", world)
		return append([]string{"eval", "--task", "hover", "--bundle", policy, "--world", world}, more...)
	}
	// What is read after, before a policy is trained, is not there.
	absent := map[string]string{"loop": "--bundle", "study": "--airframe"}
	learn := func(command, world string, more ...string) []string {
		world = filepath.Join("..", "..", "params", "worlds", world)
		return append([]string{command, "--out", t.TempDir(), "--world", world, absent[command], "absent"}, more...)
	}
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no such simulator here", in("calm.yaml", "--simulator", "mujoco"), "make simulators installs it"},
		{"two that fly", in("calm.yaml", "--simulator", "mujoco", "--firmware", "betaflight"),
			"--simulator: expected without --firmware"},
		{"a setting of nothing", in("calm.yaml", "--set", "i_roll=3"), "--set: expected with --firmware alone"},
		{"an unknown one", in("calm.yaml", "--simulator", "gazebo"),
			`must be one of "","crazyflow","mujoco" but got "gazebo"`},
		{"firmware that is not built", learn("loop", "calm.yaml", "--firmware", "betaflight"),
			"make betaflight builds it"},
		{"a simulator that is not here, to learn in", learn("loop", "calm.yaml", "--simulator", "mujoco"),
			"make simulators installs it"},
		{"one to study in", learn("study", "calm.yaml", "--simulator", "mujoco"), "make simulators installs it"},
		{"a cut propeller, to study", learn("study", "cut_and_winds.yaml", "--simulator", "mujoco"),
			"mujoco knows winds alone: condition"},
		{"a payload", in("payload.yaml", "--simulator", "mujoco"), "mujoco knows winds alone: condition"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if code, _, stderr := run(t, c.args...); code == 0 || !strings.Contains(stderr, c.want) ||
				strings.Count(strings.TrimSpace(stderr), "\n") > 0 {
				t.Errorf("%d: %s", code, stderr)
			}
		})
	}
}

// TestAirframeIsBelieved: flights are by the response that an airframe's file tells.
// One that tells none changes nothing.
func TestAirframeIsBelieved(t *testing.T) {
	file := func(text string) string {
		name := filepath.Join(t.TempDir(), "airframe.yaml")
		text = "airframe:\n  ros__parameters:\n" + text
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return name
	}
	limits := file("    max_thrust: 20.0\n")
	slow := file("    response: {thrust_gain: 1.0, thrust_lag: 0.1, rate_gain: 1.0, rate_lag: 0.1}\n")
	flown := func(more ...string) string {
		code, out, stderr := run(t, append([]string{"eval", "--json", "--task", "track", "--bundle",
			filepath.Join("..", "flight", "control", "testdata", "a.vnd"), "--world",
			filepath.Join("..", "..", "params", "worlds", "calm.yaml"), "--seconds", "5"}, more...)...)
		if code != 0 {
			t.Fatal(stderr)
		}
		return out
	}
	plain := flown()
	if flown("--airframe", limits) != plain {
		t.Error("a file that tells no response changes flights")
	}
	if flown("--airframe", slow) == plain {
		t.Error("a file that tells a slow response changes nothing")
	}
	c, err := settings[experiment.Config](loopNode, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := enlist(c, slow, "hover", 1)
	if err != nil || p.Guard.Response.RateLag != 0.1 || !math.IsInf(p.Guard.MaxSpeed, 1) {
		t.Errorf("campaigns believe %+v: %v", p.Guard, err)
	}
	if _, err := os.Stat(peer.Folder()); err != nil {
		t.Skip(err)
	}
	world := filepath.Join("..", "..", "params", "worlds", "calm.yaml")
	_, _, stderr := run(t, "eval", "--task", "hover", "--bundle", filepath.Join("..", "flight", "control", "testdata",
		"a.vnd"), "--world", world, "--seconds", "5", "--simulator", "mujoco")
	if !strings.Contains(stderr, "guard.response by flights without the filter: thrust after") {
		t.Errorf("said is %q", stderr)
	}
}
