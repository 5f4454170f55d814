package sim

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
)

func TestTags(t *testing.T) {
	if err := param.Check(new(World)); err != nil {
		t.Fatal(err)
	}
	w := Default()
	if err := w.Check(); err != nil {
		t.Fatal(err)
	}
}

// TestWrongWorlds: each mistake is said in one line with the file's name, the line and what was expected.
func TestWrongWorlds(t *testing.T) {
	const two = "conditions: {name: [a, b]}\n    "
	for _, c := range []struct{ text, want string }{
		{"gusts: {winds: 3.0}", `3: parameter "gusts.winds": unknown, did you mean "gusts.wind"?`},
		{"airframe: {mass: -1.0}", `3: parameter "airframe.mass": -1 is out of range, expected 0.001 … 100 kg`},
		{"airframe: {mass: 1}",
			`3: parameter "airframe.mass": 1 is an integer, expected a double: ROS tells them apart, write 1.0`},
		{"airframe:\n      mass: 1.5",
			`4: parameter "airframe.mass": 1.5 kg under at most 14 N of thrust in condition "default": thrust-to-weight 0.95` +
				`, expected > 1`},
		{"airframe.mass: 1.5", `3: parameter "airframe.mass": 1.5 kg under`},
		{"conditions: {name: [a, b], payload: [0.0, 1.3]}",
			`3: parameter "conditions.payload": 1.492 kg under at most 14 N of thrust in condition "b": thrust-to-weight 0.96` +
				`, expected > 1`},
		{"airframe: {inertia: [1.0e-4, 1.0e-4]}", `3: parameter "airframe.inertia": 2 elements, expected 3`},
		{"airframe: {inertia: [1.0e-4, 1.0e-4, 3.0e-4]}",
			`3: parameter "airframe.inertia": [0.0001 0.0001 0.0003] is no body's` +
				`, expected each moment to be at most the sum of the other two`},
		{"rate_loop: {gain: [1.0]}", `3: parameter "rate_loop.gain": 1 elements, expected 3`},
		{"drag: {body: []}", `3: parameter "drag.body": 0 elements, expected 3`},
		{"battery: {reference: 20.0}",
			`3: parameter "battery.reference": 20 V, expected at most the 16.8 V of 4 full cells`},
		{"fans: {x: [1.0], y: [1.0]}",
			`3: parameter "fans.x": fans.z has 0 elements, expected one for each of the 1 of fans.x`},
		{"conditions: {name: [a, a]}", `3: parameter "conditions.name": a second "a", expected each name once`},
		{`conditions: {name: [a, ""]}`, `3: parameter "conditions.name": element 1 is empty, expected a name`},
		{"conditions:\n      name: [a, b]\n      wind_x: [1.0]",
			`5: parameter "conditions.wind_x": 1 elements, expected one for each of the 2 of conditions.name`},
		{"conditions: {name: [a], charge: [-0.5]}",
			`3: parameter "conditions.charge": element 0 is -0.5, expected a share 0 … 1, or -1.0 to keep the battery`},
		{"conditions: {name: [a], cut_rotor: [5]}",
			`3: parameter "conditions.cut_rotor": element 0: 5 is out of range, expected 0 … 4`},
		{two + "schedule: {condition: [a, c], start: [0.0, 1.0]}",
			`4: parameter "schedule.condition": element 1: no condition "c", expected one of ["a" "b"]`},
		{two + "schedule: {condition: [a, b], start: [0.0]}",
			`4: parameter "schedule.start": schedule.start has 1 elements` +
				`, expected one for each of the 2 of schedule.condition`},
		{two + "schedule: {condition: [a, b], start: [1.0, 2.0]}",
			`4: parameter "schedule.start": begins at 1 s, expected 0.0: something is always in force`},
		{two + "schedule: {condition: [a, b, a], start: [0.0, 2.0, 2.0]}",
			`4: parameter "schedule.start": element 2 at 2 s overlaps element 1 at 2 s` +
				`, expected at least 0.01 s after it`},
		{two + "schedule: {condition: [a, b], start: [0.0, 2.0], period: 2.0}",
			`4: parameter "schedule.period": 2 s overlaps the schedule, expected at least 0.01 s after its last start`},
		{two + "schedule: {condition: [a, b]}",
			`4: parameter "schedule.condition": schedule.start has 0 elements` +
				`, expected one for each of the 2 of schedule.condition`},
		{"schedule: {condition: [default], start: [0.0], period: 1.0e-300}",
			`3: parameter "schedule.period": 1e-300 s overlaps the schedule` +
				`, expected at least 0.01 s after its last start`},
		{"schedule: {period: 2.0}",
			`3: parameter "schedule.period": 2 s overlaps the schedule, expected at least 0.01 s after its last start`},
	} {
		_, err := Parse("w.yaml", []byte("world:\n  ros__parameters:\n    "+c.text+"\n"))
		if err == nil || !strings.HasPrefix(err.Error(), "w.yaml:"+c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s\n got %v\nwant w.yaml:%s", c.text, err, c.want)
		}
	}
}

func TestNoWorld(t *testing.T) {
	if _, err := Parse("w.yaml", []byte("fit:\n  ros__parameters:\n    a: 1\n")); err == nil ||
		!strings.HasPrefix(err.Error(), `w.yaml: no parameters for node "/world"`) {
		t.Errorf("got %v", err)
	}
	const others = "fit:\n  ros__parameters:\n    airframe: {mass: 2.0}\n\"**\":\n  world:\n    " +
		"ros__parameters:\n      airframe: {mass: 2.0}\n" +
		"nodes:\n  ros__parameters:\n    airframe: {mass: 2.0}\n"
	if _, err := Parse("w.yaml", []byte(others)); err == nil || !strings.HasPrefix(err.Error(), "w.yaml:7: ") {
		t.Errorf("beside other nodes: %v", err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml")); !os.IsNotExist(err) {
		t.Errorf("got %v", err)
	}
	w := Default()
	w.Airframe.Mass = 5
	if s, err := New(w, 1); err == nil || s != nil {
		t.Error("New takes a world that cannot fly")
	}
}

// FuzzParse: whatever a file holds, it is refused in one line with its name, or flies without a panic.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("../../params/worlds/*.yaml")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := Parse("w.yaml", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "w.yaml:") || strings.ContainsAny(err.Error(), "\r\n") {
				t.Fatalf("%q", err)
			}
			return
		}
		s, err := New(w, 1)
		if err != nil {
			t.Fatalf("Parse takes what New refuses: %v", err)
		}
		for range 5 {
			s.Step(quad.Command{Thrust: 12}, .02)
			s.Mocap()
		}
		if !s.State().P.Finite() || !s.State().V.Finite() {
			t.Fatalf("flies to %+v", s.State())
		}
	})
}
