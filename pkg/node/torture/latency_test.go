package torture

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestLatency flies in real time at 50 and at 200 Hz beside a learner that trains, for VND_LATENCY minutes each, and
// says how long it took from a sample of motion capture sent to its command sent, by the middleware's stamps of both,
// how many ticks were missed, and how many rounds of learning came to their end: all of the learner's sizes are the
// defaults. Times are not judged: they are those of the machine.
func TestLatency(t *testing.T) {
	minutes, err := strconv.ParseFloat(os.Getenv("VND_LATENCY"), 64)
	if err != nil {
		t.Skip("VND_LATENCY is not set to a number of minutes")
	}
	for _, rate := range []string{"50.0", "200.0"} {
		t.Run(rate, func(t *testing.T) {
			f := newField(t)
			data := "directory:=" + f.data
			f.start("transition_recorder", data, "buffer.segment_seconds:=2.0", "bag.least_free:=0")
			f.start("background_learner", append([]string{data}, busy...)...)
			f.within(5*patience, "a first bundle", func() bool { return f.bundles > 0 })
			f.start("latent_encoder", "rate:="+rate)
			f.start("policy_controller", "autostart:=true", "rate:="+rate, "diagnostic_updater.period:=0.2")
			f.start("quad_sim")
			f.within(5*patience, "flight under the policy, beside learning", func() bool {
				return f.flies(0, 50) && len(f.rounds) > 0
			})
			took, before, rounds := f.latencies(), f.ticksMissed(), f.learned()
			f.note(func() { f.starved = 0 })
			var all []time.Duration
			for end := time.Now().Add(time.Duration(minutes * float64(time.Minute))); time.Now().Before(end); {
				select {
				case d := <-took:
					all = append(all, d)
				case <-time.After(time.Second):
				}
			}
			after, learned := f.ticksMissed(), f.learned()-rounds
			if learned == 0 {
				t.Error("no round of learning came to its end: this says nothing of flight beside one")
			}
			slices.Sort(all)
			share := func(q float64) time.Duration { return all[int(q*float64(len(all)-1))] }
			load, _ := os.ReadFile("/proc/loadavg")
			t.Logf("%s Hz for %g min: p50 %v, p99 %v, p99.9 %v, worst %v of %d ticks; missed %s, before %s; %d "+
				"rounds of learning; the machine had no time for us for %v; load %s",
				rate, minutes, share(.5), share(.99), share(.999), share(1), len(all), after, before, learned, f.late(),
				load)
		})
	}
}

// busy has the learner begin the next round as soon as there is anything new.
var busy = []string{"new_rows:=100", "max_rows:=20000", "keep_bundles:=3"}
