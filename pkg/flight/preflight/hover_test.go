package preflight

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/sim/closedloop"
)

// hovered is a hover in the full simulator under the geometric law, with nudges, as motion capture and commands tell
// it.
func hovered(t testing.TB, seconds float64, nudge float64) *Hover {
	t.Helper()
	var a closedloop.Autopilot
	param.Default(&a)
	v, err := closedloop.NewVehicle("", 3, so3.Vec3{Z: 1}, a)
	if err != nil {
		t.Fatal(err)
	}
	var g guard.Gains
	var limits quad.Limits
	param.Default(&g)
	param.Default(&limits)
	law, err := guard.NewLaw(g, limits)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(5, 6))
	h := &Hover{}
	r := quad.Reference{P: so3.Vec3{Z: 1}}
	const tick = 0.02
	for next, now := 0.0, 0.0; now < seconds; now = v.Time() {
		if now >= next {
			next += 1.5
			r.P = so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(),
				Z: rng.NormFloat64()}.Scale(nudge).Add(so3.Vec3{Z: 1})
			r.Yaw = rng.NormFloat64() * nudge
		}
		s := v.Truth().State // the law stands for any controller
		c := law.Track(now, &s, &r)
		v.Command(c)
		h.Commands = append(h.Commands, Commanded{Arrival: now, Thrust: c.Thrust, Rates: c.Rates})
		v.Advance(tick)
		for _, m := range v.Mocap() {
			h.Poses = append(h.Poses, Sample{Stamp: m.Stamp, Arrival: m.Arrival, P: m.P, Q: m.Q})
		}
	}
	return h
}

// changed is a copy of a hover after a mistake was made with it.
func changed(h *Hover, pose func(*Sample), command func(*Commanded)) *Hover {
	c := &Hover{Mass: h.Mass, Poses: append([]Sample(nil), h.Poses...),
		Commands: append([]Commanded(nil), h.Commands...)}
	for i := range c.Poses {
		pose(&c.Poses[i])
	}
	for i := range c.Commands {
		command(&c.Commands[i])
	}
	return c
}

func same(*Sample)     {}
func alike(*Commanded) {}

// What a hover says of units, signs and delays, and of the response.
func TestHover(t *testing.T) {
	h := hovered(t, 25, 0.3)
	r, f := Fly(h)
	expect(t, "as it was flown", wrongs(f))
	if !r.Known() {
		t.Fatalf("%+v", r)
	}
	scaled := func(x float64) func(*Commanded) { return func(c *Commanded) { c.Rates = c.Rates.Scale(x) } }
	thrust := func(x float64) func(*Commanded) { return func(c *Commanded) { c.Thrust *= x } }
	late := func(by float64) func(*Sample) { return func(s *Sample) { s.Stamp += by; s.Arrival += by } }
	for _, c := range []struct {
		name    string
		pose    func(*Sample)
		command func(*Commanded)
		mass    float64
		want    []string
	}{
		{"degrees per second", same, scaled(1 / degree), 0,
			[]string{"commands are in degrees per second; convert them to rad/s"}},
		{"degrees that are sent as radians", same, scaled(degree), 0, []string{"rate unit: the robot turns at"}},
		{"half the rate", same, scaled(2.5), 0, []string{"expected about 1: is this the command that it flies by?"}},
		{"newtons of a known mass", same, thrust(0.75), 0.75, nil},
		{"newtons of 0.033 kg", same, thrust(0.033), 0.033,
			[]string{"newtons of a vehicle of 0.033 kg; divide by the mass"}},
		{"newtons of 0.033 kg without the mass", same, thrust(0.033), 0,
			[]string{"throttle 0…1, or newtons of a vehicle of 0.03"}},
		{"newtons of 2 kg", same, thrust(2), 2, []string{"newtons of a vehicle of 2 kg; divide by the mass"}},
		{"newtons of 2 kg without the mass", same, thrust(2), 0, []string{"newtons of a vehicle of 2"}},
		{"units of gravity", same, thrust(1 / 9.81), 0, []string{"in units of gravity"}},
		{"throttle", same, thrust(0.4 / 9.81), 0, []string{"throttle 0…1"}},
		{"PWM", same, thrust(36000 / 9.81), 0, []string{"PWM"}},
		{"thrust down", same, thrust(-1), 0, []string{"thrust is along z down (FRD)",
			"vertical: the robot falls when thrust grows"}},
		{"z down", func(s *Sample) { s.P.Z = -s.P.Z }, alike, 0,
			[]string{"vertical: the robot falls when thrust grows"}},
		{"poses 50 ms late, stamped on arrival", late(0.05), alike, 0, []string{"loop delay: the motion begins"}},
		{"poses 100 ms late, stamped on arrival", late(0.1), alike, 0, []string{"loop delay: the motion begins"}},
		{"commands 50 ms late", same, func(c *Commanded) { c.Arrival -= 0.05 }, 0,
			[]string{"loop delay: the motion begins"}},
		{"commands 100 ms late", same, func(c *Commanded) { c.Arrival -= 0.1 }, 0,
			[]string{"loop delay: the motion begins"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := changed(h, c.pose, c.command)
			x.Mass = c.mass
			_, f := Fly(x)
			expect(t, c.name, wrongs(f), c.want...)
		})
	}
	for _, a := range allAxes[1:] {
		_, f := Fly(changed(h, same, func(c *Commanded) { c.Rates = inverse(a).apply(c.Rates) }))
		expect(t, "rates, "+a.mapping("the command's"), wrongs(f), "rate axes: ")
		if a != frdAxes {
			expect(t, "rates", wrongs(f), a.mapping("the command's"))
		} else {
			expect(t, "FRD", wrongs(f), "FRD: pitch and yaw turn against their commands")
		}
	}
}

// Too much thrust, which a throttle gives, says which one holds the vehicle.
func TestHoverByAThrottle(t *testing.T) {
	h := changed(hovered(t, 12, 0.3), same, func(c *Commanded) { c.Thrust *= 2 })
	h.Throttle = func(thrust float64) float64 { return math.Round(thrust/quad.Gravity) / 4 }
	_, f := Fly(h)
	expect(t, "twice the thrust by a throttle", wrongs(f), "or set hover_throttle: 0.5 holds it")
}

// inverse takes measured to true axes.
func inverse(a axes) (b axes) {
	for i := range 3 {
		b.of[a.of[i]], b.sign[a.of[i]] = i, a.sign[i]
	}
	return b
}

// Delay and lag are what was put in: commands that are held back by 10 and 20 ms more are found to be, to 5 ms.
func TestResponse(t *testing.T) {
	h := hovered(t, 40, 0.3)
	r, _ := Fly(h)
	for _, by := range []float64{0.01, 0.02} {
		x, f := Fly(changed(h, same, func(c *Commanded) { c.Arrival -= by }))
		if d := x.RateDelay - r.RateDelay; math.Abs(d-by) > 0.005 {
			t.Errorf("%g s later: the rates' delay grew by %.4f s, %v", by, d, wrongs(f))
		}
		if d := x.ThrustDelay + x.ThrustLag - r.ThrustDelay - r.ThrustLag; math.Abs(d-by) > 0.01 {
			t.Errorf("%g s later: the thrust's delay and lag grew by %.4f s", by, d)
		}
	}
	x, _ := Fly(changed(h, same, func(c *Commanded) { c.Thrust *= 1.15 }))
	if g := r.ThrustGain / x.ThrustGain; math.Abs(g-1.15) > 1e-6 {
		t.Errorf("15 %% more is commanded: the gain shrank by %.3f", g)
	}
}

// A hover that says too little is told apart from one that says something is wrong.
func TestPoorHover(t *testing.T) {
	if _, f := Fly(&Hover{}); len(f) != 1 || !f[0].Wrong {
		t.Errorf("%+v", f)
	}
	short := hovered(t, 6, 0.3)
	_, f := Fly(short)
	expect(t, "short", wrongs(f), "hover: 6.0 s with poses and commands without a gap, expected at least 10")
	long := hovered(t, 15, 0.3)
	_, f = Fly(changed(long, same, func(c *Commanded) { c.Rates = so3.Vec3{} }))
	expect(t, "no rates", wrongs(f), "excitation: the measured roll rate follows no commanded one")
	_, f = Fly(changed(long, func(s *Sample) { s.P.Z = 1 }, alike))
	expect(t, "no height", wrongs(f), "excitation: correlation of thrust and vertical acceleration")
	nan := changed(long, func(s *Sample) {
		if int(s.Stamp*10)%20 == 0 {
			s.Q, s.P.Z = so3.Quat{W: math.NaN()}, math.NaN()
		}
	}, alike)
	if r, f := Fly(nan); !r.Known() {
		t.Errorf("numbers that are none here and there: %v", wrongs(f))
	}
}
