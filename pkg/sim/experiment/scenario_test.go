package experiment

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/so3"
	"vnd/pkg/nn/nets"
	"vnd/pkg/vnd"
)

// world writes a world's file and returns its path.
func world(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "some.yaml")
	if err := os.WriteFile(path, []byte("world:\n  ros__parameters:\n    "+text+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestFields(t *testing.T) {
	const two = `conditions: {name: ["calm", "east"], wind_x: [0.0, 3.0], wind_z: [0.0, -4.0]}`
	for _, c := range []struct {
		name, text string
		want       []string // conditions
		seconds    float64
		words      []string
		winds      []float64
	}{
		{"without conditions", `step: 0.001`, []string{"default"}, 0, []string{"some"}, []float64{0}},
		{"two conditions", two, []string{"calm", "east"}, 0, []string{"calm", "east"}, []float64{0, 5}},
		{"a schedule of one entry is none", two + "\n    " + `schedule: {condition: ["east"], start: [0.0]}`,
			[]string{"calm", "east"}, 0, []string{"calm", "east"}, []float64{0, 5}},
		{"a schedule", two + "\n    " + `schedule: {condition: ["east", "calm", "east"], start: [0.0, 8.0, 20.0]}`,
			[]string{""}, 30, nil, []float64{5}},
		{"a schedule with a period", two + "\n    " +
			`schedule: {condition: ["calm", "east"], start: [0.0, 8.0], period: 40.0}`, []string{""}, 40, nil,
			[]float64{0}},
	} {
		scenarios, err := Scenarios(world(t, c.text))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if len(scenarios) != len(c.want) {
			t.Fatalf("%s: %d scenarios, want %d", c.name, len(scenarios), len(c.want))
		}
		for i := range scenarios {
			f := &scenarios[i]
			if f.Condition != c.want[i] || f.Seconds != c.seconds || f.Name != "some" ||
				f.Label() != strings.TrimSpace("some "+c.want[i]) {
				t.Errorf("%s, scenario %d: %q of %q, %g s, called %q", c.name, i, f.Condition, f.Name, f.Seconds,
					f.Label())
			}
			if f.Wind() != c.winds[i] {
				t.Errorf("%s, scenario %d: begins in %g m/s², want %g", c.name, i, f.Wind(), c.winds[i])
			}
			if c.words != nil && f.inWords() != c.words[i] {
				t.Errorf("%s, scenario %d: %q in words, want %q", c.name, i, f.inWords(), c.words[i])
			}
			if c.seconds == 0 && !slices.Equal(f.Schedule.Condition, c.want[i:i+1]) {
				t.Errorf("%s, scenario %d: schedule %v", c.name, i, f.Schedule)
			}
		}
	}
	for name, path := range map[string]string{"no file": "nowhere.yaml", "a wrong number": world(t, "step: 7.0")} {
		if _, err := Scenarios(path); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestCalm: a condition with a cut propeller is none, though no wind blows.
func TestCalm(t *testing.T) {
	scenarios, err := Scenarios(world(t,
		`conditions: {name: ["cut", "east", "calm"], wind_x: [0.0, 1.0, 0.0], cut_rotor: [1, 0, 0], `+
			`cut_thrust: [0.8, 1.0, 1.0]}`))
	if err != nil {
		t.Fatal(err)
	}
	p := &Plan{Scenarios: scenarios, Methods: []string{MethodOurs}}
	if at := p.calm(); at != 2 || p.measures(MethodDATT) || !p.measures(MethodOurs) ||
		!(&Plan{Scenarios: scenarios}).measures(MethodDATT) {
		t.Errorf("scenario %d is calm, want 2", at)
	}
}

func TestStrongest(t *testing.T) {
	scenarios, err := Scenarios(world(t,
		`conditions: {name: ["a", "b", "c", "d"], wind_x: [1.0, 0.5, -3.0, 0.0], wind_y: [0.0, 0.0, 0.0, 3.0]}`))
	if err != nil {
		t.Fatal(err)
	}
	s := &study{plan: &Plan{Scenarios: scenarios}}
	if a := s.strongest(); a != 2 {
		t.Errorf("the strongest is scenario %d, want 2, the first of its strength", a)
	}
	if a := s.plan.calm(); a != -1 {
		t.Errorf("scenario %d is calm", a)
	}
	if s.plan.measures(MethodDATT) || !s.plan.measures(MethodOurs) {
		t.Error("who is measured where nothing is calm")
	}
	s.plan.Methods = []string{MethodDATT, "nobody"}
	if _, err := new(Campaign).Run(context.Background(), s.plan); err == nil ||
		!strings.Contains(err.Error(), `method "nobody"`) {
		t.Errorf("an unknown method: %v", err)
	}
	s.plan.Methods = s.plan.Methods[:1]
	if _, err := new(Campaign).Run(context.Background(), s.plan); err == nil ||
		!strings.Contains(err.Error(), "expected a world with a condition that is calm") {
		t.Errorf("DATT without calm: %v", err)
	}
	want := []so3.Vec3{{X: 1}, {X: 0.5}, {X: -3}, {Y: 3}}
	if got := s.plan.Winds(); !slices.Equal(got, want) {
		t.Errorf("winds %v, want %v", got, want)
	}
}

// TestImagine: what latents do beside the wind is taken off, in a world with a calm scenario and in one without.
func TestImagine(t *testing.T) {
	winds := []so3.Vec3{{X: 3}, {Y: -1}, {}}
	push := func(z []float64) so3.Vec3 { return so3.Vec3{X: z[0] + 0.5, Y: z[1] - 0.25, Z: 0.1} }
	near := func(w so3.Vec3, off float64) [][]float64 {
		return [][]float64{{w.X, w.Y + off}, {w.X, w.Y - off}}
	}
	for _, c := range []struct {
		name   string
		groups [][][]float64
		off    float64
	}{
		{"all as they are", [][][]float64{near(winds[0], 0), near(winds[1], 0), near(winds[2], 0)}, 0},
		{"without a calm scenario", [][][]float64{near(winds[0], 0), near(winds[1], 0)}, 0},
		{"without windows in calm", [][][]float64{near(winds[0], 0), near(winds[1], 0), nil}, 0},
		{"all off by a fifth", [][][]float64{near(winds[0], 0.2), near(winds[1], 0.2)}, 0.2},
		{"one scenario alone", [][][]float64{near(winds[0], 0.2)}, 0.2},
	} {
		l := &Latents{Groups: c.groups}
		beside := l.imagine(winds[:len(c.groups)], push)
		if want := (so3.Vec3{X: 0.5, Y: -0.25, Z: 0.1}); beside.Sub(want).Norm() > 1e-12 {
			t.Errorf("%s: beside the wind %v, want %v", c.name, beside, want)
		}
		if math.Abs(l.WindError-c.off) > 1e-12 {
			t.Errorf("%s: off by %.3f m/s², want %.3f", c.name, l.WindError, c.off)
		}
		for i, group := range l.Encoded {
			if len(group) != len(c.groups[i]) {
				t.Errorf("%s: %d accelerations of %d windows", c.name, len(group), len(c.groups[i]))
			}
		}
	}
	l := &Latents{Groups: make([][][]float64, 2)}
	if beside := l.imagine(winds[:2], push); beside != (so3.Vec3{}) || l.WindError != math.MaxFloat64 {
		t.Errorf("without a window: off by %g, beside the wind %v", l.WindError, beside)
	}
	l.sample(&vnd.Model[float32]{Net: &nets.Net[float32]{Config: nets.Config{Latent: 2}}}, 1, push)
	if n := len(l.Sampled); n != 4000 || len(l.Quantiles) != 6 || !slices.IsSorted(l.Quantiles) ||
		math.Abs(l.Quantiles[2]-1.25) > 0.1 {
		t.Errorf("%d samples, quantiles %v", n, l.Quantiles) // the median of |N(0, I) + (.5, −.25)| is 1.25
	}
}
