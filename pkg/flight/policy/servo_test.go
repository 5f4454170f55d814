package policy

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/quadrotor"
)

// stateFree is a policy that is given no state.
func stateFree(t *testing.T) *Policy[float32] {
	t.Helper()
	o, l := defaults(t)
	o.Camera = someCamera()
	o.Camera.StateFree = true
	return policyThatSees(t, o, l, 0)
}

// TestServoIsThatOfTraining: what a policy is shown in flight, by the frames of a tilted camera and the attitude, is
// what a level camera shows in training.
func TestServoIsThatOfTraining(t *testing.T) {
	p := stateFree(t)
	c := &p.Observation.Camera
	const dt, yaw = 0.02, 0.4
	at := quad.Reference{P: so3.Vec3{X: 1, Y: -2, Z: 1.5}, Yaw: yaw}
	f := NewRunner(p, dt, func(float64) quad.Reference { return at })
	marks, y, row := make([]float32, c.Size()), make([]float32, c.Size()), make([]float32, statePart)
	PlacePoints(&c.Optics, at, marks)
	sin, cos := math.Sincos(yaw)
	heading := []float32{float32(cos), float32(sin)}
	want := make([]float32, c.shown())
	var past [][]float32
	for k := range 40 {
		now := float64(k) * dt
		s := quad.State{P: at.P.Add(so3.Vec3{X: 0.2 * math.Sin(now), Y: 0.1 * math.Cos(3*now), Z: 0.05 * now}),
			Q: so3.FromEuler(0.15*math.Sin(4*now), 0.1*math.Cos(5*now), yaw+0.1*math.Sin(now))}
		quadrotor.Measured(&s, row)
		seen, frame := make([]float32, c.Size()), make([]Feature, c.Count())
		p.Pinhole.Project(row, marks, y)
		for i := range frame {
			frame[i] = Feature{X: float64(y[3*i]), Y: float64(y[3*i+1]), Visible: y[3*i+2] != 0}
		}
		f.AddFrame(now, frame)
		f.Command(now, &s)
		p.Pinhole.Level(row, heading, marks, seen)
		p.Pinhole.Relative(seen)
		e := make([]float32, ErrorSize)
		p.Pinhole.Offset(seen, heading, e)
		past = append(past, e)
		var earlier [Spans][]float32
		var apart [Spans]float64
		for i := range Spans {
			was := max(k-SpanSteps(i+1), 0)
			earlier[i], apart[i] = past[was], float64(k-was)*dt
		}
		Show(e, earlier, apart, want)
		got := f.features(now)
		for i := range want {
			if d := math.Abs(float64(got[i] - want[i])); d > 2e-4 {
				t.Fatalf("frame %d, number %d of %d: %g in flight, %g in training", k, i, len(want), got[i], want[i])
			}
		}
	}
}

// TestStateFreeIgnoresState: of the state the attitude alone moves the command.
func TestStateFreeIgnoresState(t *testing.T) {
	p := stateFree(t)
	at := quad.Reference{P: so3.Vec3{Z: 1}}
	command := func(s quad.State) quad.Command {
		f := NewRunner(p, 0.02, func(float64) quad.Reference { return at })
		frame, _ := someFrame(p)
		for k := range 10 {
			f.Command(float64(k)*0.02, &s)
			f.AddFrame(float64(k)*0.02, frame)
		}
		return f.Command(0.2, &s)
	}
	q := so3.FromEuler(0.1, -0.1, 0.2)
	still := command(quad.State{Q: q})
	if moved := command(quad.State{Q: q, P: so3.Vec3{X: 3, Y: -2, Z: 9}, V: so3.Vec3{X: 2, Z: -1}}); moved != still {
		t.Errorf("position and velocity change the command from %+v to %+v", still, moved)
	}
	if turned := command(quad.State{Q: so3.FromEuler(0.3, -0.1, 0.2)}); turned == still {
		t.Error("the attitude does not change the command")
	}
	if p.UsesLatent() {
		t.Error("it uses a latent")
	}
}

// TestFrameAge is that of the newest frame that tells where the robot is, whoever flew meanwhile.
func TestFrameAge(t *testing.T) {
	const dt = 0.02
	at := quad.Reference{P: so3.Vec3{Z: 1}}
	s := quad.State{P: at.P, Q: so3.Identity()}
	o, l := defaults(t)
	o.Camera = someCamera()
	for name, p := range map[string]*Policy[float32]{"state-free": stateFree(t),
		"features": policyThatSees(t, o, l, 0)} {
		frame, _ := someFrame(p)
		few := make([]Feature, len(frame))
		copy(few[:fewest], frame[:fewest]) // of which the first is hidden
		f := NewRunner(p, dt, func(float64) quad.Reference { return at })
		look := func(t float64, seen []Feature) float64 {
			f.AddFrame(t, seen)
			f.Command(t, &s)
			return f.FrameAge(t)
		}
		if age := look(1, few); !math.IsInf(age, 1) {
			t.Errorf("%s: sees points enough %g s ago, want never", name, age)
		}
		if age := look(2, frame); age != 0 {
			t.Errorf("%s: saw points enough %g s ago, want now", name, age)
		}
		f.ResetActions() // somebody else flies
		if age := look(2.5, few); age != 0.5 {
			t.Errorf("%s: saw points enough %g s ago, want 0.5", name, age)
		}
		if f.ResetFrames(); !math.IsInf(f.FrameAge(2.5), 1) {
			t.Errorf("%s: a clock that was set back left a frame", name)
		}
	}
	if age := NewRunner(somePolicy(t, 0), dt, func(float64) quad.Reference { return at }).FrameAge(1); age != 0 {
		t.Errorf("a policy that sees positions lacks frames, by %g s", age)
	}
}
