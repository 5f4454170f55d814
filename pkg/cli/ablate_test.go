package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// brief is a loop whose rounds take no time.
const brief = `loop:
  ros__parameters:
    base: {epochs: 150, hidden: 32, flights: 2}
    fit: {train: {updates: 20}}
    policy: {epochs: 10, envs: 12, flights: 1}
    gate: {shadow: {flights: 2}, canary: {flights: 2}}
`

// TestAblatePolicies: policies of one model are trained and flown, each with randomness of its own, and the same again.
func TestAblatePolicies(t *testing.T) {
	if testing.Short() {
		t.Skip("trains three times, for a minute without C")
	}
	config := filepath.Join(t.TempDir(), "brief.yaml")
	if err := os.WriteFile(config, []byte(brief), 0o600); err != nil {
		t.Fatal(err)
	}
	world := filepath.Join("..", "..", "params", "worlds", "calm.yaml")
	out := t.TempDir()
	args := []string{"ablate", "--json", "--config", config, "--world", world, "--task", "hover", "--rounds", "1",
		"--seconds", "24", "--policies", "2", "--air", world, "--references", "hover", "--flight", "4", "--settle", "1",
		"--out", out, "same=policy.flights:=1", "slower=policy.rate:=0.0001"}
	code, stdout, stderr := run(t, args...)
	if code != 0 {
		t.Fatalf("%d: %s", code, stderr)
	}
	var r policiesResult
	if err := json.Unmarshal([]byte(stdout), &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 3 || r.Policies != 2 || len(r.Rows[0].Cells) != 1 {
		t.Fatalf("%+v", r)
	}
	as, same, slower := r.Rows[0].Cells[0].Means, r.Rows[1].Cells[0].Means, r.Rows[2].Cells[0].Means
	if as[0] != same[0] || as[1] != same[1] || as[0] == as[1] || as[0] == slower[0] {
		t.Errorf("errors of %v as it is, %v with the same, %v with another rate", as, same, slower)
	}
	if table, err := os.ReadFile(filepath.Join(out, "policies.md")); err != nil ||
		!strings.Contains(string(table), "| slower | ") {
		t.Errorf("table %q, %v", table, err)
	}
}

func TestAblatePoliciesRefuses(t *testing.T) {
	world := filepath.Join("..", "..", "params", "worlds", "calm.yaml")
	ablate := func(more ...string) []string {
		return append([]string{"ablate", "--world", world, "--out", t.TempDir()}, more...)
	}
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"no table", ablate("--policies", "2", "a=policy.rate:=0.1"), "--policies and --air: expected both"},
		{"no policies", ablate("--air", world, "a=policy.rate:=0.1"), "--policies and --air: expected both"},
		{"another model", ablate("--policies", "2", "--air", world, "a=fit.train.updates:=7"),
			"a: policies of one model: expected changes of policy."},
		{"two models", ablate("--policies", "2", "--air", world, "--seeds", "1,2", "a=policy.rate:=0.1"),
			"--seeds: expected one"},
		{"no such parameter", ablate("--policies", "2", "--air", world, "a=policy.speed:=1"), "policy.speed"},
		{"worlds that nobody flies", ablate("--policies", "2", "--air", world, "--unseen", world, "a="),
			"--unseen: expected without --policies"},
		{"a method's name", ablate("--policies", "2", "--air", world, "oracle="), "no method of vnd study"},
		{"a name that breaks tables", ablate("--policies", "2", "--air", world, "a|b="), "without |"},
		{"less than none", ablate("--policies=-1", "a=policy.rate:=0.1"), "--policies and --air: expected both"},
		{"one name twice", ablate("--policies", "2", "--air", world, "a=", "a="), "each name once"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if code, _, stderr := run(t, c.args...); code == 0 || !strings.Contains(stderr, c.want) ||
				strings.Count(strings.TrimSpace(stderr), "\n") > 0 {
				t.Errorf("%d: %s", code, stderr)
			}
		})
	}
}
