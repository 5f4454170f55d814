package control

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/quadrotor"
)

// At one tick per row the belief is the actuator part of the model's own state.
func TestActuatorIsTheModels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := func(lo, hi float64) *rapid.Generator[float64] { return rapid.Float64Range(lo, hi) }
		m := quadrotor.Actuator{
			ThrustGain: x(.5, 1.5).Draw(t, "gain"), ThrustDelay: x(0, quadrotor.MaxDelay).Draw(t, "delay"),
			ThrustLag: x(0, .3).Draw(t, "lag"),
			RateGain:  x(.5, 1.5).Draw(t, "rate gain"), RateDelay: x(0, quadrotor.MaxDelay).Draw(t, "rate delay"),
			RateLag: x(0, .3).Draw(t, "rate lag"), YawLag: x(0, .3).Draw(t, "yaw lag"),
		}
		const dt = .02
		sys := quadrotor.NewQuadrotor[float64](dt, m)
		d := sys.Dims()
		s, residual, next, row := make([]float64, d.State), make([]float64, d.Tangent), make([]float64, d.State),
			make([]float64, d.Action)
		const thrust, line = 10, 14 // places of the lagged command and of the delay line
		s[3], s[thrust] = 1, quad.Gravity
		for i := range quadrotor.MaxDelay {
			s[line+4*i] = quad.Gravity
		}
		var a actuator
		a.hover()
		a.setModel(m, dt, dt)
		for range rapid.IntRange(1, 300).Draw(t, "ticks") {
			c := quad.Command{Thrust: x(0, 20).Draw(t, "T"),
				Rates: so3.Vec3{X: x(-6, 6).Draw(t, "x"), Y: x(-6, 6).Draw(t, "y"), Z: x(-3, 3).Draw(t, "z")}}
			quadrotor.Action(&c, row)
			sys.Step(1, s, row, residual, next)
			s, next = next, s
			a.step(c)
			got := []float64{a.e.Thrust, a.e.Rates.X, a.e.Rates.Y, a.e.Rates.Z}
			for j, g := range got {
				if math.Abs(g-s[thrust+j]) > 1e-9 {
					t.Fatalf("%v, the model has %v", got, s[thrust:thrust+4])
				}
			}
		}
	})
}

// At more ticks per row the belief at the rows is the same while commands change at the rows only and there is no lag
// within them to tell apart.
func TestActuatorAtHigherRates(t *testing.T) {
	m := quadrotor.Actuator{ThrustGain: .9, ThrustDelay: 2, ThrustLag: .08, RateGain: 1.1, RateDelay: 7, RateLag: .04,
		YawLag: .1}
	var slow, fast actuator
	for _, a := range []*actuator{&slow, &fast} {
		a.hover()
	}
	slow.setModel(m, .02, .02)
	fast.setModel(m, .02, .0025)
	for k := range 100 {
		c := quad.Command{Thrust: 10 + 5*math.Sin(float64(k)),
			Rates: so3.Vec3{X: math.Cos(float64(k)), Z: math.Sin(2 * float64(k))}}
		slow.step(c)
		for range 8 {
			fast.step(c)
		}
		if off := slow.e.Rates.Sub(fast.e.Rates).Norm() + math.Abs(slow.e.Thrust-fast.e.Thrust); off > 1e-9 {
			t.Fatalf("row %d: %+v and %+v", k, slow.e, fast.e)
		}
	}
}

// Ticks keep the rate, whatever the samples' own rate and jitter.
func TestPace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const period = 20_000_000
		p := NewScheduler(period)
		interval := rapid.Int64Range(period/20, period).Draw(t, "interval")
		jitter := rapid.Int64Range(0, min(interval/3, (period-interval)/2)).Draw(t, "jitter") // more may miss a tick
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		stamp, last, ticks := int64(1e15), int64(0), 0
		const n = 2000
		for k := range int64(n) {
			at := stamp + k*interval + rng.Int64N(2*jitter+1) - jitter
			if !p.DueAtSample(at, at) {
				continue
			}
			ticks++
			if gap := at - last; last != 0 && (gap < period/2-2*interval || gap > period+period/2+interval+2*jitter) {
				t.Fatalf("samples every %d ± %d: %d ns between two ticks", interval, jitter, gap)
			}
			last = at
		}
		if want := float64(n*interval) / period; math.Abs(float64(ticks)-want) > 2+want*.001 || p.Missed() != 0 {
			t.Fatalf("samples every %d ± %d: %d ticks, %d missed, want %.0f", interval, jitter, ticks, p.Missed(), want)
		}
	})
}

func TestPaceWithoutSamples(t *testing.T) {
	const ms = 1_000_000
	p := NewScheduler(20 * ms)
	if p.DueByClock(5) {
		t.Error("a tick before the first sample")
	}
	if !p.DueAtSample(1000*ms, 1005*ms) || p.DueAtSample(1005*ms, 1010*ms) || p.DueByClock(1034*ms) ||
		!p.DueByClock(1035*ms) ||
		p.DueByClock(1050*ms) || !p.DueByClock(1065*ms) {
		t.Error("ticks by the clock")
	}
	if !p.DueAtSample(1105*ms, 1110*ms) || p.Missed() != 4 || p.DueAtSample(1110*ms, 1111*ms) {
		t.Errorf("a sample after a gap, %d missed", p.Missed())
	}
	if !p.DueAtSample(10*ms, 1120*ms) || p.DueAtSample(15*ms, 1125*ms) || !p.DueAtSample(30*ms, 1140*ms) {
		t.Error("the samples' clock was set back")
	}
	if !p.DueByClock(10*ms) || p.DueByClock(20*ms) {
		t.Error("the clock was set back")
	}
}

// Where the clock is set back, and that of the stamps is not, ticks go on at the rate. One stamp that runs ahead
// changes nothing.
func TestPaceWhereTheClockIsSetBack(t *testing.T) {
	const ms = int64(1e6)
	for name, c := range map[string]struct {
		back, ahead int64 // ms by which the clock is set back, and by which one stamp is ahead
		lost        int   // ticks, at most
	}{
		"nothing": {0, 0, 1}, "the clock": {1400, 0, 3}, "one stamp": {0, 1400, 1}, "both": {1400, 700, 3},
	} {
		t.Run(name, func(t *testing.T) {
			p, ticks := NewScheduler(20*ms), 0
			for k := range int64(800) { // 4 s
				at := 10_000 + 5*k
				stamp, now := at, at+8
				if k >= 400 {
					now -= c.back
				}
				if k == 500 {
					stamp += c.ahead
				}
				if p.DueAtSample(stamp*ms, now*ms) || p.DueByClock(now*ms) {
					ticks++
				}
			}
			if missing := 200 - ticks; missing > c.lost || missing < -c.lost || p.Missed() > 1 {
				t.Errorf("%d ticks of 200, %d missed", ticks, p.Missed())
			}
		})
	}
}

// What goes in comes out, in order; what finds no space is counted.
func TestRing(t *testing.T) {
	r := NewRing(8, func() int { return 0 })
	const n = 100_000
	done := make(chan int)
	go func() {
		got, last := 0, 0
		for last != n {
			v := r.Front()
			if v == nil {
				continue
			}
			if *v <= last {
				t.Errorf("%d after %d", *v, last)
			}
			last = *v
			got++
			r.Pop()
		}
		done <- got
	}()
	for i := 1; i <= n; i++ {
		v := r.Slot()
		for i == n && v == nil { // the last must arrive
			v = r.Slot()
		}
		if v != nil {
			*v = i
			r.Push()
		}
	}
	if got := <-done; uint64(got)+r.Dropped() < n {
		t.Errorf("%d arrived, %d dropped of %d", got, r.Dropped(), n)
	}
}
