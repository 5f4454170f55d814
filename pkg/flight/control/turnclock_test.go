package control

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/so3"
	"vnd/pkg/sim"
)

// turner is a body that sways as commanded.
type turner struct {
	late, clock, gain, noise float64 // s, s, of rates, rad
	every, sway              float64 // s, rad
}

func (r *turner) attitude(t float64) so3.Quat {
	return so3.FromEuler(r.sway*math.Sin(5*t), r.sway*math.Sin(3*t+1), 0.2*math.Sin(t))
}

// watch has a clock look at a flight of some seconds.
func (r *turner) watch(seconds float64) (c turnClock) {
	rng := rand.New(rand.NewPCG(1, 2))
	commanded := func(from, to float64) so3.Vec3 {
		turn := so3.Log(r.attitude(from).Conj().Mul(r.attitude(to)))
		return turn.Scale(1 / (r.gain * (to - from)))
	}
	for t := 1.0; t < 1+seconds; t += r.every {
		noise := so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(r.noise)
		c.add(t+r.clock, r.attitude(t-r.late).Mul(so3.Exp(noise)), commanded)
	}
	return c
}

// TestTurnClock finds a delay or a clock that is off within 2 ms, whatever the rate and the noise.
func TestTurnClock(t *testing.T) {
	for _, c := range []turner{
		{every: 0.005, noise: 0.002, gain: 1},
		{every: 0.005, noise: 0.002, gain: 1, late: 0.03},
		{every: 0.005, noise: 0.002, gain: 1, clock: 0.03},
		{every: 0.005, noise: 0.002, gain: 1, clock: -0.04},
		{every: 0.002, noise: 0.002, gain: 1, clock: -0.02, late: 0.01},
		{every: 0.02, noise: 0.002, gain: 1, clock: -0.02},
		{every: 0.005, noise: 0.015, gain: 1, late: 0.02},
	} {
		c.sway = 0.3
		w := c.watch(20)
		if late, want := w.late(), c.late+c.clock; math.Abs(late-want) > 0.002 || want != 0 && late == 0 {
			t.Errorf("%+v: %.1f ms late, expected %.1f", c, 1e3*late, 1e3*want)
		}
	}
}

// TestTurnClockKnowsWhenItKnows: nothing is told by noise, by attitudes that seldom come, by rates that come out as
// others than commanded, or by an odd attitude.
func TestTurnClockKnowsWhenItKnows(t *testing.T) {
	for _, c := range []turner{{every: 0.005, noise: 0.002, gain: 1, late: 0.05},
		{every: 0.05, sway: 0.3, gain: 1, late: 0.05}, {every: 0.005, sway: 0.3, gain: 0.7}} {
		w := c.watch(20)
		if late := w.late(); late != 0 {
			t.Errorf("%+v: %.1f ms", c, 1e3*late)
		}
	}
	c := turner{every: 0.005, noise: 0.002, gain: 1, sway: 0.3, late: 0.03}
	w := c.watch(10)
	before := w.late()
	w.add(w.t-1, so3.Identity(), func(float64, float64) so3.Vec3 { return so3.Vec3{} })
	if after := w.late(); after != before {
		t.Errorf("%.2f ms, and %.2f after an attitude of before", 1e3*before, 1e3*after)
	}
}

// TestTurnsLateInFlight: a tick tells by how much stamps are off, by poses and by odometry, and of a robot that is as
// believed within 8 ms that they are right.
func TestTurnsLateInFlight(t *testing.T) {
	for _, source := range []string{FromPose, FromOdometry} {
		for _, clock := range []float64{0, 0.02, -0.02} {
			w, c := sim.Default(), defaults()
			w.Mocap.Clock, c.Source = clock, source
			w.Conditions = sim.Conditions{Name: []string{"wind"}, WindX: []float64{2}, WindY: []float64{0}}
			f := newClosedIn(t, c, "a.vnd", w, 3)
			f.advance(8, nil)
			late := f.ticks[len(f.ticks)-1].TurnsLate
			if math.Abs(late-clock) > 0.008 || late == 0 {
				t.Errorf("%s, clock %+g s: turns are late by %.1f ms", source, clock, 1e3*late)
			}
		}
	}
}
