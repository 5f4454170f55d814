package control

// maxEarly is how far a stamp may be ahead of the clock, ns.
const maxEarly = int64(150e6)

// stampClock finds steps of a clock against the stamps of samples, and takes them back: those that no gap in the
// samples explains. Latency that grows comes with a gap, or by and by.
type stampClock struct {
	shift  int64 // that is taken off stamps, ns
	usual  int64 // stamp against the time of the tick before, ns
	last   int64 // the same of the newest sample
	seen   int   // samples that lay there, of the first ones: one of those may have waited for a starved thread
	silent int   // ticks since the last sample
	ticked int64 // when the last tick was, ns
	gap    int64 // time that passed since the last sample, ns
	level  level // that may take the place of usual
	vain   int64 // time for which a correction has made late what is well without, ns
}

// level is where samples lie that do not lie where they usually do.
type level struct {
	off    int64 // from there, ns
	agreed int   // samples in a row; 0: there is no such level
	late   bool  // samples may be late by as much: that led there by and by, or behind a gap about as long
}

const (
	leastStep = int64(60e6) // ns
	stepSlack = int64(25e6) // ns by which candidates may differ
	stepProof = 4           // candidates
	smoothing = 16          // samples over which the usual follows
	maxSilent = 2           // ticks without a sample that are no gap
	mostLate  = 2           // times a gap that samples may be late by behind it
	longVain  = int64(6e9)  // ns: a landing without states is over by then

	longestTick = int64(30e6) // ns from one tick without a sample to the next
)

func (c *stampClock) tick(now int64) {
	c.silent++
	c.gap += min(max(now-c.ticked, 0), longestTick)
	c.ticked = now
}

// correct returns a stamp on the loop's clock, whose newest tick was at now. It looks at the first sample after a tick:
// several that come at once say the same thing.
func (c *stampClock) correct(stamp, now int64) int64 {
	if now != 0 && c.silent > 0 {
		c.look(stamp - c.shift - now)
	}
	return stamp - c.shift
}

// look compares a sample with those before: its corrected stamp less the time of the tick before.
func (c *stampClock) look(at int64) {
	gap, seldom := c.gap, c.silent > maxSilent
	c.gap, c.silent = 0, 0
	leapt := abs(at-c.last) >= leastStep
	c.last = at
	switch off := at - c.usual; {
	case c.seen == 0:
		c.usual, c.seen = at, 1
	case abs(off) < leastStep:
		c.usual, c.level, c.seen = c.usual+off/smoothing, level{}, min(c.seen+1, smoothing)
		c.giveUp(gap)
	case c.level.agreed > 0 && abs(off-c.level.off) < stepSlack:
		if c.level.agreed++; c.level.agreed >= stepProof {
			c.settle(at)
		}
	case leapt || c.level.agreed == 0:
		c.level = level{off, 1, !leapt || seldom && abs(off) < mostLate*gap}
	default:
		c.level.off, c.level.agreed = off, 1
	}
}

// settle has the level be the usual one: by a step of a clock or, where samples are as late as that, by their latency.
// What would be left of the correction is its error, where it is less than any step that is found.
func (c *stampClock) settle(at int64) {
	v := c.level
	late, rightAgain := v.off < 0 && v.late, c.usual > leastStep/2 && at > -leastStep
	switch {
	case at < leastStep/2 && (late || v.off > 0 || rightAgain), v.off < 0 && c.seen < smoothing:
		c.usual = at
	case abs(c.shift+v.off) < leastStep:
		c.usual, c.shift = at+c.shift, 0
	default:
		c.shift += v.off
	}
	c.last, c.level = c.usual, level{}
}

// fits reports whether a stamp is well without its correction.
func (c *stampClock) fits(at int64) bool {
	own := at + c.shift
	return c.shift != 0 && (abs(own-c.usual) < leastStep || own > -leastStep && own < leastStep/2)
}

// giveUp drops a correction under which stamps have been late for long, and without which they are well: what looked
// like a latency as long as the step was its end. passed is the time since the last sample.
func (c *stampClock) giveUp(passed int64) {
	if c.usual > -leastStep || !c.fits(c.usual) {
		c.vain = 0
		return
	}
	if c.vain += passed; c.vain > longVain {
		c.usual, c.shift, c.vain = c.usual+c.shift, 0, 0
		c.last = c.usual
	}
}

// commonStep finds a step forward of the loop's clock that the stamps of samples follow: both run on the same machine.
// The loop's clock is read beside a steady one, which nobody sets.
type commonStep struct {
	clock, steady  int64 // what both read last, ns; 0: not known
	by, at         int64 // the newest step that was not followed yet, and when it was by the steady clock, ns
	stamp, sampled int64 // of the newest sample, and when it came by the steady clock, ns
}

// look takes what both clocks read. From most ns on the guard pauses by itself.
func (c *commonStep) look(clock, steady, most int64) {
	if by := clock - c.clock - (steady - c.steady); c.clock != 0 && by > leastLeap && by < most {
		c.by, c.at = by, steady
	}
	c.clock, c.steady = clock, steady
}

// match is the step, ns, where a stamp runs as far ahead of the one before; else 0.
func (c *commonStep) match(stamp int64) (by int64) {
	ahead := stamp - c.stamp - (c.steady - c.sampled)
	c.stamp, c.sampled = stamp, c.steady
	if c.by == 0 || c.steady-c.at > underWay || abs(ahead-c.by) > c.by/4 {
		return 0
	}
	by, c.by = c.by, 0
	return by
}

// leap finds stamps that run ahead by more than the time that passed. One alone is wrong; of two in a row the clock of
// the source leapt, or samples came late.
type leap struct {
	stamp, came int64 // of the newest sample that was none, ns; 0 before the first
	leapt       bool  // the sample before was one
}

// leastLeap is what stamps may run ahead by, ns: samples come unevenly.
const leastLeap = int64(25e6)

// alone reports whether a sample of a stamp, that came at a time, is to be left out.
func (p *leap) alone(stamp, came int64) bool {
	if p.leapt = p.stamp != 0 && p.came != 0 && !p.leapt && stamp-p.stamp > came-p.came+leastLeap; p.leapt {
		return true
	}
	p.stamp, p.came = stamp, came
	return false
}

func abs(x int64) int64 { return max(x, -x) }
