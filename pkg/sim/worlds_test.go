package sim

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/core/so3"
)

// shipped reads a world that comes with the project.
func shipped(t testing.TB, name string) World {
	t.Helper()
	w, err := Load(filepath.Join("..", "..", "params", "worlds", name+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestWorlds flies a plain geometric law in every condition of every world: none is impossible, each that is not calm
// pushes the robot aside more than calm does, and each schedule is flown through.
func TestWorlds(t *testing.T) {
	files, err := filepath.Glob("../../params/worlds/*.yaml")
	if err != nil || len(files) < 12 {
		t.Fatalf("%d worlds, %v", len(files), err)
	}
	at := so3.Vec3{Z: 1}
	calm := hover(t, mustNew(t, Default()), at, 4)
	undisturbed := []string{"calm", "none", "off", "whole", "empty", "default"}
	slow := map[string]bool{"late": true, "delayed": true, "slow_motors": true, "low": true} // they hardly push
	for _, file := range files {
		world, most := strings.TrimSuffix(filepath.Base(file), ".yaml"), 0.9
		if world == "half_cut" { // a law without an integral sinks there
			most = 1.5
		}
		w := shipped(t, world)
		for _, name := range w.Names() {
			only, err := w.Only(name)
			if err != nil {
				t.Fatal(err)
			}
			s := mustNew(t, only)
			got := hover(t, s, at, 4)
			still := false
			for _, u := range undisturbed {
				still = still || u == name
			}
			if still != (math.Abs(got-calm) < .003) && !slow[world] && !slow[name] || got > most {
				t.Errorf("%s, %s: hovers %.3f m off, calm %.3f", world, name, got, calm)
			}
		}
		hover(t, mustNew(t, w), at, math.Min(20, 5+w.Schedule.Period))
	}
}

// TestWinds17 holds the paper's conditions: calm and 8 planar directions, 45° apart, with 0.7 and 3.0 m/s².
func TestWinds17(t *testing.T) {
	w := shipped(t, "winds17")
	rows := w.Conditions.rows()
	if len(rows) != 17 || rows[0].wind != (so3.Vec3{}) {
		t.Fatalf("%d conditions, the first with wind %v", len(rows), rows[0].wind)
	}
	for i, r := range rows[1:] {
		size, angle := []float64{.7, 3}[i/8], float64(i%8)*math.Pi/4
		want := so3.Vec3{X: size * math.Cos(angle), Y: size * math.Sin(angle)}
		if r.wind.Sub(want).Norm() > 1e-5 {
			t.Errorf("%s blows %v, expected %v", r.name, r.wind, want)
		}
	}
}

// TestCalmIsDefault: the file that lists every default says what Default says.
func TestCalmIsDefault(t *testing.T) {
	a := hover(t, mustNew(t, shipped(t, "calm")), so3.Vec3{Z: 1}, 3)
	if b := hover(t, mustNew(t, Default()), so3.Vec3{Z: 1}, 3); a != b {
		t.Errorf("calm.yaml hovers %v m off, Default %v", a, b)
	}
}

// TestCutPropeller: the damage is a steady disturbance that a law without learning holds, but not away.
func TestCutPropeller(t *testing.T) {
	w := shipped(t, "cut_propeller")
	at := so3.Vec3{Z: 1}
	flight := func(name string) (mean so3.Vec3, spread float64, s *Simulator) {
		only, err := w.Only(name)
		if err != nil {
			t.Fatal(err)
		}
		s = mustNew(t, only)
		hover(t, s, at, 8)
		const n = 200
		var square float64
		for range n {
			hover(t, s, at, .04)
			d := s.State().P.Sub(at)
			mean, square = mean.Add(d.Scale(1./n)), square+d.Dot(d)/n
		}
		return mean, math.Sqrt(math.Max(0, square-mean.Dot(mean))), s
	}
	whole, _, _ := flight("whole")
	cut, spread, s := flight("cut")
	if off := cut.Sub(whole).Norm(); off < .01 || off > .5 || spread > .1*off {
		t.Errorf("cut hovers %.3f m beside whole with a spread of %.4f m, expected a steady offset", off, spread)
	}
	speed := s.Truth().RotorSpeed
	if speed[0] < 1.05*speed[2] {
		t.Errorf("rotors turn at %v rad/s, expected the cut one to make up for its loss", speed)
	}
}
