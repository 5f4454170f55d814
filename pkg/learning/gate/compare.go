package gate

import (
	"cmp"
	"context"
	"fmt"
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
		c.crashes(lo)
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

// crashes refuses what crashes where the current bundle does not, from flight lo on.
func (c *comparison) crashes(lo int) {
	for k := lo; k < len(c.figures[0]); k++ {
		f := &c.figures[0][k]
		if f.Crashes == 0 || !c.alone && c.figures[1][k].Crashes > 0 {
			continue
		}
		where := ""
		if !c.alone {
			where = ", where the current bundle does not crash"
		}
		c.refuse("crash in flight %d%s: %s", k+1, where, f.Crash)
		return
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
	saturation, rate := cfg.Saturation, cfg.Rate
	if !c.alone {
		s.Current = summary(c.figures[1])
		saturation, rate = max(saturation, s.Current.Saturated), max(rate, s.Current.Rate)
	}
	if s.Candidate.Saturated > saturation {
		c.refuse("a command stands at its limit for %.2f s, at most %.2f s is allowed", s.Candidate.Saturated,
			saturation)
	}
	if s.Candidate.Rate > rate {
		c.refuse("the commands shake: they change by %.1f half ranges per second (RMS), at most %.1f is allowed",
			s.Candidate.Rate, rate)
	}
	if c.alone {
		if s.Candidate.Error > cfg.FirstError {
			c.refuse("errs by %.3f m, a first bundle by at most %.3f m", s.Candidate.Error, cfg.FirstError)
		}
		return
	}
	c.errors()
}

// errors compares the errors, pair by pair.
func (c *comparison) errors() {
	cfg, s := &c.gate.Config, &c.stage
	d := make([]float64, len(c.figures[0]))
	for k := range d {
		d[k] = c.figures[0][k].Error - c.figures[1][k].Error
	}
	const stream = 0xb007
	ci := Bootstrap(d, cfg.Level, cfg.Resamples, rand.New(rand.NewPCG(c.gate.Seed, stream)))
	s.Difference, s.Tolerance = &ci, max(cfg.Tolerance, cfg.Relative*s.Current.Error)
	if ci.High <= s.Tolerance {
		return
	}
	verdict := "is not shown to err as little"
	if ci.Low > s.Tolerance {
		verdict = "errs more"
	}
	c.refuse("%s: %.4f m, the current bundle %.4f m in the same flights, a difference of %.4f m (%.4g %% interval %.4f to %.4f) with %.4f m allowed",
		verdict, s.Candidate.Error, s.Current.Error, ci.Mean, 100*cfg.Level, ci.Low, ci.High, s.Tolerance)
}

// summary of flights: the mean of the errors, and the worst of the rest.
func summary(fs []Figures) *Figures {
	out := &Figures{}
	for _, f := range fs {
		out.Error += f.Error / float64(len(fs))
		out.Crashes += f.Crashes
		out.Saturated, out.Rate = max(out.Saturated, f.Saturated), max(out.Rate, f.Rate)
		if out.Crash == "" {
			out.Crash = f.Crash
		}
	}
	return out
}
