package params

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/ros2/cdr"
)

// golden returns bytes that ROS 2 Humble serialized.
func golden(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/rcl_interfaces__" + name + ".cdr")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func marshalled(t *testing.T, m cdr.Message) []byte {
	t.Helper()
	data, err := cdr.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestRecordedGet answers a recorded request of `ros2 param get /drone1/talker gain` with the
// bytes of the talker's response (rclpy, ROS 2 Humble).
func TestRecordedGet(t *testing.T) {
	// Without the 16 bytes of a service's header and the request's padding.
	request, _ := hex.DecodeString("00010000" + "01000000050000006761696e00")
	response, _ := hex.DecodeString("00010000" +
		"01000000030000000000000000000000000000000000f83f01000000000000000000000000000000000000000000000000000000")
	s := New(Options{})
	declare(t, s, Parameter{"gain", 1.5})
	var q rclinterfaces.GetParametersRequest
	if err := cdr.Unmarshal(request, &q); err != nil {
		t.Fatal(err)
	}
	var r rclinterfaces.GetParametersResponse
	s.GetParameters(&q, &r)
	if got := marshalled(t, &r); !bytes.Equal(got, response) {
		t.Errorf(" got %x\nwant %x", got, response)
	}
}

// TestGoldenValues gives the store a value of each type and expects the bytes of ROS 2 Humble.
func TestGoldenValues(t *testing.T) {
	want := golden(t, "GetParameters_Response")
	var values rclinterfaces.GetParametersResponse
	if err := cdr.Unmarshal(want, &values); err != nil {
		t.Fatal(err)
	}
	s := New(Options{})
	var q rclinterfaces.GetParametersRequest
	var types []uint8
	for i := range values.Values {
		v, err := FromMessage(&values.Values[i])
		if err != nil {
			t.Fatal(err)
		}
		name := fmt.Sprint("p", i)
		if _, err := s.Declare(name, v, Descriptor{DynamicTyping: true}); err != nil {
			t.Fatal(err)
		}
		q.Names = append(q.Names, name)
		types = append(types, values.Values[i].Type)
	}
	if len(types) != 10 {
		t.Fatalf("types %v", types)
	}
	var r rclinterfaces.GetParametersResponse
	s.GetParameters(&q, &r)
	if got := marshalled(t, &r); !bytes.Equal(got, want) {
		t.Errorf(" got %x\nwant %x", got, want)
	}
	var rt rclinterfaces.GetParameterTypesResponse
	s.GetParameterTypes(&rclinterfaces.GetParameterTypesRequest{Names: q.Names}, &rt)
	if !bytes.Equal(rt.Types, types) {
		t.Errorf("types %v, want %v", rt.Types, types)
	}
	q.Names[3] = "none"
	s.GetParameters(&q, &r)
	s.GetParameterTypes(&rclinterfaces.GetParameterTypesRequest{Names: q.Names}, &rt)
	if len(r.Values)+len(rt.Types) != 0 {
		t.Error("an answer for a parameter that is not declared")
	}
}

func TestGoldenDescriptors(t *testing.T) {
	s := New(Options{})
	for _, p := range []struct {
		name    string
		initial any
		d       Descriptor
	}{
		{"gain.p", 0.5, Descriptor{Description: "P gain", Constraints: "none", DynamicTyping: true,
			FloatingPointRange: &rclinterfaces.FloatingPointRange{FromValue: 0, ToValue: 10, Step: 0.5}}},
		{"n", 2, Descriptor{ReadOnly: true, IntegerRange: &rclinterfaces.IntegerRange{FromValue: -1, ToValue: 100,
			Step: 3}}},
	} {
		if _, err := s.Declare(p.name, p.initial, p.d); err != nil {
			t.Fatal(err)
		}
	}
	var r rclinterfaces.DescribeParametersResponse
	s.DescribeParameters(&rclinterfaces.DescribeParametersRequest{Names: []string{"gain.p", "n"}}, &r)
	if got, want := marshalled(t, &r), golden(t, "DescribeParameters_Response"); !bytes.Equal(got, want) {
		t.Errorf(" got %x\nwant %x", got, want)
	}
	s.DescribeParameters(&rclinterfaces.DescribeParametersRequest{Names: []string{"n", "none"}}, &r)
	if len(r.Descriptors) != 0 {
		t.Error(r)
	}
}

// TestList: the responses of rclcpp's list_parameters.
func TestList(t *testing.T) {
	s := New(Options{})
	for _, name := range []string{"use_sim_time", "gain.p", "gain.i", "gain.limits.low", "gains", "a.b.c.d"} {
		declare(t, s, Parameter{name, 1})
	}
	for _, c := range []struct {
		prefixes        string
		depth           uint64
		names, prefixed string
	}{
		{"", 0, "a.b.c.d gain.i gain.limits.low gain.p gains use_sim_time", "a.b.c gain gain.limits"},
		{"", 1, "gains use_sim_time", ""},
		{"", 2, "gain.i gain.p gains use_sim_time", "gain"},
		{"gain", 0, "gain.i gain.limits.low gain.p", "gain gain.limits"},
		{"gain", 1, "", ""},
		{"gain", 2, "gain.i gain.p", "gain"},
		{"gain gains", 2, "gain.i gain.p gains", "gain"},
		{"gain.p", 1, "gain.p", "gain"},
		{"a", 4, "a.b.c.d", "a.b.c"},
		{"a", 3, "", ""},
		{"ga", 0, "", ""},
	} {
		t.Run(fmt.Sprint(c.prefixes, c.depth), func(t *testing.T) {
			var r rclinterfaces.ListParametersResponse
			s.ListParameters(&rclinterfaces.ListParametersRequest{Prefixes: strings.Fields(c.prefixes), Depth: c.depth},
				&r)
			names, prefixes := strings.Join(r.Result.Names, " "), strings.Join(r.Result.Prefixes, " ")
			if names != c.names || prefixes != c.prefixed {
				t.Errorf("%q at depth %d: %q under %q\nwant %q under %q", c.prefixes, c.depth, names, prefixes, c.names,
					c.prefixed)
			}
		})
	}
}

func wire(name string, v any) rclinterfaces.Parameter {
	own, _ := copied(v)
	return message(Parameter{name, own})
}

func TestSetServices(t *testing.T) {
	s := New(Options{})
	declare(t, s, Parameter{"a", 1.}, Parameter{"b", "x"})
	var r rclinterfaces.SetParametersResponse
	bad := wire("a", 1.)
	bad.Value.Type = 77
	s.SetParameters(&rclinterfaces.SetParametersRequest{Parameters: []rclinterfaces.Parameter{
		wire("a", 2.), wire("none", 1), wire("a", 3), bad, wire("b", "y")}}, &r)
	want := []rclinterfaces.SetParametersResult{
		{Successful: true},
		{Reason: "parameter 'none' cannot be set because it was not declared"},
		{Reason: "Wrong parameter type, parameter {a} is of type {double}, setting it to {integer} is not allowed. " +
			"Write 3.0: ROS tells integers and doubles apart."},
		{Reason: "parameter 'a': type 77 is none of a parameter's, expected 0 … 9"},
		{Successful: true},
	}
	if diff := cmp.Diff(want, r.Results); diff != "" {
		t.Error(diff)
	}
	var ra rclinterfaces.SetParametersAtomicallyResponse
	for _, c := range []struct {
		reason string
		set    []rclinterfaces.Parameter
	}{
		{"", []rclinterfaces.Parameter{wire("a", 5.), wire("b", "z")}},
		{"One or more parameters were not declared before setting: parameter 'c' cannot be set because it was not " +
			"declared",
			[]rclinterfaces.Parameter{wire("a", 6.), wire("c", 1)}},
		{"Wrong parameter type, parameter {b} is of type {string}, setting it to {bool} is not allowed.",
			[]rclinterfaces.Parameter{wire("a", 6.), wire("b", true)}},
		{"parameter 'a': type 77 is none of a parameter's, expected 0 … 9",
			[]rclinterfaces.Parameter{wire("b", "w"), bad}},
	} {
		t.Run(c.reason, func(t *testing.T) {
			s.SetParametersAtomically(&rclinterfaces.SetParametersAtomicallyRequest{Parameters: c.set}, &ra)
			if ra.Result.Successful != (c.reason == "") || ra.Result.Reason != c.reason {
				t.Errorf("%+v, want %s", ra.Result, c.reason)
			}
		})
	}
	a, _ := s.Get("a")
	b, _ := s.Get("b")
	if a != 5. || b != "z" {
		t.Errorf("a %v, b %v: a refused set changed something", a, b)
	}
}
