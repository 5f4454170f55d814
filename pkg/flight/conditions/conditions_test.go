package conditions

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
)

const dt = 0.02

// flight pushes the latents of conditions: each a middle, with noise and with a swing of 5 s as of a figure-eight.
type flight struct {
	t      *testing.T
	m      *Memory
	rng    *rand.Rand
	now    float64
	swing  float64
	window func(z []float32) []quad.Row
}

// fly goes on for some seconds around a middle and returns the label and state at the end.
func (f *flight) fly(seconds float64, middle ...float64) (string, State) {
	f.t.Helper()
	for end := f.now + seconds; f.now < end-dt/2; f.now += dt {
		z := make([]float32, len(middle))
		for j, x := range middle {
			z[j] = float32(x + 0.15*f.rng.NormFloat64() + f.swing*math.Sin(2*math.Pi*f.now/5+float64(j)))
		}
		var w []quad.Row
		if math.Mod(f.now, 1) < dt {
			w = f.window(z)
		}
		f.m.Push(f.now, z, w)
	}
	c, s := f.m.Current()
	if c == nil {
		return "", s
	}
	return c.Label(), s
}

// windows are one step whose position is the latent, so that any bundle can read it.
func window(z []float32) []quad.Row {
	var s quad.Row
	s.State.P.X, s.State.P.Y, s.State.P.Z = float64(z[0]), float64(z[1]), float64(z[2])
	return []quad.Row{s}
}

// reads is a bundle whose latents are those of windows times a factor.
func reads(factor float64) Encode {
	return func(windows [][]quad.Row) (all [][]float64) {
		for _, w := range windows {
			p := w[0].State.P
			all = append(all, []float64{factor * p.X, factor * p.Y, factor * p.Z})
		}
		return all
	}
}

func memory(t *testing.T, path string) *Memory {
	t.Helper()
	m, err := New(Config{Radius: 2, Time: 3}, "quadrotor", path)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (f *flight) expect(what string, label string, state State, gotLabel string, gotState State) {
	f.t.Helper()
	if gotLabel != label || gotState != state {
		f.t.Errorf("%s: %q, %v, expected %q, %v", what, gotLabel, gotState, label, state)
	}
}

// Winds come, go and come again; the file keeps them for another run, and names that are given afterwards; a bundle
// whose latents are others reads them anew.
func TestMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "conditions.json")
	m := memory(t, path)
	m.Use("a", dt, reads(1))
	f := &flight{t: t, m: m, rng: rand.New(rand.NewPCG(1, 2)), window: window}
	if _, err := m.Name("calm"); err == nil || !strings.Contains(err.Error(), "not decided on") {
		t.Errorf("named nothing: %v", err)
	}
	label, state := f.fly(2, 0, 0, 0)
	f.expect("too early", "", Undecided, label, state)
	label, state = f.fly(6, 0, 0, 0)
	f.expect("calm", "condition 1", FirstVisit, label, state)
	label, state = f.fly(8, 5, 0, 0)
	f.expect("east", "condition 2", FirstVisit, label, state)
	label, state = f.fly(1, -4, 0, 0)
	f.expect("a second of west", "", Undecided, label, state)
	label, state = f.fly(8, -4, 0, 0)
	f.expect("west", "condition 3", FirstVisit, label, state)
	label, state = f.fly(8, 5.3, 0.4, 0)
	f.expect("east again", "condition 2", Known, label, state)
	if text, err := m.Name("fan east"); err != nil || text != "condition 2 is fan east" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := m.Name("1: calm: indoors"); err != nil {
		t.Error(err)
	}
	for bad, want := range map[string]string{"9: hail": "there is no condition 9, expected one of 1 to 3",
		"": "a name of 0 bytes", "2:": "a name of 0 bytes", strings.Repeat("x", 61): "a name of 61 bytes"} {
		if _, err := m.Name(bad); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", bad, err)
		}
	}
	f.swing = 1 // a figure-eight
	label, state = f.fly(12, 0.5, 0, 0)
	f.expect("calm, another task", "calm: indoors", Known, label, state)
	if c := m.All()[1]; c.Visits != 2 || math.Abs(c.Seconds-11) > 4 || len(c.Windows) < 4 {
		t.Errorf("%d visits, %.1f s, %d windows", c.Visits, c.Seconds, len(c.Windows))
	}
	if err := m.Save(); err != nil {
		t.Fatal(err)
	}

	// Another run, and another bundle.
	m = memory(t, path)
	f.m, f.swing = m, 0
	m.Use("b", dt, reads(-1.5))
	f.window = func(z []float32) []quad.Row { // of whose flights bundle b makes z
		return window([]float32{z[0] / -1.5, z[1] / -1.5, z[2] / -1.5})
	}
	label, state = f.fly(6, -7.5, 0, 0)
	f.expect("east by another bundle", "fan east", Known, label, state)
	label, state = f.fly(6, 0, 9, 0)
	f.expect("something else", "condition 4", FirstVisit, label, state)
	if c, _ := m.Current(); c.Visits != 1 || m.Distance() > 0.5 {
		t.Errorf("%+v at %g", c, m.Distance())
	}
	m.Use("c", dt, reads(1)) // in flight
	label, state = f.fly(6, 0, -6, 0)
	f.expect("the same, by a third bundle", "condition 4", FirstVisit, label, state)
}

// A gap, a clock set back and latents of another length begin the average anew and are no panic.
func TestGaps(t *testing.T) {
	m := memory(t, "")
	m.Use("a", dt, reads(1))
	f := &flight{t: t, m: m, rng: rand.New(rand.NewPCG(1, 2)), window: window}
	f.fly(6, 1, 0, 0)
	f.now += 60
	label, state := f.fly(2, 1, 0, 0)
	f.expect("after a gap", "", Undecided, label, state)
	label, _ = f.fly(2, 1, 0, 0)
	if c, _ := m.Current(); label != "condition 1" || c.Visits != 1 {
		t.Errorf("%s: %+v", label, c)
	}
	f.now = 0
	label, state = f.fly(1, 1, 0, 0)
	f.expect("a clock set back", "", Undecided, label, state)
	label, state = f.fly(6, 1, 0, 0, 5)
	f.expect("latents of another length", "condition 2", FirstVisit, label, state)
	if err := m.Save(); err != nil {
		t.Error(err)
	}
}

// What is not such a file is refused in words.
func TestBadFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "conditions.json")
	const ours = `{"format": 1, "robot": "quadrotor", "conditions": `
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "conditions.json: not the conditions of a robot"},
		{"format", `{"format": 2}`, "conditions.json: format is 2, expected 1"},
		{"robot", `{"format": 1, "robot": "crab"}`,
			`conditions.json: conditions of robot "crab", expected "quadrotor"`},
		{"null", ours + `[null]}`, "conditions[0]: its id is missing"},
		{"id twice", ours + `[{"id": 1}, {"id": 1}]}`,
			"conditions[1]: its id is missing, below 1 or another one's"},
		{"negative time", ours + `[{"id": 1, "seconds": -1}]}`,
			"condition 1: name, visits, seconds or windows out of range"},
		{"broken off", ours + `[{"id": 1, "windows": [[{"T":"x"}`, "not the conditions of a robot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := os.WriteFile(path, []byte(c.text), 0o666); err != nil {
				t.Fatal(err)
			}
			if _, err := New(Config{Radius: 2, Time: 3}, "quadrotor", path); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, expected %s", err, c.want)
			}
		})
	}
	if _, err := New(Config{}, "quadrotor", t.TempDir()); err == nil {
		t.Error("a folder was a file")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"format": 1, "robot": "quadrotor", "conditions": [{"id": 1, "name": "calm", ` +
		`"bundle": "a", "middle": [0, 1, 2], "windows": [[{"T": 1}]]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &Memory{config: Config{Radius: 2, Time: 3}, robot: "quadrotor", last: math.NaN(), unknownSince: math.NaN()}
		if m.parse(data) != nil {
			return
		}
		m.Use("a", dt, func(w [][]quad.Row) [][]float64 { return nil })
		for i := range 200 {
			m.Push(float64(i)*dt, []float32{0, 1, 2}, nil)
		}
	})
}
