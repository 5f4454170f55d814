package inertial

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// quiet flies without a disturbance until the estimate is good.
func quiet(t *testing.T, p Params) *rig {
	t.Helper()
	r := newRig(t, p, 11)
	r.fly(10, nil)
	if r.e.Phase() != Ready {
		t.Fatalf("%v after 10 s: %v", r.e.Phase(), r.e.Trouble())
	}
	return r
}

// TestJumpLeavesTheFrame: where the source jumps by 20 cm and 0.1 rad for good, the estimate goes on without one, in
// place and heading, and says by how much the source jumped. Then its frame comes back, slowly.
func TestJumpLeavesTheFrame(t *testing.T) {
	p := params()
	r := quiet(t, p)
	turn, shift := so3.Exp(so3.Vec3{Z: 0.1}), so3.Vec3{X: 0.15, Y: -0.1, Z: 0.08}
	r.spoilPose = func(_ float64, z *Pose) bool {
		z.P, z.Q = turn.Rotate(z.P).Add(shift), turn.Mul(z.Q)
		return true
	}
	before, step, worst := r.e.Estimate(), 0.0, 0.0
	r.fly(11, func(s quad.State, x Estimate) {
		step = max(step, x.State.P.Sub(before.State.P).Norm()-before.State.V.Norm()/r.imuRate)
		worst = max(worst, x.State.P.Sub(s.P).Norm())
		before = x
	})
	if r.e.Counts().Events[Jumped] != 1 || r.e.Phase() != Ready {
		t.Fatalf("%+v, %v", r.e.Counts(), r.e.Phase())
	}
	if step > 0.02 || worst > 0.09 {
		t.Errorf("the estimate stepped by %.3f m and was off by up to %.3f m", step, worst)
	}
	r.fly(30, nil)
	s := r.truth(r.now())
	if off := r.e.Estimate().State.P.Sub(turn.Rotate(s.P).Add(shift)).Norm(); off > 0.05 {
		t.Errorf("after 20 s the estimate is %.3f m off the poses' frame", off)
	}
	if r.e.Estimate().Offset != (so3.Vec3{}) {
		t.Errorf("the frame is still %v off", r.e.Estimate().Offset)
	}
}

// TestStrayPosesAreRejected: one pose in five lies elsewhere, each in another place. None moves the estimate.
func TestStrayPosesAreRejected(t *testing.T) {
	r := quiet(t, params())
	k := 0
	r.spoilPose = func(_ float64, z *Pose) bool {
		if k++; k%5 == 0 {
			z.P = z.P.Add(r.normal().Scale(1))
		}
		return true
	}
	worst := 0.0
	r.fly(20, func(s quad.State, x Estimate) { worst = max(worst, x.State.P.Sub(s.P).Norm()) })
	if n := r.e.Counts().Events; n[Rejected] < 18 || n[Jumped] != 0 || r.e.Phase() != Ready || worst > 0.06 {
		t.Errorf("%+v, %v, up to %.3f m off", n, r.e.Phase(), worst)
	}
}

// TestLostAndFound: without poses there is no state after a time; with poses there is one again.
func TestLostAndFound(t *testing.T) {
	p := params()
	r := quiet(t, p)
	r.spoilPose = func(at float64, _ *Pose) bool { return at > 13 }
	r.fly(10.5, nil)
	if r.e.Phase() != Ready {
		t.Errorf("%v after half a second", r.e.Phase())
	}
	r.fly(11, nil)
	if r.e.Phase() != Lost {
		t.Errorf("%v after a second without poses", r.e.Phase())
	}
	r.fly(15, nil)
	if off := r.errors(); r.e.Phase() != Ready || math.Hypot(off[0], off[1]) > 0.03 {
		t.Errorf("%v, %.3f m off", r.e.Phase(), math.Hypot(off[0], off[1]))
	}
}

// TestLongLoss: a robot that stood for minutes without poses is found as fast as one that stood for seconds, though
// what the IMU says of its velocity by then is hundreds of m/s.
func TestLongLoss(t *testing.T) {
	for _, gap := range []float64{10, 300} {
		r := newRig(t, params(), 11)
		r.truth = standing
		r.fly(10, nil)
		r.spoilPose = func(at float64, _ *Pose) bool { return at > 10+gap }
		r.fly(10+gap, nil)
		lost := r.e.Phase()
		r.fly(11+gap, nil)
		if v := r.e.Estimate().State.V.Norm(); lost != Lost || r.e.Phase() != Ready || v > 0.3 {
			t.Errorf("%g s without poses: %v, a second later %v and %.1f m/s", gap, lost, r.e.Phase(), v)
		}
	}
}

// TestWrongBeginning: a state that settles while it believes no pose begins anew.
func TestWrongBeginning(t *testing.T) {
	r := newRig(t, params(), 11)
	r.fly(1, nil)
	r.e.past.V.X += 200
	r.fly(8, nil)
	if n := r.e.Counts().Events[Begun]; r.e.Phase() != Ready || n != 2 {
		t.Errorf("%v, begun %d times", r.e.Phase(), n)
	}
}

// TestRepeatedPose: a source that repeats its last pose is one that sends none; its clock was not set back.
func TestRepeatedPose(t *testing.T) {
	r := quiet(t, params())
	r.posed, r.poseRate = 1001, 100
	var last Pose
	r.spoilPose = func(_ float64, z *Pose) bool {
		if last == (Pose{}) {
			last = *z
		}
		*z = last
		return true
	}
	r.fly(10.5, nil)
	if r.e.Phase() != Ready {
		t.Errorf("%v after half a second", r.e.Phase())
	}
	r.fly(11, nil)
	if r.e.Phase() != Lost {
		t.Errorf("%v after a second", r.e.Phase())
	}
}

// TestTroubles: each mistake is named, and there is no state to fly by.
func TestTroubles(t *testing.T) {
	for _, c := range []struct {
		name, want string
		truth      func(float64) quad.State
		imu        func(s *Imu)
		pose       func(at float64, z *Pose) bool
	}{
		{"g", "in g?", standing, func(s *Imu) { s.Force = s.Force.Scale(1 / quad.Gravity) }, nil},
		{"FRD", "FRD", truthAt, func(s *Imu) {
			s.Force.Y, s.Force.Z, s.Rates.Y, s.Rates.Z = -s.Force.Y, -s.Force.Z, -s.Rates.Y, -s.Rates.Z
		}, nil},
		{"on its side", "set imu_attitude", standing,
			func(s *Imu) { s.Force.Y, s.Force.Z = s.Force.Z, -s.Force.Y }, nil},
		{"without gravity", "reaction", standing, func(s *Imu) { s.Force.Z -= quad.Gravity }, nil},
		{"degrees", "°/s", truthAt, func(s *Imu) { s.Rates = s.Rates.Scale(180 / math.Pi) }, nil},
		{"reversed gyroscope", "reverse", truthAt, func(s *Imu) { s.Rates.X = -s.Rates.X }, nil},
		{"clocks apart", "+999.9", truthAt, nil, func(_ float64, z *Pose) bool { z.T += 1000; return true }},
		{"clocks a second apart", "-1.0", truthAt, nil, func(_ float64, z *Pose) bool { z.T--; return true }},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, params(), 2)
			r.truth, r.spoilImu, r.spoilPose = c.truth, c.imu, c.pose
			ready := 0
			r.fly(10, func(quad.State, Estimate) {
				if r.e.Phase() == Ready {
					ready++
				}
			})
			if got := r.e.Trouble().String(); !strings.Contains(got, c.want) || ready > 200 {
				t.Errorf("%v, ready for %d samples: %q, expected %q", r.e.Phase(), ready, got, c.want)
			}
		})
	}
}

// TestDivergenceIsSaid: an accelerometer whose bias runs away ends the state; what begins anew proves itself first.
func TestDivergenceIsSaid(t *testing.T) {
	r := quiet(t, params())
	r.spoilImu = func(s *Imu) { s.Force.X += 3 * (s.T - 10) }
	r.fly(14, nil)
	n := r.e.Counts().Events
	if r.e.Phase() == Ready || n[Diverged] == 0 && n[Rejected] == 0 {
		t.Errorf("%v, %+v", r.e.Phase(), n)
	}
}

// TestClockSetBack: poses and IMU whose clock is set back begin anew.
func TestClockSetBack(t *testing.T) {
	r := quiet(t, params())
	r.spoilImu = func(s *Imu) { s.T -= 100 }
	r.spoilPose = func(_ float64, z *Pose) bool { z.T -= 100; return true }
	r.fly(15, nil)
	if r.e.Phase() != Ready || r.e.Counts().ImuGaps != 1 {
		t.Errorf("%v, %+v", r.e.Phase(), r.e.Counts())
	}
}

// TestAnyStream: whatever comes, nothing panics, and a state to fly by is finite and of unit norm.
func TestAnyStream(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e, err := New(params())
		if err != nil {
			rt.Fatal(err)
		}
		number := rapid.OneOf(rapid.Float64Range(-20, 20), rapid.Float64())
		at := 0.0
		for range rapid.IntRange(0, 200).Draw(rt, "messages") {
			at += rapid.SampledFrom([]float64{0.005, 0.005, 0.02, 0, -0.01, 0.3, -5}).Draw(rt, "dt")
			force := so3.Vec3{Z: quad.Gravity}
			if rapid.IntRange(0, 20).Draw(rt, "odd") == 0 {
				force.X = number.Draw(rt, "force")
			}
			e.AddImu(Imu{T: at, Force: force})
			if rapid.Bool().Draw(rt, "pose") {
				late := rapid.SampledFrom([]float64{0, 0.01, 0.1, 3, math.NaN()}).Draw(rt, "late")
				w := rapid.SampledFrom([]float64{1, -1, 1.005, 0}).Draw(rt, "w")
				e.AddPose(Pose{T: at - late, P: so3.Vec3{X: number.Draw(rt, "x")}, Q: so3.Quat{W: w}})
			}
			s := e.Estimate().State
			if e.Phase() == Ready && (!s.P.Finite() || !s.V.Finite() || math.Abs(s.Q.Norm()-1) > 1e-9) {
				rt.Fatalf("state %+v", s)
			}
		}
	})
}

// TestVaguePoses: what says that it does not know how far it errs counts as hardly anything.
func TestVaguePoses(t *testing.T) {
	n := Noise{Position: 0.003, Attitude: 0.003}
	far := so3.Vec3{X: 1e9, Y: 1e9, Z: 1e9}
	if s := n.atLeast(Spread{far, far}); s.Position.Norm() > 2*vaguePosition || s.Attitude.Norm() > 2*vagueAttitude {
		t.Errorf("%+v", s)
	}
}
