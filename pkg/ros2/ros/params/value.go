package params

import (
	"fmt"
	"reflect"
	"slices"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/core/param"
)

// Type of a parameter, numbered as in rcl_interfaces/msg/ParameterType.
type Type uint8

// Types and the Go types of their values.
const (
	NotSet       Type = iota // nil
	Bool                     // bool
	Integer                  // int64 (int is taken)
	Double                   // float64
	String                   // string
	ByteArray                // []byte
	BoolArray                // []bool
	IntegerArray             // []int64 ([]int is taken)
	DoubleArray              // []float64
	StringArray              // []string
)

var typeNames = []string{"not set", "bool", "integer", "double", "string",
	"byte_array", "bool_array", "integer_array", "double_array", "string_array"}

// String is the name that rclcpp's errors have.
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return "unknown type"
}

// Parameter is a name with a value.
type Parameter struct {
	Name  string
	Value any // of a Go type beside Type's constants
}

// goTypes of values, by Type.
var goTypes = []reflect.Type{nil, reflect.TypeFor[bool](), reflect.TypeFor[int64](), reflect.TypeFor[float64](),
	reflect.TypeFor[string](), reflect.TypeFor[[]byte](), reflect.TypeFor[[]bool](), reflect.TypeFor[[]int64](),
	reflect.TypeFor[[]float64](), reflect.TypeFor[[]string]()}

// TypeOf returns the type of a value, NotSet when it is none of a parameter.
func TypeOf(v any) Type { return Type(max(slices.Index(goTypes, reflect.TypeOf(v)), 0)) }

// copied returns a copy of a caller's value, with int as int64.
func copied(v any) (any, error) {
	switch x := v.(type) {
	case nil:
		return nil, nil
	case int:
		return int64(x), nil
	case []int:
		wide := make([]int64, len(x))
		for i := range x {
			wide[i] = int64(x[i])
		}
		return wide, nil
	}
	if TypeOf(v) == NotSet {
		return nil, fmt.Errorf("a Go %T cannot be a parameter", v)
	}
	return param.Clone(v), nil
}

// field of a ParameterValue that holds the values of a type: behind the field of the type
// itself they have the order of the types.
func field(m *rclinterfaces.ParameterValue, t Type) reflect.Value {
	return reflect.ValueOf(m).Elem().Field(int(t))
}

// FromMessage returns a copy of a message's value, nil for NotSet.
func FromMessage(m *rclinterfaces.ParameterValue) (any, error) {
	t := Type(m.Type)
	switch {
	case t == NotSet:
		return nil, nil
	case t > StringArray:
		return nil, fmt.Errorf("type %d is none of a parameter's, expected 0 … %d", m.Type, StringArray)
	}
	return copied(field(m, t).Interface())
}

// ToMessage is the message of a value in the store. Slices are shared.
func ToMessage(v any) rclinterfaces.ParameterValue {
	t := TypeOf(v)
	m := rclinterfaces.ParameterValue{Type: uint8(t)}
	if t != NotSet {
		field(&m, t).Set(reflect.ValueOf(v))
	}
	return m
}

// fromYAML converts an override's value to the declared type where YAML does not show
// the type. These are empty lists, and bytes, which are written as integers.
func fromYAML(v any, declared Type) any {
	switch v := v.(type) {
	case param.EmptyList:
		if declared < ByteArray {
			return nil
		}
		return reflect.MakeSlice(goTypes[declared], 0, 0).Interface()
	case []int64:
		outside := func(x int64) bool { return x < 0 || x > 255 }
		if declared != ByteArray || slices.ContainsFunc(v, outside) {
			return v
		}
		bytes := make([]byte, len(v))
		for i, x := range v {
			bytes[i] = byte(x)
		}
		return bytes
	}
	return v
}
