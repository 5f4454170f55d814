package params

import (
	"fmt"
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

// TypeOf returns the type of a value, NotSet for what is none.
func TypeOf(v any) Type {
	switch v.(type) {
	case bool:
		return Bool
	case int64:
		return Integer
	case float64:
		return Double
	case string:
		return String
	case []byte:
		return ByteArray
	case []bool:
		return BoolArray
	case []int64:
		return IntegerArray
	case []float64:
		return DoubleArray
	case []string:
		return StringArray
	}
	return NotSet
}

// own returns the store's own copy of a caller's value.
func own(v any) (any, error) {
	switch v := v.(type) {
	case nil, bool, int64, float64, string:
		return v, nil
	case int:
		return int64(v), nil
	case []byte:
		return append([]byte{}, v...), nil
	case []bool:
		return append([]bool{}, v...), nil
	case []int:
		xs := make([]int64, len(v))
		for i, x := range v {
			xs[i] = int64(x)
		}
		return xs, nil
	case []int64:
		return append([]int64{}, v...), nil
	case []float64:
		return append([]float64{}, v...), nil
	case []string:
		return append([]string{}, v...), nil
	}
	return nil, fmt.Errorf("a Go %T cannot be a parameter", v)
}

// FromMessage reads a value off the wire.
func FromMessage(m *rclinterfaces.ParameterValue) (any, error) {
	switch Type(m.Type) {
	case NotSet:
		return nil, nil
	case Bool:
		return m.BoolValue, nil
	case Integer:
		return m.IntegerValue, nil
	case Double:
		return m.DoubleValue, nil
	case String:
		return m.StringValue, nil
	case ByteArray:
		return own(m.ByteArrayValue)
	case BoolArray:
		return own(m.BoolArrayValue)
	case IntegerArray:
		return own(m.IntegerArrayValue)
	case DoubleArray:
		return own(m.DoubleArrayValue)
	case StringArray:
		return own(m.StringArrayValue)
	}
	return nil, fmt.Errorf("type %d is none of a parameter's, expected 0 … %d", m.Type, StringArray)
}

// ToMessage is the wire form of a value of the store's; slices are shared.
func ToMessage(v any) rclinterfaces.ParameterValue {
	m := rclinterfaces.ParameterValue{Type: uint8(TypeOf(v))}
	switch v := v.(type) {
	case bool:
		m.BoolValue = v
	case int64:
		m.IntegerValue = v
	case float64:
		m.DoubleValue = v
	case string:
		m.StringValue = v
	case []byte:
		m.ByteArrayValue = v
	case []bool:
		m.BoolArrayValue = v
	case []int64:
		m.IntegerArrayValue = v
	case []float64:
		m.DoubleArrayValue = v
	case []string:
		m.StringArrayValue = v
	}
	return m
}

// fromYAML makes an override's value one of the declared type where YAML cannot
// tell: an empty list is of any type, and bytes are written as integers.
func fromYAML(v any, declared Type) any {
	switch v := v.(type) {
	case param.EmptyList:
		return emptyOf[declared]
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

var emptyOf = map[Type]any{
	ByteArray: []byte{}, BoolArray: []bool{}, IntegerArray: []int64{}, DoubleArray: []float64{},
	StringArray: []string{},
}
