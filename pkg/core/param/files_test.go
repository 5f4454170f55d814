package param

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// inTwoFiles are parameters of which another file holds some.
type inTwoFiles struct {
	Rate  float64 `param:"rate" default:"50.0" doc:"of ticks"`
	Frame frame   `param:"frame" file:"airframe" doc:"of the vehicle"`
}

type frame struct {
	Thrust float64 `param:"thrust" default:"20.0" doc:"greatest"`
}

func TestYAMLLeavesOutWhatAnotherFileHolds(t *testing.T) {
	p := inTwoFiles{Rate: 50, Frame: frame{15}}
	if text := YAML("n", &p); strings.Contains(text, "frame") || !strings.Contains(text, "rate: 50.0") {
		t.Error(text)
	}
	row := "`frame.thrust` | double | `20.0` |  |  | greatest (in the airframe file)"
	if page := Markdown(&p); !strings.Contains(page, row) {
		t.Error(page)
	}
	if diff := cmp.Diff(map[string]any{"rate": 50., "frame.thrust": 15.}, Values(&p)); diff != "" {
		t.Error(diff)
	}
}

func TestAssignmentsAreThoseOfTheNode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.yaml")
	if err := os.WriteFile(path, []byte("/**: {ros__parameters: {a: 1}}\n/other: {ros__parameters: {a: 2}}\n"+
		"/quad/n: {ros__parameters: {a: 3}}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	got, err := Assignments(path, "/quad/n")
	want := []Assignment{{"a", int64(1), path + ":1", true}, {"a", int64(3), path + ":3", false}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
}
