package quadsim

import "time"

// pace says when the simulation goes on: by the wall, on a grid that does not drift, or in lockstep, as soon as the
// command has come that a sample asks for. Times of samples and commands are ns on the simulation's clock.
type pace struct {
	step  time.Duration // simulated, of one advance
	speed float64

	lockstep  bool
	paced     bool          // lockstep keeps to the wall too
	period    int64         // ns between two commands
	patience  time.Duration // on the wall
	commanded int64         // stamp of the newest command; 0: none came, or none for too long
	awaited   int64         // stamp of the sample whose command is waited for; 0: none
	asked     time.Time     // on the wall, when that wait began; zero: it has not

	next    time.Time // on the wall, of the next advance
	skipped uint64    // advances that the wall did not wait for
}

// wait is how long it is until the next advance, on the wall. What else happens makes the wait for a command no longer.
func (p *pace) wait(now time.Time) time.Duration {
	if p.awaited == 0 {
		p.asked = time.Time{}
	} else if p.asked.IsZero() {
		p.asked = now
	}
	switch {
	case p.awaited != 0:
		return max(p.patience-now.Sub(p.asked), 1)
	case p.free():
		return 0
	}
	return p.next.Sub(now)
}

// free reports whether time passes as fast as commands come.
func (p *pace) free() bool { return p.lockstep && p.commanded != 0 && !p.paced }

// mostBehind is caught up with; steps beyond it are skipped.
const mostBehind = 250 * time.Millisecond

// behind is the time on the wall that is to be caught up with.
func (p *pace) behind(now time.Time) time.Duration {
	if late := now.Sub(p.next); late > 0 && late <= mostBehind && !p.free() {
		return late
	}
	return 0
}

// advanced counts one advance that the wall gave way to at now.
func (p *pace) advanced(now time.Time) {
	wall := time.Duration(float64(p.step) / p.speed)
	if late := now.Sub(p.next); late > mostBehind || p.free() {
		if !p.lockstep && !p.next.IsZero() {
			p.skipped += uint64(late / wall)
		}
		p.next = now
	}
	p.next = p.next.Add(wall)
}

// sampled takes a sample that has been published: the controller answers that a period after the one of its last
// command.
func (p *pace) sampled(stamp int64) {
	if p.lockstep && p.commanded != 0 && p.awaited == 0 && p.answers(stamp) {
		p.awaited = stamp
	}
}

// answers reports whether the controller, after its last command, answers the sample of a stamp.
func (p *pace) answers(stamp int64) bool { return stamp-p.commanded >= p.period*9/10 }

// came takes a command for the state of a stamp. It may be for another sample than the one that was thought of: where a
// period is not a whole number of samples, or the controller was late, it ticks on a grid of its own. The sample that
// is waited for is then not answered any more.
func (p *pace) came(stamp int64) {
	p.commanded = max(stamp, 1)
	if p.awaited != 0 && !p.answers(p.awaited) {
		p.awaited = 0
	}
}

// gaveUp ends the wait for a command: time goes by on the wall until commands come again.
func (p *pace) gaveUp(now time.Time) { p.awaited, p.commanded, p.next = 0, 0, now }
