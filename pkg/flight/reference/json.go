package reference

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"

	"vnd/pkg/core/param"
	"vnd/pkg/core/so3"
)

// Parse makes the reference that one JSON object describes, {"kind": "figure_eight", "width": 3, …}, called name in
// errors. What it leaves out has its default; unknown and repeated keys are refused. Lists of points are lists of
// [x, y, z].
func Parse(name string, data []byte) (Reference, error) {
	r, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

// MaxReceived is the most bytes that ParseReceived takes: 65 points with their times, or a table of a thousand rows.
const MaxReceived = 64 << 10

// ParseReceived is Parse of what came in a message, from anybody: it opens no file, whatever the spec names, and takes
// at most MaxReceived bytes, so that time and memory are bounded.
func ParseReceived(name string, data []byte) (Reference, error) {
	if len(data) > MaxReceived {
		return nil, fmt.Errorf("%s: %d bytes, expected at most %d", name, len(data), MaxReceived)
	}
	s, err := parseSpec(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if o, ok := s.(Opener); ok && o.Opens() != "" {
		return nil, fmt.Errorf("%s: %s: it names a file, which a message must not: files are for parameters and the "+
			"command line", name, s.Kind())
	}
	r, err := build(s)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return r, nil
}

func parse(data []byte) (Reference, error) {
	s, err := parseSpec(data)
	if err != nil {
		return nil, err
	}
	return build(s)
}

// parseSpec makes the spec that a JSON object describes, each value in its range.
func parseSpec(data []byte) (Spec, error) {
	members, err := object(data)
	if err != nil {
		return nil, err
	}
	s, err := specOf(members)
	if err != nil {
		return nil, err
	}
	param.Default(s)
	types := map[string]string{}
	for _, d := range param.Describe(s) {
		types[d.Name] = d.Type
	}
	for _, m := range members {
		if m.key == "kind" {
			continue
		}
		text, err := asYAML(m.value, types[m.key])
		if err != nil {
			return nil, fmt.Errorf("parameter %q: %w", m.key, err)
		}
		if err := param.Set(s, m.key, text); err != nil {
			return nil, fmt.Errorf("%s: %w", s.Kind(), err)
		}
	}
	return s, nil
}

func build(s Spec) (Reference, error) {
	r, err := s.Build()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Kind(), err)
	}
	return r, nil
}

// specOf returns an empty spec of the kind that the members name.
func specOf(members []member) (Spec, error) {
	var names []string
	for _, k := range kinds {
		names = append(names, k().Kind())
	}
	all := strings.Join(names, ", ")
	for _, m := range members {
		if m.key != "kind" {
			continue
		}
		for i, name := range names {
			if m.value == name {
				return kinds[i](), nil
			}
		}
		return nil, fmt.Errorf("%q: %.40q is none, expected %s", "kind", fmt.Sprint(m.value), all)
	}
	return nil, fmt.Errorf("%q is missing, expected %s", "kind", all)
}

// member is one of a JSON object.
type member struct {
	key   string
	value any // nil, bool, json.Number, string, []any or map
}

// object reads one JSON object and nothing after it.
func object(data []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	fail := func(err error) ([]member, error) {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, fmt.Errorf("JSON at byte %d: %w", dec.InputOffset(), err)
	}
	t, err := dec.Token()
	if err != nil {
		return fail(err)
	}
	if t != json.Delim('{') {
		return nil, fmt.Errorf("JSON: expected an object, {\"kind\": …}")
	}
	var members []member
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return fail(err)
		}
		m := member{key: t.(string)} // the decoder takes nothing else for a key
		if seen[m.key] {
			return fail(fmt.Errorf("%.40q is there twice", m.key))
		}
		seen[m.key] = true
		if err := dec.Decode(&m.value); err != nil {
			return fail(err)
		}
		members = append(members, m)
	}
	if _, err := dec.Token(); err != nil {
		return fail(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return fail(errors.New("expected nothing after the object"))
	}
	return members, nil
}

// asYAML writes a JSON value for param.Set. JSON has one kind of number and ROS' YAML has two; points come in rows.
func asYAML(v any, typ string) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", errors.New("got null, expected a value")
	case json.Number:
		s := v.String()
		if (typ == param.Double || typ == param.DoubleArray) && !strings.ContainsAny(s, ".eE") {
			s += ".0"
		}
		return s, nil
	case string:
		if typ != param.String && typ != "" {
			return "", fmt.Errorf("got the string %.40q, expected a %s", v, typ)
		}
		return strconv.QuoteToASCII(v), nil
	case []any:
		return listAsYAML(v, typ)
	case map[string]any:
		return "", errors.New("got an object, expected a value")
	}
	return fmt.Sprint(v), nil // a bool
}

func listAsYAML(v []any, typ string) (string, error) {
	items := make([]string, len(v))
	for i, x := range v {
		row, isRow := x.([]any)
		if isRow && typ == param.DoubleArray {
			if len(row) != 3 {
				return "", fmt.Errorf("element %d has %d numbers, expected [x, y, z]", i, len(row))
			}
			s, err := listAsYAML(row, param.Double)
			if err != nil {
				return "", fmt.Errorf("element %d: %w", i, err)
			}
			items[i] = strings.Trim(s, "[]")
			continue
		}
		s, err := asYAML(x, typ)
		if err != nil {
			return "", fmt.Errorf("element %d: %w", i, err)
		}
		items[i] = s
	}
	return "[" + strings.Join(items, ", ") + "]", nil
}

// Format writes a spec as the JSON object of which Parse makes the same reference, on one line.
func Format(s Spec) ([]byte, error) {
	out := []byte(`{"kind":` + strconv.Quote(s.Kind()))
	v := reflect.ValueOf(s).Elem()
	for i := range v.NumField() {
		name := v.Type().Field(i).Tag.Get("param")
		x := v.Field(i).Interface()
		list, isList := x.([]float64)
		if isList && name == "points" && len(list)%3 == 0 {
			x = rows(list)
		} else if isList && list == nil {
			x = []float64{}
		}
		text, err := json.Marshal(x)
		if err != nil {
			return nil, fmt.Errorf("%s: parameter %q: %v: expected finite numbers", s.Kind(), name, x)
		}
		out = append(append(out, `,"`+name+`":`...), text...)
	}
	return append(out, '}'), nil
}

func rows(list []float64) [][]float64 {
	r := make([][]float64, len(list)/3)
	for i := range r {
		r[i] = list[3*i : 3*i+3]
	}
	return r
}

// point reads a parameter of three numbers.
func point(name string, x []float64) (so3.Vec3, error) {
	if len(x) != 3 {
		return so3.Vec3{}, fmt.Errorf("parameter %q: got %d numbers, expected [x, y, z]", name, len(x))
	}
	return so3.Vec3{X: x[0], Y: x[1], Z: x[2]}, nil
}

// points reads a parameter of at least two points.
func points(name string, x []float64) ([]so3.Vec3, error) {
	if len(x)%3 != 0 || len(x) < 6 {
		return nil, fmt.Errorf("parameter %q: got %s points, expected at least two of [x, y, z]", name,
			strconv.FormatFloat(math.Round(float64(len(x))/3*100)/100, 'g', -1, 64))
	}
	ps := make([]so3.Vec3, len(x)/3)
	for i := range ps {
		ps[i] = so3.Vec3{X: x[3*i], Y: x[3*i+1], Z: x[3*i+2]}
	}
	return ps, nil
}
