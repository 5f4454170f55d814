package flightlog

import (
	"fmt"

	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
)

const (
	jumpShare  = 0.1  // of poses that jump is more than errors of the tracking
	strayShare = 0.01 // of messages with impossible numbers is more than damage
)

// judge says what was wrong with the messages and is suspicious about the flight, or why there is none.
func (b *reading) judge(f quad.Flight, c Counts) error {
	for i, n := range []int{c.Poses, c.Commands} {
		if r := b.refused[i]; r.n > 0 && n == 0 {
			return r.first
		}
	}
	if c.Poses == 0 {
		return fmt.Errorf("topic %s: no pose of body %q", b.pose.Name, b.options.Body)
	}
	b.countPoses(c)
	b.countCommands(c)
	b.countLeaps()
	if err := b.checkNumbers(f, c); err != nil {
		return err
	}
	if err := b.checkLength(f, c); err != nil {
		return err
	}
	for _, s := range suspicions(f, b.options, b.moving == 0) {
		b.suspect(s, f)
	}
	return nil
}

func (b *reading) countPoses(c Counts) {
	note := func(n int, text string) {
		if n > 0 {
			b.warn(b.pose.Name, "%d of %d poses %s", n, c.Poses, text)
		}
	}
	if r := b.refused[0]; r.n > 0 {
		b.warn(b.pose.Name, "%d messages left out, the first: %v", r.n, r.first)
	}
	note(c.Pose.Invalid, "left out: NaN, infinite or a quaternion off unit norm")
	note(c.Pose.Duplicates, "left out: the same stamp as the one before")
	note(c.Pose.Late, "left out: an older stamp than the one before")
	note(c.Lost, "left out: too few in a row for a velocity")
	if c.Pose.ClockResets > 0 {
		b.warn(b.pose.Name, "its clock was set back %d times: the flight is cut at each", c.Pose.ClockResets)
	}
	if c.Pose.Jumps > 0 {
		b.warn(b.pose.Name, "the position jumps %d times: the flight is cut at each", c.Pose.Jumps)
	}
}

func (b *reading) countCommands(c Counts) {
	note := func(n int, text string) {
		if n > 0 {
			b.warn(b.command.Name, "%d of %d commands %s", n, c.Commands, text)
		}
	}
	if r := b.refused[1]; r.n > 0 {
		b.warn(b.command.Name, "%d messages left out, the first: %v", r.n, r.first)
	}
	if n := b.autopilot.unfollowed; n > 0 {
		b.warn(b.command.Name, "%d commands left out, which nobody followed: %s says that the autopilot was not "+
			"armed, or in another mode than offboard", n, b.autopilot.state.Name)
	}
	if n := b.autopilot.unpowered; n > 0 {
		b.warn(b.command.Name, "%d commands left out, which came before the first voltage on %s", n,
			b.autopilot.power.Name)
	}
	for _, err := range b.autopilot.wrong {
		b.warn("", "%v", err)
	}
	note(c.Invalid, "left out: NaN or infinite")
	note(c.Duplicates, "have the stamp of another and replace it")
	note(c.Disordered, "came after younger ones")
	note(c.Late, "came too late for the rows in which they were in force")
	note(c.Clipped, "are out of range and taken at its limit")
	if c.CommandsResets > 0 {
		b.warn(b.command.Name, "its clock was set back %d times", c.CommandsResets)
	}
}

// countLeaps tells of stamps that leap ahead; those that fall back are counted by the assembler.
func (b *reading) countLeaps() {
	for i, t := range b.wanted() {
		if c := b.clocks[i]; c.leaps > 0 && b.options.Stamps != stampsReceive {
			b.warn(t.Name, "its clock leaps ahead of the times of recording %d times, by %.4g s at most", c.leaps,
				seconds(c.largest))
		}
	}
}

// checkNumbers refuses a topic that is full of numbers that no flight holds, and rates that the airframe does not do.
func (b *reading) checkNumbers(f quad.Flight, c Counts) error {
	for i, topic := range []string{b.pose.Name, b.command.Name} {
		n, of := c.Implausible[i], []int{c.Poses, c.Commands}[i]
		switch {
		case float64(n) > strayShare*float64(of):
			return fmt.Errorf("topic %s: %d of %d messages hold what no flight does, the first: %s", topic, n, of,
				c.Why[i])
		case n > 0:
			b.warn(topic, "%d of %d messages left out, which hold what no flight does, the first: %s", n, of, c.Why[i])
		}
	}
	limit := b.options.Limits.Rate
	for _, s := range f.Segments {
		for _, step := range s {
			if w := step.Command.Rates.Norm(); limit > 0 && w > limit {
				return fmt.Errorf("topic %s: body rates of %.4g rad/s in all at %.3f s, the airframe's limit is %g "+
					"(max_rate)", b.command.Name, w, step.T, limit)
			}
		}
	}
	return nil
}

// checkLength wants one segment with a window of context and the row to predict from, and says what may be wrong.
func (b *reading) checkLength(f quad.Flight, c Counts) error {
	longest := 0
	for _, s := range f.Segments {
		longest = max(longest, len(s))
	}
	if longest > b.options.Window {
		return nil
	}
	text := fmt.Sprintf("the longest stretch without a gap has %d rows, expected at least %d, %g s apart", longest,
		b.options.Window+1, b.options.Delta)
	topic := b.pose.Name
	switch {
	case float64(c.Pose.Jumps) > jumpShare*float64(c.Poses):
		text += fmt.Sprintf("; %d of %d poses are further from the one before than %g m/s allows: they look like "+
			"millimetres, expected m",
			c.Pose.Jumps, c.Poses, b.options.Estimate.MaxSpeed)
	case c.Gaps > c.Poses/10:
		text += fmt.Sprintf("; %d of %d poses come more than %g s after the one before (parameter max_gap)", c.Gaps,
			c.Poses, b.options.gap())
	case c.Commands == 0:
		topic = b.command.Name
		text += "; there is no command"
		if n := b.autopilot.unpowered; n > b.autopilot.unfollowed {
			text = fmt.Sprintf("none of %d commands came after a voltage on %s (parameter battery_topic; "+
				"battery_voltage 0 takes them as they are)", n, b.autopilot.power.Name)
		} else if n := b.autopilot.unfollowed; n > 0 {
			text = fmt.Sprintf("none of %d commands was followed: %s never says that the autopilot is armed and in "+
				"offboard mode (parameter autopilot_topic; none takes them all)",
				n, b.autopilot.state.Name)
		}
	case c.Uncommanded > c.Rows:
		topic = b.command.Name
		text += fmt.Sprintf("; %d rows had no command in force (parameters command_timeout, stamps)", c.Uncommanded)
	}
	return fmt.Errorf("topic %s: %s", topic, text)
}

// suspect turns a suspicion about a column into a warning about a topic.
func (b *reading) suspect(s suspicion, f quad.Flight) {
	topic, what := b.pose.Name, "position"
	switch s.column {
	case colVX:
		what = "velocity"
	case colThrust:
		topic, what = b.command.Name, "thrust"
	case colWX:
		topic, what = b.command.Name, "body rates"
	}
	text := s.text
	if s.column == colThrust && bridge.CommandTypes()[b.command.Type] != bridge.VND {
		mean, t := meanThrust(f), b.options.throttle()
		hovers, _ := t.Of(mean, 0)
		text = fmt.Sprintf("mean %.4g m/s², while hover is %.2f: hover_throttle is %g, and %.3g would make them equal",
			mean, quad.Gravity, t.Hover, hovers)
	}
	b.warn(topic, "%s: %s", what, text)
}
