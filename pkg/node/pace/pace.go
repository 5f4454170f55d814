// Package pace says when a simulation goes on: by the wall, or in lockstep with what commands it.
package pace

import (
	"context"
	"time"
)

// Pace says when the simulation goes on: by the wall, on a grid that does not drift, or in lockstep, as soon as the
// command has come that a sample asks for. Times of samples and commands are ns on the simulation's clock.
type Pace struct {
	Step  time.Duration // simulated, of one advance
	Speed float64

	Lockstep  bool
	Paced     bool          // lockstep keeps to the wall too
	Period    int64         // ns between two commands
	Patience  time.Duration // on the wall
	commanded int64         // stamp of the newest command; 0: none came, or none for too long
	awaited   int64         // stamp of the sample whose command is waited for; 0: none
	asked     time.Time     // on the wall, when that wait began; zero: it has not
	moved     time.Time     // on the wall, when that wait began or time passed last

	Next    time.Time // on the wall, of the next advance
	skipped uint64    // advances that the wall did not wait for
}

// nudge is the time on the wall after which one step passes amid a wait: a controller that left samples out may be due
// at the one after that which is waited for.
const nudge = 250 * time.Millisecond

// Wait is how long it is until the next advance, on the wall. What else happens makes the wait for a command no longer.
func (p *Pace) Wait(now time.Time) time.Duration {
	if p.awaited == 0 {
		p.asked = time.Time{}
	} else if p.asked.IsZero() {
		p.asked, p.moved = now, now
	}
	switch left := p.Patience - now.Sub(p.asked); {
	case p.awaited != 0 && left > 0:
		return min(left, nudge-now.Sub(p.moved))
	case p.awaited != 0:
		return 1
	case p.free():
		return 0
	}
	return p.Next.Sub(now)
}

// free reports whether time passes as fast as commands come.
func (p *Pace) free() bool { return p.Lockstep && p.commanded != 0 && !p.Paced }

// mostBehind is caught up with; steps beyond it are skipped.
const mostBehind = 250 * time.Millisecond

// Behind is the time on the wall that is to be caught up with.
func (p *Pace) Behind(now time.Time) time.Duration {
	if late := now.Sub(p.Next); late > 0 && late <= mostBehind && !p.free() {
		return late
	}
	return 0
}

// Advanced counts one advance that the wall gave way to at now.
func (p *Pace) Advanced(now time.Time) {
	p.moved = now
	wall := time.Duration(float64(p.Step) / p.Speed)
	if late := now.Sub(p.Next); late > mostBehind || p.free() {
		if !p.Lockstep && !p.Next.IsZero() {
			p.skipped += uint64(late / wall)
		}
		p.Next = now
	}
	p.Next = p.Next.Add(wall)
}

// Sampled takes a sample that has been published: the controller answers that a period after the one of its last
// command.
func (p *Pace) Sampled(stamp int64) {
	if p.Lockstep && p.commanded != 0 && p.awaited == 0 && p.answers(stamp) {
		p.awaited = stamp
	}
}

// answers reports whether the controller, after its last command, answers the sample of a stamp.
func (p *Pace) answers(stamp int64) bool { return stamp-p.commanded >= p.Period*9/10 }

// Came takes a command for the state of a stamp. It may be for another sample than the one that was thought of: where a
// period is not a whole number of samples, or the controller was late, it ticks on a grid of its own. The sample that
// is waited for is then not answered any more.
func (p *Pace) Came(stamp int64) {
	p.commanded = max(stamp, 1)
	if p.awaited != 0 && !p.answers(p.awaited) {
		p.awaited = 0
	}
}

// GaveUp ends the wait for a command: time goes by on the wall until commands come again.
func (p *Pace) GaveUp(now time.Time) { p.awaited, p.commanded, p.Next = 0, 0, now }

// Tired reports whether time has waited for a command for too long.
func (p *Pace) Tired(now time.Time) bool {
	return p.awaited != 0 && !p.asked.IsZero() && now.Sub(p.asked) >= p.Patience
}

// Skipped is how many advances the wall did not wait for.
func (p *Pace) Skipped() uint64 { return p.skipped }

// Run lets time pass until ctx is done, or an advance fails. It advances whenever that is due on the wall, and obeys
// commands as they come.
func Run[C any](ctx context.Context, p *Pace, commands <-chan C, obey func(C), advance func(time.Time) error) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for ctx.Err() == nil {
		now := time.Now()
		wait := p.Wait(now)
		if wait <= 0 {
			if err := advance(now); err != nil {
				return err
			}
			p.Advanced(now)
			continue
		}
		timer.Reset(wait)
		select {
		case <-ctx.Done():
		case c := <-commands:
			obey(c)
		case <-timer.C:
			if now := time.Now(); p.Tired(now) {
				p.GaveUp(now)
			}
		}
	}
	return nil
}
