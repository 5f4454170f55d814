package sim

import (
	"math"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// put returns a simulator of a world that starts from a state.
func put(t *testing.T, w World, s quad.State) *Simulator {
	t.Helper()
	sim := mustNew(t, w)
	sim.Reset(s, 1)
	return sim
}

func wind(x float64) World {
	w := Default()
	w.Conditions = Conditions{Name: []string{"wind"}, WindX: []float64{x}}
	return w
}

// TestStand: with motors idling it stands still on its feet, where wind does not beat friction.
func TestStand(t *testing.T) {
	s := put(t, wind(3), quad.State{P: so3.Vec3{X: 1, Z: .03}, Q: so3.Exp(so3.Vec3{Z: .4})})
	for range 250 {
		s.Step(quad.Command{}, .02)
	}
	mid := s.State()
	for range 500 {
		s.Step(quad.Command{}, .02)
	}
	end := s.State()
	if s.Crashed() || end.V.Norm() > 1e-4 || end.P.Sub(mid.P).Norm() > 1e-4 || end.P.Z < .025 || end.P.Z > .03 {
		t.Errorf("%q; stands at %v, then at %v, moving by %v", s.Crash(), mid.P, end.P, end.V)
	}
	// The springs carry the weight less the idling rotors' thrust.
	g := s.ground
	var sum float64
	r := s.body.q.Mat3()
	push, _ := g.push(&s.body, &r)
	idle := loadAt(&s.motion, 10, s.body.rotor).force.Z
	sum = push.Z + idle
	if math.Abs(sum-.192*gravity) > .02 {
		t.Errorf("ground and rotors carry %v N, expected the weight of %v N", sum, .192*gravity)
	}
}

// TestSlide: beyond the cone of friction it slides as a block does, at w − μ·g.
func TestSlide(t *testing.T) {
	w := wind(12)
	w.Motor.Idle, w.Drag.Body, w.Drag.Rotor = 0, []float64{0, 0, 0}, []float64{0, 0, 0}
	w.Ground.Friction = .3
	s := put(t, w, quad.State{P: so3.Vec3{Z: .028}, Q: so3.Identity()})
	for range 50 {
		s.Step(quad.Command{}, .02)
	}
	if want := 12 - .3*gravity; math.Abs(s.State().V.X-want) > .05*want {
		t.Errorf("slides at %v m/s after 1 s, expected %v", s.State().V.X, want)
	}
}

// TestLanding sinks at 0.4 m/s, touches down without bouncing away or crashing, and stands with its motors off.
func TestLanding(t *testing.T) {
	s := put(t, wind(.7), quad.State{P: so3.Vec3{Z: .6}, Q: so3.Identity()})
	touched, highest := false, 0.
	for k := range 400 {
		at := so3.Vec3{Z: .6 - .4*float64(k)*.02}
		c := law(s.State(), at, so3.Vec3{Z: -.4}, so3.Vec3{})
		clear := s.ground.clearance(&s.body)
		if touched = touched || clear <= 0; touched {
			c = quad.Command{}
			highest = math.Max(highest, clear)
		}
		s.Step(c, .02)
	}
	if !touched || s.Crashed() || highest > .01 || s.State().V.Norm() > 1e-4 || s.State().Q.ZAxis().Z < .9999 {
		t.Errorf("touched %v, %q, bounced %v m, ends at %+v", touched, s.Crash(), highest, s.State())
	}
}

// TestPadMoves: on a floor that moves the robot goes along with it, also where it stood there from the start.
func TestPadMoves(t *testing.T) {
	w := wind(0)
	w.Ground.Velocity = []float64{0.3, -0.1}
	s := put(t, w, quad.State{P: so3.Vec3{Z: .03}, Q: so3.Identity()})
	for range 200 {
		s.Step(quad.Command{}, .02)
	}
	pad := so3.Vec3{X: .3, Y: -.1}
	if now := s.State(); now.V.Sub(pad).Norm() > 1e-3 || s.Crashed() || now.Q.ZAxis().Z < .9999 {
		t.Errorf("%q; on a pad of %v m/s it moves with %v", s.Crash(), pad, now.V)
	}
	if p := s.Floor(so3.Vec3{X: 1}); p.Sub(so3.Vec3{X: 2.2, Y: -.4}).Norm() > 1e-9 {
		t.Errorf("the pad is at %v", p)
	}
	w.Ground.Velocity = []float64{1}
	if err := w.Check(); err == nil || !strings.Contains(err.Error(), "ground.velocity") {
		t.Errorf("a velocity of one number: %v", err)
	}
}

// TestTouchdown: the first contact is told by its speeds against the floor, its tilt, and what came after.
func TestTouchdown(t *testing.T) {
	w := Default()
	w.Ground.Velocity = []float64{0.3, 0}
	s := put(t, w, quad.State{P: so3.Vec3{Z: .1}, V: so3.Vec3{X: .3, Z: -1}, Q: so3.Exp(so3.Vec3{Y: .05})})
	for range 50 {
		s.Step(quad.Command{}, .02)
	}
	d := s.Touchdown()
	if !d.Touched || d.Down < 1 || d.Down > 1.6 || d.Level > .1 || math.Abs(d.Tilt-.05) > .03 || d.Time > .2 ||
		d.Bounce > .01 {
		t.Errorf("%+v", d)
	}
	for range 20 {
		s.Step(quad.Command{Thrust: 14}, .02)
	}
	if high := s.Touchdown().Bounce; !(high > .05) {
		t.Errorf("it leaves the floor by %v m", high)
	}
	s.Reset(quad.State{P: so3.Vec3{Z: .03}, Q: so3.Identity()}, 1)
	s.Step(quad.Command{}, .02)
	if d := s.Touchdown(); d.Touched {
		t.Errorf("a robot that began on the ground has touched down: %+v", d)
	}
}

// TestTakeOff starts from the ground.
func TestTakeOff(t *testing.T) {
	s := put(t, Default(), quad.State{P: so3.Vec3{Z: .029}, Q: so3.Identity()})
	if err := hover(t, s, so3.Vec3{Z: 1}, 6); err > .1 {
		t.Errorf("hovers %v m off", err)
	}
}

func TestCrashes(t *testing.T) {
	for _, c := range []struct {
		state quad.State
		want  string
	}{
		{quad.State{P: so3.Vec3{Z: .5}, V: so3.Vec3{Z: -4}, Q: so3.Identity()}, "hit the ground at "},
		{quad.State{P: so3.Vec3{Z: .2}, Q: so3.Exp(so3.Vec3{X: 3})}, "a rotor hit the ground after "},
		{quad.State{P: so3.Vec3{Z: 1}, V: so3.Vec3{X: 1e200}, Q: so3.Identity()}, "the motion left the numbers after "},
	} {
		s := put(t, Default(), c.state)
		for range 100 {
			s.Step(quad.Command{}, .02)
			s.Mocap()
		}
		if !s.Crashed() || !strings.HasPrefix(s.Crash(), c.want) {
			t.Errorf("%+v ends with %q, expected %q", c.state, s.Crash(), c.want)
		}
		if !s.State().P.Finite() || !s.State().V.Finite() {
			t.Errorf("%+v ends at %+v", c.state, s.State())
		}
		s.Step(quad.Command{Thrust: 30}, .5)
		if speed := s.Truth().RotorSpeed[0]; speed > 1 {
			t.Errorf("after a crash the rotors turn at %v rad/s, expected them still", speed)
		}
		if s.Reset(quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}, 1); s.Crashed() || s.Crash() != "" {
			t.Error("still crashed after Reset")
		}
	}
}
