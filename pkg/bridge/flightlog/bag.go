package flightlog

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/ros2/bag"
)

// sameClock is how far the stamps of two topics may be off each other's times of recording, ns, to be of one clock.
const sameClock = 1e9

// ReadBag reads a rosbag2 folder, or one of its storage files, as one flight; the flight gets its base name. Times
// count from the first pose. What was lost of the bag, and what is suspicious in it, is said by the warnings.
//
// An error is one line with path, topic and parameter or field: no topic or several that could be meant, a definition
// other than the known one, messages that cannot be used, no segment of Window+1 rows.
func ReadBag(path string, o Options) (quad.Flight, []Warning, error) {
	path = bag.Root(path)
	r, err := bag.Open(path)
	if err != nil {
		return quad.Flight{}, nil, err
	}
	defer r.Close()
	b := &reading{path: path, bag: r, options: o}
	flight, err := b.read()
	if err != nil {
		if strings.HasPrefix(err.Error(), "bag "+path) {
			return quad.Flight{}, nil, err
		}
		return quad.Flight{}, nil, fmt.Errorf("bag %s: %w", path, err)
	}
	return flight, b.warnings, nil
}

// Split cuts a flight into several where its rows pause for more than gap, s; 0 leaves it whole. Their names are
// numbered from 1.
func Split(f quad.Flight, gap float64) []quad.Flight {
	var out []quad.Flight
	end := 0.0
	for _, s := range f.Segments {
		if len(out) == 0 || gap > 0 && s[0].T-end > gap {
			out = append(out, quad.Flight{Name: fmt.Sprintf("%s#%d", f.Name, len(out)+1)})
		}
		end = s[len(s)-1].T
		last := &out[len(out)-1]
		last.Segments = append(last.Segments, s)
	}
	if len(out) < 2 {
		return []quad.Flight{f}
	}
	return out
}

// reading is a bag on its way to a flight.
type reading struct {
	path          string
	bag           *bag.Reader
	options       Options
	pose, command bag.Topic
	poses         *bridge.PoseDecoder
	commands      *bridge.CommandDecoder
	autopilot     *Autopilot
	refused       [2]refusals // of poses, of commands
	clocks        [2]clock    // the same
	moving        int         // poses with a velocity
	warnings      []Warning
}

// refusals counts the messages of a topic that could not be used.
type refusals struct {
	n     int
	first error
}

func (r *refusals) add(err error) {
	if r.n == 0 {
		r.first = err
	}
	r.n++
}

// clock watches how far a topic's stamps are from the times of recording, ns.
type clock struct {
	begun   bool
	behind  int64 // of the newest message: recorded so long after its stamp
	leaps   int   // ahead, by more than sameClock
	largest int64
}

func (c *clock) see(stamp, recorded int64) {
	if stamp == 0 {
		return
	}
	behind := bounded(recorded) - bounded(stamp)
	if ahead := c.behind - behind; c.begun && ahead > sameClock {
		c.leaps++
		c.largest = max(c.largest, ahead)
	}
	c.begun, c.behind = true, behind
}

func (b *reading) warn(topic, format string, args ...any) {
	b.warnings = append(b.warnings, Warning{File: b.path, Topic: topic, Text: fmt.Sprintf(format, args...)})
}

func (b *reading) read() (quad.Flight, error) {
	if err := b.options.check(); err != nil {
		return quad.Flight{}, err
	}
	if err := b.prepare(); err != nil {
		return quad.Flight{}, err
	}
	if err := b.chooseStamps(); err != nil {
		return quad.Flight{}, err
	}
	a, err := New(b.options)
	if err != nil {
		return quad.Flight{}, err
	}
	segments, err := b.assemble(a)
	if err != nil {
		return quad.Flight{}, err
	}
	for _, text := range b.bag.Info().Warnings {
		b.warn("", "%s", text)
	}
	if lost := b.bag.Lost(); lost.Any() {
		b.warn("", "%s", lost.String())
	}
	flight := quad.Flight{Name: bagName(b.path), Segments: segments}
	if err := b.judge(flight, a.Counts()); err != nil {
		return quad.Flight{}, err
	}
	return flight, nil
}

// bagName is a folder's name, or a storage file's without its ending.
func bagName(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs // of "." too
	}
	name := strings.TrimSuffix(filepath.Base(path), ".zstd")
	return strings.TrimSuffix(strings.TrimSuffix(name, ".mcap"), ".db3")
}

// prepare finds the topics and their decoders.
func (b *reading) prepare() error {
	var err error
	if b.pose, b.command, err = b.options.Topics(b.bag.Topics()); err != nil {
		return err
	}
	for _, t := range []bag.Topic{b.pose, b.command} {
		if err := CheckDefinition(t); err != nil {
			return err
		}
	}
	if err := b.refuseMotors(); err != nil {
		return err
	}
	o := b.options
	if b.poses, err = bridge.NewPoseDecoder(b.pose.Name, b.pose.Type,
		bridge.PoseOptions{World: o.WorldFrame, Twist: o.TwistFrame, Body: o.Body}); err != nil {
		return err
	}
	if b.commands, err = bridge.NewCommandDecoder(b.command.Name, b.command.Type,
		o.throttle()); err != nil && o.HoverThrottle == 0 {
		return b.suggestHover(err)
	}
	if err != nil {
		return err
	}
	b.autopilot, err = NewAutopilot(b.command, b.bag.Topics(), o)
	return err
}

// refuseMotors refuses the steps of a flight by motors: they have thrust and rates that the motors come to.
func (b *reading) refuseMotors() error {
	for _, t := range b.bag.Topics() {
		if b.command.Type == bridge.TypeStep && t.Type == bridge.TypeActuators && t.Count > 0 {
			return fmt.Errorf("topic %s commands motors, and the steps have what these come to: vnd import BAG --out "+
				"F.csv makes a flight for vnd rotors fit", t.Name)
		}
	}
	return nil
}

// suggestHover adds the mean throttle to the error that there is no hover throttle: a flight hovers on average.
func (b *reading) suggestHover(err error) error {
	d, derr := bridge.NewCommandDecoder(b.command.Name, b.command.Type, bridge.Throttle{Hover: 1})
	if derr != nil {
		return err
	}
	sum, n := 0.0, 0
	eerr := b.each(func(m *bag.Message) {
		if c, derr := d.Decode(m.Data); derr == nil && finite(c.Command) {
			sum += c.Command.Thrust / quad.Gravity
			n++
		}
	}, b.command)
	if eerr != nil || n == 0 {
		return err
	}
	return fmt.Errorf("%w (its mean is %.3g here)", err, sum/float64(n))
}

// each calls f with the messages of the topics in the order of their recording.
func (b *reading) each(f func(*bag.Message), topics ...bag.Topic) error {
	var names []string
	for _, t := range topics {
		names = append(names, t.Name)
	}
	for m, err := range b.bag.Messages(names...) {
		if err != nil {
			return err
		}
		f(m)
	}
	return nil
}

// offset is how much later than its stamp the first message of a topic was recorded, ns; false when it has no stamp.
func (b *reading) offset(t bag.Topic, stamp func(*bag.Message) (int64, bool)) (offset int64, ok bool, err error) {
	for m, err := range b.bag.Messages(t.Name) {
		if err != nil {
			return 0, false, err
		}
		if s, found := stamp(m); m.Type == t.Type && found {
			return bounded(m.LogTime) - bounded(s), s != 0, nil
		}
	}
	return 0, false, nil
}

// chooseStamps settles "auto": the stamps of both topics where they are of the same clock, else the times of recording.
func (b *reading) chooseStamps() error {
	if b.options.Stamps == stampsHeader || b.options.Stamps == stampsReceive || b.pose.Name == b.command.Name {
		return nil
	}
	pose, poseOK, err := b.offset(b.pose, func(m *bag.Message) (int64, bool) {
		p, found, err := b.poses.Decode(m.Data)
		return p.Stamp, found && err == nil
	})
	if err != nil {
		return err
	}
	command, commandOK, err := b.offset(b.command, func(m *bag.Message) (int64, bool) {
		c, err := b.commands.Decode(m.Data)
		return c.Stamp, err == nil
	})
	if err != nil {
		return err
	}
	near := func(ns int64) bool { return -sameClock < ns && ns < sameClock }
	switch {
	case poseOK && commandOK && near(pose-command):
	case poseOK && !commandOK && near(pose):
		b.warn(b.command.Name, "its messages have no stamps: the times of their recording are taken")
	case !poseOK && commandOK && near(command):
		b.warn(b.pose.Name, "its messages have no stamps: the times of their recording are taken")
	case poseOK && commandOK:
		b.options.Stamps = stampsReceive
		b.warn(b.command.Name, "its stamps and those of %s are of two clocks, %.4g s apart: the times of recording "+
			"are taken", b.pose.Name, seconds(command-pose))
	default:
		b.options.Stamps = stampsReceive
		b.warn("", "no stamps of the clock of the recording: the times of recording are taken")
	}
	return nil
}

// assemble sends the messages through the assembler.
func (b *reading) assemble(a *Assembler) ([][]quad.Row, error) {
	var c collector
	err := b.each(func(m *bag.Message) {
		if m.Topic == b.pose.Name && m.Type == b.pose.Type {
			switch p, found, err := b.poses.Decode(m.Data); {
			case err != nil:
				b.refused[0].add(err)
			case found:
				if p.HasVelocity {
					b.moving++
				}
				b.clocks[0].see(p.Stamp, m.LogTime)
				a.Pose(p, m.LogTime)
			}
		}
		b.autopilot.AddMessage(m)
		if m.Topic == b.command.Name && m.Type == b.command.Type {
			b.take(m, a)
		}
		c.take(a.Rows(), b.options.Delta)
	}, append(b.wanted(), b.autopilot.Topics()...)...)
	a.Finish()
	c.take(a.Rows(), b.options.Delta)
	return c.segments, err
}

// take sends a command through the assembler, unless nobody followed it, or the voltage is not known that it was made
// for.
func (b *reading) take(m *bag.Message, a *Assembler) {
	b.commands.SetVoltage(b.autopilot.Volts())
	switch command, err := b.commands.Decode(m.Data); {
	case err != nil:
		b.refused[1].add(err)
	case b.autopilot.Takes():
		b.clocks[1].see(command.Stamp, m.LogTime)
		a.Command(command, m.LogTime)
	}
}

func (b *reading) wanted() []bag.Topic {
	if b.pose.Name == b.command.Name {
		return []bag.Topic{b.pose}
	}
	return []bag.Topic{b.pose, b.command}
}

// collector puts rows into segments whose times ascend, also where the clock was set back.
type collector struct {
	segments [][]quad.Row
	last     int     // number of the newest segment
	shift    float64 // s, for the times of the newest segment
	end      float64 // of the newest row, s
}

func (c *collector) take(rows []AlignedRow, delta float64) {
	for _, r := range rows {
		if len(c.segments) == 0 || r.Segment != c.last {
			c.last = r.Segment
			c.shift = 0
			if len(c.segments) > 0 && r.Step.T < c.end+gapSteps*delta {
				c.shift = math.Ceil(c.end+2*delta) - r.Step.T
			}
			c.segments = append(c.segments, nil)
		}
		r.Step.T += c.shift
		c.end = r.Step.T
		i := len(c.segments) - 1
		c.segments[i] = append(c.segments[i], r.Step)
	}
}
