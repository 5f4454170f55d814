package experiment

import (
	"fmt"
	"math"
	"os"
	"testing"

	"vnd/pkg/learning/continual"
	"vnd/pkg/vnd/bundle"
)

// TestTuneSlowMotors prints how a campaign goes on whose motors take twice as long from its third round on, beside one
// that is learned anew with such motors: VND_TUNE=1 go test -run TestTuneSlowMotors -v -timeout 3h in this folder.
func TestTuneSlowMotors(t *testing.T) {
	if os.Getenv("VND_TUNE") == "" {
		t.Skip("VND_TUNE is not set")
	}
	const seconds, rounds, change = 20, 3, 2 // rounds with slow motors, and before them
	normal, err := Scenarios("../../../params/worlds/winds17.yaml")
	if err != nil {
		t.Fatal(err)
	}
	slow, err := Scenarios("../../../params/worlds/winds17.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i := range slow {
		slow[i].Motor.Lag *= 2
	}
	for seed := range uint64(5) {
		c := bothTasks(t, seed+1)
		start, err := c.BasePolicy(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		campaign := func(name string, before int) {
			r := &Rounds{Scenarios: normal, Rounds: before + rounds, Seconds: seconds}
			if before == 0 {
				r.Scenarios = slow
			}
			r.Flown = func(round int, current *bundle.Bundle, _ []Recorded) error {
				t.Logf("seed %d, %s, after %d rounds and %d with slow motors: %s", c.Seed, name, min(round, before),
					max(0, round-before), flown(t, c, current, normal, slow))
				return nil
			}
			r.Learned = func(done *continual.Round) error {
				t.Logf("seed %d, %s, candidate of round %d: %srefused: %q", c.Seed, name, done.Number,
					flown(t, c, done.Candidate, normal, slow), done.Verdict.Reasons())
				if done.Number == before {
					r.Scenarios = slow
				}
				return nil
			}
			if _, err := c.Learn(t.Context(), start, r); err != nil {
				t.Fatal(err)
			}
		}
		campaign("changed", change)
		campaign("anew", 0)
	}
}

// flown is the mean error of a bundle in all scenarios of each list, task by task, in words.
func flown(t *testing.T, c *Campaign, b *bundle.Bundle, lists ...[]Scenario) (words string) {
	t.Helper()
	m := Flies("", b)
	for i, scenarios := range lists {
		for _, d := range c.Tasks {
			off := make([]float64, len(scenarios))
			err := each(t.Context(), len(off), func(k int) error {
				trace, err := c.Fly(m, scenarios[k], d, c.Seed<<20+0xf00+uint64(k), measureSeconds)
				if err != nil {
					return err
				}
				if off[k] = trace.Measure(measureSettle).Mean; trace.Crash != "" {
					off[k] = math.MaxFloat64
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			words += fmt.Sprintf("%s, %s motors: %.4f m; ", d.Name, []string{"normal", "slow"}[i], meanOf(off))
		}
	}
	return words
}
