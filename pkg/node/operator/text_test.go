package operator

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"vnd/msgs"
	stdsrvs "vnd/msgs/std_srvs"
	"vnd/pkg/ros2/cdr"
)

// draw fills a value with random numbers, words and lists of one.
func draw(rng *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			draw(rng, v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1)) // some have a bound of 1
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			draw(rng, v.Index(i))
		}
	case reflect.String:
		words := []string{"", "hover", "yes", "1.5", "a: b # c", "'\"\n", "ü", "~", "{x", "- y"}
		v.SetString(words[rng.IntN(len(words))])
	case reflect.Bool:
		v.SetBool(rng.IntN(2) == 0)
	case reflect.Float32, reflect.Float64:
		values := []float64{0, 2, -0.1, math.Inf(1), math.Inf(-1), 1e30, float64(float32(rng.NormFloat64()))}
		v.SetFloat(values[rng.IntN(len(values))])
		if v.Kind() == reflect.Float32 {
			v.SetFloat(float64(float32(v.Float())))
		}
	default:
		if v.CanInt() {
			v.SetInt(rng.Int64N(200) - 100)
		} else {
			v.SetUint(rng.Uint64N(200))
		}
	}
}

// Every type that we know is printed with all of its fields, read back as it was, and JSON.
func TestTextIsReadBack(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, name := range msgs.Names() {
		known, _ := msgs.Lookup(name)
		for range 3 {
			m := known.New()
			draw(rng, reflect.ValueOf(m).Elem())
			if n := reflect.TypeOf(m).Elem(); len(members(n)) != n.NumField() {
				t.Errorf("%s: %d of %d fields", name, len(members(n)), n.NumField())
			}
			back := known.New()
			if err := Fill(back, Text(m, 0)); err != nil {
				t.Errorf("%s: %v in\n%s", name, err, Text(m, 0))
			} else if a, b := marshal(t, m), marshal(t, back); string(a) != string(b) {
				t.Errorf("%s: read back as\n%s\nexpected\n%s", name, Text(back, 0), Text(m, 0))
			}
			if _, err := json.Marshal(Value(m)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

func marshal(t *testing.T, m cdr.Message) []byte {
	t.Helper()
	b, err := cdr.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTextCutsLongLists(t *testing.T) {
	m := &msgs.Bundle{ID: strings.Repeat("x", 100), Data: make([]byte, 1000)}
	s := Text(m, 4)
	if !strings.Contains(s, "data: [0, 0, 0, 0, '...']") && !strings.Contains(s, "data: [0, 0, 0, 0, ...]") ||
		!strings.Contains(s, "id: "+strings.Repeat("x", 64)+"...") {
		t.Error(s)
	}
}

func TestFill(t *testing.T) {
	m := new(stdsrvs.SetBoolRequest)
	if err := Fill(m, `{"data": true}`); err != nil || !m.Data {
		t.Error(err)
	}
	if err := Fill(m, ""); err != nil || !m.Data {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"{dat: true}":  `no field "dat", expected fields {data}`,
		"{data: 3}":    `field data is "3", expected bool`,
		"true":         `the values are "true", expected fields {data}`,
		"[1]":          "the values are a list, expected fields {data}",
		"{data: [1]}":  "field data is a list, expected bool",
		"{data: true":  "values: line 1: did not find expected ',' or '}'",
		"{data: true}": "",
	} {
		if err := Fill(m, text); (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, expected %q", text, err, want)
		}
	}
	step := new(msgs.Step)
	for text, want := range map[string]string{
		"{pose: {position: {x: a}}}": `field pose.position.x is "a", expected float64`,
		"{pose: {spot: 1}}":          `no field "pose.spot", expected fields {position, orientation}`,
		"{command: [1, 2]}":          "field command is a list, expected a list of 4 float64",
		"{reference: {}}":            "field reference is fields, expected a list of float64",
		"{seq: 2.5}":                 `field seq is "2.5", expected uint64`,
		"{guard_state: 300}":         `field guard_state is "300", expected uint8`,
		"{reference: [1, b]}":        `field reference[1] is "b", expected float64`,
	} {
		if err := Fill(step, text); err == nil || err.Error() != want {
			t.Errorf("%s: %v, expected %q", text, err, want)
		}
	}
}

func TestParseValues(t *testing.T) {
	for _, c := range []struct {
		text string
		now  any
		want any
		err  string
	}{
		{"2", 1.5, 2.0, ""},
		{"2", int64(1), int64(2), ""},
		{"2.5", int64(1), nil, `"2.5" is not of its type, integer`},
		{"true", false, true, ""},
		{"yes please", false, nil, `"yes please" is not of its type, bool`},
		{"12", "a", "12", ""},
		{"{x", "a", "{x", ""},
		{"[1, 2]", []float64{}, []float64{1, 2}, ""},
		{"[1, 300]", []byte{}, nil, "300 is no byte"},
		{"1", []float64{}, nil, `"1" is not of its type, list of double`},
		{"[a]", nil, []string{"a"}, ""},
		{"1.5", nil, 1.5, ""},
		{"{x", 1.5, nil, `"{x" is no value`},
	} {
		v, err := parse(c.text, c.now)
		if !reflect.DeepEqual(v, c.want) || (err == nil) != (c.err == "") || err != nil && err.Error() != c.err {
			t.Errorf("%s for %v: %v and %v, expected %v and %q", c.text, c.now, v, err, c.want, c.err)
		}
	}
}
