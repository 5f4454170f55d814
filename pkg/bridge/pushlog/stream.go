// Package pushlog makes rows that a model is fitted to of what push_controller reports, as it comes or in bags.
package pushlog

import (
	"errors"
	"fmt"
	"math"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/robot/pusher"
)

// Stretch is what was pushed without a gap: a push, or a part of one.
type Stretch struct {
	Begin int64 // stamp of its first row, from which the rows' times count, ns
	Rows  []pusher.Row
}

// Stream makes stretches of ticks.
type Stream struct {
	Dt    float64 // from row to row, s
	Least int     // rows of a stretch; shorter ones are left out

	now    Stretch
	before msgs.PushStep // the newest tick of a push that goes on, if one does
	goes   bool
	gaps   int     // ticks that are not Dt after the one before, in a push
	apart  float64 // of the newest of them, s
}

// Add takes a tick, which is the caller's afterwards. It returns the stretch that ends there or before, without rows
// where none does.
func (s *Stream) Add(m *msgs.PushStep) (ended Stretch, err error) {
	if err := check(m); err != nil {
		return s.End(), err
	}
	if !s.goes || !s.follows(m) {
		ended = s.End()
		s.before, s.goes = *m, m.Fault == "" && !m.There
		return ended, nil
	}
	if m.Fault != "" { // what is seen then may be another thing
		return s.End(), nil
	}
	stamp := bridge.Nanoseconds(m.Header.Stamp)
	if len(s.now.Rows) == 0 {
		s.now.Begin = stamp
	}
	s.now.Rows = append(s.now.Rows, pusher.Row{T: float64(stamp-s.now.Begin) / 1e9, State: s.state(m),
		Command: m.Command})
	if s.before = *m; m.There {
		return s.End(), nil
	}
	return Stretch{}, nil
}

// End is the stretch so far; the next tick begins another one.
func (s *Stream) End() (out Stretch) {
	if len(s.now.Rows) >= s.Least {
		out = s.now
	}
	s.now, s.goes = Stretch{}, false
	return out
}

// Why says why there may be no rows; "" where ticks are as they should be.
func (s *Stream) Why() string {
	if s.gaps == 0 {
		return ""
	}
	return fmt.Sprintf("%d ticks are not %g s after the one before, the newest %.3f s: expected places of the box "+
		"each %g s, or a whole part of that", s.gaps, s.Dt, s.apart, s.Dt)
}

// follows reports whether a tick goes on with what was before.
func (s *Stream) follows(m *msgs.PushStep) bool {
	if m.Push != s.before.Push || m.Seq != s.before.Seq+1 {
		return false
	}
	apart := float64(bridge.Nanoseconds(m.Header.Stamp)-bridge.Nanoseconds(s.before.Header.Stamp)) / 1e9
	if !(math.Abs(apart-s.Dt) < s.Dt/4) {
		s.gaps, s.apart = s.gaps+1, apart
		return false
	}
	return true
}

// state is that at a tick. Its velocities are those since the one before: of what lies ahead they know nothing.
func (s *Stream) state(m *msgs.PushStep) pusher.State {
	was := &s.before
	x := pusher.State{Box: m.Box, Tool: m.Tool}
	for k := range was.Tool {
		x.BoxVelocity[k] = (m.Box[k] - was.Box[k]) / s.Dt
		x.ToolVelocity[k] = (m.Tool[k] - was.Tool[k]) / s.Dt
	}
	x.BoxVelocity[2] = math.Remainder(m.Box[2]-was.Box[2], 2*math.Pi) / s.Dt
	return x
}

// check refuses numbers that are none.
func check(m *msgs.PushStep) error {
	for _, part := range [][]float64{m.Box[:], m.Tool[:], m.Command[:]} {
		for _, x := range part {
			if x*0 != 0 {
				return errors.New("box, tool or command is no number")
			}
		}
	}
	return nil
}
