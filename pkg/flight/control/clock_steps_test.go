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
		for now := int64(0); now < calm+8000*ms; now += 5 * ms {
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
		if x.usual < -leastStep || x.usual > leastStep/4 {
			t.Errorf("seed %d: %+v", seed, x)
		}
	}
}

// The first sample may have waited for a starved thread, or come while clocks were not right yet. Later ones are not
// taken for late ones then: their latency would be hidden.
func TestStampClockFromItsFirstSample(t *testing.T) {
	const ms = int64(1e6)
	for waited := int64(0); waited < 300*ms; waited += 10 * ms {
		for _, c := range []struct{ latency, ahead int64 }{{20 * ms, 0}, {80 * ms, 0}, {20 * ms, 140 * ms}} {
			if shift := startedStampClock(waited, c.latency, c.ahead).shift; shift != 0 {
				t.Errorf("%d ms late, %d ms ahead, the first after %d ms: shift of %d ms, expected none", c.latency/ms,
					c.ahead/ms, waited/ms, shift/ms)
			}
		}
	}
}

// startedStampClock is one whose first sample waited, behind 2 s of samples every 20 ms; in the first half second their
// stamps run ahead.
func startedStampClock(waited, latency, ahead int64) *stampClock {
	var x stampClock
	ticked := int64(1e12)
	x.tick(ticked)
	for now := waited; now < waited+2e9; now += 20e6 {
		if now > 500e6 {
			ahead = 0
		}
		x.correct(now-latency+ahead+1e12, ticked)
		ticked = now + 1e12
		x.tick(ticked)
	}
	return &x
}

// Where several ticks pass between samples each of them comes behind a gap. Late by more than that gap explains it is
// of another clock; late by as much it is late.
func TestStampClockOfSeldomSamples(t *testing.T) {
	const ms = int64(1e6)
	for _, c := range []struct{ set, late, shift int64 }{{1000 * ms, 0, -1000 * ms}, {3600e9, 0, -3600e9},
		{0, 100 * ms, 0}, {0, 250 * ms, 0}} {
		var x stampClock
		ticked, clock, latency := int64(0), int64(0), 5*ms
		for now := int64(0); now < 3000*ms; now += 5 * ms / 2 {
			if now == 1000*ms {
				clock, latency = c.set, latency+c.late
			}
			if waits := now >= 1000*ms && now < 1000*ms+c.late; now%(10*ms) == 0 && !waits {
				x.correct(now-latency+1e12, ticked)
			}
			ticked = now + clock + 1e12
			x.tick(ticked)
		}
		if abs(x.shift-c.shift) > 20*ms {
			t.Errorf("set by %d ms, late by %d ms: shift of %d ms, expected %d", c.set/ms, c.late/ms, x.shift/ms,
				c.shift/ms)
		}
	}
}

// A clock that is set forward has several ticks come at once, without a sample between: that is no gap in which samples
// may have become late.
func TestStampClockAndTicksAtOnce(t *testing.T) {
	const tick = int64(20e6)
	for _, step := range []int64{80e6, 200e6, 470e6, 1900e6} {
		for more := range int64(6) {
			var clock stampClock
			samples := func(now, off int64) (after int64) {
				for range 100 {
					now += tick
					clock.tick(now + off)
					clock.correct(now-5e6, now+off)
				}
				return now
			}
			now := samples(100e9, 0)
			for i := range more {
				clock.tick(now + step + i*1e6 + tick/2)
			}
			if samples(now, step); clock.shift != -step {
				t.Errorf("%d ms, %d ticks more: stamps are shifted by %d ms", step/1e6, more, clock.shift/1e6)
			}
		}
	}
}

// What a step leaves of an earlier correction is its error, and makes no later step another thing.
func TestStampClockAfterManySteps(t *testing.T) {
	const tick = int64(20e6)
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 3))
		var clock stampClock
		now, step := int64(100e9), int64(0)
		for k := range 20 {
			if step != 0 {
				step = 0
			} else {
				step = (int64(100e6) + rng.Int64N(1900e6)) * (1 - 2*rng.Int64N(2))
			}
			for range 60 {
				now += tick
				clock.tick(now + step)
				clock.correct(now-5e6-rng.Int64N(24e6), now+step)
			}
			if k > 0 && abs(clock.shift+step) > stepSlack || step == 0 && clock.shift != 0 {
				t.Fatalf("seed %d, step %d: %d ms are corrected of %d", seed, k, clock.shift/1e6, -step/1e6)
			}
		}
	}
}

// Stamps that were a little ahead of the clock are no reason to take a step of it for their latency.
func TestStampClockFromTheFuture(t *testing.T) {
	const tick, step = int64(20e6), int64(450e6)
	var clock stampClock
	now, off := int64(100e9), int64(0)
	for k := range 200 {
		if now += tick; k == 100 {
			off = step
		}
		clock.tick(now + off)
		clock.correct(now+35e6, now+off)
	}
	if clock.shift != -step {
		t.Errorf("stamps are shifted by %d ms, expected %d", clock.shift/1e6, -step/1e6)
	}
}
