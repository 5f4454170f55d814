package control

// Scheduler says when a tick is due: at the samples nearest to a grid of the period and, where none come, by the clock,
// so that the guard commands also when the state is missing. Times are ns.
type Scheduler struct {
	period int64
	due    int64 // on the samples' stamps
	last   int64 // clock of the last tick
	begun  bool
	early  int   // samples in a row with stamps of the future
	ahead  int64 // by which the stamps' clock is ahead of the machine's, where that was set back
	missed uint64
}

// earlyRun is how many samples in a row have stamps of the future where those are of another clock.
const earlyRun = 10

// NewScheduler schedules one tick every period ns.
func NewScheduler(period int64) Scheduler { return Scheduler{period: period} }

// DueAtSample reports whether the sample of a stamp, seen at now, makes a tick due, and counts it as made. A stamp of
// the future says nothing, unless all are.
func (p *Scheduler) DueAtSample(stamp, now int64) bool {
	if p.future(stamp - now) {
		return false
	}
	early := p.period * 9 / 20
	switch late := stamp - p.due; {
	case !p.begun || late < -2*p.period: // the stamps' clock was set back
		p.due = stamp + p.period
	case late < -early:
		return false
	case late >= p.period-early:
		p.missed += uint64((late + early) / p.period)
		p.due = stamp + p.period
	default:
		p.due += p.period
	}
	p.begun, p.last = true, now
	return true
}

// future reports whether a stamp that is so much ahead of the clock, ns, is of the future.
func (p *Scheduler) future(ahead int64) bool {
	switch {
	case ahead <= maxEarly:
		p.ahead = 0
	case ahead-p.ahead <= maxEarly:
	case p.early+1 < earlyRun:
		p.early++
		return true
	default: // the machine's clock was set back
		p.ahead, p.begun = ahead, false
	}
	p.early = 0
	return false
}

// DueByClock reports whether a tick is due at now for want of samples, and counts it as made.
func (p *Scheduler) DueByClock(now int64) bool {
	if !p.begun || now >= p.last && now-p.last < p.period*3/2 {
		return false
	}
	p.last = now
	return true
}

// Missed counts the ticks that samples came too late for.
func (p *Scheduler) Missed() uint64 { return p.missed }
