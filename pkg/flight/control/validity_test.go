package control

import (
	"math"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

// Each sample that cannot be the robot's state is told in one line, and is no state.
func TestSampleValidity(t *testing.T) {
	turned := so3.Exp(so3.Vec3{X: math.Pi})
	pose := func(x, y, z float64, q so3.Quat) Sample {
		return Sample{Stamp: epoch, State: quad.State{P: so3.Vec3{X: x, Y: y, Z: z}, Q: q}, HasVelocity: true}
	}
	silent := pose(0, 0, 1, so3.Identity())
	silent.HasVelocity = false
	for name, c := range map[string]struct {
		m    Sample
		want Validity
		line string
	}{
		"sound":         {pose(0, 0, 1, so3.Identity()), Valid, ""},
		"off the fence": {pose(0, 9, 1, so3.Identity()), Valid, ""}, // the guard's
		"in a dip":      {pose(0, 0, -0.3, so3.Identity()), Valid, ""},
		"tilted":        {pose(0, 0, 1, so3.Exp(so3.Vec3{X: 1.5})), Valid, ""},
		"no number": {pose(math.NaN(), 0, 1, so3.Identity()), NotFinite,
			"position (NaN, 0, 1) m, expected finite numbers"},
		"endless":          {pose(0, math.Inf(-1), 1, so3.Identity()), NotFinite, "(0, -Inf, 1)"},
		"zero quaternion":  {pose(0, 0, 1, so3.Quat{}), NotUnit, "a quaternion of norm 0, expected 1 ± 0.01"},
		"no quaternion":    {pose(0, 0, 1, so3.Quat{W: math.NaN()}), NotUnit, "a quaternion of norm NaN"},
		"without velocity": {silent, NoVelocity, "the twist's velocity is not finite"},
		"millimetres": {pose(120, -80, 1000, so3.Identity()), TooFar,
			"position (120, -80, 1000) m is far outside the geofence, expected metres within ±4; are these " +
				"millimetres?"},
		"geocentric": {pose(4.1e6, 6e5, 4.8e6, so3.Identity()), TooFar, "expected metres within ±4"},
		"z down": {pose(0, 0, -1.2, so3.Identity()), BelowGround,
			"position (0, 0, -1.2) m is below the ground at 0 m (guard.ground), expected z up; mocap_frame is ned"},
		"body z down": {pose(0, 0, 1, turned), UpsideDown,
			"the body's z axis is (0.00, -0.00, -1.00) before the flight, expected up"},
	} {
		config := defaults()
		config.Source = FromOdometry
		l := newLoop(t, config)
		ok := l.AddSample(&c.m)
		if d := l.Validity(); d != c.want || ok != (d == Valid) {
			t.Errorf("%s: doubt %d, expected %d; taken: %v", name, d, c.want, ok)
		}
		line := config.ExplainInvalid("/quad/mocap/odom", &c.m, l.Validity())
		if !strings.Contains(line, c.line) || (line != "") != strings.HasPrefix(line, "topic /quad/mocap/odom: ") ||
			strings.Contains(line, "\n") {
			t.Errorf("%s: %q", name, line)
		}
	}
}

// A robot that lands in a frame that has moved down goes below the ground by degrees: it is still seen. A sample that
// is below it at once is none.
func TestBelowTheGroundByDegrees(t *testing.T) {
	config := defaults()
	below := Sample{State: quad.State{P: so3.Vec3{Z: -0.51}, Q: so3.Identity()}, HasVelocity: true}
	for name, c := range map[string]struct {
		flown  bool
		height float64 // m, before
		want   Validity
	}{
		"by degrees": {true, -0.49, Valid}, "at once": {true, 0.3, BelowGround},
		"before the flight": {false, -0.49, BelowGround},
	} {
		if got := config.validity(&below, c.flown, c.height); got != c.want {
			t.Errorf("%s: validity %d, expected %d", name, got, c.want)
		}
	}
}

// In flight, samples in millimetres are as none: the guard holds by what it believes, and the policy goes on where the
// right ones come again. A robot on its head is a matter of the guard then.
func TestSampleValidityInFlight(t *testing.T) {
	f := newClosed(t, defaults(), "a.vnd")
	f.advance(3, nil)
	f.advance(0.4, func(m *Sample) bool { m.State.P = m.State.P.Scale(1000); return true })
	if last := f.ticks[len(f.ticks)-1]; last.Stage != guard.Blind || last.Cause != guard.Stale ||
		f.loop.Validity() != TooFar {
		t.Errorf("%v because %v, doubt %d", last.Stage, last.Cause, f.loop.Validity())
	}
	f.advance(8, nil)
	if last := f.ticks[len(f.ticks)-1]; last.Stage != guard.Policy || f.sim.Crashed() || f.off() > 0.1 {
		t.Errorf("%v at %.2f m, %s", last.Stage, f.sim.State().P.Z, f.sim.Crash())
	}
	head := Sample{Stamp: f.loop.ticked, State: quad.State{P: so3.Vec3{Z: 1}, Q: so3.Exp(so3.Vec3{X: math.Pi})}}
	if f.loop.AddSample(&head); f.loop.Validity() != Valid {
		t.Errorf("doubt %d", f.loop.Validity())
	}
}

// A sample long after the last tick is of the future, unless it came late: the process stood still.
func TestSampleAfterAStopIsNotOfTheFuture(t *testing.T) {
	const ms = int64(1e6)
	f := newClosed(t, defaults(), "a.vnd")
	f.advance(3, nil)
	at := f.loop.ticked
	add := func(stamp int64) Validity {
		f.loop.AddSample(&Sample{Stamp: stamp, State: f.loop.state})
		return f.loop.Validity()
	}
	f.loop.SamplesCame(at+10*ms, at+10*ms)
	if v := add(at + 300*ms); v != Early {
		t.Errorf("a stamp of the future: validity %d", v)
	}
	f.loop.SamplesCame(at+300*ms, at+300*ms)
	if v := add(at + 295*ms); v == Early {
		t.Error("a sample that came after a stop counts as one of the future")
	}
}
