// Package qos overrides the QoS of publishers and subscriptions by parameters, as rclcpp
// does. They are read-only and have names such as
// qos_overrides./quad/step.publisher.depth, for launch files and ros2 param.
package qos

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"vnd/pkg/ros2/dds"
	"vnd/pkg/ros2/rmw"
	"vnd/pkg/ros2/ros/params"
)

// Entity is a publisher or a subscription.
type Entity string

// Entities.
const (
	Publisher    Entity = "publisher"
	Subscription Entity = "subscription"
)

// Policy is a part of a QoS, named as its parameter.
type Policy string

// Policies. Durations are integers in ns; 0 and the largest integer are infinite.
const (
	Deadline                Policy = "deadline"
	Depth                   Policy = "depth"
	Durability              Policy = "durability"
	History                 Policy = "history"
	Lifespan                Policy = "lifespan" // of publishers only
	Liveliness              Policy = "liveliness"
	LivelinessLeaseDuration Policy = "liveliness_lease_duration"
	Reliability             Policy = "reliability"
)

// DefaultPolicies may be overridden with rclcpp's with_default_policies.
var DefaultPolicies = []Policy{History, Depth, Reliability}

// AllPolicies are those of an entity.
func AllPolicies(e Entity) []Policy {
	all := []Policy{Deadline, Durability, History, Depth, Liveliness, LivelinessLeaseDuration, Reliability}
	if e == Publisher {
		all = append(all, Lifespan)
	}
	return all
}

// Overridable holds the policies that parameters may override.
type Overridable struct {
	Policies []Policy
	ID       string // of one of several entities of a topic; may be empty
	// Check returns an error for a QoS to refuse; nil allows all.
	Check func(rmw.QoS) error
}

// Declare declares the parameters of an entity on a topic, given by its full name, with the
// values of q as defaults. It returns q with the overrides. A second entity of the same
// topic and ID shares the parameters of the first. MaxBlocking has no parameter.
func Declare(s *params.Store, topic string, e Entity, o Overridable, q rmw.QoS) (rmw.QoS, error) {
	prefix, suffix := fmt.Sprintf("qos_overrides.%s.%s", topic, e), fmt.Sprintf("%s {%s}", e, topic)
	if o.ID != "" {
		prefix += "_" + o.ID
		suffix += " with id {" + o.ID + "}"
	}
	allowed := AllPolicies(e)
	for _, p := range o.Policies {
		if !slices.Contains(allowed, p) {
			return q, fmt.Errorf("%s: a %s has no QoS policy %q to override", topic, e, string(p))
		}
		name := fmt.Sprintf("%s.%s", prefix, p)
		value, err := s.Declare(name, access[p].get(&q), params.Descriptor{
			Description: fmt.Sprintf("qos policy {%s} for %s", p, suffix),
			ReadOnly:    true,
			Check:       func(v any) error { return set(p, &rmw.QoS{}, v) },
		})
		if errors.Is(err, params.ErrAlreadyDeclared) {
			value, err = s.Get(name)
		}
		if err == nil {
			err = set(p, &q, value)
		}
		if err != nil {
			return q, err
		}
	}
	if o.Check != nil {
		if err := o.Check(q); err != nil {
			return q, fmt.Errorf("%s: the QoS of the %s: %w", topic, e, err)
		}
	}
	return q, nil
}

// accessor gets and sets one policy as a parameter's value.
type accessor struct {
	get func(q *rmw.QoS) any
	set func(q *rmw.QoS, v any) error
}

var access = map[Policy]accessor{
	Deadline:                durationPolicy(func(q *rmw.QoS) *time.Duration { return &q.Deadline }),
	Lifespan:                durationPolicy(func(q *rmw.QoS) *time.Duration { return &q.Lifespan }),
	LivelinessLeaseDuration: durationPolicy(func(q *rmw.QoS) *time.Duration { return &q.Lease }),
	Depth: {
		func(q *rmw.QoS) any { return int64(q.Depth) },
		func(q *rmw.QoS, v any) error {
			depth, ok := v.(int64)
			if !ok || depth < 0 || depth > math.MaxInt32 {
				return fmt.Errorf("expected 0 … %d messages", math.MaxInt32)
			}
			q.Depth = int(depth)
			return nil
		},
	},
	// system_default is the default of rmw_cyclonedds.
	Durability: namedPolicy(func(q *rmw.QoS) *dds.Durability { return &q.Durability }, map[string]dds.Durability{
		"volatile": dds.Volatile, "transient_local": dds.TransientLocal, systemDefault: dds.Volatile}),
	History: namedPolicy(func(q *rmw.QoS) *dds.History { return &q.History }, map[string]dds.History{
		"keep_last": dds.KeepLast, "keep_all": dds.KeepAll, systemDefault: dds.KeepLast}),
	Liveliness: namedPolicy(func(q *rmw.QoS) *dds.Liveliness { return &q.Liveliness }, map[string]dds.Liveliness{
		"automatic": dds.Automatic, "manual_by_topic": dds.ManualByTopic, systemDefault: dds.Automatic}),
	Reliability: namedPolicy(func(q *rmw.QoS) *dds.Reliability { return &q.Reliability }, map[string]dds.Reliability{
		"best_effort": dds.BestEffort, "reliable": dds.Reliable, systemDefault: dds.Reliable}),
}

const systemDefault = "system_default"

func set(p Policy, q *rmw.QoS, v any) error {
	if err := access[p].set(q, v); err != nil {
		return fmt.Errorf("unknown QoS policy %s value: %v, %w", p, v, err)
	}
	return nil
}

// namedPolicy is a policy whose values have names.
func namedPolicy[T comparable](field func(*rmw.QoS) *T, values map[string]T) accessor {
	names := slices.Sorted(maps.Keys(values))
	return accessor{
		func(q *rmw.QoS) any {
			i := slices.IndexFunc(names, func(n string) bool { return n != systemDefault && values[n] == *field(q) })
			return names[max(i, 0)]
		},
		func(q *rmw.QoS, v any) error {
			name, _ := v.(string)
			value, ok := values[name]
			if !ok {
				return fmt.Errorf("expected one of %s", strings.Join(names, ", "))
			}
			*field(q) = value
			return nil
		},
	}
}

// durationPolicy is a policy in ns.
func durationPolicy(field func(*rmw.QoS) *time.Duration) accessor {
	return accessor{
		func(q *rmw.QoS) any { return int64(*field(q)) },
		func(q *rmw.QoS, v any) error {
			ns, ok := v.(int64)
			if !ok || ns < 0 {
				return errors.New("expected 0 ns (infinite) or more")
			}
			*field(q) = time.Duration(ns)
			if ns == math.MaxInt64 {
				*field(q) = 0 // RMW_DURATION_INFINITE
			}
			return nil
		},
	}
}
