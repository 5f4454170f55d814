// Package guardlink carries samples of the state and the guard's decisions from flight_guard to policy_controller, and
// what the policy asks for back, between two processes of one machine.
//
// It is a Unix socket of whole messages and not a topic, for three reasons: a message wakes the thread that ticks
// itself, without threads of the middleware between; the kernel says at once that the other process has ended; and
// nobody on the network reaches it, nor another user of the machine.
package guardlink

import (
	"encoding/binary"
	"errors"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
)

// kind of a message: its first byte.
type kind byte

const (
	hello    kind = iota + 1 // JSON, in both directions
	begin                    // the policy flies from now on
	end                      // it does no more; the answer says whether the robot has landed
	bundle                   // whose commands count from now on
	request                  // of the policy
	sample                   // of the state
	decision                 // of the guard
	home                     // where the policy is to hold, for the battery is low
)

const (
	requestSize  = 1 + 8 + 8 + 4*8 + 3*8 + 1 + 8 + 2 // and two strings
	sampleSize   = 1 + 8 + 8 + 10*8 + 1              // and a string
	decisionSize = 1 + 8 + 8 + 4*8 + 3*8 + 4
	maxName      = 255
	maxMessage   = 16 << 10
)

var errMalformed = errors.New("a message that is none")

// writer appends numbers to a message.
type writer []byte

func (w *writer) u64(x uint64)  { *w = binary.LittleEndian.AppendUint64(*w, x) }
func (w *writer) f64(x float64) { w.u64(math.Float64bits(x)) }

func (w *writer) vec(v so3.Vec3) {
	w.f64(v.X)
	w.f64(v.Y)
	w.f64(v.Z)
}

func (w *writer) command(c quad.Command) {
	w.f64(c.Thrust)
	w.vec(c.Rates)
}

func (w *writer) flag(b bool) {
	x := byte(0)
	if b {
		x = 1
	}
	*w = append(*w, x)
}

func (w *writer) name(s string) {
	s = s[:min(len(s), maxName)]
	*w = append(append(*w, byte(len(s))), s...)
}

// reader takes them from a message that is long enough.
type reader []byte

func (r *reader) byte() byte {
	x := (*r)[0]
	*r = (*r)[1:]
	return x
}

func (r *reader) u64() uint64 {
	x := binary.LittleEndian.Uint64(*r)
	*r = (*r)[8:]
	return x
}

func (r *reader) f64() float64 { return math.Float64frombits(r.u64()) }
func (r *reader) vec() so3.Vec3 {
	return so3.Vec3{X: r.f64(), Y: r.f64(), Z: r.f64()}
}
func (r *reader) command() quad.Command { return quad.Command{Thrust: r.f64(), Rates: r.vec()} }

// name reads a string into s; one that is there already is not made anew.
func (r *reader) name(s *string) bool {
	if len(*r) == 0 {
		return false
	}
	n := int(r.byte())
	if len(*r) < n {
		return false
	}
	if string((*r)[:n]) != *s {
		*s = string((*r)[:n])
	}
	*r = (*r)[n:]
	return true
}

func appendRequest(w writer, q *control.Request) writer {
	w = append(w, byte(request))
	w.u64(q.Seq)
	w.u64(uint64(q.Stamp))
	w.command(q.Command)
	w.vec(q.Target)
	w.flag(q.Ended)
	w.f64(q.FrameAge)
	w.name(q.Bundle)
	w.name(q.Task)
	return w
}

// readRequest reads what follows the kind.
func readRequest(r reader, q *control.Request) error {
	if len(r) < requestSize-1 {
		return errMalformed
	}
	q.Seq, q.Stamp = r.u64(), int64(r.u64())
	q.Command, q.Target, q.Ended, q.FrameAge = r.command(), r.vec(), r.byte() != 0, r.f64()
	if !r.name(&q.Bundle) || !r.name(&q.Task) || len(r) != 0 {
		return errMalformed
	}
	return nil
}

// Sample is one of the state, on its way to the policy.
type Sample struct {
	control.Sample
	Sent  int64  // by whom it comes from, ns on the system's clock
	Frame string // of the world
}

func appendSample(w writer, s *Sample) writer {
	w = append(w, byte(sample))
	w.u64(uint64(s.Stamp))
	w.u64(uint64(s.Sent))
	w.vec(s.State.P)
	w.vec(s.State.V)
	w.f64(s.State.Q.W)
	w.vec(so3.Vec3{X: s.State.Q.X, Y: s.State.Q.Y, Z: s.State.Q.Z})
	w.flag(s.HasVelocity)
	w.name(s.Frame)
	return w
}

func readSample(r reader, s *Sample) error {
	if len(r) < sampleSize-1 {
		return errMalformed
	}
	s.Stamp, s.Sent = int64(r.u64()), int64(r.u64())
	s.State.P, s.State.V = r.vec(), r.vec()
	w, v := r.f64(), r.vec()
	s.State.Q = so3.Quat{W: w, X: v.X, Y: v.Y, Z: v.Z}
	s.HasVelocity = r.byte() != 0
	if !r.name(&s.Frame) || len(r) != 0 {
		return errMalformed
	}
	return nil
}

func appendDecision(w writer, d *control.Decision) writer {
	w = append(w, byte(decision))
	w.u64(d.Seq)
	w.u64(uint64(d.Now))
	w.command(d.Sent)
	w.vec(d.Wind)
	w = append(w, byte(d.Stage), byte(d.Cause))
	w.flag(d.Offboard)
	w.flag(d.Silent)
	return w
}

func readDecision(r reader, d *control.Decision) error {
	if len(r) != decisionSize-1 {
		return errMalformed
	}
	*d = control.Decision{Seq: r.u64(), Now: int64(r.u64()), Sent: r.command(), Wind: r.vec(),
		Stage: guard.Stage(r.byte()), Cause: guard.Cause(r.byte()), Offboard: r.byte() != 0, Silent: r.byte() != 0}
	return nil
}
