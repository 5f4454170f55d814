package params

import (
	"fmt"
	"math"
	"strings"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/core/param"
)

// Descriptor holds a parameter's properties besides name, type and value.
type Descriptor struct {
	Description string
	Constraints string // for people, where the ranges do not say it all
	ReadOnly    bool   // only an override sets it, at the declaration
	// DynamicTyping lets the type change; without it the type is that of the default.
	DynamicTyping bool
	// Ranges, of each element too; nil allows all. A step of 0 allows all between the ends.
	FloatingPointRange *rclinterfaces.FloatingPointRange
	IntegerRange       *rclinterfaces.IntegerRange
	// Check returns an error for values to refuse; nil allows all.
	Check func(value any) error
}

// message is the descriptor in the parameter services.
func (d Descriptor) message(name string, t Type) rclinterfaces.ParameterDescriptor {
	m := rclinterfaces.ParameterDescriptor{
		Name: name, Type: uint8(t), Description: d.Description, AdditionalConstraints: d.Constraints,
		ReadOnly: d.ReadOnly, DynamicTyping: d.DynamicTyping,
	}
	if d.FloatingPointRange != nil {
		m.FloatingPointRange = []rclinterfaces.FloatingPointRange{*d.FloatingPointRange}
	}
	if d.IntegerRange != nil {
		m.IntegerRange = []rclinterfaces.IntegerRange{*d.IntegerRange}
	}
	return m
}

// allows checks a value against type, range and Check. Its errors are rclcpp's.
func (d Descriptor) allows(name string, declared Type, v any) error {
	if t := TypeOf(v); t != declared && !d.DynamicTyping {
		return wrongType(name, declared, t, v)
	}
	var err error
	switch v := v.(type) {
	case int64:
		err = d.inIntegerRange(name, v)
	case float64:
		err = d.inDoubleRange(name, v)
	case []int64:
		for i := 0; i < len(v) && err == nil; i++ {
			err = d.inIntegerRange(name, v[i])
		}
	case []float64:
		for i := 0; i < len(v) && err == nil; i++ {
			err = d.inDoubleRange(name, v[i])
		}
	}
	if err == nil && d.Check != nil && v != nil {
		err = d.Check(v)
	}
	return err
}

func wrongType(name string, declared, got Type, v any) error {
	hint := ""
	if x, ok := v.(int64); ok && declared == Double {
		hint = fmt.Sprintf(" Write %d.0: ROS tells integers and doubles apart.", x)
	}
	//lint:ignore ST1005 rclcpp's words
	return fmt.Errorf("Wrong parameter type, parameter {%s} is of type {%s}, setting it to {%s} is not allowed.%s",
		name, declared, got, hint)
}

func (d Descriptor) inIntegerRange(name string, x int64) error {
	r := d.IntegerRange
	switch {
	case r == nil, x == r.FromValue, x == r.ToValue:
		return nil
	case x < r.FromValue, x > r.ToValue, r.Step != 0 && (uint64(x)-uint64(r.FromValue))%r.Step != 0:
		return outOfRange(name, "integer", x, r.FromValue, r.ToValue, r.Step)
	}
	return nil
}

func (d Descriptor) inDoubleRange(name string, x float64) error {
	r := d.FloatingPointRange
	switch {
	case r == nil, equal(x, r.FromValue), equal(x, r.ToValue):
		return nil
	case !(x >= r.FromValue && x <= r.ToValue),
		r.Step != 0 && !equal(x, r.FromValue+math.Round((x-r.FromValue)/r.Step)*r.Step):
		return outOfRange(name, "floating point", x, r.FromValue, r.ToValue, r.Step)
	}
	return nil
}

// equal compares up to 100 units in the last place, as rclcpp does.
func equal(x, y float64) bool {
	if math.IsInf(x, 0) || math.IsInf(y, 0) {
		return x == y
	}
	return math.Abs(x-y) <= 0x1p-52*math.Abs(x+y)*100
}

func outOfRange[T float64 | int64, S float64 | uint64](name, kind string, x, from, to T, step S) error {
	steps := ""
	if step != 0 {
		steps = fmt.Sprintf(" in steps of %v", step)
	}
	//lint:ignore ST1005 rclcpp's words
	return fmt.Errorf("Parameter {%s} doesn't comply with %s range. %v is not within %v … %v%s.", name, kind, x, from,
		to, steps)
}

// descriptorOf is the Descriptor of a tagged field.
func descriptorOf(d param.Descriptor) Descriptor {
	own := Descriptor{Description: d.Doc, ReadOnly: d.ReadOnly}
	if d.Unit != "" {
		own.Description += " (" + d.Unit + ")"
	}
	if d.Enum != nil {
		own.Constraints = "one of " + strings.Join(d.Enum, ", ")
	}
	own.Check = func(v any) error { return d.Check(toField(v)) }
	if d.Min == nil && d.Max == nil {
		return own
	}
	switch d.Type {
	case param.Integer, param.IntegerArray:
		own.IntegerRange = &rclinterfaces.IntegerRange{FromValue: math.MinInt64, ToValue: math.MaxInt64,
			Step: uint64(d.Step)}
		if d.Min != nil {
			own.IntegerRange.FromValue = int64(*d.Min)
		}
		if d.Max != nil {
			own.IntegerRange.ToValue = int64(*d.Max)
		}
	default:
		own.FloatingPointRange = &rclinterfaces.FloatingPointRange{FromValue: -math.MaxFloat64,
			ToValue: math.MaxFloat64, Step: d.Step}
		if d.Min != nil {
			own.FloatingPointRange.FromValue = *d.Min
		}
		if d.Max != nil {
			own.FloatingPointRange.ToValue = *d.Max
		}
	}
	return own
}

// toField converts a value to the Go type of a tagged field.
func toField(v any) any {
	switch v := v.(type) {
	case int64:
		return int(v)
	case []int64:
		xs := make([]int, len(v))
		for i, x := range v {
			xs[i] = int(x)
		}
		return xs
	}
	return v
}
