// Package armlog reads bags of an arm as rows that a model is fitted to.
package armlog

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	sensormsgs "vnd/msgs/sensor_msgs"
	stdmsgs "vnd/msgs/std_msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/bridge/flightlog"
	"vnd/pkg/robot/arm"
	"vnd/pkg/ros2/bag"
	"vnd/pkg/ros2/cdr"
)

// Options say how a bag is read.
type Options struct {
	Joints        bridge.Joints // by name, in the order in which torques are commanded
	States        string        // topic of sensor_msgs/msg/JointState; empty takes the only one
	Commands      string        // topic of std_msgs/msg/Float64MultiArray, N·m; empty takes the only one
	Delta         float64       // time between rows, s
	Window        int           // rows of context; a segment needs one more
	stateType     sensormsgs.JointState
	commandedType stdmsgs.Float64MultiArray
}

const (
	longestGap  = 2.5  // times Delta, between joint states of a segment
	longestHold = 0.25 // s between commands: behind the last one the arm may be under something else
)

// sample is what was measured at a stamp, and what was recorded at a time, ns.
type sample struct {
	stamp, recorded int64
	arm.State
}

// commanded is a torque from when it was recorded on.
type commanded struct {
	recorded int64
	arm.Torque
}

// reading is a bag on its way to rows.
type reading struct {
	Options
	path     string
	links    []arm.Link
	samples  []sample
	commands []commanded
	cut      int // commands with a torque that no joint has
	adrift   int // rows that clocks keep from being told
	warnings []flightlog.Warning
}

// Read reads a rosbag2 folder, or one of its storage files, as segments of rows without a gap. States are interpolated
// between joint states. A row's torque is the mean of those commanded until the next row, by the times of recording:
// these have to pass as stamps do.
//
// An error is one line with path, topic and parameter.
func Read(path string, o Options) ([][]arm.Row, []flightlog.Warning, error) {
	path = bag.Root(path)
	b, err := bag.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer b.Close()
	r := &reading{Options: o, path: path, links: arm.Panda().Links}
	err = r.choose(b.Topics())
	if err == nil {
		err = flightlog.Collect(b, r.take, func(topic, text string) { r.warn(topic, "%s", text) }, r.States, r.Commands)
	}
	if err == nil {
		err = r.plausible()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("bag %s: %w", path, err)
	}
	rows := r.rows()
	r.explain()
	if lost := b.Lost(); lost.Any() {
		r.warn("", "%s", lost.String())
	}
	if len(rows) == 0 {
		return nil, nil, r.none()
	}
	return rows, r.warnings, nil
}

func (r *reading) warn(topic, format string, args ...any) {
	r.warnings = append(r.warnings, flightlog.Warning{File: r.path, Topic: topic, Text: fmt.Sprintf(format, args...)})
}

// choose finds the topics.
func (r *reading) choose(all []bag.Topic) error {
	for _, x := range []struct {
		name            *string
		what, type_, of string
	}{{&r.States, "joint states", r.stateType.TypeName(), "joint-states"},
		{&r.Commands, "torques commanded", r.commandedType.TypeName(), "commands"}} {
		topic, err := flightlog.Only(all, *x.name, x.type_)
		if err != nil {
			return fmt.Errorf("%s (--%s): %w", x.what, x.of, err)
		}
		*x.name = topic.Name
	}
	return nil
}

// take reads a message.
func (r *reading) take(m *bag.Message) error {
	if m.Topic == r.Commands {
		if err := cdr.Unmarshal(m.Data, &r.commandedType); err != nil {
			return err
		}
		return r.command(&r.commandedType, m.LogTime)
	}
	if err := cdr.Unmarshal(m.Data, &r.stateType); err != nil {
		return err
	}
	return r.states(&r.stateType, m.LogTime)
}

// command takes torques, recorded at a time, ns.
func (r *reading) command(m *stdmsgs.Float64MultiArray, recorded int64) error {
	c := commanded{recorded: recorded}
	if err := r.Joints.FromEfforts(m, c.Torque[:]); err != nil {
		return err
	}
	r.cut += c.limit(r.links)
	r.commands = append(r.commands, c)
	return nil
}

// states takes joint states, recorded at a time, ns.
func (r *reading) states(m *sensormsgs.JointState, recorded int64) (err error) {
	s := sample{recorded: recorded}
	s.stamp, err = r.Joints.FromJointState(m, s.Q[:], s.V[:])
	for j, l := range r.links {
		if most := wild * l.Speed; err == nil && math.Abs(s.V[j]) > most {
			err = fmt.Errorf("joint %q turns at %.3g rad/s, expected at most %.3g", r.Joints[j], s.V[j], most)
		}
	}
	if n := len(r.samples); err == nil && n > 0 && s.stamp == r.samples[n-1].stamp {
		err = fmt.Errorf("the stamp %d is that of the message before", s.stamp)
	}
	if err == nil {
		r.samples = append(r.samples, s)
	}
	return err
}

// rows makes segments of the samples and commands.
func (r *reading) rows() (segments [][]arm.Row) {
	for from, next := 0, 0; from < len(r.samples); from = next {
		next = from + 1
		for next < len(r.samples) && r.follows(next) && !r.jumps(next) {
			next++
		}
		for _, s := range r.between(r.samples[from:next]) {
			if len(s) > r.Window {
				segments = append(segments, s)
			}
		}
	}
	return segments
}

// follows reports whether a sample goes on with what was before.
func (r *reading) follows(i int) bool {
	gap := float64(r.samples[i].stamp-r.samples[i-1].stamp) / 1e9
	return gap > 0 && gap <= longestGap*r.Delta
}

// jumps reports whether a joint is further from where it was at the sample before than it can turn.
func (r *reading) jumps(i int) bool {
	const slack = 0.02 // rad, that noise may move a joint
	a, b := &r.samples[i-1], &r.samples[i]
	h := float64(b.stamp-a.stamp) / 1e9
	for j, l := range r.links {
		if math.Abs(b.Q[j]-a.Q[j]) > 2*l.Speed*h+slack {
			return true
		}
	}
	return false
}

// between makes rows of samples without a gap, and cuts them where nothing is commanded or it cannot be told when.
func (r *reading) between(samples []sample) (segments [][]arm.Row) {
	var rows []arm.Row
	first, i, clocks := samples[0].stamp, 0, compare(samples, r.Delta)
	for k := 0; ; k++ {
		at := first + int64(math.Round(float64(k)*r.Delta*1e9))
		for i+1 < len(samples) && samples[i+1].stamp <= at {
			i++
		}
		if i+1 == len(samples) {
			return append(segments, rows)
		}
		from, ok := clocks.recorded(at)
		var torque arm.Torque
		if !ok {
			r.adrift++
		} else {
			torque, ok = r.mean(from, from+int64(r.Delta*1e9))
		}
		if !ok {
			segments, rows = append(segments, rows), nil
			continue
		}
		rows = append(rows, arm.Row{T: float64(at-r.samples[0].stamp) / 1e9,
			State: interpolate(&samples[i], &samples[i+1], at), Torque: torque})
	}
}

// mean is the mean torque commanded from one time of recording to another, ns. Another command has to follow.
func (r *reading) mean(from, to int64) (mean arm.Torque, ok bool) {
	i, _ := slices.BinarySearchFunc(r.commands, from, func(c commanded, t int64) int {
		return cmp.Or(cmp.Compare(c.recorded, t), -1) // the first one later than t
	})
	if i--; i < 0 {
		return mean, false
	}
	for ; r.commands[i].recorded < to; i++ {
		if i+1 == len(r.commands) || float64(r.commands[i+1].recorded-r.commands[i].recorded) > longestHold*1e9 {
			return mean, false
		}
		end := min(to, r.commands[i+1].recorded)
		share := float64(end-max(from, r.commands[i].recorded)) / float64(to-from)
		for j, x := range r.commands[i].Torque {
			mean[j] += share * x
		}
	}
	return mean, true
}

// interpolate is the state at a time between two samples: angles by the cubic that has both angles and rates, rates
// along the line.
func interpolate(a, b *sample, at int64) (s arm.State) {
	h := float64(b.stamp-a.stamp) / 1e9
	u := float64(at-a.stamp) / 1e9 / h
	for j := range s.Q {
		d, v, w := b.Q[j]-a.Q[j], h*a.V[j], h*b.V[j]
		s.Q[j] = a.Q[j] + u*(v+u*(3*d-2*v-w+u*(v+w-2*d)))
		s.V[j] = a.V[j] + u*(b.V[j]-a.V[j])
	}
	return s
}
