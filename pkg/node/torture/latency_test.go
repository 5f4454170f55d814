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

// TestGuardLatency flies in turns with the guard inside the controller and beside it, VND_GUARD_LATENCY times each for
// ten seconds, and gives the medians of both. Times are not judged: they are those of the machine.
func TestGuardLatency(t *testing.T) {
	turns, err := strconv.Atoi(os.Getenv("VND_GUARD_LATENCY"))
	if err != nil {
		t.Skip("VND_GUARD_LATENCY is not set to a number of turns")
	}
	for _, rate := range []string{"50.0", "200.0"} {
		t.Run(rate, func(t *testing.T) {
			p50, p99 := map[bool][]time.Duration{}, map[bool][]time.Duration{}
			for k := range 2 * turns {
				beside := k%2 == 1
				t.Run(strconv.Itoa(k), func(t *testing.T) {
					median, tail := tenSeconds(t, rate, beside)
					p50[beside], p99[beside] = append(p50[beside], median), append(p99[beside], tail)
				})
			}
			for _, beside := range []bool{false, true} {
				slices.Sort(p50[beside])
				slices.Sort(p99[beside])
				t.Logf("%s Hz, guard beside: %v: medians of %d turns: p50 %v, p99 %v; p99 of all turns %v", rate,
					beside, turns, p50[beside][turns/2], p99[beside][turns/2], p99[beside])
			}
		})
	}
}

// tenSeconds is one turn: p50 and p99 of the time from a sample sent to its command sent.
func tenSeconds(t *testing.T, rate string, beside bool) (median, tail time.Duration) {
	f := newField(t)
	file := "bundle_file:=" + bundleFile(t)
	f.start("quad_sim")
	f.start("latent_encoder", "rate:="+rate, file)
	f.startController(beside, "rate:="+rate, file)
	f.until("flight under the policy", func() bool { return f.flies(0, 100) })
	took := f.latencies()
	time.Sleep(10 * time.Second)
	var all []time.Duration
	for len(took) > 0 {
		all = append(all, <-took)
	}
	if len(all) == 0 {
		t.Fatal("no command was seen in ten seconds")
	}
	slices.Sort(all)
	return all[len(all)/2], all[len(all)*99/100]
}
