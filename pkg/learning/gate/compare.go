package gate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"

	"vnd/pkg/nn/kernel"
)

// comparison flies candidate (0) and current bundle (1) in pairs.
type comparison struct {
	gate   *Gate
	stage  Stage
	settle float64
	alone  bool // there is no current bundle
	// fly returns the flights lo … hi−1 of one of them.
	fly     func(ctx context.Context, who, lo, hi int) ([]*Flight, error)
	figures [2][]Figures
}

// round is how many pairs are flown before the candidate is looked at: one that crashes is not flown on.
const round = 8

func (c *comparison) run(ctx context.Context, flights int) (Stage, error) {
	for lo := 0; lo < flights && len(c.stage.Reasons) == 0; lo += round {
		if err := c.round(ctx, lo, min(lo+round, flights)); err != nil {
			return c.stage, err
		}
		c.crashes(min(lo+round, flights) == flights)
	}
	c.judge()
	c.stage.Pass = len(c.stage.Reasons) == 0
	return c.stage, nil
}

// round flies some pairs, on all threads.
func (c *comparison) round(ctx context.Context, lo, hi int) error {
	workers := cmp.Or(c.gate.Config.Workers, kernel.Workers())
	type part struct{ who, lo, hi int }
	var parts []part
	each := max(1, (hi-lo+workers-1)/workers)
	for who := range c.bundles() {
		for k := lo; k < hi; k += each {
			parts = append(parts, part{who, k, min(k+each, hi)})
		}
	}
	flights, errs := make([][]*Flight, len(parts)), make([]error, len(parts))
	var wg sync.WaitGroup
	free := make(chan struct{}, workers)
	for i, p := range parts {
		wg.Go(func() {
			free <- struct{}{}
			defer func() { <-free }()
			if errs[i] = ctx.Err(); errs[i] == nil {
				flights[i], errs[i] = c.fly(ctx, p.who, p.lo, p.hi)
			}
		})
	}
	wg.Wait()
	for i, p := range parts {
		if errs[i] != nil {
			return errs[i]
		}
		for _, f := range flights[i] {
			c.figures[p.who] = append(c.figures[p.who], c.gate.Config.Measure(f, c.settle))
		}
	}
	return nil
}

func (c *comparison) bundles() int {
	if c.alone {
		return 1
	}
	return 2
}

// crashes refuses what crashes where the current bundle does not, unless that crashes elsewhere more often, as a fair
// coin would show it in less than one case of four. In every other flight it is too many in any case.
func (c *comparison) crashes(last bool) {
	saved, lost, first := c.discordant()
	mine, n := summary(c.figures[0]).Crashes, len(c.figures[0])
	const lead = 2 // by which the current bundle may make up for a crash in flights to come
	switch {
	case c.alone && mine > 0:
		c.refuse("crash in flight %d: %s", first+1, c.figures[0][first].Crash)
	case lost > 0 && (saved == 0 || lost > saved+lead || last && signTest(saved, lost) >= 0.25):
		c.refuse("crash in flight %d, where the current bundle does not crash: %s", first+1, c.figures[0][first].Crash)
	case last && 2*mine > n:
		c.refuse("crashes in %d of %d flights, as the current bundle does in %d: none of them flies", mine, n,
			mine+saved-lost)
	}
}

// discordant counts the flights in which the current bundle alone crashes, and those in which the candidate alone does,
// of which first is the first.
func (c *comparison) discordant() (saved, lost, first int) {
	for k := range c.figures[0] {
		mine, theirs := c.figures[0][k].Crashes, 0
		if !c.alone {
			theirs = c.figures[1][k].Crashes
		}
		if mine < theirs {
			saved++
		}
		if mine > theirs {
			if lost++; lost == 1 {
				first = k
			}
		}
	}
	return saved, lost, first
}

func (c *comparison) refuse(format string, args ...any) {
	c.stage.Reasons = append(c.stage.Reasons, fmt.Sprintf(format, args...))
}

// judge fills the stage and refuses commands beyond limits, and errors.
func (c *comparison) judge() {
	cfg, s := &c.gate.Config, &c.stage
	s.Flights = len(c.figures[0])
	s.Candidate = summary(c.figures[0])
	if c.alone {
		c.misses(s.Flights / 2)
		c.saturation(cfg.Saturation, s.Candidate.Saturated > cfg.Saturation)
		c.rate(cfg.Rate)
		if s.Candidate.Error > cfg.FirstError {
			c.refuse("errs by %.3f m, a first bundle by at most %.3f m", s.Candidate.Error, cfg.FirstError)
		}
		return
	}
	s.Current = summary(c.figures[1])
	c.misses(s.Current.Misses)
	c.saturation(max(cfg.Saturation, s.Current.Saturated), c.trips(0) > c.trips(1))
	// What is shown to err less may command more: a robot that lags takes changes that another one does not.
	if better := c.errors(); !better {
		c.rate(max(cfg.Rate, s.Current.Rate))
	}
}

// trips counts the flights in which the guard takes over.
func (c *comparison) trips(who int) (n int) {
	for i := range c.figures[who] {
		if c.gate.Config.TakesOver(&c.figures[who][i]) {
			n++
		}
	}
	return n
}

func (c *comparison) saturation(allowed float64, beyond bool) {
	if !beyond {
		return
	}
	c.refuse("a command stands at its limit for %.2f s, at most %.2f s is allowed", c.stage.Candidate.Saturated,
		allowed)
}

// misses refuses what misses the end of its task more often than is allowed.
func (c *comparison) misses(allowed int) {
	if f := c.stage.Candidate; f.Misses > allowed {
		c.refuse("misses the end of its task in %d of %d flights, at most %d are allowed: %s", f.Misses,
			c.stage.Flights, allowed, f.Missed)
	}
}

func (c *comparison) rate(allowed float64) {
	if rate := c.stage.Candidate.Rate; rate > allowed {
		c.refuse("the commands shake: they change by %.1f half ranges per second (RMS), at most %.1f is allowed", rate,
			allowed)
	}
}

// errors compares the errors, pair by pair, and reports whether the candidate is shown to err less.
func (c *comparison) errors() (better bool) {
	cfg, s := &c.gate.Config, &c.stage
	pairs := c.pairs()
	d, mine, theirs := make([]float64, len(pairs)), 0., 0.
	for i, k := range pairs {
		x, y := c.figures[0][k].Error, c.figures[1][k].Error
		d[i], mine, theirs = x-y, mine+x/float64(len(pairs)), theirs+y/float64(len(pairs))
	}
	const stream = 0xb007
	ci := Bootstrap(d, cfg.Level, cfg.Resamples, rand.New(rand.NewPCG(c.gate.Seed, stream)))
	if g := c.gate.Good; g > 0 {
		ci = ci.widen(1 / math.Sqrt(g))
	}
	s.Compared, s.Difference, s.Tolerance = len(pairs), &ci, max(cfg.Tolerance, cfg.Relative*theirs)
	if ci.High <= s.Tolerance {
		return ci.High < -s.Tolerance
	}
	verdict := "is not shown to err as little"
	if ci.Low > s.Tolerance {
		verdict = "errs more"
	}
	c.refuse("%s: %.4f m, the current bundle %.4f m in the same %d flights, a difference of %.4f m (%.4g %% interval %.4f to %.4f) with %.4f m allowed",
		verdict, mine, theirs, len(pairs), ci.Mean, 100*cfg.Level, ci.Low, ci.High, s.Tolerance)
	return false
}

// pairs are the flights whose errors are compared: those in which nobody crashes. Crashes are counted, see crashes. As
// large errors they would hide how both fly otherwise, and one more or less would decide. All flights count where the
// candidate is shown to crash less, and where few others are left.
func (c *comparison) pairs() []int {
	var all, flown []int
	for k := range c.figures[0] {
		all = append(all, k)
		if c.figures[0][k].Crashes+c.figures[1][k].Crashes == 0 {
			flown = append(flown, k)
		}
	}
	const few = 8
	saved, lost, _ := c.discordant()
	if len(flown) < few || signTest(saved, lost) <= 1-c.gate.Config.Level {
		return all
	}
	return flown
}

// signTest returns how likely a fair coin is to show heads in so many of its tosses, or in more of them.
func signTest(heads, tails int) float64 {
	n := heads + tails
	p, term := 0., math.Pow(0.5, float64(n)) // of n heads
	for k := n; k >= heads; k-- {
		p += term
		term *= float64(k) / float64(n-k+1)
	}
	return p
}

// summary of flights: the mean of the errors, and the worst of the rest.
func summary(fs []Figures) *Figures {
	out := &Figures{}
	for _, f := range fs {
		out.Error += f.Error / float64(len(fs))
		out.Crashes += f.Crashes
		out.Saturated, out.Rate = max(out.Saturated, f.Saturated), max(out.Rate, f.Rate)
		if out.Misses += f.Misses; out.Missed == "" {
			out.Missed = f.Missed
		}
		if out.Crash == "" {
			out.Crash = f.Crash
		}
	}
	return out
}
