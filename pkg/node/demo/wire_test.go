package demo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/ros/rostest"
)

// tiny is learning that takes no time, which learns nothing worth while.
const tiny = `
/**/background_learner:
  ros__parameters:
    task: "hover"
    nice: 0
    base: {hidden: 16, epochs: 40, envs: 16, horizon: 40, flights: 1}
    gate: {shadow: {flights: 2, seconds: 0.5, settle: 0.0}, canary: {flights: 2, settle: 0.0}, first_error: 100.0,
	saturation: 60.0, rate: 1000.0}
    judge: {seconds: 1.0, wind: 0.5}
    least_data: 1000.0
/**/transition_recorder:
  ros__parameters:
    bag: {least_free: 0}
`

const breezy = `
world:
  ros__parameters:
    conditions: {name: ["calm", "east"], wind_x: [0.0, 0.5]}
    schedule: {condition: ["calm", "east", "calm"], start: [0.0, 1.0, 2.0]}
`

// setup is a demo of a few seconds; all of it is in one folder.
func setup(t *testing.T) (o Options, dir string) {
	t.Helper()
	for _, pair := range rostest.Environ() {
		key, value, _ := strings.Cut(pair, "=")
		t.Setenv(key, value)
	}
	if err := rostest.Wire(t, nil).Close(); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	return Options{Programs: filepath.Join(dir, "bin"), Params: []string{write("tiny.yaml", tiny)},
		World: write("breezy.yaml", breezy), Task: "hover", Seconds: 3,
		Seed: 1, Out: filepath.Join(dir, "out", "flight"), Lockstep: true, Say: func(line string) { t.Log(line) }}, dir
}

// build builds programs.
func build(t *testing.T, o Options, programs ...string) {
	t.Helper()
	args := []string{"build", "-o", o.Programs + "/"}
	for _, p := range programs {
		args = append(args, "vnd/nodes/"+p)
	}
	if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// TestVacant: a domain in which somebody is, who is not the first to come there, is not taken.
func TestVacant(t *testing.T) {
	base := vacant(os.Getpid())
	c, err := net.ListenPacket("udp4", fmt.Sprintf("127.0.0.1:%d", 7400+250*base+10+2*3))
	if err != nil {
		t.Skip(err) // somebody came in between
	}
	defer c.Close()
	if d := vacant(base - 1); d == base || d < 1 || d > 100 {
		t.Errorf("domain %d, where %d is taken", d, base)
	}
}

// TestFlight: five processes over the wire for some seconds. What came is in tables, report and bag; a second demo
// replaces the first as a whole, and one that is interrupted leaves it as it was; no process and nothing half-written
// stays.
func TestFlight(t *testing.T) {
	if testing.Short() {
		t.Skip("five processes")
	}
	o, dir := setup(t)
	build(t, o, programs...)
	if err := os.MkdirAll(filepath.Join(o.Out, "of old"), 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Visits) < 3 || f.Visits[1].Condition != "east" || !(f.Visits[0].Mean < 1) || f.Latency.Ticks < 50 ||
		len(f.Losses) != len(counters) {
		t.Errorf("%+v", f)
	}
	if len(f.Bundles) != 1 || f.Bundles[0].Ticks < 50 || !f.Bundles[0].Flew {
		t.Errorf("bundles %+v", f.Bundles)
	}
	info, err := bag.Info(f.Bag)
	if err != nil || info.Lost.Any() {
		t.Fatalf("%+v, %v", info, err)
	}
	for _, want := range []string{"/quad/step", "/quad/mocap/pose", "/quad/command", "/quad/bundle",
		"/quad/reference/path"} {
		if !contains(info, want) {
			t.Errorf("no %s in the bag", want)
		}
	}
	report, err := os.ReadFile(f.Report)
	if err != nil || !strings.Contains(string(report), "data:image/png;base64,") {
		t.Errorf("report: %v", err)
	}
	interrupted, stop := context.WithCancel(t.Context())
	o.Say = func(line string) {
		if strings.Contains(line, "east sets in") {
			stop()
		}
	}
	if _, err := Run(interrupted, o); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if again, err := os.ReadFile(f.Report); err != nil || string(again) != string(report) {
		t.Errorf("what an interrupted demo leaves is not what was there: %v", err)
	}
	left(t, o, dir)
}

func contains(info bag.Summary, topic string) bool {
	for _, t := range info.Topics {
		if t.Name == topic && t.Count > 0 {
			return true
		}
	}
	return false
}

// left looks at what is left beside the folder of the demo, and at the processes whose programs are the demo's.
func left(t *testing.T, o Options, dir string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(o.Out))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != filepath.Base(o.Out) {
			t.Errorf("%s is left", e.Name())
		}
	}
	processes, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, p := range processes {
		if exe, err := os.Readlink(p); err == nil && strings.HasPrefix(exe, dir) {
			t.Errorf("%s still runs: %s", exe, p)
		}
	}
}

// TestAProgramFails: a node that ends by itself ends the demo, which names it with what it said last.
func TestAProgramFails(t *testing.T) {
	o, dir := setup(t)
	if err := os.Mkdir(o.Programs, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range programs {
		script := "#!/bin/sh\nexec sleep 300\n"
		if name == learner {
			script = "#!/bin/sh\necho parameter directory: the disk is on fire >&2\nexit 3\n"
		}
		if err := os.WriteFile(filepath.Join(o.Programs, name), []byte(script), 0o777); err != nil {
			t.Fatal(err)
		}
	}
	began := time.Now()
	_, err := Run(t.Context(), o)
	if err == nil || err.Error() != learner+" ended by itself (exit status 3); it said last: parameter directory: "+
		"the disk is on fire" {
		t.Errorf("after %v: %v", time.Since(began), err)
	}
	left(t, o, dir)
}

// TestRefusals: what cannot be flown is refused before anything starts.
func TestRefusals(t *testing.T) {
	o, _ := setup(t)
	if err := os.Mkdir(o.Programs, 0o777); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*Options){
		"there is no program quad_sim in": func(o *Options) { o.Programs = "nowhere" },
		"no.yaml":                         func(o *Options) { o.World = "no.yaml" },
		"a flight of 0 s":                 func(o *Options) { o.Seconds = 0 },
		"no.vnd":                          func(o *Options) { o.Bundle = "no.vnd" },
	} {
		for _, name := range programs {
			if err := os.WriteFile(filepath.Join(o.Programs, name), nil, 0o777); err != nil {
				t.Fatal(err)
			}
		}
		p := o
		change(&p)
		if _, err := Run(t.Context(), p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// TestWholeDemo: what `vnd demo --part flight --lockstep` comes to, which takes minutes: VND_DEMO=1 asks for it.
func TestWholeDemo(t *testing.T) {
	if os.Getenv("VND_DEMO") == "" {
		t.Skip("VND_DEMO is not set")
	}
	o, _ := setup(t)
	build(t, o, programs...)
	params := filepath.Join("..", "..", "..", "params")
	o.Params = []string{filepath.Join(params, "lab.yaml"), filepath.Join(params, "demo", "flight.yaml")}
	o.World, o.Task, o.Seconds = filepath.Join(params, "worlds", "arena.yaml"), "track", 184
	f, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	learned := 0
	for _, v := range f.Bundles {
		if v.Data > 0 {
			learned++
		}
	}
	t.Logf("%d bundles learned in flight, %d candidates kept back; error %.1f × smaller (%.3f → %.3f m); late "+
		"winds %+v; recovery %+v; %+v", learned, f.Refused,
		f.Factor, f.Base, f.End, f.Late, f.Recover, f.Bundles)
	if learned < 1 || len(f.Winds) < 2 || f.Factor < 3 || f.Recover.Returns < 3 || f.Recover.Wide.Median > 1 {
		t.Errorf("%d bundles learned in flight, error %.1f × smaller in %+v, recovery %+v", learned, f.Factor, f.Winds,
			f.Recover)
	}
}
