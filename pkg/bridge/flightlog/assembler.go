package flightlog

import (
	"math"

	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
)

const (
	commandWait = 250e6 // ns; a row waits this long for the commands of its interval
	maxSamples  = 4096  // kept for rows that wait
	maxStamp    = 4e18  // ns; stamps beyond are none, so that differences of two are safe
)

// Assembler makes steps out of the messages of a pose topic and a command topic, as they arrive: each with any rate,
// jitter and delay of its own. It is the same for a live robot and for a bag. It holds a bounded number of messages and
// is not safe for concurrent use.
//
// The rows of a segment stand at t_k = t_0 + k·Δt, t_0 being the stamp of its first pose. The state of row k is that of
// the pose nearest to t_k, so that nothing is used that is more than half the time between two poses after t_k, moved
// to t_k by the change of state up to that pose. The command of row k is the time-weighted mean of what was in force in
// [t_k, t_k+Δt). A segment ends at a gap between poses, at a jump of the position or of the clock, and where no command
// was in force.
type Assembler struct {
	delta    int64 // ns
	options  Options
	poses    *tracker
	commands timeline
	origin   int64 // stamp of the first pose
	begun    bool
	received int64    // newest time of receipt
	samples  []sample // from shortly before the next row on, in order of time but for cuts
	open     bool     // a segment is
	start    int64    // its t_0
	k        int64    // its next row
	decided  int64    // end of the newest row's interval
	rows     []AlignedRow
	given    []AlignedRow // by the last call of Rows
	segments int          // begun so far
	counts   Counts
}

// AlignedRow is one step as it was assembled.
type AlignedRow struct {
	Stamp   int64    // t_k, ns
	Segment int      // counted from 0; the rows of a segment are Δt apart
	Step    quad.Row // T counts from the first pose, s
}

// Counts of what came and what became of it.
type Counts struct {
	Poses          int // that came
	Commands       int
	Implausible    [2]int    // poses and commands dropped: numbers that no flight holds
	Why            [2]string // of the first of each
	Rows           int
	Pose           estimator.Counts // poses dropped, and why segments ended
	Gaps           int              // segments ended because no pose came for longer than max_gap
	Lost           int              // poses left out: too few in a row for a velocity
	Uncommanded    int              // rows not made: no command was in force
	Invalid        int              // commands dropped: NaN or infinite
	Duplicates     int              // commands with the stamp of another, which they replaced
	Disordered     int              // commands older than one before them
	Late           int              // commands that came after the row in which they were in force
	CommandsResets int              // five commands in a row from the past: the clock was set back
	Clipped        int              // commands beyond what can be commanded, taken at the limit
}

// New refuses options out of range.
func New(o Options) (*Assembler, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	poses, err := newTracker(o.Estimate, o.gap())
	if err != nil {
		return nil, err
	}
	return &Assembler{delta: nanoseconds(o.Delta), options: o, poses: poses, decided: math.MinInt64,
		commands: timeline{timeout: nanoseconds(o.CommandTimeout)}}, nil
}

func nanoseconds(s float64) int64 { return int64(math.Round(s * 1e9)) }

func seconds(ns int64) float64 { return float64(ns) / 1e9 }

// Pose takes a pose that was received at a time, ns. Those that are late, repeated or no pose are dropped and counted.
func (a *Assembler) Pose(p bridge.Pose, received int64) {
	a.counts.Poses++
	if !a.plausible(0, quad.Row{State: p.State}) {
		return
	}
	at := a.stamp(p.Stamp, received) - nanoseconds(a.options.PoseDelay)
	if !a.begun {
		a.origin, a.begun = at, true
	}
	var velocity *so3.Vec3
	if p.HasVelocity {
		velocity = &p.State.V
	}
	resets := a.poses.estimator.Counts().ClockResets
	a.samples = a.poses.add(p.State.P, p.State.Q, velocity,
		sample{t: seconds(at - a.origin), at: at, received: bounded(received)}, a.samples)
	if a.poses.estimator.Counts().ClockResets > resets {
		a.decided = math.MinInt64
	}
	a.see(received)
}

// Command takes a command that was received at a time, ns.
func (a *Assembler) Command(c bridge.Command, received int64) {
	a.counts.Commands++
	if !a.plausible(1, quad.Row{Command: c.Command}) {
		return
	}
	if c.Clipped {
		a.counts.Clipped++
	}
	at := a.stamp(c.Stamp, received) + nanoseconds(a.options.CommandDelay)
	if at < a.decided {
		a.counts.Late++
	}
	if a.commands.setsBack(at) {
		for a.row(true, false) { // what was commanded until now is known, and forgotten next
		}
	}
	a.commands.add(at, c.Command)
	a.see(received)
}

// plausible counts a pose (0) or a command (1) with numbers that no flight holds.
func (a *Assembler) plausible(kind int, s quad.Row) bool {
	for column, x := range values(s) {
		if text := implausible(column, x); text != "" && !math.IsInf(x, 0) { // what is infinite is counted elsewhere
			if a.counts.Implausible[kind] == 0 {
				a.counts.Why[kind] = columnNames[column] + " is " + text
			}
			a.counts.Implausible[kind]++
			return false
		}
	}
	return true
}

// stamp is a message's time, ns, bounded.
func (a *Assembler) stamp(header, received int64) int64 {
	if header == 0 || a.options.Stamps == stampsReceive {
		header = received
	}
	return bounded(header)
}

func bounded(ns int64) int64 { return min(max(ns, -maxStamp), maxStamp) }

// see makes the rows that can be made now.
func (a *Assembler) see(received int64) {
	a.received = max(a.received, bounded(received))
	for a.row(true, true) {
	}
}

// Finish makes the rows that waited for messages which do not come any more.
func (a *Assembler) Finish() {
	a.poses.finish()
	for a.row(false, false) {
	}
}

// Rows are those completed since the last call, in order; they are valid until the next call.
func (a *Assembler) Rows() []AlignedRow {
	a.rows, a.given = a.given[:0], a.rows
	return a.given
}

// Counts so far.
func (a *Assembler) Counts() Counts {
	c, l := a.counts, &a.commands
	c.Pose, c.Gaps, c.Lost = a.poses.estimator.Counts(), a.poses.gaps, a.poses.lost
	c.Invalid, c.Duplicates, c.Disordered, c.CommandsResets = l.invalid, l.duplicates, l.disordered, l.resets
	return c
}

// row makes the next row, or moves on to where one can be made. It says false when that has to wait for poses or
// commands, which the arguments say may come.
func (a *Assembler) row(poses, commands bool) bool {
	if len(a.samples) == 0 {
		return false
	}
	if !a.open {
		a.open, a.start, a.k = true, a.samples[0].at, 0
	}
	t := a.start + a.k*a.delta
	i := a.before(t)
	if len(a.samples) >= maxSamples {
		poses, commands = false, false
	}
	if i+1 == len(a.samples) && poses {
		return false
	}
	if (i+1 == len(a.samples) || a.samples[i+1].cut) && t > a.samples[i].at+a.half(i) {
		a.drop(i + 1) // the run ended before t
		return true
	}
	// A Δt more than the interval, for commands that overtake each other.
	if commands && a.commands.newest() < t+2*a.delta && a.received-a.samples[i].received < a.delta+commandWait {
		return false
	}
	command, ok := a.commands.mean(t, t+a.delta)
	if !ok {
		a.counts.Uncommanded++
		a.drop(i + 1)
		return true
	}
	if a.k == 0 {
		a.segments++
	}
	a.rows = append(a.rows, AlignedRow{Stamp: t, Segment: a.segments - 1,
		Step: quad.Row{T: seconds(a.start-a.origin) + float64(a.k)*a.options.Delta, State: a.stateAt(t, i),
			Command: command}})
	a.counts.Rows++
	a.k++
	a.decided = t + a.delta
	a.commands.forget(a.decided)
	a.forget(i)
	return true
}

// before is the index of the last sample of the present run at or before t. The first one is.
func (a *Assembler) before(t int64) int {
	i := 0
	for i+1 < len(a.samples) && !a.samples[i+1].cut && a.samples[i+1].at <= t {
		i++
	}
	return i
}

// half the time between sample i and the one before it, ns.
func (a *Assembler) half(i int) int64 {
	if i == 0 {
		return 0
	}
	return (a.samples[i].at - a.samples[i-1].at) / 2
}

// drop ends the segment and goes on from sample n.
func (a *Assembler) drop(n int) {
	a.samples = a.samples[n:]
	a.open = false
}

// forget drops the samples that no later row's slope needs: all but one of those Δt/2 or more before sample i.
func (a *Assembler) forget(i int) {
	n := 0
	for n < i && a.samples[n+1].at <= a.samples[i].at-a.delta/2 {
		n++
	}
	a.samples = a.samples[n:]
}

// stateAt is the state at t, between sample i and the next one of the run, if there is one: that of the nearer sample,
// moved to t along the line through it and one that is at least Δt/2 older, so that noise is not blown up.
func (a *Assembler) stateAt(t int64, i int) quad.State {
	j := i
	if i+1 < len(a.samples) && !a.samples[i+1].cut && a.samples[i+1].at-t < t-a.samples[i].at {
		j = i + 1
	}
	s := a.samples[j]
	d := seconds(t - s.at)
	if d == 0 {
		return s.state
	}
	b := j
	for b > 0 && s.at-a.samples[b].at < a.delta/2 {
		b--
	}
	moved := s.state
	if b < j {
		older := a.samples[b]
		f := d / seconds(s.at-older.at)
		moved.V = s.state.V.Add(s.state.V.Sub(older.state.V).Scale(f))
		turn := so3.Log(older.state.Q.Conj().Mul(s.state.Q))
		moved.Q = s.state.Q.Mul(so3.Exp(turn.Scale(f)))
	}
	moved.P = s.state.P.Add(s.state.V.Add(moved.V).Scale(d / 2))
	return moved
}
