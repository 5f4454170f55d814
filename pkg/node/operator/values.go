package operator

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"gopkg.in/yaml.v3"

	"vnd/pkg/core/param"
)

// near proposes a name.
func near(name string, declared []string) string {
	if best, typos := param.Nearest(name, declared); best != "" && typos <= 3 {
		return fmt.Sprintf("; there is %q", best)
	}
	return ""
}

// typed are the values of a parameter's types, by one of them.
var typed = map[string]func(*yaml.Node) (any, error){
	"bool": as[bool], "int64": as[int64], "float64": as[float64], "string": as[string],
	"[]uint8": as[[]int64], "[]bool": as[[]bool], "[]int64": as[[]int64], "[]float64": as[[]float64],
	"[]string": as[[]string],
}

func as[T any](n *yaml.Node) (any, error) {
	var v T
	each := n.Content
	kind := reflect.TypeOf(v).Kind()
	if kind == reflect.Slice {
		kind = reflect.TypeOf(v).Elem().Kind()
	} else {
		each = []*yaml.Node{n}
	}
	for _, x := range each {
		if kind != reflect.String && !fits(kind, x.ShortTag()) {
			return nil, errors.New("of another type")
		}
	}
	err := n.Decode(&v)
	return v, err
}

// parse is a value in YAML, of the type that the parameter has now. Where that is not set, YAML says the type.
func parse(text string, now any) (any, error) {
	var n yaml.Node
	if err := yaml.Unmarshal([]byte(text), &n); err != nil || len(n.Content) == 0 {
		if _, ok := now.(string); ok { // such as a path with a colon
			return text, nil
		}
		return nil, fmt.Errorf("%.60q is no value", text)
	}
	kind := fmt.Sprintf("%T", now)
	if now == nil {
		kind = guess(n.Content[0])
	}
	if kind == "string" {
		return text, nil
	}
	decode := typed[kind]
	if decode == nil {
		return nil, fmt.Errorf("%.60q is no value of a parameter", text)
	}
	v, err := decode(n.Content[0])
	if err != nil {
		return nil, fmt.Errorf("%.60q is not of its type, %s", text, strings.NewReplacer("float64", "double", "int64",
			"integer", "[]", "list of ").Replace(kind))
	}
	if kind == "[]uint8" {
		return bytesOf(v.([]int64))
	}
	return v, nil
}

func bytesOf(v []int64) (any, error) {
	b := make([]byte, len(v))
	for i, x := range v {
		if b[i] = byte(x); int64(b[i]) != x {
			return nil, fmt.Errorf("%d is no byte", x)
		}
	}
	return b, nil
}

// guess is the type that YAML says.
func guess(n *yaml.Node) string {
	prefix := ""
	if n.Kind == yaml.SequenceNode && len(n.Content) > 0 {
		prefix, n = "[]", n.Content[0]
	}
	types := map[string]string{"!!bool": "bool", "!!int": "int64", "!!float": "float64", "!!str": "string"}
	return prefix + types[n.Tag]
}

// FormatValue is a parameter's value as YAML.
func FormatValue(v any) string {
	if v == nil {
		return "not set"
	}
	b, err := yaml.Marshal(encode(reflect.ValueOf(v), 0))
	if err != nil {
		return fmt.Sprint(v)
	}
	return strings.TrimSuffix(string(b), "\n")
}
