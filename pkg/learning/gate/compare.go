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
			c.figures[p.who] = append(c.figures[p.who], c.gate.Config.measure(f, c.settle))
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

// crashes refuses what crashes where the current bundle does not, unless that crashes elsewhere as often. In every
// other flight it is too many in any case.
func (c *comparison) crashes(last bool) {
	mine, theirs, first := 0, 0, -1
	for k := range c.figures[0] {
		now := 0
		if !c.alone {
			now = c.figures[1][k].Crashes
		}
		if f := &c.figures[0][k]; first < 0 && f.Crashes > now {
			first = k
		}
		mine, theirs = mine+c.figures[0][k].Crashes, theirs+now
	}
	const lead = 2 // by which the current bundle may make up for a crash in flights to come
	switch n := len(c.figures[0]); {
	case c.alone && mine > 0:
		c.refuse("crash in flight %d: %s", first+1, c.figures[0][first].Crash)
	case mine > theirs && (last || theirs == 0 || mine > theirs+lead):
		c.refuse("crash in flight %d, where the current bundle does not crash: %s", first+1, c.figures[0][first].Crash)
	case last && 2*mine > n:
		c.refuse("crashes in %d of %d flights, as the current bundle does in %d: none of them flies", mine, n, theirs)
	}
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

// trips counts the flights in which the guard takes over: crashes, and commands that stand at a limit for too long.
func (c *comparison) trips(who int) (n int) {
	for _, f := range c.figures[who] {
		if f.Crashes > 0 || f.Saturated > c.gate.Config.Saturation {
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
	d := make([]float64, len(c.figures[0]))
	for k := range d {
		d[k] = c.figures[0][k].Error - c.figures[1][k].Error
	}
	const stream = 0xb007
	ci := Bootstrap(d, cfg.Level, cfg.Resamples, rand.New(rand.NewPCG(c.gate.Seed, stream)))
	if g := c.gate.Good; g > 0 {
		ci = ci.widen(1 / math.Sqrt(g))
	}
	s.Difference, s.Tolerance = &ci, max(cfg.Tolerance, cfg.Relative*s.Current.Error)
	if ci.High <= s.Tolerance {
		return ci.High < -s.Tolerance
	}
	verdict := "is not shown to err as little"
	if ci.Low > s.Tolerance {
		verdict = "errs more"
	}
	c.refuse("%s: %.4f m, the current bundle %.4f m in the same flights, a difference of %.4f m (%.4g %% interval %.4f to %.4f) with %.4f m allowed",
		verdict, s.Candidate.Error, s.Current.Error, ci.Mean, 100*cfg.Level, ci.Low, ci.High, s.Tolerance)
	return false
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
