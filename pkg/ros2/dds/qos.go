package dds

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Errors of every backend.
var (
	ErrClosed  = errors.New("closed")
	ErrTimeout = errors.New("timed out: a reliable reader does not keep up")
	ErrShort   = errors.New("a sample begins with the four bytes of its encapsulation")
	// ErrEncapsulation refuses samples that a receiver would drop as malformed: the
	// reliable samples after them would never arrive.
	ErrEncapsulation = errors.New("no such encapsulation: expected CDR, PL_CDR, CDR2, D_CDR2 or PL_CDR2 " +
		"(00 00 to 00 03, 00 06 to 00 0b)")
)

// CheckSample returns why a sample cannot be written, naming its topic: ErrShort or
// ErrEncapsulation; or nil.
func CheckSample(topic string, sample []byte) error {
	var err error
	switch {
	case len(sample) < 4:
		err = ErrShort
	case sample[0] != 0 || sample[1] > 0x0b || sample[1] == 4 || sample[1] == 5: // XTypes 1.3, 7.6.3.1.2
		err = ErrEncapsulation
	default:
		return nil
	}
	return fmt.Errorf("topic %s: %d bytes, beginning with % x: %w", topic, len(sample), sample[:min(len(sample), 4)],
		err)
}

// Topic names a topic and its type, as on the wire.
type Topic struct {
	Name, Type string
}

// QoS of an endpoint. The zero value is best effort, volatile, keep last 1.
type QoS struct {
	Reliability Reliability
	// MaxBlocking is how long a reliable Write may wait; Infinite is allowed.
	MaxBlocking time.Duration
	Durability  Durability
	History     History
	Depth       int // of KeepLast; 0 is 1
	// Durations: 0 is infinite.
	Deadline, Lifespan, Lease time.Duration
	Liveliness                Liveliness
	UserData                  []byte
	// IgnoreLocal: a reader does not match writers of its own participant.
	IgnoreLocal bool
}

// Check returns what is wrong with an endpoint of topic t and QoS q, naming the
// topic, or nil.
func (q QoS) Check(t Topic) error {
	fault := func(format string, args ...any) error {
		return fmt.Errorf("topic %q of type %q: %s", t.Name, t.Type, fmt.Sprintf(format, args...))
	}
	switch {
	case t.Name == "" || t.Type == "":
		return fault("a topic has a name and a type")
	case strings.ContainsRune(t.Name+t.Type, 0):
		return fault("a zero byte in the name or the type")
	case q.Depth < 0:
		return fault("depth %d: expected 1 or more, or 0 for 1", q.Depth)
	case min(q.MaxBlocking, q.Deadline, q.Lifespan, q.Lease) < 0:
		return fault("a negative duration: max blocking %v, deadline %v, lifespan %v, lease %v",
			q.MaxBlocking, q.Deadline, q.Lifespan, q.Lease)
	case q.Reliability > Reliable || q.Durability > TransientLocal || q.History > KeepAll ||
		q.Liveliness > ManualByTopic:
		return fault("reliability %d, durability %d, history %d, liveliness %d: expected 0 or 1 each",
			q.Reliability, q.Durability, q.History, q.Liveliness)
	}
	return nil
}

// Infinite blocks without limit.
const Infinite time.Duration = 1<<63 - 1

// Reliability of delivery.
type Reliability uint8

// Durability of samples for readers that come later.
type Durability uint8

// History of samples kept.
type History uint8

// Liveliness of a writer, and who asserts it.
type Liveliness uint8

// Values of the policies. A writer must offer at least the number that a reader
// requests.
const (
	BestEffort Reliability = 0
	Reliable   Reliability = 1

	Volatile       Durability = 0
	TransientLocal Durability = 1

	KeepLast History = 0
	KeepAll  History = 1

	Automatic     Liveliness = 0
	ManualByTopic Liveliness = 1
)

// Policy is a DDS policy's number (DDS 1.4, QosPolicyId_t).
type Policy int

// Policies over which endpoints may not match.
const (
	NoPolicy          Policy = 0
	DurabilityPolicy  Policy = 2
	DeadlinePolicy    Policy = 4
	LivelinessPolicy  Policy = 8
	ReliabilityPolicy Policy = 11
)

// String is the policy's name as ROS tools print it.
func (p Policy) String() string {
	switch p {
	case DurabilityPolicy:
		return "DURABILITY"
	case DeadlinePolicy:
		return "DEADLINE"
	case LivelinessPolicy:
		return "LIVELINESS"
	case ReliabilityPolicy:
		return "RELIABILITY"
	}
	return fmt.Sprintf("policy %d", int(p))
}

// Compatible returns the first policy over which a reader that requests r and a
// writer that offers w do not match, or NoPolicy.
func Compatible(w, r QoS) Policy {
	longer := func(a, b time.Duration) bool { return b != 0 && (a == 0 || a > b) }
	switch {
	case w.Reliability < r.Reliability:
		return ReliabilityPolicy
	case w.Durability < r.Durability:
		return DurabilityPolicy
	case longer(w.Deadline, r.Deadline):
		return DeadlinePolicy
	case w.Liveliness < r.Liveliness || longer(w.Lease, r.Lease):
		return LivelinessPolicy
	}
	return NoPolicy
}
