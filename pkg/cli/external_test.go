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
		{"firmware that is not built", []string{"loop", "--firmware", "betaflight", "--out", t.TempDir(), "--world",
			filepath.Join("..", "..", "params", "worlds", "calm.yaml")}, "make betaflight builds it"},
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
