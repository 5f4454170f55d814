package armlog

import (
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

// States takes joint states that were sent at a time, ns.
func (s *Stream) States(m *sensormsgs.JointState, sent int64) error { return s.states(m, sent) }

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

// Take returns the rows of what came so far, but for what is newest, which it keeps. What no Panda does is an error,
// and forgotten, and so is what came before a clock was set back.
func (s *Stream) Take() ([][]arm.Row, error) {
	n := len(s.samples)
	if s.Seconds() < 0 {
		s.samples, s.commands = s.samples[n-1:], nil
		return nil, nil
	}
	if n < 2 {
		return nil, nil
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
	if err := r.plausible(); err != nil {
		return nil, err
	}
	return r.rows(), nil
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
