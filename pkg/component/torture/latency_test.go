package torture

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// TestLatency flies in real time at 50 and at 200 Hz beside a learner that trains, for VND_LATENCY minutes each, and says
// how long it took from a sample of motion capture sent to its command sent, by the middleware's stamps of both, how many
// ticks were missed, and how many bundles were learned. It judges nothing: the figures are those of the machine.
func TestLatency(t *testing.T) {
	minutes, err := strconv.ParseFloat(os.Getenv("VND_LATENCY"), 64)
	if err != nil {
		t.Skip("VND_LATENCY is not set to a number of minutes")
	}
	for _, rate := range []string{"50.0", "200.0"} {
		t.Run(rate, func(t *testing.T) {
			f := newField(t)
			file, data := "bundle_file:="+bundleFile(t), "directory:="+f.data
			f.start("quad_sim")
			f.start("transition_recorder", data, "buffer.segment_seconds:=2.0", "bag.least_free:=0")
			f.start("latent_encoder", file, "rate:="+rate)
			f.start("background_learner", append([]string{data, file}, busy...)...)
			f.start("policy_controller", file, "autostart:=true", "rate:="+rate, "diagnostic_updater.period:=0.2")
			f.until("flight under the policy and its latents, with a learner", func() bool {
				return f.flies(0, 50) && f.steps[len(f.steps)-1].latent && f.bundles > 0
			})
			took, before, bundles := f.latencies(), f.ticksMissed(), f.learned()
			var all []time.Duration
			for end := time.Now().Add(time.Duration(minutes * float64(time.Minute))); time.Now().Before(end); {
				select {
				case d := <-took:
					all = append(all, d)
				case <-time.After(time.Second):
				}
			}
			after := f.ticksMissed()
			slices.Sort(all)
			share := func(q float64) time.Duration { return all[int(q*float64(len(all)-1))] }
			load, _ := os.ReadFile("/proc/loadavg")
			t.Logf("%s Hz for %g min: p50 %v, p99 %v, p99.9 %v, worst %v of %d ticks; missed %s, before %s; %d bundles learned; load %s",
				rate, minutes, share(.5), share(.99), share(.999), share(1), len(all), after, before, f.learned()-bundles, load)
		})
	}
}

// learned is how many bundles came so far.
func (f *field) learned() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bundles
}

// busy has the learner fit and train all the time.
var busy = []string{"new_rows:=100", "max_rows:=20000", "keep_bundles:=3", "least_data:=5.0",
	"policy.envs:=64", "policy.horizon:=75", "policy.hidden:=16", "judge.wind:=1.0"}
