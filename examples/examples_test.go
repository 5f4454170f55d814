// Package examples runs each example and looks at what it prints.
package examples

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/core/quad"
)

const patience = 10 * time.Minute

// built holds the examples' programs.
var built string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "vnd-examples-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		built = dir
		if out, err := exec.Command("go", "build", "-o", dir, "./...").CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%v: %s\n", err, out)
			return 1
		}
		return m.Run()
	}())
}

const (
	bundles = "../pkg/flight/control/testdata/"
	flights = "../params/demo/flights/train/"
)

// learns names the examples that take ten times as long without C.
var learns = map[string]bool{"fit_bag": true, "own_task": true, "own_task eval": true, "own_robot": true,
	"arm": true}

func TestExamplesThatEnd(t *testing.T) {
	dir := t.TempDir()
	model, home := filepath.Join(dir, "model.vnd"), filepath.Join(dir, "home.vnd")
	payloads := filepath.Join(dir, "arm.vnd")
	latents, paths := filepath.Join(dir, "latents.png"), filepath.Join(dir, "paths.png")
	pendulum := filepath.Join(dir, "pendulum.vnd")
	for _, c := range []struct {
		name  string
		args  []string
		want  string // pattern of the output
		files []string
	}{
		{"fit_bag", []string{bag(t), model}, `loss fell from \d\.\d+ to 0\.\d+`, []string{model}},
		{"own_task", []string{"train", "--task", "home", "--out", home, "-p", "hidden:=32", "-p", "envs:=32",
			"-p", "epochs:=80"}, `home, cost stiff: 80 epochs .* 0\.[0-3]\d+ m in trial flights`, []string{home}},
		{"own_task eval", []string{"eval", "--task", "home", "--bundle", home, "--world", "../params/worlds/calm.yaml"},
			`calm +default +1 +0\.[01]\d+ .* 0 +0\.00`, nil},
		{"own_reference", []string{`{"kind": "trefoil", "period": 8}`},
			`trefoil: off by 0\.0[0-4]\d m .* crash ""`, nil},
		{"own_world", []string{"own_world/world.yaml", paths},
			`(?s)calm .*fan .*bottle .*fan_and_bottle +error 0\.\d+ m, at most 0\.\d+ m \n`, []string{paths}},
		{"own_robot", []string{pendulum}, `off by 0\.0[0-2]\d+ rad, .* 0\.0[4-9]\d+ rad; promoted`, []string{pendulum}},
		{"arm", []string{"-quick", payloads}, `(?s)3 kg .*base .*improved .*adaptive .*\npromoted`, []string{payloads}},
		{"replay", []string{"../pkg/node/replay/testdata/flight", bundles + "a.vnd", bundles + "b.vnd"},
			`(\d+) ticks of the policy in 6\.5 s of flight, \d+ to the bit, \d+ within rounding\n$`, nil},
		{"latent_map", []string{"own_world/world.yaml", latents},
			`(?s)calm: \d\d+ windows\nfan: .*fan_and_bottle: \d\d+ windows\n$`, []string{latents}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if testing.Short() && learns[c.name] {
				t.Skip("left out with -short: it learns")
			}
			out := run(t, filepath.Join(built, strings.Fields(c.name)[0]), c.args...)
			if !regexp.MustCompile(c.want).MatchString(out) {
				t.Errorf("got %q, want %q", out, c.want)
			}
			for _, f := range c.files {
				if info, err := os.Stat(f); err != nil || info.Size() == 0 {
					t.Errorf("%s was not written: %v", f, err)
				}
			}
		})
	}
}

func TestPythonReadsABundle(t *testing.T) {
	python := os.Getenv("VND_PYTHON")
	if python == "" {
		t.Skip("VND_PYTHON is not set: make test sets it to a Python with safetensors")
	}
	out := run(t, python, "python_bundle/read.py", bundles+"a.vnd")
	if !regexp.MustCompile(`(?s)vnd\.bundle version 1: .*robot quad.*\d+ tensors, \d{3,} numbers\n$`).MatchString(out) {
		t.Errorf("got %q", out)
	}
}

// TestExamplesAreSmall: each is to be read at one sight, and has a line in README.md.
func TestExamplesAreSmall(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Dir(path) == "." {
			return err
		}
		text, err := os.ReadFile(path)
		if n := strings.Count(string(text), "\n"); n > 80 {
			t.Errorf("%s has %d lines, at most 80", path, n)
		}
		program := strings.HasSuffix(path, ".go") || strings.HasSuffix(path, ".py")
		if program && !strings.Contains(string(readme), "("+filepath.ToSlash(path)+")") {
			t.Errorf("README.md has no line on %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	p := exec.CommandContext(ctx, name, args...)
	var problems strings.Builder
	p.Stderr = &problems
	out, err := p.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", name, err, out, &problems)
	}
	return string(out)
}

// some are the first n of the flights that come with vnd.
func some(t *testing.T, n int) []string {
	t.Helper()
	all, err := filepath.Glob(flights + "*.csv")
	if err != nil || len(all) < n {
		t.Fatal(all, err)
	}
	return all[:n]
}

// bag is one with a flight in it.
func bag(t *testing.T) string {
	t.Helper()
	flight, _, err := flightlog.ReadCSV(some(t, 1)[0], flightlog.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "flight")
	if err := flightlog.WriteBag(dir, []quad.Flight{flight}, flightlog.BagOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}
