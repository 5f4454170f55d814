package control

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/flight/guard"
)

// A stall, latency that grows, one wild stamp and a step of the clock: only the last is taken back.
func TestStampClock(t *testing.T) {
	const ms = int64(1e6)
	for _, c := range []struct {
		name  string
		fault func(k int64) (stamp, arrival int64, tick bool) // of sample k, taken every 5 ms
		shift int64
	}{
		{"sound", func(k int64) (int64, int64, bool) { return 5 * ms * k, 5*ms*k + 5*ms, k%4 == 0 }, 0},
		{"starved at first", func(k int64) (int64, int64, bool) {
			if k < 12 {
				return 5 * ms * k, 5*ms*k + 305*ms, k%4 == 0
			}
			return 5*ms*k + 300*ms, 5*ms*k + 305*ms, k%4 == 0
		}, 0},
		{"stall", func(k int64) (int64, int64, bool) {
			if k >= 100 && k < 135 {
				return 5 * ms * k, 5*ms*135 + 5*ms, false
			}
			return 5 * ms * k, 5*ms*k + 5*ms, k%4 == 0 || k == 135
		}, 0},
		{"wild stamp", func(k int64) (int64, int64, bool) {
			if k == 101 {
				return 5*ms*k + 900*ms, 5*ms*k + 5*ms, false
			}
			return 5 * ms * k, 5*ms*k + 5*ms, k%4 == 0
		}, 0},
		{"stamps ahead for good", func(k int64) (int64, int64, bool) {
			if k >= 101 {
				return 5*ms*k + 900*ms, 5*ms*k + 5*ms, k%4 == 0
			}
			return 5 * ms * k, 5*ms*k + 5*ms, k%4 == 0
		}, 900 * ms},
		{"clock set forward", func(k int64) (int64, int64, bool) {
			if k >= 101 {
				return 5 * ms * k, 5*ms*k + 305*ms, k%4 == 0
			}
			return 5 * ms * k, 5*ms*k + 5*ms, k%4 == 0
		}, -300 * ms},
	} {
		t.Run(c.name, func(t *testing.T) {
			var x stampClock
			ticked := int64(0)
			for k := int64(1); k < 400; k++ {
				stamp, arrival, tick := c.fault(k)
				x.correct(stamp+1e12, ticked)
				if tick {
					ticked = arrival + 1e12
					x.tick(ticked)
				}
			}
			if abs(x.shift-c.shift) > 20*ms { // it is seen against ticks
				t.Errorf("shift of %d ms, expected %d", x.shift/ms, c.shift/ms)
			}
		})
	}
}

// Latency that begins with a gap is none of a clock.
func TestStampClockAndLatency(t *testing.T) {
	var x stampClock
	const ms = int64(1e6)
	ticked := int64(0)
	for now := int64(0); now < 2000*ms; now += 5 * ms {
		late := 5 * ms
		if now > 500*ms {
			late = 205 * ms
		}
		if stamp := now - late; now <= 500*ms || stamp > 500*ms-5*ms {
			x.correct(stamp+1e12, ticked)
		}
		if now%(20*ms) == 0 {
			ticked = now + 1e12
			x.tick(ticked)
		}
	}
	if x.shift != 0 {
		t.Errorf("shift of %d ms", x.shift/ms)
	}
}

// A process that stands still, whenever that is, takes the samples of that time all at once: no clock was set.
func TestStampClockAfterAStop(t *testing.T) {
	const ms = int64(1e6)
	for begin := int64(2); begin < 150; begin++ {
		for _, length := range []int64{15, 30, 60, 100, 190} {
			var x stampClock
			ticked := int64(0)
			for k := int64(1); k < 600; k++ { // every 5 ms
				arrival := 5*ms*k + 5*ms
				stopped := k >= begin && k < begin+length
				x.correct(5*ms*k+1e12, ticked)
				if !stopped && (k%4 == 0 || k == begin+length) {
					ticked = arrival + 1e12
					x.tick(ticked)
				}
			}
			if x.shift != 0 {
				t.Fatalf("stopped at sample %d, for %d: shift of %d ms, expected none", begin, length, x.shift/ms)
			}
		}
	}
}

// TestStampClockUnderStarvation has the thread that takes samples and the one that ticks stand still now and then, for
// as long as a busy machine has them wait. Of the samples of such a time the newest are kept, as a topic's depth has
// it. No clock was set.
func TestStampClockUnderStarvation(t *testing.T) {
	const ms, period = int64(1e6), int64(20e6)
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		depth := 5 + rng.IntN(200)
		stall := func(now, until int64) int64 {
			if now >= until && rng.IntN(100) == 0 {
				return now + int64(rng.IntN(250))*ms
			}
			return until
		}
		var x stampClock
		var kept []int64
		var receiver, thread, ticked, due int64
		for now := int64(0); now < 4000*ms; now += 5 * ms {
			kept = append(kept, now-3*ms)
			if kept = kept[max(0, len(kept)-depth):]; now < receiver || now < thread {
				receiver, thread = stall(now, receiver), stall(now, thread)
				continue
			}
			receiver, thread = stall(now, receiver), stall(now, thread)
			for _, stamp := range kept {
				x.correct(stamp+1e12, ticked)
			}
			if kept = kept[:0]; now >= due {
				ticked, due = now+1e12, now+period
				x.tick(ticked)
			}
		}
		if x.shift != 0 {
			t.Fatalf("seed %d, depth %d: shift of %d ms, expected none", seed, depth, x.shift/ms)
		}
	}
}

// One sample in 40 that comes late keeps no step of the clock from being seen.
func TestStampClockAmidLateSamples(t *testing.T) {
	const ms = int64(1e6)
	var x stampClock
	ticked := int64(0)
	for k := int64(1); k < 400; k++ { // every 5 ms
		stamp, arrival := 5*ms*k, 5*ms*k+5*ms
		if k >= 301 {
			arrival += 300 * ms
		} else if k%40 == 1 {
			stamp -= 80 * ms
		}
		x.correct(stamp+1e12, ticked)
		if k%4 == 0 {
			ticked = arrival + 1e12
			x.tick(ticked)
		}
	}
	if abs(x.shift+300*ms) > 20*ms {
		t.Errorf("shift of %d ms, expected -300", x.shift/ms)
	}
}

// One stamp that runs ahead of the time that passed is left out, not two in a row, nor one behind a gap.
func TestOneStampAheadIsLeftOut(t *testing.T) {
	const ms = int64(1e6)
	type sample struct {
		stamp, came int64 // ms since the last sound one
		out         bool
	}
	for name, samples := range map[string][]sample{
		"even":              {{10, 10, false}, {20, 20, false}},
		"uneven":            {{10, 2, false}, {20, 20, false}, {30, 21, false}},
		"one ahead":         {{130, 10, true}, {20, 20, false}, {30, 30, false}},
		"the clock leapt":   {{130, 10, true}, {140, 20, false}, {150, 30, false}},
		"behind a gap":      {{90, 90, false}, {100, 100, false}},
		"waited for":        {{10, 300, false}, {20, 300, false}, {30, 300, false}},
		"clock of the loop": {{10, -900, true}, {20, -890, false}, {30, -880, false}},
	} {
		var l leap
		l.alone(1000*ms, 1003*ms)
		for _, s := range samples {
			if out := l.alone((1000+s.stamp)*ms, (1003+s.came)*ms); out != s.out {
				t.Errorf("%s: %d ms after %d ms: left out %v", name, s.stamp, s.came, out)
			}
		}
	}
}

// A loop that does not know when samples came leaves none out.
func TestStampsAheadWithoutArrivals(t *testing.T) {
	var l leap
	for _, stamp := range []int64{1, 2e9, 3e9} {
		if l.alone(stamp, 0) {
			t.Errorf("%d ns is left out", stamp)
		}
	}
}

// The loop's clock is set back by 80 ms in flight, with that of the stamps and without it, while samples are under way.
// No state is of the future, whatever comes; the policy flies on after a hold.
func TestClockSetBackInFlight(t *testing.T) {
	for name, c := range map[string]struct{ stampsToo, arrivals bool }{"with that of the stamps": {true, true},
		"alone": {false, true}, "with that of the stamps, arrivals not known": {true, false}} {
		t.Run(name, func(t *testing.T) {
			f := newClosed(t, defaults(), "a.vnd")
			f.advance(3, nil)
			for set := f.sim.Time(); f.sim.Time() < set+6; {
				f.setClock(-80e6, set, c.stampsToo, c.arrivals)
				newest := &f.ticks[len(f.ticks)-1]
				now := epoch + int64(f.sim.Time()*1e9) - 80e6
				if f.sim.Time() > set+0.02 && now < newest.Stamp-5e6 {
					t.Fatalf("%.3f s after the step a state is %d ns of the future", f.sim.Time()-set, newest.Stamp-now)
				}
			}
			if last := f.ticks[len(f.ticks)-1]; last.Stage != guard.Policy || f.sim.Crashed() || f.off() > 0.1 {
				t.Errorf("%v because %v at %.2f m off", last.Stage, last.Cause, f.off())
			}
		})
	}
}

// The clock is set forward in flight, with that of the stamps: the policy goes on, after a hold where that looks like
// missed ticks. A guard that takes the time for one that passed finds the robot behind the motion expected, and its
// samples late.
func TestClockSetForwardInFlight(t *testing.T) {
	for by := int64(30e6); by < 100e6; by += 10e6 {
		for phase := range int64(4) { // between two ticks
			t.Run(fmt.Sprint(by/1e6, " ms, ", 5*phase, " ms late"), func(t *testing.T) {
				setForward(t, by, 5+0.005*float64(phase))
			})
		}
	}
}

// setForward sets the clock of a figure-eight forward by so many ns at a time.
func setForward(t *testing.T, by int64, at float64) {
	f := newClosed(t, defaults(), "a.vnd")
	f.loop.SetReference(taskReference(t, "track"))
	for f.sim.Time() < at {
		f.setClock(0, 0, true, true)
	}
	for f.sim.Time() < at+3 {
		f.setClock(by, at, true, true)
		last := f.ticks[len(f.ticks)-1]
		goesOn, sees := by <= 80e6 || f.sim.Time() > at+2, f.sim.Time() > at+0.3
		if goesOn && last.Stage != guard.Policy || sees && last.Stage == guard.Blind {
			t.Fatalf("%.3f s after the step: %v because %v", f.sim.Time()-at, last.Stage, last.Cause)
		}
	}
}

// A step counts where a stamp follows it soon, and once. Two samples at once, late ones, and stamps that another clock
// makes do not.
func TestCommonStep(t *testing.T) {
	const ms, most = int64(1e6), int64(100e6)
	type sample struct{ clock, steady, stamp, want int64 } // ms since the last
	for name, samples := range map[string][]sample{
		"both":            {{50, 10, 50, 40}, {10, 10, 10, 0}},
		"under way":       {{50, 10, 10, 0}, {10, 10, 50, 40}},
		"the clock alone": {{50, 10, 10, 0}, {10, 10, 10, 0}},
		"two at once":     {{40, 10, 10, 0}, {0, 0, 10, 0}, {0, 0, 10, 0}},
		"after a stop":    {{60, 60, 10, 0}, {0, 0, 10, 0}, {0, 0, 40, 0}},
		"stamps alone":    {{10, 10, 50, 0}, {10, 10, 10, 0}},
		"too late":        {{50, 10, 10, 0}, {400, 400, 400, 0}, {10, 10, 50, 0}},
		"long":            {{150, 10, 150, 0}, {10, 10, 10, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			var c commonStep
			clock, steady, stamp := 1000*ms, 500*ms, 995*ms
			c.look(clock, steady, most)
			c.match(stamp)
			for i, s := range samples {
				clock, steady, stamp = clock+s.clock*ms, steady+s.steady*ms, stamp+s.stamp*ms
				c.look(clock, steady, most)
				if by := c.match(stamp); by != s.want*ms {
					t.Errorf("sample %d: %d ms, expected %d", i, by/ms, s.want)
				}
			}
		})
	}
}

// setClock is a step of a flight whose clock was set by so many ns at a time.
func (f *closed) setClock(by int64, at float64, stampsToo, arrivals bool) {
	f.sim.Step(f.command, 0.0025)
	now, due := epoch+int64(f.sim.Time()*1e9)+by, false
	for _, s := range f.sim.Mocap() {
		m := Sample{Stamp: epoch + int64(s.Stamp*1e9), State: quad.State{P: s.P, Q: s.Q}}
		if stampsToo && s.Stamp > at {
			m.Stamp += by
		}
		if arrivals {
			f.loop.SamplesCame(now, now-by)
		}
		f.loop.AddSample(&m)
		due = f.pace.DueAtSample(m.Stamp, now) || due
	}
	if due || f.pace.DueByClock(now) {
		f.fly(now)
	}
}

// A step that is over while samples are lost is not taken for a latency, which would stay; a latency as long as the
// step, behind a gap as long as itself, is one.
func TestStampClockWhoseStepEndsInAGap(t *testing.T) {
	const tick, latency = int64(20e6), int64(5e6)
	for _, step := range []int64{-770e6, -460e6, 460e6, 1820e6} {
		for name, c := range map[string]struct {
			silent     int
			over, late int64
			want       int64
		}{
			"no gap": {0, step, 0, 0}, "three lost": {3, step, 0, 0}, "six lost": {6, step, 0, 0},
			"the step stays": {6, 0, 0, -step}, "late, the step stays": {int(abs(step) / tick), 0, step, -step},
		} {
			var clock stampClock
			now, off, late := int64(100e9), int64(0), latency
			samples := func(n int) {
				for range n {
					now += tick
					clock.tick(now + off)
					clock.correct(now-late, now+off)
				}
			}
			samples(50)
			off = step
			samples(50)
			off -= c.over
			late = max(latency, latency-c.late)
			for range c.silent {
				now += tick
				clock.tick(now + off)
			}
			if samples(60); clock.shift != c.want {
				t.Errorf("%d ms, %s: stamps are shifted by %d ms, expected %d", step/1e6, name, clock.shift/1e6,
					c.want/1e6)
			}
		}
	}
}
