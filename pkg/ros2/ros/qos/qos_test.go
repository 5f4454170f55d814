package qos

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	rclinterfaces "vnd/msgs/rcl_interfaces"
	"vnd/pkg/core/param"
	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros/params"
	"vnd/pkg/ros2/ros/rosargs"
)

var reliable = rmw.QoS{Reliability: dds.Reliable, MaxBlocking: dds.Infinite, Depth: 10}

// TestArguments: overrides on a command line change the QoS.
func TestArguments(t *testing.T) {
	args, err := rosargs.Parse([]string{"--ros-args", "-p", "qos_overrides./quad/step.publisher.depth:=50",
		"-p", "qos_overrides./quad/step.publisher.reliability:=best_effort",
		"-p", "qos_overrides./quad/step.publisher_slow.durability:=transient_local"})
	if err != nil {
		t.Fatal(err)
	}
	s := params.New(params.Options{Overrides: args.Overrides("/quad/policy_controller")})
	q, err := Declare(s, "/quad/step", Publisher, Overridable{Policies: DefaultPolicies}, reliable)
	if want := (rmw.QoS{MaxBlocking: dds.Infinite, Depth: 50}); err != nil || !cmp.Equal(q, want) {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err = Declare(s, "/quad/step", Publisher, Overridable{Policies: DefaultPolicies}, rmw.QoS{}); err != nil ||
		q.Depth != 50 {
		t.Errorf("the second publisher has %+v, %v", q, err)
	}
	q, err = Declare(s, "/quad/step", Publisher, Overridable{Policies: AllPolicies(Publisher), ID: "slow"}, reliable)
	if want := reliable; err != nil || q.Durability != dds.TransientLocal || q.Depth != want.Depth {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err = Declare(s, "/quad/step", Subscription, Overridable{Policies: AllPolicies(Subscription)},
		reliable); err != nil || !cmp.Equal(q, reliable) {
		t.Errorf("%+v, %v", q, err)
	}
	var r rclinterfaces.DescribeParametersResponse
	s.DescribeParameters(&rclinterfaces.DescribeParametersRequest{
		Names: []string{"qos_overrides./quad/step.publisher_slow.durability",
			"qos_overrides./quad/step.publisher.depth"}}, &r)
	want := []rclinterfaces.ParameterDescriptor{
		{Name: "qos_overrides./quad/step.publisher_slow.durability", Type: 4, ReadOnly: true,
			Description: "qos policy {durability} for publisher {/quad/step} with id {slow}"},
		{Name: "qos_overrides./quad/step.publisher.depth", Type: 2, ReadOnly: true,
			Description: "qos policy {depth} for publisher {/quad/step}"},
	}
	if diff := cmp.Diff(want, r.Descriptors); diff != "" {
		t.Error(diff)
	}
}

func TestValues(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		value  any
		want   func(*rmw.QoS)
	}{
		{Reliability, "best_effort", func(q *rmw.QoS) { q.Reliability = dds.BestEffort }},
		{Reliability, "system_default", func(*rmw.QoS) {}},
		{Durability, "transient_local", func(q *rmw.QoS) { q.Durability = dds.TransientLocal }},
		{History, "keep_all", func(q *rmw.QoS) { q.History = dds.KeepAll }},
		{Liveliness, "manual_by_topic", func(q *rmw.QoS) { q.Liveliness = dds.ManualByTopic }},
		{Depth, int64(1000), func(q *rmw.QoS) { q.Depth = 1000 }},
		{Deadline, int64(20e6), func(q *rmw.QoS) { q.Deadline = 20 * time.Millisecond }},
		{Lifespan, int64(10e9), func(q *rmw.QoS) { q.Lifespan = 10 * time.Second }},
		{Lifespan, int64(math.MaxInt64), func(*rmw.QoS) {}},
		{LivelinessLeaseDuration, int64(1), func(q *rmw.QoS) { q.Lease = 1 }},
	} {
		name := "qos_overrides./t.publisher." + string(c.policy)
		s := params.New(params.Options{Overrides: map[string]param.Assignment{name: {Name: name, Value: c.value}}})
		got, err := Declare(s, "/t", Publisher, Overridable{Policies: AllPolicies(Publisher)}, reliable)
		want := reliable
		c.want(&want)
		if err != nil || !cmp.Equal(got, want) {
			t.Errorf("%s %v: %+v, %v", c.policy, c.value, got, err)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		policy Policy
		value  any
		want   string
	}{
		{Reliability, "best", "unknown QoS policy reliability value: best, expected one of best_effort, reliable, " +
			"system_default"},
		{History, "KEEP_LAST", "unknown QoS policy history value: KEEP_LAST, expected one of keep_all, keep_last, " +
			"system_default"},
		{Durability, "persistent", "unknown QoS policy durability value: persistent, expected one of system_default, " +
			"transient_local, volatile"},
		{Liveliness, "", "unknown QoS policy liveliness value: , expected one of automatic, manual_by_topic, " +
			"system_default"},
		{Depth, int64(-1), "unknown QoS policy depth value: -1, expected 0 … 2147483647 messages"},
		{Deadline, int64(-1), "unknown QoS policy deadline value: -1, expected 0 ns (infinite) or more"},
		{Depth, 1.5, "Wrong parameter type, parameter {qos_overrides./t.publisher.depth} is of type {integer}, " +
			"setting it to {double} is not allowed."},
	} {
		t.Run(fmt.Sprint(c.policy, c.value), func(t *testing.T) {
			name := "qos_overrides./t.publisher." + string(c.policy)
			s := params.New(params.Options{Overrides: map[string]param.Assignment{
				name: {Name: name, Value: c.value, Where: "f:3"}}})
			want := fmt.Sprintf("f:3: parameter '%s' could not be set: %s", name, c.want)
			if _, err := Declare(s, "/t", Publisher, Overridable{Policies: []Policy{c.policy}}, reliable); err == nil ||
				err.Error() != want {
				t.Errorf(" got %v\nwant %s", err, want)
			}
		})
	}
	s := params.New(params.Options{})
	if _, err := Declare(s, "/t", Subscription, Overridable{Policies: []Policy{Lifespan}}, reliable); err == nil ||
		err.Error() != `/t: a subscription has no QoS policy "lifespan" to override` {
		t.Error(err)
	}
	refuse := func(rmw.QoS) error { return errors.New("depth must be 1") }
	if _, err := Declare(s, "/t", Publisher, Overridable{Policies: DefaultPolicies, Check: refuse},
		reliable); err == nil ||
		err.Error() != "/t: the QoS of the publisher: depth must be 1" {
		t.Error(err)
	}
	if err := s.SetAtomically(params.Parameter{Name: "qos_overrides./t.publisher.depth", Value: 3}); err == nil ||
		!strings.Contains(err.Error(), "read-only") {
		t.Error(err)
	}
}

// TestUnchanged: without overrides the QoS stays the same.
func TestUnchanged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := rmw.QoS{
			Reliability: dds.Reliability(rapid.IntRange(0, 1).Draw(t, "reliability")),
			Durability:  dds.Durability(rapid.IntRange(0, 1).Draw(t, "durability")),
			History:     dds.History(rapid.IntRange(0, 1).Draw(t, "history")),
			Liveliness:  dds.Liveliness(rapid.IntRange(0, 1).Draw(t, "liveliness")),
			Depth:       rapid.IntRange(0, 1000).Draw(t, "depth"),
			Deadline:    time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "deadline")),
			Lifespan:    time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "lifespan")),
			Lease:       time.Duration(rapid.Int64Range(0, 1e12).Draw(t, "lease")),
		}
		got, err := Declare(params.New(params.Options{}), "/t", Publisher,
			Overridable{Policies: AllPolicies(Publisher)}, q)
		if err != nil || !cmp.Equal(got, q) {
			t.Fatalf("%+v became %+v, %v", q, got, err)
		}
	})
}
