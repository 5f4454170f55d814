package param

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type encoder struct {
	Hidden int    `param:"hidden" default:"128" min:"1" max:"1024" doc:"width of the GRU"`
	Cell   string `param:"cell" default:"gru" enum:"gru,mlp" doc:"kind of encoder"`
}

type standard struct {
	UseSimTime bool `param:"use_sim_time" default:"false" doc:"time comes from /clock"`
}

type config struct {
	standard
	LatentSize int       `param:"latent_size" default:"12" min:"1" max:"64" doc:"size of the latent z"`
	Delta      float64   `param:"dt" default:"0.02" min:"0.001" max:"1" unit:"s" doc:"time step Δt"`
	Robot      string    `param:"robot" default:"" doc:"name | of the robot"`
	Encoder    encoder   `param:"encoder" doc:"history encoder"`
	Seed       int       `param:"seed" default:"-1" doc:"seed of all randomness"`
	Gains      []float64 `param:"gains" default:"1,2.5" min:"0" unit:"1/s" doc:"gains"`
	Topics     []string  `param:"topics" default:"step,latent" doc:"topics"`
	Own        func()    `param:"-"`
	Heads      []string  `param:"heads" default:"" enum:"p,v,r" doc:"residual heads"`
}

func defaults(t testing.TB) *config {
	t.Helper()
	c := new(config)
	if err := Check(c); err != nil {
		t.Fatal(err)
	}
	Default(c)
	return c
}

// copies returns a function that makes defaults without reading the tags, which is most of a
// short Parse.
func copies(t testing.TB) func() *config {
	t.Helper()
	d := defaults(t)
	return func() *config {
		c := *d
		c.Gains, c.Topics, c.Heads = slices.Clone(d.Gains), slices.Clone(d.Topics), slices.Clone(d.Heads)
		return &c
	}
}

// same compares configurations; the embedded struct is not exported.
func same(a, b *config) string { return cmp.Diff(a, b, cmp.AllowUnexported(config{})) }

func TestDefault(t *testing.T) {
	want := &config{
		LatentSize: 12, Delta: 0.02, Encoder: encoder{128, "gru"}, Seed: -1,
		Gains: []float64{1, 2.5}, Topics: []string{"step", "latent"}, Heads: []string{},
	}
	got := defaults(t)
	if diff := same(want, got); diff != "" {
		t.Error(diff)
	}
	got.Gains[0] = 7 // a configuration owns its slices
	if diff := same(want, defaults(t)); diff != "" {
		t.Error(diff)
	}
}

func TestDescribe(t *testing.T) {
	ds := Describe(new(config))
	var names []string
	for _, d := range ds {
		names = append(names, d.Name)
	}
	want := "use_sim_time latent_size dt robot encoder.hidden encoder.cell seed gains topics heads"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("names %s, want %s", got, want)
	}
	low, high := 0.001, 1.
	d := Descriptor{Name: "dt", Type: Double, Default: 0.02, Unit: "s", Min: &low, Max: &high, Doc: "time step Δt"}
	if diff := cmp.Diff(d, ds[2]); diff != "" {
		t.Error(diff)
	}
}

type inner struct {
	B int `param:"b" default:"1" doc:"x"`
}

// badStructs holds structs by the error of Check.
var badStructs = map[string]any{
	"expected a pointer to a struct":   config{},
	"expected a lower_snake_case name": &struct{ A int }{},
	`"Size", expected a lower_snake_case`: &struct {
		A int `param:"Size" default:"1" doc:"x"`
	}{},
	"unexported": &struct {
		a int `param:"a" default:"1" doc:"x"`
	}{},
	"no default tag": &struct {
		A int `param:"a" doc:"x"`
	}{},
	"expected one line": &struct {
		A int `param:"a" default:"1"`
	}{},
	`unknown tag "mim"`: &struct {
		A int `param:"a" default:"1" mim:"0" doc:"x"`
	}{},
	"a int8 cannot be a parameter": &struct {
		A int8 `param:"a" default:"1" doc:"x"`
	}{},
	`default "x"`: &struct {
		A int `param:"a" default:"x" doc:"x"`
	}{},
	"0 is out of range, expected ≥ 1": &struct {
		A int `param:"a" default:"0" min:"1" doc:"x"`
	}{},
	"min 2 is above max 1": &struct {
		A int `param:"a" default:"2" min:"2" max:"1" doc:"x"`
	}{},
	`min "0.5" of an integer`: &struct {
		A int `param:"a" default:"2" min:"0.5" doc:"x"`
	}{},
	`max "big" is not a number`: &struct {
		A float64 `param:"a" default:"2" max:"big" doc:"x"`
	}{},
	"a string has no max": &struct {
		A string `param:"a" default:"2" max:"1" doc:"x"`
	}{},
	"an integer has no enum": &struct {
		A int `param:"a" default:"2" enum:"1,2" doc:"x"`
	}{},
	"c is not allowed, expected one of": &struct {
		A string `param:"a" default:"c" enum:"a,b" doc:"x"`
	}{},
	"NaN is not a finite number": &struct {
		A float64 `param:"a" default:"nan" doc:"x"`
	}{},
	`a second "b"`: &struct {
		inner
		B int `param:"b" default:"2" doc:"x"`
	}{},
	`a second "a"`: &struct {
		A inner `param:"a" doc:"x"`
		B inner `param:"a" doc:"x"`
	}{},
}

func TestCheckRefuses(t *testing.T) {
	for want, ptr := range badStructs {
		t.Run(want, func(t *testing.T) {
			if err := Check(ptr); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%T: error %v", ptr, err)
			}
		})
	}
}

func TestSet(t *testing.T) {
	c := defaults(t)
	for _, arg := range []string{
		"latent_size:=3", "dt:=5.0e-2", "robot:=cf21", "encoder.cell:=mlp",
		"gains:=[0.5, 1.0]", "topics:=[]", "heads:=[p, v]", "use_sim_time:=true",
	} {
		name, value, _ := strings.Cut(arg, ":=")
		if err := Set(c, name, value); err != nil {
			t.Error(err)
		}
	}
	want := &config{
		standard: standard{true}, LatentSize: 3, Delta: 0.05, Robot: "cf21", Encoder: encoder{128, "mlp"},
		Seed: -1, Gains: []float64{0.5, 1}, Topics: []string{}, Heads: []string{"p", "v"},
	}
	if diff := same(want, c); diff != "" {
		t.Error(diff)
	}
	for _, bad := range [][3]string{
		{"latent_sise", "3", `parameter "latent_sise": unknown, did you mean "latent_size"?`},
		{"encoder", "3", `parameter "encoder": is a group of encoder.hidden, encoder.cell`},
		{"dt", "1", `parameter "dt": 1 is an integer, expected a double: ROS tells them apart, write 1.0`},
		{"robot", "", `parameter "robot": got nothing, expected a string: write "" for the empty string`},
		{"robot", "[", `parameter "robot": [: not YAML: did not find expected node content at or below this line`},
		{"seed", "1\n---\n2", `parameter "seed": "1\n---\n2": a second YAML document, expected one`},
	} {
		if err := Set(c, bad[0], bad[1]); err == nil || err.Error() != bad[2] {
			t.Errorf("%s:=%s: %v, want %s", bad[0], bad[1], err, bad[2])
		}
	}
	if diff := same(want, c); diff != "" {
		t.Errorf("a refused value changed something: %s", diff)
	}
}

func TestMarkdown(t *testing.T) {
	got := Markdown(new(config))
	for _, line := range []string{
		"| Parameter | Type | Default | Unit | Range | Meaning |\n",
		"| `latent_size` | integer | `12` |  | 1 … 64 | size of the latent z |\n",
		"| `dt` | double | `0.02` | s | 0.001 … 1 | time step Δt |\n",
		"| `robot` | string | `\"\"` |  |  | name \\| of the robot |\n",
		"| `encoder.cell` | string | `\"gru\"` |  | gru, mlp | kind of encoder |\n",
		"| `gains` | double array | `[1.0, 2.5]` | 1/s | ≥ 0 | gains |\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("missing %s in\n%s", line, got)
		}
	}
	if lines := strings.Count(got, "\n"); lines != 2+len(Describe(new(config))) {
		t.Errorf("%d lines", lines)
	}
}

// renamed has a leaf and a group that were called otherwise.
type renamed struct {
	Tilt  float64 `param:"max_tilt" was:"lean" default:"1" doc:"tilt"`
	Gains struct {
		Yaw float64 `param:"yaw" was:"turn" default:"2" doc:"gain"`
	} `param:"gains" was:"law" doc:"gains"`
}

func TestFormerNamesAreReadWithAWarning(t *testing.T) {
	var warnings []string
	before := Warn
	Warn = func(line string) { warnings = append(warnings, line) }
	t.Cleanup(func() { Warn = before })
	for _, c := range []struct {
		name, text string
		tilt, yaw  float64
		want       string
	}{
		{"new names", "{max_tilt: 3.0, gains: {yaw: 4.0}}", 3, 4, ""},
		{"leaf", "{lean: 3.0}", 3, 2,
			`f.yaml:1: parameter "lean" is now "max_tilt": the old name will not be read by the next version`},
		{"group and leaf", "{law: {turn: 4.0}}", 1, 4,
			`f.yaml:1: parameter "law.turn" is now "gains.yaw": the old name will not be read by the next version`},
		{"group", "{law.yaw: 4.0}", 1, 4,
			`f.yaml:1: parameter "law.yaw" is now "gains.yaw": the old name will not be read by the next version`},
	} {
		t.Run(c.name, func(t *testing.T) {
			warnings = nil
			var r renamed
			Default(&r)
			if err := Parse("f.yaml", []byte("n: {ros__parameters: "+c.text+"}"), "n", &r); err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(warnings, ";"); r.Tilt != c.tilt || r.Gains.Yaw != c.yaw || got != c.want {
				t.Errorf("%+v, warnings %s", r, got)
			}
		})
	}
	t.Run("argument", func(t *testing.T) {
		warnings = nil
		var r renamed
		if err := Set(&r, "lean", "5.0"); err != nil || r.Tilt != 5 || len(warnings) != 1 {
			t.Error(err, r, warnings)
		}
	})
}

func TestErrorsKnowFormerNames(t *testing.T) {
	t.Run("both names", func(t *testing.T) {
		const want = `f.yaml:1: parameter "max_tilt": duplicate, first on line 1 ("lean" is its old name)`
		err := Parse("f.yaml", []byte("n: {ros__parameters: {lean: 3.0, max_tilt: 3.0}}"), "n", new(renamed))
		if err == nil || err.Error() != want {
			t.Error(err)
		}
	})
	for name, want := range map[string]string{
		"law":      `parameter "law": is a group of gains.yaw`,
		"law.turm": `parameter "law.turm": unknown, did you mean "gains.yaw"?`,
		"leen":     `parameter "leen": unknown, did you mean "max_tilt"?`,
	} {
		t.Run("argument "+name, func(t *testing.T) {
			if err := Set(new(renamed), name, "5.0"); err == nil || err.Error() != want {
				t.Error(err)
			}
		})
	}
	t.Run("value for a group", func(t *testing.T) {
		const want = `f.yaml:1: parameter "law": 3 is an integer, expected a map of gains.yaw`
		err := Parse("f.yaml", []byte("n: {ros__parameters: {law: 3}}"), "n", new(renamed))
		if err == nil || err.Error() != want {
			t.Error(err)
		}
	})
}

// fitted and loop are a struct and one that takes it with defaults of its own.
type fitted struct {
	Steps int `param:"steps" default:"50" doc:"steps"`
	Loss  struct {
		Huber float64 `param:"huber" default:"3" doc:"δ"`
	} `param:"loss" doc:"loss"`
}

type loop struct {
	Fit fitted `param:"fit" was:"model" defaults:"steps=20 loss.huber=0.3" moved:"huber=loss.huber" read_only:"true"`
}

// smaller is one that embeds it with defaults of its own, of which those of the group around it win.
type smaller struct {
	fitted `defaults:"steps=10 loss.huber=1"`
	Rate   float64 `param:"rate" default:"1" doc:"rate"`
}

func TestGroupsReplaceDefaultsAndMoveParameters(t *testing.T) {
	before, warned := Warn, 0
	Warn = func(string) { warned++ }
	t.Cleanup(func() { Warn = before })
	var f fitted
	var l loop
	var s struct {
		Fit smaller `param:"fit" defaults:"steps=5 rate=2"`
	}
	Default(&f)
	Default(&l)
	Default(&s)
	if s.Fit.Steps != 5 || s.Fit.Loss.Huber != 1 || s.Fit.Rate != 2 {
		t.Errorf("%+v", s)
	}
	if f.Steps != 50 || f.Loss.Huber != 3 || l.Fit.Steps != 20 || l.Fit.Loss.Huber != 0.3 {
		t.Errorf("%+v, %+v", f, l)
	}
	for _, name := range []string{"fit.loss.huber", "fit.huber", "model.huber", "model.loss.huber"} {
		if err := Set(&l, name, "7.0"); err != nil || l.Fit.Loss.Huber != 7 {
			t.Errorf("%s: %v, %+v", name, err, l)
		}
		l.Fit.Loss.Huber = 0
	}
	if warned != 3 {
		t.Errorf("%d warnings, want 3", warned)
	}
	for _, d := range Describe(&l) {
		if !d.ReadOnly {
			t.Errorf("%s is not read only, as its group is", d.Name)
		}
	}
	for _, bad := range []any{
		&struct {
			Fit fitted `param:"fit" defaults:"step=1" doc:"fit"`
		}{},
		&struct {
			Fit fitted `param:"fit" moved:"old=step" doc:"fit"`
		}{},
		&struct {
			fitted `defaults:"step=1"`
		}{},
		&struct {
			Fit fitted `param:"fit" defaults:"steps" doc:"fit"`
		}{},
		&struct {
			Fit fitted `param:"fit" moved:"steps=loss.huber" doc:"fit"`
		}{},
	} {
		if err := Check(bad); err == nil {
			t.Errorf("%T: no error", bad)
		}
	}
}
