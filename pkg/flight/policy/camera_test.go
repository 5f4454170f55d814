package policy

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

// TestProjectVJP compares the pullback through the projection with central
// differences, around attitudes that are not normalised too.
func TestProjectVJP(t *testing.T) {
	c := someCamera()
	eye, err := NewPinhole[float64](&c.Optics)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 1))
	hidden := 0
	for range 20 {
		q := so3.Exp(so3.Vec3{X: 0.3 * rng.NormFloat64(), Y: 0.3 * rng.NormFloat64(), Z: 0.4 * rng.NormFloat64()})
		s := []float64{1 + 0.3*rng.NormFloat64(), 2 + 0.3*rng.NormFloat64(), 3 + 0.3*rng.NormFloat64(), 1.1 * q.W,
			1.1 * q.X, 1.1 * q.Y, 1.1 * q.Z, 1, 1, 1}
		marks, y, weight := make([]float64, c.Size()), make([]float64, c.Size()), make([]float64, c.Size())
		PlacePoints(&c.Optics, quad.Reference{P: so3.Vec3{X: 1, Y: 2, Z: 3}, Yaw: 0.2}, marks)
		for i := range weight {
			weight[i] = rng.NormFloat64()
		}
		loss := func() (sum float64) {
			eye.Project(s, marks, y)
			eye.Relative(y)
			for i := range y {
				sum += weight[i] * y[i]
			}
			return sum
		}
		loss()
		for i := range c.Count() {
			if y[perFeature*i+2] == 0 {
				hidden++
			}
		}
		ds := make([]float64, len(s))
		eye.Pull(s, marks, y, weight, ds)
		central(t, "state", loss, s, ds)
	}
	if all := 20 * c.Count(); hidden == 0 || hidden > all/2 {
		t.Errorf("%d of %d features are hidden: the test wants some", hidden, all)
	}
}

// TestProject compares with a camera built another way: the frame of its axes as
// a rotation of the body's.
func TestProject(t *testing.T) {
	c := someCamera()
	eye, err := NewPinhole[float64](&c.Optics)
	if err != nil {
		t.Fatal(err)
	}
	r := quad.Reference{P: so3.Vec3{X: 5, Y: -1, Z: 2}, Yaw: 1}
	s := quad.State{P: r.P.Add(so3.Vec3{X: 0.2, Y: -0.1, Z: 0.3}), Q: so3.FromEuler(0.1, -0.2, 1.4)}
	row, marks, y := make([]float64, statePart), make([]float64, c.Size()), make([]float64, c.Size())
	quadrotor.Measured(&s, row)
	PlacePoints(&c.Optics, r, marks)
	eye.Project(row, marks, y)
	mount := so3.FromEuler(0, c.Pitch, c.Yaw) // body to a frame with x ahead, y left, z up
	seen := 0
	for i := range c.Count() {
		p := r.P.Add(so3.FromEuler(0, 0, r.Yaw).Rotate(so3.Vec3{X: c.Points[3*i], Y: c.Points[3*i+1],
			Z: c.Points[3*i+2]}))
		b := s.Q.Conj().Rotate(p.Sub(s.P)).Sub(so3.Vec3{X: c.Place[0], Y: c.Place[1], Z: c.Place[2]})
		x := mount.Conj().Rotate(b)
		right, down := -x.Y/x.X, -x.Z/x.X
		visible := x.X > nearest && math.Abs(math.Atan(right)) <= c.Width/2 && math.Abs(math.Atan(down)) <= c.Height/2
		got := y[perFeature*i:][:perFeature]
		if visible {
			seen++
			if math.Abs(got[0]-right)+math.Abs(got[1]-down) > 1e-12 || got[2] != 1 {
				t.Errorf("point %d at %v, want %g right and %g down", i, got, right, down)
			}
		} else if got[0] != 0 || got[1] != 0 || got[2] != 0 {
			t.Errorf("point %d at %v, want it hidden", i, got)
		}
	}
	if seen < 3 || seen == c.Count() {
		t.Errorf("%d of %d points in view: the test wants some", seen, c.Count())
	}
	s.Q = s.Q.Mul(so3.FromEuler(0, 0, math.Pi)) // looks away
	quadrotor.Measured(&s, row)
	eye.Project(row, marks, y)
	if slices.Max(y) != 0 || slices.Min(y) != 0 {
		t.Errorf("sees %v behind it", y)
	}
}

// someFrame is a frame of a camera, and its features as a policy gets them.
func someFrame(p *Policy[float32]) (frame []Feature, seen []float32) {
	rng := rand.New(rand.NewPCG(4, 4))
	frame, seen = make([]Feature, p.Observation.Camera.Count()), make([]float32, p.Observation.Camera.Size())
	for i := range frame {
		frame[i] = Feature{X: 0.3 * rng.NormFloat64(), Y: 0.3 * rng.NormFloat64(), Visible: i%3 > 0}
		if frame[i].Visible {
			seen[3*i], seen[3*i+1], seen[3*i+2] = float32(frame[i].X), float32(frame[i].Y), 1
		}
	}
	p.Pinhole.Relative(seen)
	return frame, seen
}

// trained is the command of a policy as training computes it, in a hover so far.
func trained(p *Policy[float32], s *quad.State, at quad.Reference, seen []float32) quad.Command {
	o := p.Observation
	state, ref, x := make([]float32, statePart), make([]float32, o.RefSize()), make([]float32, p.Net.Inputs)
	quadrotor.Measured(s, state)
	PutReference(&o, func(float64) *quad.Reference { return &at }, ref)
	hover := p.Hover()
	var past []float32
	for range o.PastActions {
		past = append(past, hover[:]...)
	}
	observe(&o, 1, state, statePart, ref, seen, past, x, len(x))
	p.Norm.Apply(x)
	var u [nA]float32
	p.Net.Forward(p.Net.NewTape(1, 1), 0, 1, x, u[:])
	return p.Command(u)
}

// TestRunnerSeesFeatures: in flight a policy that sees features gets what training
// would have given it, wherever the robot says that it is; old frames go dark.
func TestRunnerSeesFeatures(t *testing.T) {
	o, l := defaults(t)
	o.Camera = someCamera()
	p := policyThatSees(t, o, l, 0)
	frame, seen := someFrame(p)
	at := quad.Reference{P: so3.Vec3{Z: 1}}
	stay := func(float64) quad.Reference { return at }
	dark, bad := make([]float32, len(seen)), make([]Feature, len(frame))
	for i := range bad {
		bad[i] = Feature{X: math.NaN(), Y: math.Inf(1), Visible: true}
	}
	for _, c := range []struct {
		name string
		sees func(f *Runner)
		t    float64
		want []float32
	}{
		{"no frame yet", func(f *Runner) {}, 0, dark},
		{"a frame", func(f *Runner) { f.AddFrame(1, frame) }, 1.02, seen},
		{"old frame", func(f *Runner) { f.AddFrame(1, frame) }, 1.01 + o.Camera.Stale, dark},
		{"frame of another camera", func(f *Runner) { f.AddFrame(1, frame[1:]) }, 1, dark},
		{"frames out of order", func(f *Runner) { f.AddFrame(2, frame); f.AddFrame(1, bad) }, 2, seen},
		{"features that are no numbers", func(f *Runner) { f.AddFrame(1, bad) }, 1, dark},
		{"anew", func(f *Runner) { f.AddFrame(1, frame); f.Reset() }, 1, dark},
		{"another policy with the same camera",
			func(f *Runner) { f.AddFrame(1, frame); f.SetPolicy(policyThatSees(t, o, l, 2)); f.SetPolicy(p) }, 1, seen},
		{"a policy without a camera in between",
			func(f *Runner) { f.AddFrame(1, frame); f.SetPolicy(somePolicy(t, 0)); f.SetPolicy(p) }, 1, dark},
	} {
		t.Run(c.name, func(t *testing.T) {
			runner := NewRunner(p, 0.02, stay)
			c.sees(runner)
			for _, place := range []so3.Vec3{{X: 3, Y: 4, Z: 5}, {X: -100}} {
				s := quad.State{P: place, Q: so3.FromEuler(0.1, 0.2, 0.3), V: so3.Vec3{X: 0.1}}
				runner.past = NewRunner(p, 0.02, stay).past
				got, want := runner.Command(c.t, &s), trained(p, &s, at, c.want)
				if math.Abs(got.Thrust-want.Thrust)+got.Rates.Sub(want.Rates).Norm() > 1e-4 {
					t.Errorf("%+v in flight, %+v in training", got, want)
				}
			}
		})
	}
}

// TestRunnerOfFramesAllocatesNothing, and takes frames for a policy that sees none.
func TestRunnerOfFramesAllocatesNothing(t *testing.T) {
	o, l := defaults(t)
	o.Camera = someCamera()
	p := policyThatSees(t, o, l, 0)
	frame, _ := someFrame(p)
	stay := func(float64) quad.Reference { return quad.Reference{P: so3.Vec3{Z: 1}} }
	s, now := quad.State{Q: so3.Identity()}, 4.
	runner := NewRunner(p, 0.02, stay)
	if n := testing.AllocsPerRun(100, func() { now += 0.02; runner.AddFrame(now, frame); runner.Command(now, &s) }); n != 0 {
		t.Errorf("%g allocations per tick", n)
	}
	blind := NewRunner(somePolicy(t, 0), 0.02, stay)
	blind.AddFrame(0, nil)
	blind.AddFrame(0, frame)
	blind.Command(0, &s)
}

// TestBundleWithCamera: the camera comes back with the policy; one that does not
// fit its net or its points is refused in words.
func TestBundleWithCamera(t *testing.T) {
	o, l := defaults(t)
	o.Camera = someCamera()
	p := policyThatSees(t, o, l, 0)
	b := &bundle.Bundle{Robot: "quadrotor", Dt: 0.02}
	if err := Put(b, p, "features"); err != nil {
		t.Fatal(err)
	}
	data, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, _ := bundle.Decode("b", data)
	q, err := FromBundle(back)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(q.Observation.Camera.Points, o.Camera.Points) || q.Observation.Camera.Yaw != o.Camera.Yaw ||
		q.Pinhole == nil {
		t.Errorf("the camera comes back as %+v", q.Observation.Camera)
	}
	for name, damage := range map[string]func(c *Camera){
		"inputs":                 func(c *Camera) { c.Points = c.Points[3:] },
		"expected three for":     func(c *Camera) { c.Points = c.Points[1:] },
		"point 2, [-1 0 0] m":    func(c *Camera) { copy(c.Points[3:], []float64{-1, 0, 0}) },
		"camera.place has 2":     func(c *Camera) { c.Place = c.Place[1:] },
		"camera.width 4":         func(c *Camera) { c.Width = 4 },
		"camera with delay":      func(c *Camera) { c.Delay = 1 << 40 },
		"not in view from the p": func(c *Camera) { c.Pitch = -1.5 },
	} {
		bad, _ := bundle.Decode("b", data)
		set(bad, func(c *config) { damage(&c.Observation.Camera) })
		if _, err := FromBundle(bad); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
}
