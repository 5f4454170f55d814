package params

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/core/param"
)

// declare declares parameters that must be valid.
func declare(t *testing.T, s *Store, ps ...Parameter) {
	t.Helper()
	for _, p := range ps {
		if _, err := s.Declare(p.Name, p.Value, Descriptor{}); err != nil {
			t.Fatal(err)
		}
	}
}

func override(name string, v any) map[string]param.Assignment {
	return map[string]param.Assignment{name: {Name: name, Value: v, Where: "f.yaml:3"}}
}

func TestDeclare(t *testing.T) {
	for _, c := range []struct {
		initial, override, want any
		d                       Descriptor
		err                     string
	}{
		{1.5, nil, 1.5, Descriptor{}, ""},
		{1.5, 2.5, 2.5, Descriptor{}, ""},
		{1.5, 2.5, 2.5, Descriptor{ReadOnly: true}, ""},
		{3, nil, int64(3), Descriptor{}, ""},
		{[]int{3}, param.EmptyList{}, []int64{}, Descriptor{}, ""},
		{[]byte{3}, []int64{0, 255}, []byte{0, 255}, Descriptor{}, ""},
		{String, nil, nil, Descriptor{}, ""},
		{String, "x", "x", Descriptor{}, ""},
		{nil, nil, nil, Descriptor{DynamicTyping: true}, ""},
		{"a", int64(1), int64(1), Descriptor{DynamicTyping: true}, ""},
		{1.5, int64(2), nil, Descriptor{}, "f.yaml:3: parameter 'p' could not be set: Wrong parameter type, " +
			"parameter {p} is of type {double}, setting it to {integer} is not allowed. Write 2.0: ROS tells " +
			"integers and doubles apart."},
		{"a", int64(2), nil, Descriptor{}, "f.yaml:3: parameter 'p' could not be set: Wrong parameter type, " +
			"parameter {p} is of type {string}, setting it to {integer} is not allowed."},
		{[]byte{3}, []int64{256}, nil, Descriptor{},
			"f.yaml:3: parameter 'p' could not be set: Wrong parameter type, parameter {p} is of type {byte_array}, " +
				"setting it to {integer_array} is not allowed."},
		{"a", param.EmptyList{}, nil, Descriptor{},
			"f.yaml:3: parameter 'p' could not be set: Wrong parameter type, parameter {p} is of type {string}, " +
				"setting it to an empty list is not allowed."},
		{nil, param.EmptyList{}, nil, Descriptor{DynamicTyping: true},
			"f.yaml:3: parameter 'p' could not be set: an empty list has no type"},
		{nil, nil, nil, Descriptor{}, "parameter 'p' has invalid type: cannot declare a statically typed parameter " +
			"with an uninitialized value"},
		{float32(1), nil, nil, Descriptor{}, "parameter 'p': a Go float32 cannot be a parameter"},
		{5, int64(6), nil, Descriptor{IntegerRange: &rclinterfaces.IntegerRange{FromValue: 1, ToValue: 9, Step: 2}},
			"f.yaml:3: parameter 'p' could not be set: Parameter {p} doesn't comply with integer range. 6 is not " +
				"within 1 … 9 in steps of 2."},
		{6, nil, nil, Descriptor{IntegerRange: &rclinterfaces.IntegerRange{FromValue: 1, ToValue: 5}},
			"parameter 'p' could not be set: Parameter {p} doesn't comply with integer range. 6 is not within 1 … 5."},
		{"a", "b", nil, Descriptor{Check: func(any) error { return errors.New("no") }},
			"f.yaml:3: parameter 'p' could not be set: no"},
	} {
		t.Run(fmt.Sprintf("%v and %v", c.initial, c.override), func(t *testing.T) {
			o := Options{}
			if c.override != nil {
				o.Overrides = override("p", c.override)
			}
			s := New(o)
			got, err := s.Declare("p", c.initial, c.d)
			if c.err != "" {
				if err == nil || err.Error() != c.err || s.Has("p") {
					t.Errorf("%v: %v (declared: %t)\nwant %s", c.initial, err, s.Has("p"), c.err)
				}
				return
			}
			if err != nil || !cmp.Equal(got, c.want) {
				t.Errorf("%v and %v: %#v, %v, want %#v", c.initial, c.override, got, err, c.want)
			}
		})
	}
}

func TestDeclareRefusesTakenAndEmptyNames(t *testing.T) {
	s := New(Options{})
	declare(t, s, Parameter{"a", 1})
	if _, err := s.Declare("a", 1, Descriptor{}); !errors.Is(err, ErrAlreadyDeclared) ||
		err.Error() != "parameter 'a' has already been declared" {
		t.Error(err)
	}
	if _, err := s.Declare("", 1, Descriptor{}); err == nil || err.Error() != "parameter name must not be empty" {
		t.Error(err)
	}
}

// settable is a store with a parameter of each kind.
func settable(t *testing.T) *Store {
	t.Helper()
	s := New(Options{})
	declare(t, s, Parameter{"b", true}, Parameter{"i", 1}, Parameter{"d", 1.}, Parameter{"s", "x"},
		Parameter{"da", []float64{1}})
	for name, d := range map[string]Descriptor{
		"ro": {ReadOnly: true}, "dyn": {DynamicTyping: true},
		"r": {FloatingPointRange: &rclinterfaces.FloatingPointRange{FromValue: 0, ToValue: 1, Step: 0.1}},
	} {
		if _, err := s.Declare(name, 0.5, d); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func TestSet(t *testing.T) {
	s := settable(t)
	for _, p := range []Parameter{
		{"b", false}, {"i", int64(-5)}, {"d", 2.5}, {"s", ""}, {"da", []float64{}}, {"dyn", "now a string"},
		{"dyn", 3.},
		{"r", 0.3}, {"r", 0.1 + 0.2}, {"r", 1.}, {"r", 0.},
	} {
		if err := s.SetAtomically(p); err != nil {
			t.Error(err)
		}
		if got, err := s.Get(p.Name); err != nil || !cmp.Equal(got, p.Value) {
			t.Errorf("%v is %v, %v", p, got, err)
		}
	}
	errs := s.Set(Parameter{"i", 7}, Parameter{"no", 1}, Parameter{"s", "y"})
	if errs[0] != nil || !errors.Is(errs[1], ErrNotDeclared) || errs[2] != nil {
		t.Error(errs)
	}
	if x, err := Get[float64](s, "r"); err != nil || x != 0 {
		t.Error(x, err)
	}
	if _, err := Get[float64](s, "i"); err == nil || err.Error() != "parameter 'i' is integer, not a float64" {
		t.Error(err)
	}
	if _, err := Get[float64](s, "none"); !errors.Is(err, ErrNotDeclared) {
		t.Error(err)
	}
}

func TestSetRefuses(t *testing.T) {
	s := settable(t)
	for _, c := range []struct {
		name  string
		value any
		want  string
	}{
		{"d", 1, "Wrong parameter type, parameter {d} is of type {double}, setting it to {integer} is not allowed. " +
			"Write 1.0: ROS tells integers and doubles apart."},
		{"i", 1., "Wrong parameter type, parameter {i} is of type {integer}, setting it to {double} is not allowed."},
		{"da", []int{1}, "Wrong parameter type, parameter {da} is of type {double_array}, setting it to " +
			"{integer_array} is not allowed."},
		{"ro", 1., "parameter 'ro' cannot be set because it is read-only"},
		{"no", 1., "parameter 'no' cannot be set because it was not declared"},
		{"", 1., "parameter name must not be empty"},
		{"d", nil, "cannot undeclare an statically typed parameter"},
		{"r", 0.35,
			"Parameter {r} doesn't comply with floating point range. 0.35 is not within 0 … 1 in steps of 0.1."},
		{"r", 1.1, "Parameter {r} doesn't comply with floating point range. 1.1 is not within 0 … 1 in steps of 0.1."},
	} {
		t.Run(fmt.Sprintf("%s to %v", c.name, c.value), func(t *testing.T) {
			before, _ := s.Get(c.name)
			if err := s.SetAtomically(Parameter{c.name, c.value}); err == nil || err.Error() != c.want {
				t.Errorf("%v\nwant %s", err, c.want)
			}
			if after, _ := s.Get(c.name); !cmp.Equal(before, after) {
				t.Errorf("a refused set made it %v", after)
			}
		})
	}
}

// TestOwnership: neither callers nor readers share memory with the store.
func TestOwnership(t *testing.T) {
	s := New(Options{})
	mine := []float64{1, 2}
	declare(t, s, Parameter{"a", mine})
	mine[0] = 9
	got, err := Get[[]float64](s, "a")
	if err != nil || got[0] != 1 {
		t.Error(got, err)
	}
	got[1] = 9
	if again, _ := Get[[]float64](s, "a"); again[1] != 2 {
		t.Error(again)
	}
}

func TestUndeclare(t *testing.T) {
	var events []string
	s := New(Options{Event: func(e *rclinterfaces.ParameterEvent) {
		events = append(events, fmt.Sprint(len(e.NewParameters), len(e.ChangedParameters), len(e.DeletedParameters)))
	}})
	declare(t, s, Parameter{"static", 1})
	for name, d := range map[string]Descriptor{"dyn": {DynamicTyping: true},
		"ro": {DynamicTyping: true, ReadOnly: true}} {
		if _, err := s.Declare(name, 1, d); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{
		"static": "parameter 'static' has invalid type: cannot undeclare an statically typed parameter",
		"ro":     "cannot undeclare parameter 'ro' because it is read-only",
		"none":   "cannot undeclare parameter 'none' which has not yet been declared",
	} {
		t.Run(name, func(t *testing.T) {
			if err := s.Undeclare(name); err == nil || err.Error() != want {
				t.Errorf("%v, want %s", err, want)
			}
		})
	}
	if err := s.Undeclare("dyn"); err != nil || s.Has("dyn") {
		t.Error(err)
	}
	if err := s.SetAtomically(Parameter{"dyn", 1}); !errors.Is(err, ErrNotDeclared) {
		t.Error(err)
	}
	if got := strings.Join(events, ", "); got != "1 0 0, 1 0 0, 1 0 0, 0 0 1" {
		t.Error(got)
	}
}

func TestAllowUndeclared(t *testing.T) {
	var last rclinterfaces.ParameterEvent
	s := New(Options{AllowUndeclared: true, Event: func(e *rclinterfaces.ParameterEvent) { last = *e }})
	if v, err := s.Get("a"); v != nil || err != nil {
		t.Error(v, err)
	}
	if err := s.SetAtomically(Parameter{"a", 1}, Parameter{"b", "x"}); err != nil || len(last.NewParameters) != 2 {
		t.Error(err, last)
	}
	if err := s.SetAtomically(Parameter{"a", "other type"}, Parameter{"b", nil}); err != nil {
		t.Error(err)
	}
	if len(last.ChangedParameters) != 1 || len(last.DeletedParameters) != 1 ||
		last.DeletedParameters[0].Value.StringValue != "x" || s.Has("b") {
		t.Errorf("%+v", last)
	}
}

func TestCallbacks(t *testing.T) {
	var log []string
	s := New(Options{Event: func(*rclinterfaces.ParameterEvent) { log = append(log, "event") }})
	declare(t, s, Parameter{"a", 1}, Parameter{"b", 1}, Parameter{"sum", 2})
	log = nil
	removeFirst := s.BeforeSet(func(ps []Parameter) error {
		v, err := s.Get("a") // readable meanwhile, and still old
		log = append(log, fmt.Sprint("first ", len(ps), " ", v, err))
		return nil
	})
	s.BeforeSet(func(ps []Parameter) error {
		log = append(log, "second")
		for _, p := range ps {
			if p.Value == int64(13) {
				return errors.New("13 brings bad luck")
			}
		}
		return nil
	})
	s.AfterSet(func(ps []Parameter) {
		log = append(log, fmt.Sprint("after ", ps))
		if ps[0].Name != "sum" { // it may change parameters itself
			a, _ := Get[int64](s, "a")
			b, _ := Get[int64](s, "b")
			if err := s.SetAtomically(Parameter{"sum", a + b}); err != nil {
				t.Error(err)
			}
		}
	})
	if err := s.SetAtomically(Parameter{"a", 3}, Parameter{"b", 4}); err != nil {
		t.Fatal(err)
	}
	want := "second; first 2 1 <nil>; event; after [{a 3} {b 4}]; second; first 1 3 <nil>; event; after [{sum 7}]"
	if got := strings.Join(log, "; "); got != want {
		t.Errorf(" got %s\nwant %s", got, want)
	}
	log = nil
	removeFirst()
	err := s.SetAtomically(Parameter{"a", 5}, Parameter{"b", 13})
	if err == nil || err.Error() != "13 brings bad luck" || strings.Join(log, "; ") != "second" {
		t.Error(err, log)
	}
	if a, _ := s.Get("a"); a != int64(3) {
		t.Errorf("a half of a refused set is in: %v", a)
	}
	if _, err := s.Declare("c", 13, Descriptor{}); err == nil ||
		err.Error() != "parameter 'c' could not be set: 13 brings bad luck" || s.Has("c") {
		t.Error(err)
	}
}

func TestOverrides(t *testing.T) {
	s := New(Options{Overrides: map[string]param.Assignment{
		"a": {Name: "a", Value: int64(2), Where: "f:1"}, "typo": {Name: "typo", Value: 1., Where: "f:2"},
		"z": {Name: "z", Value: 1., Where: "f:3"},
	}})
	declare(t, s, Parameter{"a", 1})
	if diff := cmp.Diff([]param.Assignment{{Name: "typo", Value: 1., Where: "f:2"},
		{Name: "z", Value: 1., Where: "f:3"}}, s.Unused()); diff != "" {
		t.Error(diff)
	}
	if err := s.DeclareOverrides(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Names(), " "); got != "a typo z" || len(s.Unused()) != 0 {
		t.Error(got, s.Unused())
	}
	if err := s.SetAtomically(Parameter{"typo", "any type"}); err != nil {
		t.Error(err)
	}
}

func TestEvent(t *testing.T) {
	var events []rclinterfaces.ParameterEvent
	s := New(Options{Node: "/ns/ctrl", Now: func() int64 { return 1700000123987654321 },
		Event: func(e *rclinterfaces.ParameterEvent) { events = append(events, *e) }})
	declare(t, s, Parameter{"gain", 1.5})
	if err := s.SetAtomically(Parameter{"gain", 2.5}); err != nil {
		t.Fatal(err)
	}
	if s.SetAtomically(Parameter{"gain", "no"}) == nil || len(events) != 2 {
		t.Fatal(events)
	}
	want := rclinterfaces.ParameterEvent{Node: "/ns/ctrl", ChangedParameters: []rclinterfaces.Parameter{
		{Name: "gain", Value: rclinterfaces.ParameterValue{Type: 3, DoubleValue: 2.5}}}}
	want.Stamp.Sec, want.Stamp.Nanosec = 1700000123, 987654321
	if diff := cmp.Diff(want, events[1]); diff != "" {
		t.Error(diff)
	}
	if e := events[0]; len(e.NewParameters) != 1 || e.NewParameters[0].Value.DoubleValue != 1.5 {
		t.Errorf("%+v", e)
	}
}
