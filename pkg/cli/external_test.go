package cli

import (
	"path/filepath"
	"strings"
	"testing"
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
