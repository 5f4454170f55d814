package rounds

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/learning/task"
)

// ticking is a robot at 50 Hz, 1 m off a reference that moves along x.
type ticking struct {
	*flights
	tick ControllerTick
}

func newTicking(robot string) *ticking {
	k := &ticking{flights: newFlights(0.02)}
	k.tick = ControllerTick{Robot: robot, Bundle: "a", Task: task.Hover, Policy: true, Whole: true}
	return k
}

// fly ticks for some seconds, dt apart.
func (k *ticking) fly(seconds, dt float64) {
	for range int(seconds/dt + 0.5) {
		k.tick.Stamp += int64(dt * 1e9)
		x := so3.Vec3{X: float64(k.tick.Stamp) / 1e9}
		k.tick.Row = quad.Row{State: quad.State{P: x.Add(so3.Vec3{Z: 1}), Q: so3.Quat{W: 1}}}
		k.tick.Reference = quad.Reference{P: x, V: so3.Vec3{X: 1}}
		k.add(&k.tick)
	}
}

// half flies for half a stretch.
func (k *ticking) half() { k.fly(quadgate.StretchTime/2+0.1, 0.02) }

// bad has a tick that is not finite follow.
func (k *ticking) bad() {
	bad := k.tick
	bad.Stamp += 2e7
	bad.Reference.V.Y = math.NaN()
	k.add(&bad)
	k.tick.Stamp = bad.Stamp
}

// TestStretches: a stretch is of one bundle and task, without a break.
func TestStretches(t *testing.T) {
	const whole = quadgate.StretchTime + 0.1
	for name, c := range map[string]struct {
		fly  func(k *ticking)
		want int // stretches of bundle a
	}{
		"one":                {func(k *ticking) { k.fly(whole, 0.02) }, 1},
		"two":                {func(k *ticking) { k.fly(2*whole, 0.02) }, 2},
		"too short":          {func(k *ticking) { k.fly(whole-1, 0.02) }, 0},
		"ticks between rows": {func(k *ticking) { k.fly(whole, 0.005) }, 1},
		"a gap":              {func(k *ticking) { k.half(); k.tick.Stamp += 1e8; k.half() }, 0},
		"a clock set back":   {func(k *ticking) { k.half(); k.tick.Stamp = 0; k.half() }, 0},
		"a swap": {func(k *ticking) {
			k.fly(whole/2, 0.02)
			k.tick.Bundle = "b"
			k.fly(whole, 0.02)
		}, 0},
		"another task": {func(k *ticking) { k.half(); k.tick.Task = task.Track; k.half() }, 0},
		"cut amid it": {func(k *ticking) {
			k.fly(whole/2, 0.02)
			k.tick.Whole = false
			k.fly(0.02, 0.02)
			k.tick.Whole = true
			k.fly(whole/2, 0.02)
		}, 0},
		"no number":  {func(k *ticking) { k.half(); k.bad(); k.half() }, 0},
		"landings":   {func(k *ticking) { k.tick.Task = task.Land; k.fly(whole, 0.02) }, 0},
		"the newest": {func(k *ticking) { k.fly(3*mostFlown*whole, 0.02) }, mostFlown},
		"long ago": {func(k *ticking) {
			k.fly(whole, 0.02)
			k.tick.Bundle = "b"
			k.fly(oldestFlown, 0.02)
		}, 0},
		"another rate": {func(k *ticking) { k.fly(2*whole, 0.04) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTicking("")
			c.fly(k)
			got := k.by("a")
			if len(got) != c.want {
				t.Fatalf("%d stretches, want %d", len(got), c.want)
			}
			for _, s := range got {
				sound(t, &s)
			}
		})
	}
}

// sound fails where a stretch is not that of ticking.
func sound(t *testing.T, s *quadgate.Stretch) {
	t.Helper()
	n := len(s.Rows)
	if n != len(s.Reference) || float64(n-1)*s.Dt < quadgate.StretchTime {
		t.Fatalf("%d rows and %d references of %g s", n, len(s.Reference), s.Dt)
	}
	for i := range s.Rows {
		x := s.Reference[0].P.X + float64(i)*s.Dt
		if math.Abs(s.Rows[i].T-float64(i)*s.Dt) > 1e-9 || math.Abs(s.Reference[i].P.X-x) > 0.3*s.Dt ||
			math.Abs(s.Errors()[i]-1) > 1e-9 {
			t.Fatalf("row %d: %+v at %+v", i, s.Rows[i], s.Reference[i])
		}
	}
}

// TestTrippedStretch: where the guard takes over amid a stretch, that much is known.
func TestTrippedStretch(t *testing.T) {
	k := newTicking("")
	k.fly(1.1*quadgate.StretchTime, 0.02)
	k.tick.Whole = false
	k.fly(0.1, 0.02)
	k.tick.Policy = false
	k.fly(2, 0.02)
	k.tick.Policy, k.tick.Whole = true, true
	k.fly(1.1*quadgate.StretchTime, 0.02)
	got := k.by("a")
	if len(got) != 3 || got[0].Tripped || !got[1].Tripped || len(got[1].Rows) > 0 || got[2].Tripped {
		t.Errorf("%d stretches, want a whole one, one that tripped, and a whole one", len(got))
	}
}

// TestStretchesOfAFleet: each robot has stretches of its own, whose ticks come in turns.
func TestStretchesOfAFleet(t *testing.T) {
	a, b := newTicking("a"), newTicking("b")
	b.flights = a.flights
	for range 1100 {
		a.fly(0.02, 0.02)
		b.fly(0.02, 0.02)
	}
	got := a.by("a")
	if len(got) != 2 {
		t.Fatalf("%d stretches, want one each", len(got))
	}
	for i := range got {
		sound(t, &got[i])
	}
}

// TestFlightsReachTheGate: what the bundle at hand has flown is what the judge flies again.
func TestFlightsReachTheGate(t *testing.T) {
	long(t)
	opt := options(t, t.TempDir())
	opt.Judge = misfit{}
	b := start(t, tiny(), opt)
	b.bundles(1)
	k := newTicking("")
	k.flights, k.tick.Bundle = b.flights, b.sent[0]
	k.fly(2.1*quadgate.StretchTime, 0.02)
	k.tick.Bundle = "another"
	k.fly(1.1*quadgate.StretchTime, 0.02)
	b.learn(segment(t, t.TempDir(), flown(0, 0, 10, 1)))
	b.said("round 1: the gate's robot answers 2 ms sooner than identified: bundle " + b.sent[0])
}
