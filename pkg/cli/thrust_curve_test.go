package cli

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/bridge"
	"vnd/pkg/bridge/betaflight"
	"vnd/pkg/bridge/betaflight/rates"
	"vnd/pkg/bridge/betaflight/sitl"
	"vnd/pkg/bridge/betaflight/sitl/sitltest"
	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/preflight"
	"vnd/pkg/node/doctor"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
)

// boardGoingBy is Betaflight's firmware in a world, flown by a throttle that may not be the world's.
func boardGoingBy(t *testing.T, w *sim.World, thrust *betaflight.Thrust) *sitl.Board {
	t.Helper()
	s := betaflight.Sticks{Rates: rates.Linear(w.RateLoop.MaxRate), MinCheck: 1050, Thrust: *thrust}
	b, err := sitl.NewBoard(sitltest.Folder(t), s, sitl.Settings(w.RateLoop.MaxRate))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// nudged is a hover of so many seconds in a world by the geometric law, with nudges, as doctor --hover hears it.
func nudged(t *testing.T, w *sim.World, f sim.Firmware, seconds float64) *preflight.Hover {
	t.Helper()
	var a closedloop.Autopilot
	var g guard.Gains
	var limits quad.Limits
	param.Default(&a)
	param.Default(&g)
	param.Default(&limits)
	v, err := closedloop.NewVehicleIn(*w, 3, so3.Vec3{Z: 1}, a)
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Fit(f); err != nil {
		t.Fatal(err)
	}
	law, err := guard.NewLaw(g, limits)
	if err != nil {
		t.Fatal(err)
	}
	rng, h := rand.New(rand.NewPCG(5, 6)), &preflight.Hover{}
	var r quad.Reference
	const tick, nudge = 0.02, 0.3
	for next, now := 0.0, 0.0; now < seconds; now = v.Time() {
		if now >= next {
			next += 1.5
			r = quad.Reference{P: so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.
				Scale(nudge).Add(so3.Vec3{Z: 1}), Yaw: rng.NormFloat64() * nudge}
		}
		s := v.Truth().State
		c := law.Track(now, &s, &r)
		v.Command(c)
		h.Commands = append(h.Commands, preflight.Commanded{Arrival: now, Thrust: c.Thrust, Rates: c.Rates})
		v.Advance(tick)
		for _, m := range v.Mocap() {
			h.Poses = append(h.Poses, preflight.Sample{Stamp: m.Stamp, Arrival: m.Arrival, P: m.P, Q: m.Q})
		}
	}
	return h
}

// TestCurveOfMotorsThatGoOnTurning finds curve, hover and least thrust together: all thrust is 0.9 times what was
// believed, and goes by another curve.
func TestCurveOfMotorsThatGoOnTurning(t *testing.T) {
	const gain = 0.9
	believed := betaflight.Thrust{Throttle: bridge.Throttle{Hover: 0.3, Least: 0.2}}
	hover, _ := believed.Of(quad.Gravity/gain, 0)
	want := bridge.Throttle{Hover: hover, Curve: 0.7, Least: 0.2 * gain}
	grows := func(t *bridge.Throttle) float64 { // d log thrust/du at the hover
		const h = 1e-4
		a, _ := t.Thrust(hover-h, 0)
		b, _ := t.Thrust(hover+h, 0)
		return math.Log(b/a) / (2 * h)
	}
	shown := preflight.FirstOrder{Gain: preflight.Figure{Value: gain},
		Slope: preflight.Figure{Value: grows(&want) / grows(&believed.Throttle)}}
	said, found := curved(&shown, &believed, false)
	if found == nil || math.Abs(found.Hover-want.Hover) > 1e-9 || math.Abs(found.Curve-want.Curve) > 1e-3 ||
		math.Abs(found.Least-want.Least) > 1e-9 {
		t.Errorf("%+v, expected %+v; %v", found, want, said)
	}
}

// TestHoverShowsTheThrustCurve of motors whose thrust goes with their output, on a board that goes by the square.
func TestHoverShowsTheThrustCurve(t *testing.T) {
	if testing.Short() {
		t.Skip("flies the firmware for half a minute")
	}
	w := sim.Default()
	w.Motor.Curve = 0
	const idle = 0.055
	share := w.Airframe.Mass * quad.Gravity / (4 * w.Motor.Thrust / w.Motor.Gain)
	hover := (share - idle) / (1 - idle)
	thrust := betaflight.Thrust{Idle: idle, Throttle: bridge.Throttle{Hover: hover, Curve: 1}}
	axes := preflight.Measure(nudged(t, &w, boardGoingBy(t, &w, &thrust), 25))
	said, found := curved(&axes[0], &thrust, false)
	t.Log(said)
	if found == nil || said.State != doctor.Wrong || found.Curve > 0.15 || math.Abs(found.Hover/hover-1) > 0.1 {
		t.Errorf("%+v, expected a curve of 0 and a hover at %.4f", found, hover)
	}
	if said, _ := curved(&axes[0], &thrust, true); said.State != doctor.OK {
		t.Errorf("%v, where the airframe file has it", said)
	}
}
