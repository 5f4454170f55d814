// Package assemble turns recordings into flights: rows of state and command at Δt, cut wherever time has a gap.
package assemble

import (
	"fmt"
	"math"

	"vnd/pkg/estimate"
)

// Options of reading a recording.
type Options struct {
	Delta    float64         // Δt, s
	Window   int             // rows of context; a flight needs Window+1 rows without a gap
	Estimate estimate.Params // of the velocity where the recording has none
	Limits   Limits
}

// Limits of the airframe, for telling units. Zero is unknown.
type Limits struct {
	Rate float64 // |ω_B|, rad/s
}

// DefaultOptions are 50 Hz and the paper's window of 20 rows.
func DefaultOptions() Options {
	return Options{Delta: 0.02, Window: 20, Estimate: estimate.DefaultParams()}
}

func (o Options) check() error {
	if !(o.Delta > 0) || math.IsInf(o.Delta, 1) {
		return fmt.Errorf("time step Δt is %g s, expected more than 0", o.Delta)
	}
	if o.Window < 1 {
		return fmt.Errorf("window is %d rows, expected at least 1", o.Window)
	}
	return nil
}

// Warning is a suspicion about a recording that was read nevertheless.
type Warning struct {
	File   string
	Line   int    // 0 when it is about the whole file
	Column string // "" when it is about no single column
	Text   string
}

// String is one line: file:line: column "t": text.
func (w Warning) String() string { return where(w.File, w.Line, w.Column) + w.Text }

// where returns the prefix of an error or a warning.
func where(file string, line int, column string) string {
	s := file
	if line > 0 {
		s += fmt.Sprintf(":%d", line)
	}
	if column != "" {
		s += fmt.Sprintf(": column %q", column)
	}
	return s + ": "
}
