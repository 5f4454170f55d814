package experiment

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/learning/continual"
	"vnd/pkg/vnd/bundle"
)

// TestCostOfARound measures the processor time of each phase of two rounds, the second of which goes on from the
// first's model: without smoothing and with it, in turns, on the same flights. Settings are those that users have, but
// for the time bound of a fit. VND_COST names the states that are learned from, as VND_IMPERFECT does.
func TestCostOfARound(t *testing.T) {
	faults := strings.Fields(os.Getenv("VND_COST"))
	if len(faults) == 0 {
		t.Skip("takes minutes: VND_COST=\"clean noise\"")
	}
	c := hovering(t, 1)
	base, err := c.BasePolicy(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	param.Default(&c.Config.Config)
	c.Fit.Train.Minutes = 1e5
	for _, fault := range faults {
		var flights [2][]quad.Flight
		for round := range flights {
			for i, f := range in(winds(t), fault) {
				_, flight, err := c.Record(base, f, c.Tasks[0], uint64(100*round+i), 20)
				if err != nil {
					t.Fatal(err)
				}
				flights[round] = append(flights[round], flight)
			}
		}
		for _, smoothing := range []string{"off", "weighted", "weighted", "off"} {
			c.Fit.Smoothing = smoothing
			for round, r := range c.timed(t, base, flights[:]) {
				stages, s := r.Verdict.Stages, r.Seconds
				t.Logf("%s, %s, round %d of %d rows: fit %.1f s, encode %.1f, improve %.1f, gate up to %s %.1f",
					fault, smoothing, round+1, r.Rows, s[continual.Fitting], s[continual.Encoding],
					s[continual.Improving], stages[len(stages)-1].Name, s[continual.Gating])
			}
		}
	}
}

// timed learns from flights, a round each. Seconds are those of the processor.
func (c *Campaign) timed(t *testing.T, base *bundle.Bundle, flights [][]quad.Flight) (out []*continual.Round) {
	l, err := continual.New(c.Config.Config, base, continual.Options{Tasks: c.tasks(), Task: c.names(), Seed: c.Seed,
		Judge: c.judge(), Vehicle: c.vehicle(), Now: spent})
	if err != nil {
		t.Fatal(err)
	}
	for _, some := range flights {
		l.Collect(some...)
		r, err := l.Round(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	return out
}

// spent is a clock that goes as fast as this process has processors.
func spent() time.Time {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Unix(0, u.Utime.Nano()+u.Stime.Nano())
}
