package control

import (
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/sim"
)

// hovered is a hover of 20 s in a wind: how far from its place the robot is, m, by what the velocity that the policy
// sees is off, m/s, both from the fifth second on, and why the guard flew, where it did.
type hovered struct {
	off, velocity float64
	tripped       map[guard.Cause]int
}

func hover(t *testing.T, m sim.Mocap, filter bool) (h hovered) {
	t.Helper()
	w, c := sim.Default(), defaults()
	w.Mocap, c.Filter = m, filter
	w.Conditions = sim.Conditions{Name: []string{"wind"}, WindX: []float64{2}, WindY: []float64{0}}
	f := newClosedIn(t, c, "a.vnd", w, 3)
	f.advance(5, nil)
	const looks = 150
	for range looks {
		f.advance(0.1, nil)
		seen := f.ticks[len(f.ticks)-1].State
		h.off += f.off() / looks
		h.velocity += seen.V.Sub(f.sim.State().V).Norm() / looks
	}
	h.tripped = map[guard.Cause]int{}
	for i := range f.ticks {
		if cause := f.ticks[i].Cause; cause != guard.None {
			h.tripped[cause]++
		}
	}
	return h
}

// TestFilterOfPoses: by the filter the policy sees far better velocities, whatever is wrong with poses. It flies by
// poses that are too late to fly by without.
func TestFilterOfPoses(t *testing.T) {
	for _, c := range []struct {
		name     string
		spoil    func(m *sim.Mocap)
		velocity float64 // m/s, at most
	}{
		{"good", func(*sim.Mocap) {}, 0.02},
		{"noisy", func(m *sim.Mocap) { m.Position, m.Attitude = 0.003, 0.02 }, 0.06},
		{"60 ms late", func(m *sim.Mocap) { m.Latency = 0.06 }, 0.03},
		{"holes", func(m *sim.Mocap) { m.Lost, m.Dropout = 0.2, sim.Outage{Every: 10, Length: 0.1} }, 0.02},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := sim.Default().Mocap
			c.spoil(&m)
			bare, with := hover(t, m, false), hover(t, m, true)
			t.Logf("without it and with it: %+v, %+v", bare, with)
			if with.velocity > min(c.velocity, bare.velocity/2) || with.off > 0.15 || len(with.tripped) > 0 {
				t.Errorf("expected at most %g m/s, half of what it is without, 0.15 m, and no trip", c.velocity)
			}
		})
	}
}

// TestFilterAfterAHold: poses that have leapt, for which the guard holds, are those that the policy flies by later.
// Else guard and policy would have the robot in two places.
func TestFilterAfterAHold(t *testing.T) {
	c := defaults()
	c.Filter = true
	f := newClosed(t, c, "a.vnd")
	f.advance(4, nil)
	leap := func(m *Sample) bool {
		m.State.P.X += 0.5
		return true
	}
	f.advance(0.3, leap)
	if stage := f.loop.Decision().Stage; !stage.HoldsAuthority() {
		t.Fatalf("after a leap: %v", stage)
	}
	f.advance(1.7, leap)
	if err := f.loop.Reset(); err != nil {
		t.Fatal(err)
	}
	f.advance(0.2, leap)
	k := f.ticks[len(f.ticks)-1]
	if off := k.State.P.Sub(f.loop.State().P).Norm(); !k.Filtered || !k.Stage.PolicyFlies() || off > 0.03 {
		t.Errorf("%v by the filter: %v, %.3f m from where the guard has it", k.Stage, k.Filtered, off)
	}
}

// TestFilterIsOfPoses: what comes with a velocity is flown as it comes.
func TestFilterIsOfPoses(t *testing.T) {
	for source, want := range map[string]bool{FromPose: true, FromOdometry: false, FromMavros: false, FromPX4: false} {
		c := defaults()
		c.Source, c.Filter = source, true
		if l := newLoop(t, c); (l.filter != nil) != want {
			t.Errorf("%s: filtered %v", source, l.filter != nil)
		}
	}
}

// TestFilterBeginsInTheAir: on the ground nothing that is commanded moves the robot.
func TestFilterBeginsInTheAir(t *testing.T) {
	c := defaults()
	c.Filter = true
	l := newLoop(t, c)
	for _, height := range []float64{0.02, 1} {
		for i := range 200 {
			stamp := epoch + int64(i)*5e6
			l.AddSample(&Sample{Stamp: stamp, State: quad.State{P: so3.Vec3{Z: height}, Q: so3.Identity()}})
		}
		_, ok := l.filter.At(seconds(epoch+1e9, l.origin))
		if want := height == 1; ok != want {
			t.Errorf("%g m above the ground there is a state: %v", height, ok)
		}
		l.restart()
	}
}
