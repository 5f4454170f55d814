package param

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

func TestParse(t *testing.T) {
	const all = `
# one file for all nodes
/**:
  ros__parameters:
    use_sim_time: true
    seed: 1
/quad/fit:
  ros__parameters:
    encoder: {hidden: 64}
    encoder.cell: "mlp"
    gains: [1.5, 0.0]
other:
  ros__parameters: {anything: [1, two]}
quad:
  fit:
    ros__parameters: {}
  "*":
    ros__parameters:
      seed: 2
/*/fit:
  ros__parameters:
`
	for node, change := range map[string]func(*config){
		"/quad/fit": func(c *config) {
			c.UseSimTime, c.Seed = true, 2
			c.Encoder, c.Gains = encoder{64, "mlp"}, []float64{1.5, 0}
		},
		"quad/x":   func(c *config) { c.UseSimTime, c.Seed = true, 2 },
		"/fit":     func(c *config) { c.UseSimTime, c.Seed = true, 1 },
		"/a/b/fit": func(c *config) { c.UseSimTime, c.Seed = true, 1 },
	} {
		t.Run(node, func(t *testing.T) {
			got, want := defaults(t), defaults(t)
			change(want)
			text := strings.Replace(all, "  fit:\n    ros__parameters: {}\n", "", 1)
			if err := Parse("f.yaml", []byte(text), node, got); err != nil {
				t.Fatal(err)
			}
			if diff := same(want, got); diff != "" {
				t.Errorf("%s: %s", node, diff)
			}
		})
	}
	err := Parse("f.yaml", []byte(all), "/fit", defaults(t))
	if want := "f.yaml:16: duplicate parameters of /quad/fit, first on line 9"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestParseErrors: errors have their line and text. The text is put under
// "n:\n  ros__parameters:\n": its first line is line 3.
func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"latent_sise: 3", `3: parameter "latent_sise": unknown, did you mean "latent_size"?`},
		{"hidden: 3", `3: parameter "hidden": unknown, did you mean "encoder.hidden"?`},
		{"zzz: 3", `3: parameter "zzz": unknown`},
		{"encoder: 3", `3: parameter "encoder": 3 is an integer, expected a map of encoder.hidden, encoder.cell`},
		{"encoder:\n      hiden: 3", `4: parameter "encoder.hiden": unknown, did you mean "encoder.hidden"?`},
		{"dt: {a: 1}", `3: parameter "dt": got a map, expected a double`},
		{"dt: 1", `3: parameter "dt": 1 is an integer, expected a double: ROS tells them apart, write 1.0`},
		{"dt:", `3: parameter "dt": got nothing, expected a double`},
		{"dt: .nan", `3: parameter "dt": .nan is not a finite number`},
		{"dt: 1.0e999", `3: parameter "dt": 1.0e999 is not a finite number`},
		{"dt: 2.0", `3: parameter "dt": 2 is out of range, expected 0.001 … 1 s`},
		{`dt: "0.1"`, `3: parameter "dt": 0.1 is a string, expected a double`},
		{"seed: 1.0", `3: parameter "seed": 1.0 is a double, expected an integer: write 1`},
		{"seed: 0x10", `3: parameter "seed": 0x10: write the integer in decimal, without leading zeros`},
		{"seed: 010", `3: parameter "seed": 010: write the integer in decimal, without leading zeros`},
		{"seed: 99999999999999999999", `3: parameter "seed": 99999999999999999999 does not fit an integer`},
		{"latent_size: 0", `3: parameter "latent_size": 0 is out of range, expected 1 … 64`},
		{"use_sim_time: yes", `3: parameter "use_sim_time": yes is a bool in some YAML parsers only: write true`},
		{"use_sim_time: 1", `3: parameter "use_sim_time": 1 is an integer, expected a bool: write true or false`},
		{"robot: off", `3: parameter "robot": off is a bool, expected a string: write "off"`},
		{"robot: 21", `3: parameter "robot": 21 is an integer, expected a string: write "21"`},
		{"robot: [a]", `3: parameter "robot": got a list, expected a string`},
		{"encoder.cell: lstm", `3: parameter "encoder.cell": lstm is not allowed, expected one of gru, mlp`},
		{"gains: 1.0", `3: parameter "gains": 1.0 is a double, expected a double array: write [ … ]`},
		{"gains: [1.0,\n     2]",
			`4: parameter "gains": element 1: 2 is an integer, expected a double: ROS tells them apart, write 2.0`},
		{"gains: [-1.0]", `3: parameter "gains": element 0: -1 is out of range, expected ≥ 0 1/s`},
		{"gains: [[1.0]]", `3: parameter "gains": element 0: got a list, expected a double`},
		{"heads: [p, x]", `3: parameter "heads": element 1: x is not allowed, expected one of p, v, r`},
		{"seed: 1\n    seed: 2", `4: duplicate seed, first on line 3`},
		{"encoder: {hidden: 1}\n    encoder.hidden: 2", `4: parameter "encoder.hidden": duplicate, first on line 3`},
		{"seed: &a 1", `3: anchor &a: ROS parameter files have none`},
		{"<<: {seed: 1}", `3: parameter "<<": unknown`},
		{"robot: !!str 12", `3: tag !!str: not used here, quote a value to make it a string`},
		{"? [a]\n    : 1", `3: a list as a name, expected a word`},
		{"seed: 1\n   x: 2", `2: not YAML: did not find expected key at or below this line`},
		{"seed: 1\n---\na: 1", `4: a second YAML document, expected one`},
		{"robot: [" + strings.Repeat("[", 80) + strings.Repeat("]", 81), `3: more than 64 levels deep`},
	} {
		t.Run(c.text, func(t *testing.T) {
			got := defaults(t)
			err := Parse("f.yaml", []byte("n:\n  ros__parameters:\n    "+c.text), "n", got)
			if err == nil || err.Error() != "f.yaml:"+c.want {
				t.Errorf("%s:\n got %v\nwant f.yaml:%s", c.text, err, c.want)
			}
			if diff := same(defaults(t), got); diff != "" {
				t.Errorf("%s changed something: %s", c.text, diff)
			}
		})
	}
}

func TestParseStructure(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `f.yaml: no parameters for node "/n"; the file has none at all`},
		{"# only a comment\n", `f.yaml: no parameters for node "/n"; the file has none at all`},
		{"[1]", `f.yaml:1: got a list, expected a node name with "ros__parameters:" below it`},
		{"n: 3", `f.yaml:1: 3 is an integer, expected a node name with "ros__parameters:" below it`},
		{"n:\n  seed: 1", `f.yaml:2: 1 is an integer, expected a node name with "ros__parameters:" below it`},
		{"ros__parameters: {}", `f.yaml:1: "ros__parameters:" without a node name above it`},
		{"n: {ros__parameters: []}", `f.yaml:1: got a list, expected the parameters of node /n`},
		{"/a/n: {ros__parameters: }", `f.yaml: no parameters for node "/n"; the file has /a/n`},
		{"n: &a {}\nm: *a", `f.yaml:1: anchor &a: ROS parameter files have none`},
		{"\xff", `f.yaml:1: byte 0xff is not UTF-8`},
		{"n: {ros__parameters: {}}\x00", `f.yaml:1: control character U+0000`},
		{"n:\n  \xe2\x82", `f.yaml:2: byte 0xe2 is not UTF-8`},
		{"n: {", `f.yaml:1: not YAML: did not find expected node content at or below this line`},
		{"n:\n  m: {\nx: @", `f.yaml:3: not YAML: found character that cannot start any token`},
		{"n:\n\nm: a: b", `f.yaml:3: not YAML: mapping values are not allowed in this context`},
	} {
		t.Run(c.text, func(t *testing.T) {
			err := Parse("f.yaml", []byte(c.text), "n", defaults(t))
			if err == nil || err.Error() != c.want {
				t.Errorf("%q:\n got %v\nwant %s", c.text, err, c.want)
			}
			if strings.Contains(c.want, "no parameters") != errors.Is(err, ErrNoBlock) {
				t.Errorf("%q: errors.Is(%v, ErrNoBlock) is wrong", c.text, err)
			}
		})
	}
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		pattern, node string
		want          bool
	}{
		{"n", "/n", true}, {"/n", "n", true}, {"n", "/ns/n", false}, {"/ns/n", "/ns/n", true},
		{"/**", "/a/b/n", true}, {"/*", "/n", true}, {"/*", "/a/n", false}, {"/*/n", "/a/n", true},
		{"/**/n", "/n", true}, {"/**/n", "/a/b/n", true}, {"/**/n", "/a/b/m", false},
		{"/a/**/n", "/a/n", true}, {"/a/**/n", "/b/n", false}, {"/a/*/**", "/a", false}, {"/a/**", "/a/b/c", true},
	} {
		t.Run(c.pattern, func(t *testing.T) {
			if got := matches(tokens(c.pattern), tokens(c.node)); got != c.want {
				t.Errorf("%s on %s: %v", c.pattern, c.node, got)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	path := filepath.Join(t.TempDir(), "p.yaml")
	c := defaults(t)
	if err := Load(path, "n", c); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if err := os.WriteFile(path, []byte("n: {ros__parameters: {seed: x}}"), 0o600); err != nil {
		t.Fatal(err)
	}
	want := path + `:1: parameter "seed": x is a string, expected an integer`
	if err := Load(path, "n", c); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestYAML: every configuration reads back from its file.
func TestYAML(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
			"yes", "1", "1.0", "~", "", "a: b", "# c", "\x7f\u0085\u2028\ufeff\n\t\"\\", "2001-01-01", "*a", "𝛿",
		}))
		number := rapid.Float64Range(0, math.MaxFloat64)
		want := &config{
			standard:   standard{rapid.Bool().Draw(rt, "use_sim_time")},
			LatentSize: rapid.IntRange(1, 64).Draw(rt, "latent_size"),
			Delta:      rapid.Float64Range(0.001, 1).Draw(rt, "dt"),
			Robot:      text.Draw(rt, "robot"),
			Encoder: encoder{rapid.IntRange(1, 1024).Draw(rt, "hidden"),
				rapid.SampledFrom([]string{"gru", "mlp"}).Draw(rt, "cell")},
			Seed:   rapid.Int().Draw(rt, "seed"),
			Gains:  rapid.SliceOf(number).Draw(rt, "gains"),
			Topics: rapid.SliceOf(text).Draw(rt, "topics"),
			Heads:  rapid.SliceOf(rapid.SampledFrom([]string{"p", "v", "r"})).Draw(rt, "heads"),
		}
		file := YAML("/ns/n", want)
		got := defaults(t)
		if err := Parse("f.yaml", []byte(file), "/ns/n", got); err != nil {
			rt.Fatalf("%v\n%s", err, file)
		}
		if diff := same(want, got); diff != "" {
			rt.Fatalf("%s\n%s", diff, file)
		}
		checkTypes(rt, file)
	})
}

// checkTypes compares the written types with yaml.v3's own resolver.
func checkTypes(rt *rapid.T, file string) {
	var nodes map[string]map[string]map[string]any
	if err := yaml.Unmarshal([]byte(file), &nodes); err != nil {
		rt.Fatal(err)
	}
	m := nodes["/ns/n"][marker]
	if _, ok := m["dt"].(float64); !ok {
		rt.Fatalf("dt is %T", m["dt"])
	}
	if _, ok := m["robot"].(string); !ok {
		rt.Fatalf("robot is %T", m["robot"])
	}
}

func ExampleYAML() {
	type Encoder struct {
		Hidden int `param:"hidden" default:"128" min:"1" doc:"width of the GRU"`
	}
	c := struct {
		Delta   float64 `param:"dt" default:"0.02" min:"0.001" max:"0.1" unit:"s" doc:"time step"`
		Encoder Encoder `param:"encoder" doc:"history encoder"`
	}{}
	Default(&c)
	os.Stdout.WriteString(YAML("/**", &c))
	// Output:
	// /**:
	//   ros__parameters:
	//     # time step (default 0.02 s; 0.001 … 0.1)
	//     dt: 0.02
	//     # history encoder
	//     encoder:
	//       # width of the GRU (default 128; ≥ 1)
	//       hidden: 128
}

// FuzzParse: no input panics, errors are one line, and a refused file changes nothing.
// Values survive writing and reading.
func FuzzParse(f *testing.F) {
	f.Add("n: {ros__parameters: {seed: 1, encoder: {hidden: 3}, gains: [1.0]}}")
	f.Add(YAML("/**", defaults(f)))
	f.Add("/*:\n  ros__parameters:\n    robot: |\n      a\n    encoder.cell: &a 'gru'\n    x: *a\n")
	fresh := copies(f)
	f.Fuzz(func(t *testing.T, text string) {
		got := fresh()
		if err := Parse("f.yaml", []byte(text), "/n", got); err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") {
				t.Errorf("error of several lines: %q", err)
			}
			if diff := same(fresh(), got); diff != "" {
				t.Errorf("refused, but: %s", diff)
			}
			return
		}
		again := fresh()
		if err := Parse("f.yaml", []byte(YAML("n", got)), "n", again); err != nil {
			t.Fatal(err)
		}
		if diff := same(got, again); diff != "" {
			t.Error(diff)
		}
	})
}
