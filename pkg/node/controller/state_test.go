package controller

import (
	"math/rand/v2"
	"testing"
	"time"

	"vnd/pkg/bridge"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// px4Link is a clock of an autopilot that began long after ours, and samples of it that come with delay and jitter.
type px4Link struct {
	t     *testing.T
	rng   *rand.Rand
	clock clockOffset
	true  int64 // ns of a clock that nobody sets
	came  int64 // the newest arrival
	set   int64 // by which ours was set
	boot  int64
	delay int64
}

// fly sends samples at 100 Hz for a time, and returns the greatest error of their ages. skip are not looked at.
func (l *px4Link) fly(seconds float64, skip int) (worst time.Duration) {
	for n := range int(100 * seconds) {
		l.true += 10e6
		l.came = max(l.came, l.true+l.delay+l.rng.Int64N(2e6))
		now := l.came + l.set
		stamp := l.true - l.boot
		age := now - (stamp + l.clock.update(stamp, now, l.came))
		if n >= skip {
			worst = max(worst, time.Duration(age-(l.came-l.true)).Abs())
		}
	}
	return worst
}

// Steps of the delay by 50 to 1000 ms are known as age to within 20 ms. A clock that is set, here or there, is no
// delay.
func TestDelayIsNoOffsetOfClocks(t *testing.T) {
	const most = 20 * time.Millisecond
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		l := &px4Link{t: t, rng: rng, true: 1e15, boot: 1e15 - 60e9, delay: 3e6}
		l.fly(1, 0)
		check := func(what string, skip int) {
			t.Helper()
			if worst := l.fly(5, skip); worst > most {
				t.Errorf("seed %d, %s: ages err by %v", seed, what, worst)
			}
		}
		for range 3 {
			l.delay = 50e6 + rng.Int64N(950e6)
			check("longer delay", 0)
			l.delay = 3e6
			check("shorter delay", 0)
		}
		l.set += rng.Int64N(4e9) - 2e9
		check("our clock set", 1)
		l.boot = l.true - 1e9
		check("the autopilot begun anew", 1)
	}
}

// Where /clock stops in flight, commands end within a fifth of a second, so that the autopilot lands; they go on with
// it.
func TestClockTopicStops(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		f, s := active(t, defaults(t))
		f.sim = func() bool { return true }
		stamp, clock := int64(1e9), int64(1e9)
		fly := func(seconds float64, stands bool) (commands int, last float64) {
			begun := stamp
			for end := stamp + int64(seconds*1e9); stamp < end; stamp += 5e6 {
				if !stands {
					clock = stamp
				}
				s.commands = s.commands[:0]
				at := so3.Vec3{X: 1e-4 * rng.Float64(), Z: 1}
				f.addSample(bridge.Pose{Stamp: stamp, State: quad.State{P: at, Q: so3.Identity()}}, 0)
				f.runOnceAt(clock)
				if len(s.commands) > 0 {
					commands, last = commands+1, float64(stamp-begun)/1e9
				}
				for f.ticks.Front() != nil {
					f.ticks.Pop()
				}
			}
			return commands, last
		}
		if n, _ := fly(1+rng.Float64(), false); n < 45 {
			t.Fatalf("%d commands", n)
		}
		if n, last := fly(3, true); last > 0.2 {
			t.Errorf("seed %d: %d commands, the last %.2f s after /clock stopped", seed, n, last)
		}
		if n, _ := fly(1, false); n < 45 {
			t.Errorf("seed %d: %d commands in the second after it goes on", seed, n)
		}
	}
}

// On simulated time the messages of /clock may come long after the samples of the same moment. Time does not go back,
// and no sample is lost for that.
func TestClockTopicIsLate(t *testing.T) {
	for _, late := range []int64{50e6, 120e6, 180e6, 250e6} {
		f, _ := active(t, defaults(t))
		f.sim = func() bool { return true }
		rng := rand.New(rand.NewPCG(1, 1))
		clock, newest, ticked := int64(1e9), int64(0), int64(0)
		for stamp := int64(1e9); stamp < 4.2e9; stamp += 5e6 {
			if n := stamp / 250e6; n%2 == 0 || stamp-clock > late { // its thread sleeps now and then
				clock = stamp
			}
			at := so3.Vec3{X: 1e-4 * rng.Float64(), Z: 1}
			f.addSample(bridge.Pose{Stamp: stamp, State: quad.State{P: at, Q: so3.Identity()}}, 0)
			f.runOnceAt(clock)
			for x := f.ticks.Front(); x != nil; x = f.ticks.Front() {
				newest = x.Stamp
				f.ticks.Pop()
			}
			if f.before < ticked {
				t.Fatalf("%d ms late: time goes back by %d ms", late/1e6, (ticked-f.before)/1e6)
			}
			ticked = f.before
		}
		if n := f.gauges.refused.Load(); n > 0 || newest < 4.17e9 {
			t.Errorf("%d ms late: %d samples refused, the last tick at %.3f s", late/1e6, n, float64(newest)/1e9)
		}
	}
}
