package guard

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// cut flies along a path, which begins in the air or on the floor; from there the guard takes off after a second. It
// returns the height at which motors stopped, m, and how fast the robot met the floor, m/s.
func cut(t *testing.T, g *Guard, path Path, seconds float64, spoil func(at float64, in *Input)) (height,
	speed float64) {
	t.Helper()
	start := path.At(0)
	w := &world{body: newBody(start.P, start.V, so3.Identity())}
	flew := false
	flyGuarded(g, w, PathFollower{newLaw(t), path}, seconds, func(at float64, in *Input) {
		if at == 1 && g.Mode() == Ready {
			w.hardest = 0
			if err := g.TakeOff(); err != nil {
				t.Fatal(err)
			}
		}
		spoil(at, in)
	}, func(_ float64, s *quad.State) {
		if flew = flew || g.Mode().Aloft(); flew && g.Stage() == Off {
			height = max(height, s.P.Z)
		}
	})
	if g.Mode() != Landed {
		t.Errorf("%v, expected landed", g.Mode())
	}
	return height, w.hardest
}

// onFloor is where a take-off begins.
var onFloor = still{quad.Reference{}}

// States that end in a take-off, at whatever height, end in a landing, and no motors stop in the air.
func TestTakeOffWithoutStatesLandsSoftly(t *testing.T) {
	for lost := 1.1; lost < 3.6; lost += 0.06 {
		height, speed := cut(t, newGuard(t), onFloor, 12, func(at float64, in *Input) {
			if at > lost {
				in.Stamp = lost - 0.02
			}
		})
		if height > 0.03 || speed > 0.8 {
			t.Errorf("no states %.1f s after it began: motors stop at %.2f m, it met the floor at %.2f m/s", lost-1,
				height, speed)
		}
	}
}

// One state that is not believed does not end a landing in the air, however long that takes already.
func TestOneWrongStateEndsNoLanding(t *testing.T) {
	for name, c := range map[string]struct {
		path            Path
		land, wrong, to float64 // s
	}{
		"from high":     {still{quad.Reference{P: so3.Vec3{Z: 10}}}, 1, 22.5, 30},
		"of a take-off": {onFloor, 3, 4.3, 9},
	} {
		g := newGuard(t, func(c *Config) { c.FenceMax = []float64{4, 4, 20} })
		height, speed := cut(t, g, c.path, c.to, func(at float64, in *Input) {
			switch at {
			case c.land:
				g.Land()
			case c.wrong:
				in.State.P.X += 0.3
			}
		})
		if height > 0.03 || speed > 0.6 || g.Count(Jump) != 1 {
			t.Errorf("%s: motors stop at %.2f m, it met the floor at %.2f m/s", name, height, speed)
		}
	}
}

// bobbing goes up and down.
type bobbing struct{ size, rate float64 } // m, 1/s

func (b bobbing) At(t float64) quad.Reference {
	sin, cos := math.Sincos(b.rate * t)
	return quad.Reference{P: so3.Vec3{Z: 1.5 + b.size*sin}, V: so3.Vec3{Z: b.size * b.rate * cos},
		A: so3.Vec3{Z: -b.size * b.rate * b.rate * sin}}
}

// A robot turns round in the air that still climbs as it is to land. It does not stand there, and where no states come
// just then its motors do not stop.
func TestTurnRoundIsNoTouchDown(t *testing.T) {
	for lost := 4.5; lost < 4.8; lost += 0.04 {
		g := newGuard(t)
		height, _ := cut(t, g, bobbing{0.8, 3}, 12, func(at float64, in *Input) {
			if math.Abs(at-4.26) < 1e-9 {
				g.Land()
			}
			if at > lost && at < lost+0.5 {
				in.Stamp = lost - 0.02
			}
		})
		if height > 0.03 {
			t.Errorf("no states from %.2f s after it was to land: motors stop at %.2f m", lost-4.26, height)
		}
	}
}

// A tracker that takes a body on the floor for the robot, or whose frame moves up, stops no motors in the air. A robot
// that fell is known to lie there.
func TestAnotherBodyOnTheFloorIsNotTheRobot(t *testing.T) {
	hover := still{quad.Reference{P: so3.Vec3{Z: 1}}}
	for name, p := range map[string]so3.Vec3{"below": {Z: 0.02}, "beside": {X: 1, Z: 0.1}, "frame": {Z: 0.15}} {
		height, speed := cut(t, newGuard(t), hover, 12, func(at float64, in *Input) {
			if at > 3 {
				in.State = quad.State{P: p.Add(trackerNoise(int(at * 50))), Q: so3.Identity()}
			}
		})
		if height > 0.03 || speed > 1.1 {
			t.Errorf("%s: motors stop at %.2f m, it met the floor at %.2f m/s", name, height, speed)
		}
	}
	g := newGuard(t)
	w := &world{body: newBody(so3.Vec3{Z: 1}, so3.Vec3{}, so3.Identity())}
	flyGuarded(g, w, PathFollower{newLaw(t), hover}, 4.8, func(at float64, in *Input) {
		if fall := at - 3; fall > 0 {
			in.State.P, in.State.V = so3.Vec3{Z: 1 - quad.Gravity/2*fall*fall}, so3.Vec3{Z: -quad.Gravity * fall}
			if in.State.P.Z < 0.02 {
				in.State.P.Z, in.State.V.Z = 0.02, 0
			}
			in.State.P = in.State.P.Add(trackerNoise(int(at * 50)))
		}
	}, func(float64, *quad.State) {})
	if g.Mode() != Landed {
		t.Errorf("a second after its fall it is %v", g.Mode())
	}
}

// Nor is a height of the floor that of a robot whose place goes on along a quick path.
func TestHeightOfTheFloorIsNotTheRobots(t *testing.T) {
	g, p := newGuard(t), eight{}.At(0)
	w := &world{body: newBody(p.P, p.V, so3.Identity())}
	w.wind = [3]float64{2, 0, 0}
	flyGuarded(g, w, PathFollower{newLaw(t), eight{}}, 20, func(at float64, in *Input) {
		if at > 5 {
			in.State.P.Z, in.State.V.Z = 0.02+trackerNoise(int(at*50)).Z, 0
		}
	}, func(at float64, s *quad.State) {
		if at > 1 && g.Stage() == Off && s.P.Z > 0.03 {
			t.Fatalf("at %.2f s motors stop at %.2f m", at, s.P.Z)
		}
	})
	if g.Mode() != Landed || w.hardest > 1 {
		t.Errorf("%v, met the floor at %.2f m/s", g.Mode(), w.hardest)
	}
}
