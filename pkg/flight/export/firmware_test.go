package export

import (
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/bridge"
	"vnd/pkg/core/so3"
)

// fromGuide is the block of docs/guide/export.md that a fence opens and whose text begins so.
func fromGuide(t *testing.T, fence, begins string) string {
	t.Helper()
	page := string(must(os.ReadFile("../../../docs/guide/export.md"))(t))
	_, block, found := strings.Cut(page, "```"+fence+"\n"+begins)
	text, _, ends := strings.Cut(block, "\n```")
	if !found || !ends {
		t.Fatalf("the guide has no block of %s that begins with %q", fence, begins)
	}
	return begins + text + "\n"
}

// build compiles the network, an example of the guide and the program of testdata/firmware around it.
func build(t *testing.T, compiler, example, text string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath(compiler)
	if err != nil {
		t.Skipf("SKIPPED: no %s here", compiler)
	}
	dir := t.TempDir()
	h, c, err := must(Of(flown(t)))(t).C("vnd_net", []string{Policy}, false)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"vnd_net.h": h, "vnd_net.c": c, example: []byte(text)} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	firmware := must(filepath.Abs("testdata/firmware"))(t)
	for i, arg := range args {
		args[i] = strings.ReplaceAll(arg, "FIRMWARE", firmware)
	}
	flags := []string{"-I" + firmware, "-I.", "-Wall", "-Wextra", "-Werror"}
	run := func(compiler string, args ...string) {
		t.Helper()
		cmd := exec.Command(compiler, slices.Concat(flags, args)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	run("cc", "-std=c99", "-c", "vnd_net.c")
	run(path, append(args, "vnd_net.o", "-lm", "-o", "program")...)
	return filepath.Join(dir, "program")
}

// tilted are attitudes as (w, x, y, z).
var tilted = []float32{1, 0, 0, 0, 0.96, 0.28, 0, 0, 0.96, 0, 0.28, 0, 0.8, 0, 0, 0.6, 0.5, -0.5, 0.5, 0.5}

// The example of an out-of-tree controller compiles, and hands the network's command on in the firmware's units.
func TestCrazyflieExample(t *testing.T) {
	program := build(t, "cc", "vnd_controller.c", fromGuide(t, "c", "#include <math.h>"),
		"-std=gnu11", "vnd_controller.c", "FIRMWARE/crazyflie.c")
	y := answer(t, program, tilted, 8*len(tilted)/4)
	for ; len(y) > 0; y = y[8:] {
		thrust, deg := 38000*y[4]/9.81, float32(180/math.Pi)
		for i, want := range []float32{thrust, deg * y[5], -deg * y[6], deg * y[7]} {
			if math.Abs(float64(y[i]-want)) > 1e-4*(1+math.Abs(float64(want))) {
				t.Errorf("value %d is %g, expected %g of the command %v", i, y[i], want, y[4:8])
			}
		}
	}
}

// The example of a PX4 module compiles, and changes frames as the bridge to PX4 does.
func TestPX4Example(t *testing.T) {
	program := build(t, "c++", "example.inc", fromGuide(t, "cpp", "// Every 20 ms"), "-std=c++14",
		"-x", "c++", "FIRMWARE/px4.hpp", "-x", "none")
	const width = 18
	y := answer(t, program, tilted, width*len(tilted)/4)
	for i := 0; i < len(tilted); i, y = i+4, y[width:] {
		at := so3.Quat{W: float64(tilted[i]), X: float64(tilted[i+1]), Y: float64(tilted[i+2]), Z: float64(tilted[i+3])}
		q := bridge.SwapAttitude(at)
		c := y[10:]
		want := []float64{0.2, 0.1, 1.3, q.W, q.X, q.Y, q.Z, 0.5, 0.4, -0.6,
			float64(c[0]), float64(c[1]), float64(c[2]), float64(c[3]),
			float64(c[1]), -float64(c[2]), -float64(c[3]), -0.37 * float64(c[0]) / 9.81}
		sign := 1.0
		if q.W*float64(y[3])+q.X*float64(y[4])+q.Y*float64(y[5])+q.Z*float64(y[6]) < 0 {
			sign = -1
		}
		for j, w := range want {
			if j >= 3 && j < 7 {
				w *= sign
			}
			if math.Abs(float64(y[j])-w) > 1e-6 {
				t.Errorf("attitude %v: value %d is %g, expected %g", tilted[i:i+4], j, y[j], w)
			}
		}
	}
}
