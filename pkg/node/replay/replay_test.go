package replay

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/flight/guard"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// The flight in testdata was recorded by transition_recorder while policy_controller flew quad_sim, as processes over
// the wire, with the bundle beside package control.
var (
	flown1     = filepath.Join("testdata", "flight")
	bundleFile = filepath.Join("..", "..", "flight", "control", "testdata", "a.vnd")
)

func run(t *testing.T, path, config string) *Report {
	t.Helper()
	r, err := Run(context.Background(), path, config, []string{bundleFile}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// Every command and every latent of a recorded flight comes out: to the bit where the kernels are those that flew, and
// within rounding where they are not.
func TestComesOut(t *testing.T) {
	r := run(t, flown1, "")
	if r.Ticks != 327 || r.Policy != r.Ticks || r.Within != r.Ticks || r.FirstOff != nil || r.Worst > Rounding ||
		!r.Primed || r.Guard+r.Unsampled+r.Unread != 0 || r.Lost != 0 {
		t.Errorf("%+v", *r)
	}
	if r.Exact != 0 && (r.Exact != r.Ticks || r.Same != r.Latents) {
		t.Errorf("some came out to the bit, but not all: %+v", *r)
	}
	most := 1e-5
	if runtime.GOARCH != "amd64" { // which flew: others round products once, and states are the next float32
		most = 1e-4
	}
	if r.Latents < 300 || r.LatentsOff > most {
		t.Errorf("latents: %+v", *r)
	}
	if r.Flight < 6.4 || r.Flight > 6.6 {
		t.Errorf("%g s of flight", r.Flight)
	}
}

// changed copies the flight with its messages changed; false leaves one out.
func changed(t *testing.T, change func(k int, m *bag.Message) bool) string {
	t.Helper()
	return changedFrom(t, flown1, change)
}

func changedFrom(t *testing.T, path string, change func(k int, m *bag.Message) bool) string {
	t.Helper()
	b, err := bag.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	dir := filepath.Join(t.TempDir(), "changed")
	w, err := bag.Create(dir, bag.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range b.Topics() {
		if err := w.AddTopic(x); err != nil {
			t.Fatal(err)
		}
	}
	counts := map[string]int{}
	for m, err := range b.Messages() {
		if err != nil {
			t.Fatal(err)
		}
		kept := *m
		kept.Data = slices.Clone(m.Data)
		counts[m.Topic]++
		if change(counts[m.Topic]-1, &kept) {
			if err := w.Write(&kept); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// onSteps changes steps.
func onSteps(t *testing.T, change func(k int, s *msgs.Step) bool) func(int, *bag.Message) bool {
	return func(k int, m *bag.Message) bool {
		if m.Topic != "/quad/step" {
			return true
		}
		var s msgs.Step
		if err := cdr.Unmarshal(m.Data, &s); err != nil {
			t.Fatal(err)
		}
		keep := change(k, &s)
		var err error
		if m.Data, err = cdr.Marshal(&s); err != nil {
			t.Fatal(err)
		}
		return keep
	}
}

// What is not as it was flown is found.
func TestChanged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(int, *bag.Message) bool
		want   func(r *Report) bool
	}{
		"a command": {onSteps(t, func(k int, s *msgs.Step) bool {
			if k == 50 {
				s.Command[0] += 1e-3
			}
			return true
		}), func(r *Report) bool { return r.Within == 326 && *r.FirstOff == 50 && math.Abs(r.Worst-1e-3) < 1e-4 }},
		"a command after the guard": {onSteps(t, func(k int, s *msgs.Step) bool {
			if k == 60 {
				s.CommandSent[2] = -s.CommandSent[2]
			}
			return true
		}), func(r *Report) bool { return r.Within < 327 && *r.FirstOff == 60 && r.LatentsOff > 1e-4 }},
		"a lost sample": {func(k int, m *bag.Message) bool { return m.Topic != "/quad/mocap/pose" || k != 401 },
			func(r *Report) bool {
				return r.Within < 327 && r.Unsampled <= 1 && (r.FirstOff != nil || r.Unsampled == 1)
			}},
		"a lost step": {onSteps(t, func(k int, _ *msgs.Step) bool { return k != 80 }),
			func(r *Report) bool { return r.Lost == 1 && r.Ticks == 326 && r.Within > 300 && r.FirstOff == nil }},
		"a late begin": {onSteps(t, func(k int, _ *msgs.Step) bool { return k >= 100 }),
			func(r *Report) bool { return !r.Primed && r.Lost == 0 && r.FirstOff == nil && r.Within > 200 }},
		"a late bag": {func(_ int, m *bag.Message) bool { return m.LogTime > 4_000_000_000 },
			func(r *Report) bool { return !r.Primed && r.FirstOff == nil && r.Within > 80 && r.Ticks < 250 }},
		"the guard's": {onSteps(t, func(k int, s *msgs.Step) bool {
			if k >= 200 && k < 210 {
				s.GuardState = uint8(guard.Hold)
			}
			return true
		}), func(r *Report) bool { return r.Guard == 10 && r.Policy >= 300 && *r.FirstOff >= 201 }},
		"a message that is none": {func(k int, m *bag.Message) bool {
			if m.Topic == "/quad/step" && k == 326 {
				m.Data = m.Data[:20]
			}
			return true
		}, func(r *Report) bool { return r.Unread == 1 && r.Within == 326 }},
	} {
		t.Run(name, func(t *testing.T) {
			if r := run(t, changed(t, c.change), ""); !c.want(r) {
				t.Errorf("%+v", *r)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	stepless := changed(t, func(_ int, m *bag.Message) bool { return m.Topic != "/quad/step" })
	for want, c := range map[string]struct {
		path, config string
		bundles      []string
	}{
		"neither on topic /quad/bundle nor among the files": {flown1, "", nil},
		"no such file": {flown1, "", []string{"none.vnd"}},
		"steps came at 50 Hz, and the parameter rate of policy_controller is 100": {flown1,
			write("rate.yaml", "/**/policy_controller:\n  ros__parameters:\n    rate: 100.0\n"), []string{bundleFile}},
		"topic /quad/mocap/odom of type nav_msgs/msg/Odometry is not there": {flown1,
			write("odom.yaml", "/quad/policy_controller:\n  ros__parameters:\n    state_source: odometry\n"),
			[]string{bundleFile}},
		`bad.yaml:3: parameter "rat": unknown, did you mean "rate"`: {flown1,
			write("bad.yaml", "/**/policy_controller:\n  ros__parameters:\n    rat: 50.0\n"), []string{bundleFile}},
		"0 steps, expected at least two": {stepless, "", []string{bundleFile}},
		"no-bag": {filepath.Join(dir, "no-bag"), "",
			[]string{bundleFile}},
	} {
		if _, err := Run(context.Background(), c.path, c.config, c.bundles, nil); err == nil ||
			!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	if _, err := Explain(context.Background(), flown1, "", []string{bundleFile}, 327); err == nil ||
		!strings.Contains(err.Error(), "no tick 327 that can be replayed, they are 0 … 326") {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, flown1, "", []string{bundleFile}, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Explain tells what the step says, and what the policy's network was given.
func TestExplain(t *testing.T) {
	e, err := Explain(context.Background(), flown1, "", []string{bundleFile}, 150)
	if err != nil {
		t.Fatal(err)
	}
	if e.Seq != 150 || e.Task != "track" || e.Guard != "policy" || e.Difference > Rounding || len(e.Reference) != 5 ||
		e.Reference[4].Ahead != 0.4 ||
		e.LatentAge == nil || *e.LatentAge < 0.01 || *e.LatentAge > 0.05 || len(e.Latent) != 4 ||
		len(e.LatentAgain) != 4 {
		t.Errorf("%+v", e)
	}
	if e.Error <= 0 || e.Error > 0.3 {
		t.Errorf("%g m off the reference", e.Error)
	}
	r, err := read(flown1, "", []string{bundleFile})
	if err != nil {
		t.Fatal(err)
	}
	if said := bridge.FromStep(&r.steps[150]).State.P; e.Position != [3]float64{said.X, said.Y, said.Z} {
		t.Errorf("at %v, the step says %v", e.Position, said)
	}
	first, err := Explain(context.Background(), flown1, "", []string{bundleFile}, 0)
	if err != nil || first.LatentAge != nil || first.LatentAgain != nil || first.Confidence != 0 {
		t.Errorf("%+v, %v", first, err)
	}
	var spoilt []Input // a robot far away from its reference
	_, err = Run(context.Background(), changed(t, onSteps(t, func(_ int, s *msgs.Step) bool {
		for k := 0; k < len(s.Reference); k += 7 {
			s.Reference[k] += 50
		}
		return true
	})), "", []string{bundleFile}, func(k *ReplayedTick) {
		if k.Step.Seq == 10 {
			spoilt = explained(k).Unusual
			if names := k.Policy.InputNames(); len(names) != len(k.Inputs) {
				t.Errorf("%d names of %d inputs", len(names), len(k.Inputs))
			}
		}
	})
	if err != nil || len(spoilt) < 5 || spoilt[0].Name != "reference in 0.00 s x" || spoilt[0].Value < 10 {
		t.Errorf("unusual: %v, %v", spoilt, err)
	}
	// The latent of the step is that of the network.
	other, err := Explain(context.Background(), changed(t, onSteps(t, func(k int, s *msgs.Step) bool {
		if k == 150 {
			s.Latent[1] += 0.5
		}
		return true
	})), "", []string{bundleFile}, 150)
	if err != nil || len(other.Inputs) != len(e.Inputs) {
		t.Fatal(err)
	}
	for i, x := range other.Inputs {
		if differs := x != e.Inputs[i]; differs != (i == len(e.Inputs)-3) {
			t.Errorf("input %d of %d is %g, was %g", i, len(e.Inputs), x, e.Inputs[i])
		}
	}
}
