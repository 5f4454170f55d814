package examples

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var drift = regexp.MustCompile(`^bundle [0-9a-f]{12}: hover drifts by \d+\.\d\d m in a second\n$`)

// A module outside of this repository builds on it with the two lines of its go.mod, without a network, and runs.
func TestModuleOfItsOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("left out with -short: it compiles this module for another")
	}
	here, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("own_module")); err != nil {
		t.Fatal(err)
	}
	mod := filepath.Join(dir, "go.mod")
	text, err := os.ReadFile(mod)
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.Replace(string(text), "=> ../..", fmt.Sprintf("=> %q", here), 1)
	if err := os.WriteFile(mod, []byte(moved), 0o666); err != nil {
		t.Fatal(err)
	}
	sum, err := os.ReadFile(filepath.Join(here, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "go.sum"), sum, 0o666); err != nil {
		t.Fatal(err)
	}
	p := exec.Command("go", "run", ".", filepath.Join(here, "pkg", "flight", "control", "testdata", "a.vnd"))
	p.Dir = dir
	p.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-trimpath -mod=mod", "GOPROXY=off", "GOWORK=off")
	out, err := p.CombinedOutput()
	if err != nil || !drift.Match(out) {
		t.Fatalf("%v, %q, want %v", err, out, drift)
	}
}
