package param

import (
	_ "embed"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

//go:embed testdata/launch.yaml
var launched string // what `ros2 launch` of ROS 2 Humble wrote for a node

func TestScan(t *testing.T) {
	blocks, err := Scan("f", []byte(launched+`
/**:
  ros__parameters:
    qos_overrides:
      /step: {publisher: {depth: 5}}
    a.b: [true, no]
drone1:
  sim: {ros__parameters: {s: ["1", two], d: [], e: -.inf, h: 0x10, o: 010, z: 08, q: "1"}}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []Block{
		{Name: "/drone1/ctrl", Assignments: []Assignment{{"gain", 1.5, "f:3", false},
			{"ids", []int64{1, 2}, "f:4", false},
			{"name", "x", "f:7", false}}},
		{Name: "/**", Assignments: []Assignment{
			{"qos_overrides./step.publisher.depth", int64(5), "f:12", true},
			{"a.b", []bool{true, false}, "f:13", true}}},
		{Name: "/drone1/sim", Assignments: []Assignment{
			{"s", []string{"1", "two"}, "f:15", false}, {"d", EmptyList{}, "f:15", false},
			{"e", math.Inf(-1), "f:15", false},
			{"h", int64(16), "f:15", false}, {"o", int64(8), "f:15", false}, {"z", 8., "f:15", false},
			{"q", "1", "f:15", false}}},
	}
	if diff := cmp.Diff(want, blocks, cmpopts.IgnoreUnexported(Block{})); diff != "" {
		t.Error(diff)
	}
	for node, matched := range map[string]string{"/drone1/ctrl": "110", "/drone1/sim": "011", "/sim": "010"} {
		t.Run(node, func(t *testing.T) {
			got := ""
			for _, b := range blocks {
				got += map[bool]string{true: "1", false: "0"}[b.Matches(node)]
			}
			if got != matched {
				t.Errorf("%s matched %s, want %s", node, got, matched)
			}
		})
	}
}

func TestScanErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a: 1\n    a: 2", `f:4: duplicate a, first on line 3`},
		{"a: {b: 1}\n    a.b: 2", `f:4: parameter "a.b": duplicate, first on line 3`},
		{"a:", `f:3: parameter "a": got nothing, expected a value: write "" for the empty string`},
		{"a: [1,\n     2.0]",
			`f:4: parameter "a": element 1: 2.0 is a double, expected an integer as before: ROS lists hold one type`},
		{"a: [[1]]", `f:3: parameter "a": element 0: got a list, ROS has no lists of lists`},
		{"a: [{b: 1}]", `f:3: parameter "a": element 0: got a map, expected a value or a list`},
		{"a: 1.0e999", `f:3: parameter "a": 1.0e999 does not fit a double`},
		{"a: [1, 99999999999999999999]", `f:3: parameter "a": element 1: 1e+20 does not fit an integer`},
		{"a: !!python/tuple 3", `f:3: tag !!python/tuple: not used here, quote a value to make it a string`},
		{"a: !!python/list [3]", `f:3: tag !!python/list: not used here, quote a value to make it a string`},
		{"a: &x [3]\n    b: *x", `f:3: anchor &x: ROS parameter files have none`},
		{`"": 3`, `f:3: a parameter without a name`},
	} {
		t.Run(c.text, func(t *testing.T) {
			if _, err := Scan("f", []byte("n:\n  ros__parameters:\n    "+c.text)); err == nil || err.Error() != c.want {
				t.Errorf("%s:\n got %v\nwant %s", c.text, err, c.want)
			}
		})
	}
	for _, c := range []struct{ text, want string }{
		{"a-b: {ros__parameters: {}}",
			`f:1: node a-b: expected names of letters, digits and _ that do not start with a digit, or * or **`},
		{"/a/4b: {ros__parameters: {}}", `f:1: node /a/4b: expected names`},
		{"/a***: {ros__parameters: {}}", `f:1: node /a***: expected names`},
		{"n: {ros__parameters: {a: 1}", `f:1: not YAML`},
		{"ros__parameters: {}", `f:1: "ros__parameters:" without a node name above it`},
		{"n: {a: 1}", `f:1: 1 is an integer, expected a node name`},
		{"{/**: {ros__parameters: [a]}}", `f:1: got a list, expected the parameters of node /**`},
	} {
		t.Run(c.text, func(t *testing.T) {
			if _, err := Scan("f", []byte(c.text)); err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("%s:\n got %v\nwant %s…", c.text, err, c.want)
			}
		})
	}
}

func TestScanValue(t *testing.T) {
	for text, want := range map[string]any{
		"1": int64(1), "1.0": 1., "1e3": 1000., "true": true, "off": false, "x": "x", "'1'": "1",
		"2026-11-21": "2026-11-21",
		"[1.5, 2.0]": []float64{1.5, 2}, "!!python/tuple [a]": []string{"a"}, "[]": EmptyList{}, "a: b": "",
	} {
		t.Run(text, func(t *testing.T) {
			got, err := ScanValue(text)
			if text == "a: b" {
				if err == nil {
					t.Error("a map passed")
				}
				return
			}
			if err != nil || !cmp.Equal(got, want) {
				t.Errorf("%s: %#v, %v, want %#v", text, got, err, want)
			}
		})
	}
	for _, text := range []string{"", "~", "[", "a\n---\nb", "\x00"} {
		if v, err := ScanValue(text); err == nil {
			t.Errorf("%q is %v", text, v)
		}
	}
}

// FuzzFile: no file makes Scan or what Parse does with it panic, and what Scan takes it gives one
// value per name and block.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		launched, "/**:\n  ros__parameters:\n    dt: 0.1\n    encoder.hidden: 3",
		"a: {b: {ros__parameters: {c: {d: [1]}}}}",
		"n: {ros__parameters: {gains: !!python/tuple [1.0, .inf], heads: []}}", "n: &a {b: *a}", "? [a]\n: b", "\xff",
		"n:\n\t- @",
	} {
		f.Add([]byte(seed))
	}
	fields, err := fieldsOf(defaults(f)) // once: Parse reads the tags each time, which takes longer than most files
	if err != nil {
		f.Fatal(err)
	}
	typed := indexOf(fields)
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _, refused := parse(data, "/n", typed)
		blocks, err := Scan("f", data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") || strings.Contains(err.Error(), "\n") {
				t.Fatalf("%q", err)
			}
			return
		}
		n := 0
		for _, b := range blocks {
			seen := map[string]bool{}
			for _, a := range b.Assignments {
				if seen[a.Name] || a.Name == "" || a.Value == nil {
					t.Fatalf("%+v", b)
				}
				seen[a.Name] = true
			}
			if b.Matches("/n") {
				n++
			}
		}
		if refused == nil && n == 0 {
			t.Fatal("Parse found a block that Scan did not")
		}
	})
}
