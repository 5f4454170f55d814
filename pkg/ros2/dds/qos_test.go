package dds

import (
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func anyQoS(t *rapid.T, name string) QoS {
	durations := rapid.SampledFrom([]time.Duration{0, 1, time.Second, time.Hour})
	return QoS{
		Reliability: Reliability(rapid.IntRange(0, 1).Draw(t, name+" reliability")),
		Durability:  Durability(rapid.IntRange(0, 1).Draw(t, name+" durability")),
		Liveliness:  Liveliness(rapid.IntRange(0, 1).Draw(t, name+" liveliness")),
		Deadline:    durations.Draw(t, name+" deadline"),
		Lease:       durations.Draw(t, name+" lease"),
	}
}

// Requested and offered QoS are ordered: every QoS matches itself, and matching is
// transitive.
func TestCompatibleIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := anyQoS(t, "a"), anyQoS(t, "b"), anyQoS(t, "c")
		if p := Compatible(a, a); p != NoPolicy {
			t.Fatalf("%+v does not match itself: %v", a, p)
		}
		if Compatible(a, b) == NoPolicy && Compatible(b, c) == NoPolicy && Compatible(a, c) != NoPolicy {
			t.Fatalf("%+v offers more than %+v, that more than %+v, but not the first", a, b, c)
		}
		if Compatible(a, b) == NoPolicy && Compatible(b, a) == NoPolicy && a.Lease != b.Lease {
			t.Fatalf("%+v and %+v match both ways", a, b)
		}
	})
	strictest := QoS{Reliability: Reliable, Durability: TransientLocal, Liveliness: ManualByTopic, Deadline: 1,
		Lease: 1}
	if p := Compatible(strictest, QoS{}); p != NoPolicy {
		t.Errorf("the strictest offer is refused: %v", p)
	}
	if p := Compatible(QoS{}, strictest); p != ReliabilityPolicy || p.String() != "RELIABILITY" {
		t.Errorf("the weakest offer is refused for %v", p)
	}
}

func TestCheckSampleRefusesUnknownEncapsulations(t *testing.T) {
	for first := range 256 {
		for second := range 256 {
			err := CheckSample("rt/x", []byte{byte(first), byte(second), 0, 0})
			known := first == 0 && (second <= 3 || second >= 6 && second <= 11)
			if known != (err == nil) || err != nil && !errors.Is(err, ErrEncapsulation) {
				t.Fatalf("encapsulation %02x %02x: %v", first, second, err)
			}
		}
	}
	if err := CheckSample("rt/x", []byte{0, 1, 0}); !errors.Is(err, ErrShort) {
		t.Errorf("three bytes: %v", err)
	}
}

// TestCheckRefuses names the policy at fault.
func TestCheckRefuses(t *testing.T) {
	topic := Topic{Name: "chatter", Type: "std_msgs::msg::dds_::String_"}
	for _, c := range []struct {
		name  string
		topic Topic
		qos   QoS
		want  string // part of the error, "" for none
	}{
		{"the zero value", topic, QoS{}, ""},
		{"everything at its most", topic, QoS{Reliability: Reliable, Durability: TransientLocal, Depth: 100}, ""},
		{"a negative depth", topic, QoS{Depth: -1}, "depth -1"},
		{"a negative duration", topic, QoS{Deadline: -time.Second}, "a negative duration"},
		{"another reliability", topic, QoS{Reliability: 2}, "reliability 2"},
		{"no name", Topic{Type: topic.Type}, QoS{}, "a topic has a name"},
		{"a zero byte", Topic{Name: "a\x00b", Type: topic.Type}, QoS{}, "a zero byte"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := c.qos.Check(c.topic)
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
