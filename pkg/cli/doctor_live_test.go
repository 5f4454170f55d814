package cli

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/flight/preflight"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/train/quadtrain"
)

// An identified response shapes the nominal quadrotors of a training, unless the configuration says how they are.
func TestResponseShapesTheNominalQuadrotors(t *testing.T) {
	var said quadtrain.Nominal
	param.Default(&said)
	var a airframe.Airframe
	param.Default(&a)
	n := said
	if continual.Respond(&n, &a.Response); n != said {
		t.Errorf("a response that is not known made %+v", n)
	}
	a.Response = preflight.Response{ThrustGain: 0.9, ThrustDelay: 0.03, ThrustLag: 0.1, RateGain: 1, RateDelay: 0.02,
		RateLag: 0.02}
	continual.Respond(&n, &a.Response)
	want := quadtrain.Nominal{Dt: said.Dt, MinLag: 0.014, MaxLag: 0.13, MaxDelay: 1.3 * 1.5, Gain: 0.1, Wind: said.Wind}
	for i, x := range [][2]float64{{n.Dt, want.Dt}, {n.MinLag, want.MinLag}, {n.MaxLag, want.MaxLag},
		{n.MaxDelay, want.MaxDelay}, {n.Gain, want.Gain}, {n.Wind, want.Wind}} {
		if math.Abs(x[0]-x[1]) > 1e-12 {
			t.Errorf("number %d is %g, expected %g", i, x[0], x[1])
		}
	}
	mine := said
	mine.MaxLag = 0.2
	n = mine
	if continual.Respond(&n, &a.Response); n != mine {
		t.Errorf("what the configuration says became %+v", n)
	}
}

// run runs a command line and returns what it printed.
func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, err bytes.Buffer
	code = Run(t.Context(), args, &out, &err)
	return code, out.String(), err.String()
}

// A flight of a real Crazyflie, which hovers with a thrust of 10.7 m/s² and turns within 50 ms: its bag is found to
// be right, and the airframe file gets its response and keeps what else it says.
func TestDoctorFindsTheResponseOfARecordedHover(t *testing.T) {
	dir := t.TempDir()
	flight, lab, frame := filepath.Join("..", "..", "params", "demo", "flights", "test",
		"june_07_data_wind__zz_2d_seed4_ppo_L1_new_0.csv"),
		filepath.Join(dir, "lab"), filepath.Join(dir, "frame.yaml")
	if code, _, stderr := run(t, "import", "--csv", flight, "--out", lab); code != 0 {
		t.Fatal(stderr)
	}
	if err := os.WriteFile(frame, []byte("airframe:\n  ros__parameters:\n    max_rate: 12.5\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := run(t, "doctor", "--bag", lab, "--params", filepath.Join("..", "..", "params", "lab.yaml"),
		"--airframe", frame)
	if code != 0 {
		t.Fatalf("%s%s", stdout, stderr)
	}
	for _, want := range []string{`ok +thrust unit +hover takes 10\.[5-9]\d* m/s²: a thrust gain of 0\.9[0-9]+`,
		`ok +rate axes +roll, pitch and yaw turn as commanded`,
		`ok +loop delay +the motion begins [23]\d ms after a command`,
		`ok +jumps +topic mocap/pose: none`,
		`ok +noise +topic mocap/pose: positions scatter by 0\.1 mm`, `ok +good to learn from +topic mocap/pose: yes\n`,
		`ok +airframe +the response was written to `,
		`ok +pitch rate +gain [01]\.\d+ ± 0\.\d+, delay [23]\d ± \d+ ms, lag \d+ ± \d+ ms`} {
		if !regexp.MustCompile(want).MatchString(stdout) {
			t.Errorf("no %s in\n%s", want, stdout)
		}
	}
	a, err := airframe.Load(frame)
	if err != nil {
		t.Fatal(err)
	}
	r := a.Response
	if a.MaxRate != 12.5 || math.Abs(r.ThrustGain-0.92) > 0.03 || math.Abs(r.ThrustDelay+r.ThrustLag-0.09) > 0.03 ||
		math.Abs(r.RateDelay+r.RateLag-0.047) > 0.015 {
		t.Errorf("%+v", a)
	}
	if code, _, stderr := run(t, "train", "--task", "hover", "--airframe", frame, "-p", "epochs:=2", "-p", "flights:=0",
		"--out", filepath.Join(dir, "p.vnd")); code != 0 {
		t.Error(stderr)
	}
	before, err := os.ReadFile(frame)
	if err != nil {
		t.Fatal(err)
	}
	turned(t, flight, filepath.Join(dir, "wrong.csv"))
	if code, _, stderr := run(t, "import", "--csv", filepath.Join(dir, "wrong.csv"), "--out",
		filepath.Join(dir, "wrong")); code != 0 {
		t.Fatal(stderr)
	}
	code, stdout, _ = run(t, "doctor", "--bag", filepath.Join(dir, "wrong"), "--airframe", frame)
	after, err := os.ReadFile(frame)
	if code == 0 || err != nil || !bytes.Equal(before, after) ||
		!strings.Contains(stdout, "FRD: pitch and yaw turn against their commands") {
		t.Errorf("exit %d, %v:\n%s", code, err, stdout)
	}
}

// turned writes a flight whose commanded rates are of a body forward, right, down.
func turned(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i, line := range strings.Split(strings.TrimSpace(string(data)), "\n") {
		f := strings.Split(line, ",")
		for k := 13; i > 0 && k < 15; k++ {
			x, err := strconv.ParseFloat(strings.TrimSpace(f[k]), 64)
			if err != nil {
				t.Fatal(err)
			}
			f[k] = strconv.FormatFloat(-x, 'g', -1, 64)
		}
		out.WriteString(strings.Join(f, ",") + "\n")
	}
	if err := os.WriteFile(to, []byte(out.String()), 0o666); err != nil {
		t.Fatal(err)
	}
}
