package param

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type kinds struct {
	Mask  []byte  `param:"mask" default:"0,255" doc:"bytes"`
	On    []bool  `param:"on" default:"true, false" doc:"switches"`
	IDs   []int   `param:"ids" default:"1,2" min:"0" max:"9" doc:"robots"`
	Even  int     `param:"even" default:"4" min:"2" max:"9" step:"2" doc:"an even number, or 9"`
	Tenth float64 `param:"tenth" default:"0.3" min:"0" step:"0.1" read_only:"true" unit:"s" doc:"tenths"`
}

func TestKinds(t *testing.T) {
	var c kinds
	Default(&c)
	want := kinds{[]byte{0, 255}, []bool{true, false}, []int{1, 2}, 4, 0.3}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	text := "n: {ros__parameters: {mask: [7], on: [], ids: !!python/tuple [3], even: 9, tenth: 0.7}}"
	if err := Parse("f", []byte(text), "n", &c); err != nil {
		t.Fatal(err)
	}
	want = kinds{[]byte{7}, []bool{}, []int{3}, 9, 0.7}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	var again kinds
	if err := Parse("f", []byte(YAML("n", &c)), "n", &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(c, again); diff != "" {
		t.Error(diff)
	}
	table := Markdown(&c)
	for _, line := range []string{
		"| `mask` | byte array | `[0, 255]` |", "| `ids` | integer array | `[1, 2]` |  | 0 … 9 |",
		"| `even` | integer | `4` |  | 2 … 9 in steps of 2 |", "| `tenth` | double | `0.3` | s | ≥ 0 in steps of 0.1 |",
	} {
		if !strings.Contains(table, line) {
			t.Errorf("missing %s in\n%s", line, table)
		}
	}
	if ds := Describe(&c); !ds[4].ReadOnly || ds[3].ReadOnly || ds[3].Step != 2 {
		t.Errorf("%+v", ds)
	}
}

func TestKindErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"mask: [256]", `f:1: parameter "mask": element 0: 256 is out of range, expected 0 … 255`},
		{"mask: [-1]", `f:1: parameter "mask": element 0: -1 is out of range, expected 0 … 255`},
		{"on: [1]", `f:1: parameter "on": element 0: 1 is an integer, expected a bool: write true or false`},
		{"ids: [1, 10]", `f:1: parameter "ids": element 1: 10 is out of range, expected 0 … 9`},
		{"ids: [1.0]", `f:1: parameter "ids": element 0: 1.0 is a double, expected an integer: write 1`},
		{"ids: 1", `f:1: parameter "ids": 1 is an integer, expected an integer array: write [ … ]`},
		{"even: 5", `f:1: parameter "even": 5 is out of range, expected 2 … 9 in steps of 2`},
		{"tenth: 0.0501", `f:1: parameter "tenth": 0.0501 is out of range, expected ≥ 0 in steps of 0.1 s`},
	} {
		t.Run(c.text, func(t *testing.T) {
			var k kinds
			err := Parse("f", []byte("n: {ros__parameters: {"+c.text+"}}"), "n", &k)
			if err == nil || err.Error() != c.want {
				t.Errorf("got %v\nwant %s", err, c.want)
			}
		})
	}
	for want, ptr := range map[string]any{
		`read_only "yes", expected true`: &struct {
			A int `param:"a" default:"1" read_only:"yes" doc:"x"`
		}{},
		"step 0, expected it above 0": &struct {
			A int `param:"a" default:"1" min:"1" step:"0" doc:"x"`
		}{},
		"step 2, expected it above 0 and a min": &struct {
			A int `param:"a" default:"1" step:"2" doc:"x"`
		}{},
		`step "0.5" of an integer`: &struct {
			A int `param:"a" default:"1" min:"1" step:"0.5" doc:"x"`
		}{},
		"a byte array has no min": &struct {
			A []byte `param:"a" default:"1" min:"1" doc:"x"`
		}{},
		`default "256"`: &struct {
			A []byte `param:"a" default:"256" doc:"x"`
		}{},
	} {
		t.Run(want, func(t *testing.T) {
			if err := Check(ptr); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%T: error %v, want %q", ptr, err, want)
			}
		})
	}
}

func TestAssign(t *testing.T) {
	var c kinds
	Default(&c)
	ids := []int{5}
	for name, v := range map[string]any{"mask": []byte{1}, "on": []bool{true}, "ids": ids, "even": 8, "tenth": 0.5} {
		t.Run(name, func(t *testing.T) {
			if err := Assign(&c, name, v); err != nil {
				t.Error(err)
			}
		})
	}
	ids[0] = 6 // the configuration owns its slices
	want := kinds{[]byte{1}, []bool{true}, []int{5}, 8, 0.5}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []struct {
		name  string
		value any
		want  string
	}{
		{"even", 5, `parameter "even": 5 is out of range, expected 2 … 9 in steps of 2`},
		{"even", 5., `parameter "even": got a double, expected an integer`},
		{"even", nil, `parameter "even": got a Go <nil>, expected an integer`},
		{"evn", 4, `parameter "evn": unknown, did you mean "even"?`},
	} {
		t.Run(bad.name, func(t *testing.T) {
			if err := Assign(&c, bad.name, bad.value); err == nil || err.Error() != bad.want {
				t.Errorf("%v, want %s", err, bad.want)
			}
		})
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
}
