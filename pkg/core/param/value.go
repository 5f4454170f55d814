package param

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"
)

// Kinds of a YAML value in the ROS 2 parameter parser (rcl_yaml_param_parser). They differ
// from yaml.v3's: "yes" is a bool and a date a string.
const (
	kindNothing = "nothing"
	kindBool    = "a bool"
	kindInteger = "an integer"
	kindDouble  = "a double"
	kindString  = "a string"
	kindList    = "a list"
	kindMap     = "a map"
)

var (
	nothings    = []string{"", "~", "null", "Null", "NULL"}
	trues       = []string{"true", "True", "TRUE", "y", "Y", "yes", "Yes", "YES", "on", "On", "ON"}
	falses      = []string{"false", "False", "FALSE", "n", "N", "no", "No", "NO", "off", "Off", "OFF"}
	integerForm = regexp.MustCompile(`^[-+]?(0[xX][0-9a-fA-F]+|[0-9]+)$`)
	decimalForm = regexp.MustCompile(`^[-+]?(0|[1-9][0-9]*)$`)
	infForm     = regexp.MustCompile(`^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$`)
)

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return kindList
	case yaml.MappingNode:
		return kindMap
	}
	if n.Style != 0 { // quoted or block
		return kindString
	}
	switch s := n.Value; {
	case slices.Contains(nothings, s):
		return kindNothing
	case slices.Contains(trues, s), slices.Contains(falses, s):
		return kindBool
	case integerForm.MatchString(s):
		return kindInteger
	case isDouble(s):
		return kindDouble
	}
	return kindString
}

// isDouble says whether C's strtod reads all of s, or YAML has it as .inf or .nan.
func isDouble(s string) bool {
	if infForm.MatchString(s) {
		return true
	}
	_, err := strconv.ParseFloat(s, 64)
	return !strings.Contains(s, "_") && (err == nil || errors.Is(err, strconv.ErrRange))
}

// decode reads and checks a value of the parameter's type.
func (d Descriptor) decode(n *yaml.Node) (any, error) {
	if !d.isList() {
		return d.decodeElement(n)
	}
	if n.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("%s, expected %s: write [ … ]", is(n), article(d.Type))
	}
	return d.list(len(n.Content), func(i int) (any, error) {
		x, err := d.decodeElement(n.Content[i])
		if err != nil {
			return nil, errAt(n.Content[i], "element %d: %w", i, err)
		}
		return x, nil
	})
}

// decodeElement reads and checks a single value.
func (d Descriptor) decodeElement(n *yaml.Node) (v any, err error) {
	switch d.element() {
	case Bool:
		v, err = decodeBool(n)
	case Integer:
		v, err = decodeInteger(n)
	case Double:
		v, err = decodeDouble(n)
	case String:
		v, err = decodeString(n)
	default:
		v, err = decodeByte(n)
	}
	if err != nil {
		return nil, err
	}
	return v, d.inRange(v)
}

// isList says whether the parameter is an array.
func (d Descriptor) isList() bool { return strings.HasSuffix(d.Type, arraySuffix) }

// element is the type of the parameter's elements, or its own when it is no array.
func (d Descriptor) element() string { return strings.TrimSuffix(d.Type, arraySuffix) }

const arraySuffix = " array"

// list makes a slice of the parameter's type from n elements.
func (d Descriptor) list(n int, element func(i int) (any, error)) (any, error) {
	xs := reflect.MakeSlice(goTypes[d.Type], n, n)
	for i := range n {
		x, err := element(i)
		if err != nil {
			return nil, err
		}
		xs.Index(i).Set(reflect.ValueOf(x))
	}
	return xs.Interface(), nil
}

func decodeBool(n *yaml.Node) (bool, error) {
	switch n.Value {
	case "true", "True", "TRUE":
		return true, mismatch(n, kindBool, "")
	case "false", "False", "FALSE":
		return false, mismatch(n, kindBool, "")
	}
	if kindOf(n) == kindBool {
		return false, fmt.Errorf("%s is a bool in some YAML parsers only: write %t", n.Value,
			slices.Contains(trues, n.Value))
	}
	return false, mismatch(n, kindBool, "write true or false")
}

func decodeInteger(n *yaml.Node) (int, error) {
	fix := ""
	if x, err := strconv.ParseFloat(n.Value, 64); err == nil && x == math.Trunc(x) && math.Abs(x) < 1e15 {
		fix = fmt.Sprintf("write %.0f", x)
	}
	if err := mismatch(n, kindInteger, fix); err != nil {
		return 0, err
	}
	if !decimalForm.MatchString(n.Value) {
		return 0, fmt.Errorf("%s: write the integer in decimal, without leading zeros", show(n.Value))
	}
	x, err := strconv.Atoi(n.Value)
	if err != nil {
		return 0, fmt.Errorf("%s does not fit an integer", show(n.Value))
	}
	return x, nil
}

func decodeByte(n *yaml.Node) (byte, error) {
	x, err := decodeInteger(n)
	if err == nil && (x < 0 || x > 255) {
		err = fmt.Errorf("%d is out of range, expected 0 … 255", x)
	}
	return byte(x), err
}

func decodeDouble(n *yaml.Node) (float64, error) {
	fix := ""
	if decimalForm.MatchString(n.Value) {
		fix = "ROS tells them apart, write " + short(n.Value) + ".0"
	}
	if err := mismatch(n, kindDouble, fix); err != nil {
		return 0, err
	}
	x, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("%s is not a finite number", show(n.Value))
	}
	return x, nil
}

func decodeString(n *yaml.Node) (string, error) {
	fix := `write "" for the empty string`
	if n.Value != "" {
		fix = fmt.Sprintf("write %q", short(n.Value))
	}
	return n.Value, mismatch(n, kindString, fix)
}

// mismatch returns an error unless n is of the wanted kind.
func mismatch(n *yaml.Node, want, fix string) error {
	got := kindOf(n)
	switch {
	case got == want:
		return nil
	case fix == "" || got == kindList || got == kindMap:
		return fmt.Errorf("%s, expected %s", is(n), want)
	}
	return fmt.Errorf("%s, expected %s: %s", is(n), want, fix)
}

// is describes n: "3 is an integer", "got a list".
func is(n *yaml.Node) string {
	switch kind := kindOf(n); kind {
	case kindNothing, kindList, kindMap:
		return "got " + kind
	default:
		return show(n.Value) + " is " + kind
	}
}

// inRange checks bounds and enumeration of a value of the parameter's type.
func (d Descriptor) inRange(v any) error {
	switch v := v.(type) {
	case int:
		return d.inBounds(float64(v))
	case float64:
		return d.inBounds(v)
	case string:
		return d.inEnum(v)
	}
	for i, x := range elements(v) {
		if err := d.inRange(x); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

// elements are those of a slice; a value that is none has none.
func elements(v any) []any {
	s := reflect.ValueOf(v)
	if s.Kind() != reflect.Slice {
		return nil
	}
	xs := make([]any, s.Len())
	for i := range xs {
		xs[i] = s.Index(i).Interface()
	}
	return xs
}

func (d Descriptor) inBounds(x float64) error {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return fmt.Errorf("%v is not a finite number", x)
	}
	if (d.Min == nil || x >= *d.Min) && (d.Max == nil || x <= *d.Max) && d.onStep(x) {
		return nil
	}
	unit := ""
	if d.Unit != "" {
		unit = " " + d.Unit
	}
	return fmt.Errorf("%v is out of range, expected %s%s", x, d.bounds(), unit)
}

// onStep tolerates the rounding of a decimal step. Min and Max are always allowed.
func (d Descriptor) onStep(x float64) bool {
	if d.Step == 0 || x == *d.Min || d.Max != nil && x == *d.Max {
		return true
	}
	nearest := *d.Min + d.Step*math.Round((x-*d.Min)/d.Step)
	return math.Abs(x-nearest) <= 1e-9*d.Step
}

// bounds writes the range: "1 … 64", "≥ 1", "≤ 64" or "", and the step.
func (d Descriptor) bounds() string {
	if d.Step != 0 {
		all := d
		all.Step = 0
		return fmt.Sprintf("%s in steps of %v", all.bounds(), d.Step)
	}
	switch {
	case d.Min != nil && d.Max != nil:
		return fmt.Sprintf("%v … %v", *d.Min, *d.Max)
	case d.Min != nil:
		return fmt.Sprintf("≥ %v", *d.Min)
	case d.Max != nil:
		return fmt.Sprintf("≤ %v", *d.Max)
	}
	return ""
}

func (d Descriptor) inEnum(s string) error {
	if d.Enum == nil || slices.Contains(d.Enum, s) {
		return nil
	}
	return fmt.Errorf("%s is not allowed, expected one of %s", show(s), strings.Join(d.Enum, ", "))
}

// Clone copies a value: a slice shares no memory with the copy, which is not nil.
func Clone(v any) any {
	s := reflect.ValueOf(v)
	if s.Kind() != reflect.Slice {
		return v
	}
	c := reflect.MakeSlice(s.Type(), s.Len(), s.Len())
	reflect.Copy(c, s)
	return c.Interface()
}

func article(typ string) string {
	if strings.HasPrefix(typ, Integer) {
		return "an " + typ
	}
	return "a " + typ
}

// show writes a value of the user on one line, quoted where it is odd.
func show(s string) string {
	s = short(s)
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if s == "" || strings.ContainsFunc(s, odd) || strings.Contains(s, " ") {
		return strconv.Quote(s)
	}
	return s
}

func short(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
