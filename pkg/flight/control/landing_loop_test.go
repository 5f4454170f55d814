package control

import (
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
)

// landingFrom begins a landing at a place.
func landingFrom(t *testing.T, f *closed, to, from []float64) *TaskReference {
	t.Helper()
	path, err := reference.New(&reference.Landing{To: to, From: from, Descent: 0.5, Approach: 1, Acceleration: 1,
		ToVelocity: []float64{0, 0, 0}})
	if err != nil {
		t.Fatal(err)
	}
	k, err := NewTaskReference(landTask, path)
	if err != nil {
		t.Fatal(err)
	}
	f.loop.SetReference(k)
	return k
}

// lawLands is when the law took over to land, s since the tick from; −1: it did not.
func lawLands(f *closed, from int) float64 {
	for i, k := range f.ticks[from:] {
		if k.Stage == guard.Land {
			return float64(i) / f.loop.config.Rate
		}
	}
	return -1
}

// ends is when the law took over to land, or the robot rested, s since the tick from; −1: neither.
func ends(f *closed, from int) float64 {
	for i, k := range f.ticks[from:] {
		if k.Stage == guard.Land || k.Stage == guard.Off {
			return float64(i) / f.loop.config.Rate
		}
	}
	return -1
}

// A landing far away begins slowly, and 5 cm below the hover before, as under a load: that is not its end. Nor is it
// where another was begun before. The guard may hold on the way: the policy nears the floor faster than it may touch.
// It meets the floor 3 m before the end of its path.
func TestFarLandingIsFlownToItsEnd(t *testing.T) {
	c := defaults()
	c.Guard.FenceMin, c.Guard.FenceMax = []float64{-50, -50, -1}, []float64{50, 50, 5}
	f := newClosed(t, c, "a.vnd")
	f.advance(3, nil)
	landingFrom(t, f, []float64{0, 0, -0.2}, []float64{0, 0, 0.95})
	f.advance(1.5, nil)
	from := len(f.ticks)
	k := landingFrom(t, f, []float64{14, 0, -0.2}, []float64{0, 0, f.sim.State().P.Z})
	f.advance(k.Path.Duration(), nil)
	at, p := ends(f, from), f.sim.State().P
	if at < 20 || p.Sub(so3.Vec3{X: 14, Z: p.Z}).Norm() > 3 || p.Z > 0.1 {
		t.Errorf("it ends %.1f s after the begin, of %.1f s, at %.2f m", at, k.Path.Duration(), p)
	}
}

// A landing that the guard interrupts for a moment goes on to where it was to.
func TestLandingGoesOnAfterAHold(t *testing.T) {
	f := newClosed(t, defaults(), "a.vnd")
	f.advance(3, nil)
	from := len(f.ticks)
	landingFrom(t, f, []float64{2, 0, -0.2}, []float64{0, 0, 0.95})
	f.advance(2, nil)
	f.advance(0.3, func(*Sample) bool { return false })
	held := len(f.ticks)
	f.advance(14, nil)
	flown := false
	for _, k := range f.ticks[held:] {
		flown = flown || k.Stage == guard.Policy
	}
	p := f.sim.State().P
	if !flown || p.Sub(so3.Vec3{X: 2, Z: p.Z}).Norm() > 0.3 || p.Z > 0.1 {
		t.Errorf("the policy flew on: %v; the law lands after %.1f s, at %.2f m", flown, lawLands(f, from), p)
	}
}

// On a pad far above the guard's floor the motors stop too.
func TestLandsOnAPadAboveTheFloor(t *testing.T) {
	const pad = 2.5
	f := newClosed(t, defaults(), "a.vnd")
	w := sim.Default()
	w.Ground.Height = pad
	var err error
	if f.sim, err = sim.New(w, 1); err != nil {
		t.Fatal(err)
	}
	f.sim.Reset(quad.State{P: so3.Vec3{Z: pad + 1}, Q: so3.Identity()}, 1)
	k := landingFrom(t, f, []float64{1, 0, pad - 0.17}, []float64{0, 0, pad + 1})
	f.advance(k.Path.Duration()+4, nil)
	last := f.ticks[len(f.ticks)-1]
	off := f.sim.State().P.Sub(so3.Vec3{X: 1, Z: pad + 0.03})
	if last.Stage != guard.Off || f.sim.Crashed() || off.Norm() > 0.1 {
		t.Errorf("%v, %.2f m from the pad, %s", last.Stage, off, f.sim.Crash())
	}
}
