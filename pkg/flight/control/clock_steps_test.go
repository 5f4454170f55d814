package control

import (
	"math/rand/v2"
	"testing"
)

// Whatever clocks, samples and threads did, soon after all is well again stamps are neither of the future nor late: in
// each run the loop's clock is set and set right again some times, with that of the stamps or without, while samples
// are lost and threads wait.
func TestStampClockIsRightAgain(t *testing.T) {
	const ms, period, latency = int64(1e6), int64(20e6), int64(4e6)
	for seed := range uint64(20000) {
		rng := rand.New(rand.NewPCG(seed, 2))
		var x stampClock
		var kept []int64
		var ticked, due, clock, stamps, thread, lost, change int64
		calm := int64(6000) * ms
		for now := int64(0); now < calm+4000*ms; now += 5 * ms {
			switch {
			case now >= calm:
				clock, stamps = 0, 0
			case now < change || now < 500*ms:
			case clock != 0:
				clock, stamps = 0, 0
				lost, change = now+int64(rng.IntN(150))*ms, now+int64(rng.IntN(2000))*ms
			default:
				clock = (100 + int64(rng.IntN(1900))) * ms * int64(1-2*rng.IntN(2)) / int64(1+rng.IntN(2))
				if stamps = 0; rng.IntN(2) == 0 {
					stamps = clock
				}
				lost, change = now+int64(rng.IntN(2)*rng.IntN(150))*ms, now+int64(rng.IntN(3000))*ms
			}
			if now >= lost {
				kept = append(kept, now-latency+stamps)
			}
			if now < thread {
				continue
			}
			if now < calm && rng.IntN(60) == 0 {
				thread = now + int64(rng.IntN(150))*ms
				continue
			}
			for _, stamp := range kept {
				x.correct(stamp+1e12, ticked)
			}
			if kept = kept[:0]; now >= due {
				ticked, due = now+clock+1e12, now+period
				x.tick(ticked)
			}
		}
		if abs(x.shift) > leastStep+5*ms {
			t.Errorf("seed %d: %+v", seed, x)
		}
	}
}
