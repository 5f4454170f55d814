package control

// maxEarly is how far a stamp may be ahead of the clock, ns.
const maxEarly = int64(150e6)

// stampClock finds steps of a clock against the stamps of samples, and takes them back: those that no gap in the
// samples explains. Latency that grows comes with a gap.
type stampClock struct {
	shift  int64 // that is taken off stamps, ns
	usual  int64 // stamp against the time of the tick before, ns
	last   int64 // the same of the newest sample: a step is no way that leads there gradually
	seen   int   // samples in a row that usual is of: the first may have waited for a thread that was starved
	silent int   // ticks since the last sample
	step   int64 // of the candidates, ns
	agreed int   // candidates in a row
}

const (
	leastStep = int64(60e6) // ns
	stepSlack = int64(25e6) // ns by which candidates may differ
	stepProof = 4           // candidates
	smoothing = 16          // samples that are looked at
	maxSilent = 2           // ticks without a sample that are no gap

	longestTick = int64(30e6) // ns from one tick without a sample to the next
)

func (c *stampClock) tick() { c.silent++ }

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
	gap := c.silent > maxSilent
	if gap && c.tookBack(at) {
		at, c.shift = at+c.shift, 0
	}
	c.silent = 0
	leapt := abs(at-c.last) >= leastStep
	c.last = at
	switch off := at - c.usual; {
	case c.seen == 0 || c.seen < smoothing && abs(off) >= leastStep && !leapt:
		c.usual, c.seen = at, 0
	case abs(off) < leastStep:
		c.usual, c.agreed = c.usual+off/smoothing, 0
	case c.seen < smoothing: // one alone is late
	case gap && c.agreed == 0, off > 0 && at < leastStep/2: // the usual was late
		c.usual, c.agreed = at, 0
	case c.agreed > 0 && abs(off-c.step) < stepSlack:
		if c.agreed++; c.agreed >= stepProof {
			c.shift, c.last, c.agreed = c.shift+c.step, c.usual, 0
		}
	case leapt:
		c.step, c.agreed = off, 1
	}
	c.seen = min(c.seen+1, smoothing)
}

// tookBack reports whether a step is over by the first sample after a gap: its stamp fits the clock as it usually does,
// without a correction. A latency as long as the step would fit as well, behind a gap as long as itself.
func (c *stampClock) tookBack(at int64) bool {
	return c.shift != 0 && abs(at-c.usual) >= leastStep && abs(at+c.shift-c.usual) < leastStep &&
		int64(c.silent)*longestTick < abs(c.shift)/2
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
