package guard

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// coasting reports whether a robot that flies straight on is said to drift, where one of its stamps is off by late, s.
func coasting(late float64) (drifted bool) {
	const speed = 3.0
	var d detector
	var p plant
	at := 0.0
	for i := range 120 {
		at += 0.0225
		if i == 60 {
			at += late
		}
		d.add(&quad.State{P: so3.Vec3{X: speed * at, Z: 1}, V: so3.Vec3{X: speed}, Q: so3.Identity()}, at, &p)
		_, found := d.drifting()
		drifted = drifted || found
	}
	return drifted
}

// A sample that comes a few milliseconds late, with its stamp, moves nothing: a fast robot does not drift for it.
func TestUnevenStampsAreNoDrift(t *testing.T) {
	for name, late := range map[string]float64{"even": 0, "5 ms late": 0.005, "4 ms early": -0.004} {
		t.Run(name, func(t *testing.T) {
			if coasting(late) {
				t.Error("a robot that flies straight on was said to drift")
			}
		})
	}
}

// path is one of a robot at 2 m/s and thrust enough for a hover, seen every 20 ms.
type path struct {
	drift  float64 // m/s across the way, from 1.6 s on
	force  float64 // m/s² across the way, the same
	stamps float64 // s by which stamps lie, the same
	shake  float64 // m/s², of an oscillation across the way
	lag    float64 // s by which the model is ahead of that
}

// drifts reports whether it is said to drift.
func (c path) drifts() (found bool) {
	c.fly(200, func(d *detector) {
		_, now := d.drifting()
		found = found || now
	})
	return found
}

// onset of what happens on the path, in exhibits.
const onset = 80

// fly has a detector see the path, and calls see after each exhibit.
func (c path) fly(exhibits int, see func(d *detector)) {
	const speed, quick = 2.0, 2 * math.Pi * 4
	rng := rand.New(rand.NewPCG(3, 4))
	var d detector
	var p plant
	for i := range exhibits {
		t := 0.02 * float64(i)
		after := max(t-0.02*onset, 0)
		s := quad.State{P: so3.Vec3{X: speed * t, Y: c.drift*after + c.force*after*after/2, Z: 1}, Q: so3.Identity()}
		s.P.Y -= c.shake / (quick * quick) * math.Sin(quick*(t-c.lag))
		s.V = so3.Vec3{X: speed, Y: c.force*after - c.shake/quick*math.Cos(quick*(t-c.lag))}
		s.P = s.P.Add(so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(3e-4))
		if after > 0 {
			t += c.stamps
		}
		if d.add(&s, t, &p) {
			d.at(0).gained = so3.Vec3{Y: c.shake / quick * (math.Cos(quick*(t-0.02)) - math.Cos(quick*t))}
		}
		see(&d)
	}
}

// A drift makes a kink in the path, also of a robot that shakes, for what the model errs by is learned. Gusts and steps
// of the stamps bend the path in other ways.
func TestOnlyDriftsDrift(t *testing.T) {
	for name, c := range map[string]struct {
		path
		found bool
	}{
		"a drift of 10 cm/s":                  {path{drift: 0.1}, true},
		"none":                                {path{}, false},
		"a gust of 6 m/s²":                    {path{force: 6}, false},
		"stamps that step by 3.4 ms":          {path{stamps: 0.0034}, false},
		"stamps that step back by 1.5 ms":     {path{stamps: -0.0015}, false},
		"a robot that shakes":                 {path{shake: 12, lag: 0.006}, false},
		"a robot of which the model is ahead": {path{shake: 8, lag: 0.01}, false},
		"a drift while it shakes":             {path{shake: 12, lag: 0.006, drift: 0.12}, true},
		"stamps that step while it shakes":    {path{shake: 4, lag: 0.006, stamps: 0.0034}, false},
	} {
		t.Run(name, func(t *testing.T) {
			if found := c.drifts(); found != c.found {
				t.Errorf("drifts: %v", found)
			}
		})
	}
}

// A robot that something turns, such as a propeller that breaks, is measured truly: the law does not fly it blind. What
// turns it is learned, for the time without states.
func TestATurnedRobotIsBelieved(t *testing.T) {
	for name, extra := range map[string][3]float64{
		"roll": {0.7}, "pitch": {0, -0.7}, "both, and yaw": {0.5, 0.4, 0.3},
	} {
		t.Run(name, func(t *testing.T) {
			g, p := newGuard(t), still{quad.Reference{P: so3.Vec3{Z: 1}}}
			w := &world{body: newBody(p.r.P, so3.Vec3{}, so3.Identity())}
			flyGuarded(g, w, PathFollower{newLaw(t), p}, 8, intact, func(at float64, _ *quad.State) {
				if at >= 3 {
					w.extra = extra
				}
				if v := g.Violation(); v != None && at > 0.1 {
					t.Fatalf("at %.2f s: %v", at, v)
				}
			})
			if off := g.belief.plant.bias.Sub(vec(extra)).Norm(); off > 0.2 {
				t.Errorf("the turn learned is %.2f rad/s, expected %v", g.belief.plant.bias, extra)
			}
		})
	}
}

// A tracker with more noise than others trips nothing, once it is known; the noise learned has a bound.
func TestNoiseIsLearned(t *testing.T) {
	for name, c := range map[string]struct{ position, attitude float64 }{
		"2 mm, 1 degree": {0.002, 0.0175}, "1 mm, half a degree": {0.001, 0.0087},
	} {
		t.Run(name, func(t *testing.T) {
			var d detector
			var p plant
			rng := rand.New(rand.NewPCG(1, 1))
			draw := func(x float64) so3.Vec3 {
				return so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(x)
			}
			for i := range 3000 {
				d.add(&quad.State{P: draw(c.position), Q: so3.Exp(draw(c.attitude))}, 0.02*float64(i), &p)
				_, drifts := d.drifting()
				_, turns := d.disobeyed()
				if i > 200 && (drifts || turns) {
					t.Fatalf("exhibit %d: drifts %v, turns %v", i, drifts, turns)
				}
			}
			if off := d.noise.position() / c.position; math.Abs(off-1) > 0.35 {
				t.Errorf("noise of %.4f m learned", d.noise.position())
			}
		})
	}
	n := noise{positions: 1, turning: 1}
	if n.position() > maxNoise || n.attitude() > maxShake {
		t.Errorf("%g m and %g rad, beyond all bounds", n.position(), n.attitude())
	}
}

// What a tracker's noise is like is not known when a guard begins; its first second is no drift all the same.
func TestFirstNoiseIsNoDrift(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	drifts := 0
	for range 200 {
		var d detector
		var p plant
		for i := range 80 {
			noise := so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(0.002)
			d.add(&quad.State{P: noise, Q: so3.Identity()}, 0.02*float64(i), &p)
			if _, found := d.drifting(); found {
				drifts++
				break
			}
		}
	}
	if drifts > 2 {
		t.Errorf("%d of 200 robots at rest drift", drifts)
	}
}

// An airframe that follows turns sooner than believed is no delay, nor one that follows them a little later or not
// quite as believed: a motion that repeats itself fits the command of a period before as well. One that follows them
// four exhibits later is.
func TestQuickerAirframeIsNoDelay(t *testing.T) {
	for _, c := range []struct {
		name   string
		lag    float64 // exhibits by which turns follow what is expected
		period float64 // exhibits
		turn   float64 // rad, from one to the next
		slow   float64 // the same, without which a later command repeats itself too
		found  bool
	}{
		{"quicker", -1.5, 8, 0.02, 0, false}, {"as believed", 0, 8, 0.02, 0, false}, {"later", 4, 8, 0.02, 0.08, true},
		{"a little later", 1.3, 14, 0.02, 0, false}, {"not quite as believed", 0.3, 11.7, 0.1, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var d detector
			turn := func(i float64) so3.Vec3 {
				return so3.Vec3{X: c.turn * math.Sin(2*math.Pi*i/c.period), Y: c.slow * math.Sin(2*math.Pi*i/37)}
			}
			for i := range 3 * window / 2 {
				d.commanded.add(turn(float64(i)))
				d.push(exhibit{at: 0.02 * float64(i), turned: turn(float64(i) - c.lag)})
			}
			if k, found := d.delayed(minDelay, maxDelay); found != c.found || found && k != int(c.lag) {
				t.Errorf("found: %v, %d exhibits", found, k)
			}
		})
	}
}

// A motion that fits the commanded attitude, not the measured one, contradicts it. Of a robot that turned quickly
// before it does not: its rotors may have moved it.
func TestQuickTurnsSayNothingOfAttitudes(t *testing.T) {
	for name, c := range map[string]struct {
		swung float64 // rad²/s², in each exhibit
		want  bool
	}{"calm": {0.1, true}, "quick turns before": {10, false}} {
		var d detector
		var v so3.Vec3
		for k := range 40 {
			e := exhibit{at: 0.02 * float64(k), q: so3.Identity(), swung: c.swung}
			if n := k - (40 - pullWindow); n >= 0 { // pulled aside by a turn that does not show
				e.expected.X, e.swung = 0.03, 0
				v.Y -= quad.Gravity * 0.02 * 0.03 * float64(n)
			}
			e.v = v
			d.push(e)
		}
		if got := d.pulledAsCommanded(); got != c.want {
			t.Errorf("%s: pulled as commanded %t", name, got)
		}
	}
}

// A source that freezes just above the floor in a landing is found as anywhere: its attitude would be turned against
// until the robot that stands tips over.
func TestFrozenWhileTouchingDown(t *testing.T) {
	g := newGuard(t)
	w := &world{body: newBody(so3.Vec3{Z: 1}, so3.Vec3{}, so3.Identity())}
	w.wind = [3]float64{0, 3, 0}
	var last quad.State
	frozen, most := false, 0.0
	flyGuarded(g, w, PathFollower{newLaw(t), still{quad.Reference{P: so3.Vec3{Z: 1}}}}, 12,
		func(at float64, in *Input) {
			if at == 2 {
				g.Land()
			}
			if frozen = frozen || at > 2 && in.State.P.Z < 0.19; frozen {
				in.State = last
			}
			last = in.State
		}, func(_ float64, s *quad.State) {
			if w.landed {
				most = max(most, s.Q.Tilt())
			}
		})
	if g.Count(Frozen) == 0 || g.Mode() != Landed || most > 0.6 {
		t.Errorf("%v, found frozen %d times, tilted by %.2f rad on the floor", g.Mode(), g.Count(Frozen), most)
	}
}
