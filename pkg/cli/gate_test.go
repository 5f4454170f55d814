package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestGateKeepsOtherFiles: what is no beginning of this study is named, and stays as it is.
func TestGateKeepsOtherFiles(t *testing.T) {
	name := filepath.Join(t.TempDir(), "gate.json")
	for _, text := range []string{"", "{", "[]", `{"build":"v0","seed":2,"flights":32,"robots":[]}`} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		k := gateCommand{Robots: 1, Flights: 32, Seed: 1, Out: name}
		err := k.Run(nil)
		if after, _ := os.ReadFile(name); err == nil || !strings.Contains(err.Error(), name) || string(after) != text {
			t.Errorf("%q: %v, holds %q", text, err, after)
		}
	}
	for _, bad := range []string{filepath.Dir(name), filepath.Join(name, "x")} {
		k := gateCommand{Robots: 1, Flights: 32, Seed: 1, Out: bad}
		if err := k.Run(nil); err == nil || !strings.Contains(err.Error(), bad) {
			t.Errorf("%s: %v", bad, err)
		}
	}
}
