package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// What decides a training is in its key, and the number of threads, which does not, is not.
func TestKeyOfATraining(t *testing.T) {
	write := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := func(cmd trainCommand) string {
		t.Helper()
		var said bytes.Buffer
		p, err := cmd.prepare(newConsole(t.Context(), &said, &said, false))
		if err != nil {
			t.Fatal(err)
		}
		return p.key
	}
	hover := trainCommand{Task: "hover"}
	driven := func(by string) trainCommand {
		return trainCommand{Task: "hover", Robot: "rotors",
			Airframe: write("a.yaml", "airframe:\n  ros__parameters:\n    rotors: {"+by+"}\n")}
	}
	with := func(param string) trainCommand { return trainCommand{Task: "hover", Param: []string{param}} }
	following := func(star string) trainCommand { return trainCommand{Task: "track", Reference: write("r.json", star)} }
	one := key(hover)
	if one == "" || key(with("workers:=3")) != one || key(with("nominal.wind:=0.0")) != one {
		t.Error("the same training has another key")
	}
	seen := map[string]string{one: "the default"}
	for what, cmd := range map[string]trainCommand{
		"wind":      with("nominal.wind:=1.0"),
		"more wind": with("nominal.wind:=2.0"),
		"lag":       with("nominal.max_lag:=0.1"),
		"spread":    with("spread.tilt:=0.1"),
		"airframe": {Task: "hover", Airframe: write("a.yaml",
			"airframe:\n  ros__parameters:\n    response: {thrust_gain: 1.0, thrust_lag: 0.1, rate_gain: 1.0, "+
				"rate_lag: 0.05}\n")},
		"rotors":               {Task: "hover", Robot: "rotors"},
		"rotors of more power": driven("max_command: 0.8"),
		"rotors of other arms": driven("arm_x: 0.06"),
		"reference":            following(`{"kind": "star", "max_speed": 1}`),
		"other reference":      following(`{"kind": "star", "max_speed": 1.5}`),
		"bundle":               {Task: "hover", Bundle: filepath.Join("..", "flight", "control", "testdata", "a.vnd")},
	} {
		k := key(cmd)
		if other, there := seen[k]; there {
			t.Errorf("%s and %s have one key", what, other)
		}
		seen[k] = what
	}
}
