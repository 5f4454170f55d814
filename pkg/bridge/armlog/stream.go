package armlog

import (
	"fmt"
	"slices"

	sensormsgs "vnd/msgs/sensor_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/robot/arm"
)

// Stream makes rows of what an arm does now, as Read does of a bag. It is for one goroutine.
type Stream struct {
	reading
	lockstep bool
}

// NewStream begins with nothing. Where time is simulated it may stand while a command is made: each command then counts
// from the newest joint states on that were sent before it.
func NewStream(o Options, simulated bool) *Stream {
	return &Stream{reading: reading{Options: o, links: arm.Panda().Links}, lockstep: simulated}
}

// States takes joint states that were sent at a time, ns. It refuses angles that no Panda has.
func (s *Stream) States(m *sensormsgs.JointState, sent int64) error {
	if err := s.states(m, sent); err != nil {
		return err
	}
	last := len(s.samples) - 1
	for j, l := range s.links {
		if q := s.samples[last].Q[j]; q < l.Min-slack || q > l.Max+slack {
			s.samples = s.samples[:last]
			return fmt.Errorf("joint %q is at %.3g rad, expected %.3g to %.3g", s.Joints[j], q, l.Min, l.Max)
		}
	}
	return nil
}

// Command takes torques that were sent at a time, ns.
func (s *Stream) Command(m *stdmsgs.Float64MultiArray, sent int64) error {
	if len(s.samples) == 0 {
		s.commands = s.commands[:0] // the newest one counts until states come
	}
	return s.command(m, sent)
}

// Seconds is the time from the first joint states to the newest; below 0 after a clock was set back.
func (s *Stream) Seconds() float64 {
	if len(s.samples) == 0 {
		return 0
	}
	return float64(s.samples[len(s.samples)-1].stamp-s.samples[0].stamp) / 1e9
}

// late is the time for which the newest commands may be under way, ns.
const late = 5e8

// Taken is what came for a while.
type Taken struct {
	Begin int64 // stamp from which the rows' times count, ns
	Rows  [][]arm.Row
	Why   string // what is wrong with it, or why there are no rows; one line
}

// Take returns the rows of what came so far, but for what is newest, which it keeps. What no Panda does is forgotten,
// and so is what came before a clock was set back.
func (s *Stream) Take() (t Taken) {
	n := len(s.samples)
	if s.Seconds() < 0 {
		s.samples, s.commands = s.samples[n-1:], nil
		return Taken{Why: "topic " + s.Options.States + ": the clock was set back"}
	}
	if n < 2 {
		return t
	}
	last := n - 1
	for last > 0 && s.samples[n-1].stamp-s.samples[last].stamp < late {
		last--
	}
	r := reading{Options: s.Options, links: s.links, samples: slices.Clone(s.samples[:last+1]),
		commands: slices.Clone(s.commands), cut: s.cut}
	if s.lockstep {
		r.byStates()
	}
	first := max(0, s.before(s.samples[last].recorded))
	s.samples, s.commands, s.cut = slices.Clone(s.samples[last:]), slices.Clone(s.commands[first:]), 0
	t.Begin = r.samples[0].stamp
	if err := r.plausible(); err != nil {
		t.Why = err.Error()
		return t
	}
	t.Rows = r.rows()
	r.explain()
	if len(r.warnings) > 0 {
		t.Why = fmt.Sprintf("topic %s: %s", r.warnings[0].Topic, r.warnings[0].Text)
	}
	const least = 2 // s: of less a hole may be the cause; and an arm that is not commanded has nothing to teach
	if len(t.Rows) == 0 && len(r.commands) > 0 && float64(r.samples[last].stamp-t.Begin) > least*1e9 {
		t.Why = r.nothing()
	}
	return t
}

// before is the newest command that was sent before a time; -1: none was.
func (s *Stream) before(sent int64) int {
	i := len(s.commands) - 1
	for i >= 0 && s.commands[i].recorded > sent {
		i--
	}
	return i
}

// byStates has commands recorded at the stamps of the states that they answer.
func (r *reading) byStates() {
	i := 0
	answers := r.commands[:0]
	for _, c := range r.commands {
		for i < len(r.samples) && r.samples[i].recorded <= c.recorded {
			i++
		}
		if i > 0 { // else it answers what was before
			c.recorded = r.samples[i-1].stamp
			answers = append(answers, c)
		}
	}
	r.commands = answers
	for k := range r.samples {
		r.samples[k].recorded = r.samples[k].stamp
	}
}
