package gate

import (
	"cmp"
	"context"
	"math"

	"vnd/pkg/vnd/bundle"
)

// Judge flies bundles where the learner cannot look: in a full simulator, or outdoors. It may be called from several
// goroutines at once.
type Judge interface {
	// Fly flies a bundle, encoder and policy, through a trial. The trial decides task, start, disturbances and noise:
	// they are the same for every bundle, so that flights of two bundles are a pair.
	Fly(ctx context.Context, b *bundle.Bundle, t Trial) (*Flight, error)
}

// Trial is what a judge is asked for.
type Trial struct {
	Number uint64
	// DisturbanceStrength is that of the strongest horizontal disturbance in the buffer, m/s²; +Inf where that is not
	// known. What was never met cannot have been learned: to err there a little otherwise than before is no fault.
	DisturbanceStrength float64
}

// Flight is what the gate wants to know of a flight, tick by tick. After a crash it ends.
type Flight struct {
	Dt      float64     // s between two ticks
	Errors  []float64   // true distance from the reference, m for a quadrotor
	Actions [][]float64 // that were sent, [A] in half ranges: from −1 at the lower limit to 1 at the upper
	Crash   string      // in words, "" without
	Missed  string      // why it did not end as its task demands, in words; "" where it did
}

// Figures of a flight, or of a stage's flights: then the mean of the errors, and the worst of the rest.
type Figures struct {
	Error     float64 `json:"error_m"`         // mean distance from the reference; a crash counts as crash_error at least
	Crashes   int     `json:"crashes"`         //
	Saturated float64 `json:"saturated_s"`     // longest time for which a command stood at a limit, s
	Rate      float64 `json:"rate_per_s"`      // RMS change of the commands, in half their ranges per second
	Crash     string  `json:"crash,omitempty"` // the first, in words
	// Misses are flights that did not end as their task demands: crashes, and landings that are none.
	Misses int    `json:"misses,omitempty"`
	Missed string `json:"missed,omitempty"` // the first, in words
}

// TakesOver reports whether the guard takes over in a flight: it crashes, or a command stands at a limit for too long.
func (c *Config) TakesOver(f *Figures) bool { return f.Crashes > 0 || f.Saturated > c.Saturation }

// atLimit is how close to a limit a command stands at it, in half its range.
const atLimit = 0.02

// Measure returns the figures of a flight from settle seconds on; saturation counts from its start.
func (c *Config) Measure(f *Flight, settle float64) Figures {
	out := Figures{Crash: f.Crash}
	from := int(settle/f.Dt + 0.5)
	if from >= len(f.Errors) {
		from = 0
	}
	if n := len(f.Errors) - from; n > 0 {
		out.Error = mean(f.Errors[from:])
	}
	u := f.Actions
	out.Saturated = f.Dt * float64(longestAtLimit(u))
	out.Rate = rate(u[min(from, len(u)):], f.Dt)
	if !finite(out.Error) || !finite(out.Rate) {
		out.Error, out.Rate = 0, 0
		if out.Crash == "" {
			out.Crash = "its numbers were not finite"
		}
	}
	if out.Crash != "" {
		out.Crashes = 1
		out.Error = max(out.Error, c.CrashError)
	}
	if missed := cmp.Or(f.Missed, out.Crash); missed != "" {
		out.Misses, out.Missed = 1, missed
	}
	return out
}

func finite(x float64) bool { return x*0 == 0 }

// longestAtLimit returns the length of the longest run of rows in which one and the same channel stands at a limit.
func longestAtLimit(u [][]float64) (longest int) {
	if len(u) == 0 {
		return 0
	}
	run := make([]int, len(u[0]))
	for _, row := range u {
		for j, x := range row {
			if math.Abs(x) < 1-atLimit {
				run[j] = 0
				continue
			}
			run[j]++
			longest = max(longest, run[j])
		}
	}
	return longest
}

// rate returns the RMS of the change of the commands, 1/s.
func rate(u [][]float64, dt float64) float64 {
	if len(u) < 2 {
		return 0
	}
	sum := 0.
	for i := range u[1:] {
		for j := range u[i] {
			d := u[i+1][j] - u[i][j]
			sum += d * d
		}
	}
	return math.Sqrt(sum/float64(len(u)-1)) / dt
}
