package continual

import (
	"fmt"
	"time"
)

// Pace is what rounds take on this machine, as the newest one showed, in seconds.
type Pace struct {
	Update float64 `json:"update"` // of the fit
	Epoch  float64 `json:"epoch"`  // of the policy's training
	Rest   float64 `json:"rest"`   // of a round beside them: reading, encoding, the gate's flights
}

// leastShare of its updates and epochs a round does, however slow the machine.
const leastShare = 0.1

// whole is what a round takes with so many of both.
func (p Pace) whole(updates, epochs int) float64 {
	return p.Rest + p.Update*float64(updates) + p.Epoch*float64(epochs)
}

// share is that of both with which a round takes the given seconds; all of them where 0 seconds are asked for, or
// nothing is known yet.
func (p Pace) share(seconds float64, updates, epochs int) float64 {
	trained := p.whole(updates, epochs) - p.Rest
	if seconds == 0 || trained == 0 {
		return 1
	}
	return max(leastShare, min(1, (seconds-p.Rest)/trained))
}

// part is a share of a number of updates or epochs, at least one.
func part(share float64, of int) int { return max(1, int(share*float64(of)+.5)) }

// outlook says what the next round takes.
func (p Pace) outlook(seconds float64, updates, epochs int) string {
	line := fmt.Sprintf("a round with %d updates and %d epochs takes %.1f s on this machine", updates, epochs,
		p.whole(updates, epochs))
	if s := p.share(seconds, updates, epochs); s < 1 {
		u, e := part(s, updates), part(s, epochs)
		line += fmt.Sprintf(": the next does %d and %d, in %.1f s", u, e, p.whole(u, e))
	}
	return line
}

// stopwatch measures what the steps of a training take. The zero value has seen none.
type stopwatch struct {
	began, last time.Time
	steps       int // since began
}

// step is called at the end of each.
func (w *stopwatch) step(now time.Time) {
	if w.began.IsZero() {
		w.began = now
	} else {
		w.steps++
	}
	w.last = now
}

// seconds that all steps after the first took.
func (w *stopwatch) seconds() float64 { return w.last.Sub(w.began).Seconds() }

// each is what one took, 0 where there was one alone.
func (w *stopwatch) each() float64 { return w.seconds() / float64(max(1, w.steps)) }
