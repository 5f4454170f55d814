package inertial

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
	"pgregory.net/rapid"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/estimator"
)

func TestDefaultsAreSound(t *testing.T) {
	if err := param.Check(&Params{}); err != nil {
		t.Error(err)
	}
	if _, err := New(Params{}); err == nil {
		t.Error("parameters without a place of the IMU are taken")
	}
}

func anyVec(rt *rapid.T, label string, size float64) so3.Vec3 {
	r := rapid.Float64Range(-size, size)
	return so3.Vec3{X: r.Draw(rt, label), Y: r.Draw(rt, label), Z: r.Draw(rt, label)}
}

func anyMotion(rt *rapid.T) motion {
	return motion{State: quad.State{P: anyVec(rt, "p", 5), Q: so3.Exp(anyVec(rt, "q", 1.5)), V: anyVec(rt, "v", 5)},
		gyroBias: anyVec(rt, "gyro bias", 0.1), accelBias: anyVec(rt, "accel bias", 1), rates: anyVec(rt, "rates", 5),
		pushed: rapid.Bool().Draw(rt, "pushed")}
}

// less is the error by which a motion is beyond another: y ⊟ x.
func less(y, x *motion) (d [size]float64) {
	put := func(at int, v so3.Vec3) { d[at], d[at+1], d[at+2] = v.X, v.Y, v.Z }
	put(atPosition, y.P.Sub(x.P))
	put(atVelocity, y.V.Sub(x.V))
	put(atTurn, so3.Log(x.Q.Conj().Mul(y.Q)))
	put(atGyro, y.gyroBias.Sub(x.gyroBias))
	put(atAccel, y.accelBias.Sub(x.accelBias))
	d[atDelay] = y.delay - x.delay
	return d
}

const epsilon = 1e-5

func nudged(m motion, column int, by float64) motion {
	var d [size]float64
	d[column] = by
	m.add(&d)
	return m
}

// TestStepJacobian compares ∂(error after)/∂(error before) with central differences.
func TestStepJacobian(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m, dt := anyMotion(rt), rapid.Float64Range(0.0005, 0.1).Draw(rt, "dt")
		s := Imu{Rates: anyVec(rt, "ω", 10), Force: anyVec(rt, "f", 20)}
		var f matrix
		f.addDiagonal(0, size, 1)
		half := m.Q.Mul(so3.Exp(s.Rates.Sub(m.gyroBias).Scale(dt / 2))).Rotate(so3.Vec3{Z: 1})
		if up := math.Abs(half.Z); m.pushed && (up < 1e-3 || math.Abs(up-leastRise) < 1e-3) {
			rt.Skip("there it jumps, or has a corner")
		}
		step := m.jacobian(&s, dt)
		step.apply(&f)
		for column := range size {
			after, before := nudged(m, column, epsilon), nudged(m, column, -epsilon)
			after.step(&s, dt)
			before.step(&s, dt)
			for row, x := range less(&after, &before) {
				if got, want := f[row*size+column], x/(2*epsilon); math.Abs(got-want) > 2e-7*(1+math.Abs(want)) {
					rt.Fatalf("∂%d/∂%d is %.9g, by differences %.9g", row, column, got, want)
				}
			}
		}
	})
}

// TestPoseJacobian compares ∂(pose)/∂(error) with central differences; that of the delay with the motion's own.
func TestPoseJacobian(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m, mount := anyMotion(rt), anyVec(rt, "mount", 0.3)
		var h [poseSize * size]float64
		m.measure(mount, &h)
		_, q0 := m.expected(mount)
		row := func(p so3.Vec3, q so3.Quat) [poseSize]float64 {
			r := so3.Log(q0.Conj().Mul(q))
			return [poseSize]float64{p.X, p.Y, p.Z, r.X, r.Y, r.Z}
		}
		for column := range size {
			after, before := nudged(m, column, epsilon), nudged(m, column, -epsilon)
			if column == atDelay { // the pose is of later, or of before
				s := Imu{Rates: m.rates.Add(m.gyroBias),
					Force: m.Q.Conj().Rotate(so3.Vec3{Z: quad.Gravity}).Add(m.accelBias)}
				after.step(&s, -epsilon)
				before.step(&s, epsilon)
			}
			a, b := row(after.expected(mount)), row(before.expected(mount))
			for i := range a {
				got, want := h[i*size+column], (a[i]-b[i])/(2*epsilon)
				if math.Abs(got-want) > 1e-6*(1+math.Abs(want)) {
					rt.Fatalf("∂%d/∂%d is %.9g, by differences %.9g", i, column, got, want)
				}
			}
		}
	})
}

// anyCovariance is one of all errors, with correlations.
func anyCovariance(rt *rapid.T) (p matrix) {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "P"), 0))
	var root matrix
	for i := range root {
		root[i] = rng.NormFloat64() * 0.1
	}
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, root.general(), root.general(), 0, p.general())
	return p
}

// differs is the largest difference between two matrices, over the largest element.
func differs(got *matrix, want *mat.Dense) float64 {
	g := mat.NewDense(size, size, got[:])
	var d mat.Dense
	d.Sub(g, want)
	return mat.Norm(&d, math.Inf(1)) / mat.Norm(want, math.Inf(1))
}

// TestCovarianceByBlocks compares with the products of whole matrices: F·P·Fᵀ of a step, and (1 − K·H)·P·(1 − K·H)ᵀ +
// K·R·Kᵀ of a pose, which is right for any gain K (Joseph).
func TestCovarianceByBlocks(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		b := belief{motion: anyMotion(rt), cov: anyCovariance(rt)}
		p := mat.DenseCopyOf(mat.NewDense(size, size, b.cov[:]))
		var f matrix
		f.addDiagonal(0, size, 1)
		step := b.jacobian(&Imu{Rates: anyVec(rt, "ω", 10), Force: anyVec(rt, "f", 20)}, 0.02)
		step.apply(&f)
		var want mat.Dense
		dense := mat.NewDense(size, size, f[:])
		want.Product(dense, p, dense.T())
		carried := b.cov
		if step.carry(&carried); differs(&carried, &want) > 1e-12 {
			rt.Fatalf("F·P·Fᵀ is off by %.3g", differs(&carried, &want))
		}

		moving, mount := rapid.Bool().Draw(rt, "moving"), anyVec(rt, "mount", 0.3)
		z := Pose{P: b.P, Q: b.Q, Spread: Spread{Position: so3.Vec3{X: .02, Y: .01, Z: .03},
			Attitude: so3.Vec3{X: .01, Y: .03, Z: .02}}}
		var w poseWork
		var noise [poseSize * poseSize]float64
		b.noise(&z.Spread, &noise)
		b.innovate(&z, mount, &w)
		h, r := mat.NewDense(poseSize, size, w.h[:]), mat.NewDense(poseSize, poseSize, noise[:])
		var s, k, kh, krk mat.Dense
		s.Product(h, p, h.T())
		s.Add(&s, r)
		if err := s.Inverse(&s); err != nil {
			rt.Fatal(err)
		}
		k.Product(p, h.T(), &s)
		if !moving {
			k.SetRow(atDelay, make([]float64, poseSize))
		}
		kh.Mul(&k, h)
		keep := mat.NewDense(size, size, nil)
		for i := range size {
			keep.Set(i, i, 1)
		}
		keep.Sub(keep, &kh)
		want.Product(keep, p, keep.T())
		krk.Product(&k, r, k.T())
		want.Add(&want, &krk)
		if b.correct(&w, moving); differs(&b.cov, &want) > 1e-9 {
			rt.Fatalf("the covariance after a pose is off by %.3g", differs(&b.cov, &want))
		}
	})
}

// nees is the squared error of the present, normalised by its covariance, over the first n rows.
func (r *rig) nees(t testing.TB, n int) float64 {
	d := r.errors()
	sub := mat.NewSymDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			sub.SetSym(i, j, r.e.present.cov[i*size+j])
		}
	}
	var c mat.Cholesky
	if !c.Factorize(sub) {
		t.Fatal("the covariance is not positive definite")
	}
	var y mat.VecDense
	x := mat.NewVecDense(n, d[:n])
	if err := c.SolveVecTo(&y, x); err != nil {
		t.Fatal(err)
	}
	return mat.Dot(x, &y)
}

// TestConsistent: the error's size is what the covariance says. Its normalised square (NEES), averaged over runs with
// biases drawn anew, lies within the band in which 95 % of such averages lie. Of ten looks two may be outside: looks a
// second apart are not independent.
func TestConsistent(t *testing.T) {
	for _, c := range []struct {
		name      string
		rate      float64
		late      float64
		estimated bool
		from      float64 // s
	}{{"10 Hz, 80 ms late", 10, 0.08, false, 10}, {"60 Hz, 20 ms late", 60, 0.02, false, 10},
		// At first it is surer than it may be: over the delay the path bends.
		{"10 Hz, a delay that is estimated", 10, 0.08, true, 25}} {
		t.Run(c.name, func(t *testing.T) {
			const runs, looks = 40, 10
			n := 15
			p := params()
			if c.estimated {
				n, p.DelaySpread = 16, 0.02
			}
			var sums [looks]float64
			for seed := range uint64(runs) {
				r := newRig(t, p, seed+1)
				r.poseRate, r.late = c.rate, c.late
				r.gyroBias, r.accelBias = r.normal().Scale(sensors.begin.gyro), r.normal().Scale(sensors.begin.accel)
				if c.estimated {
					r.stamp = 0.02 * r.rng.NormFloat64()
				}
				for i := range sums {
					r.fly(c.from+float64(i)*0.713, nil)
					sums[i] += r.nees(t, n) / runs
				}
			}
			d := distuv.ChiSquared{K: float64(n * runs)}
			lo, hi := d.Quantile(0.025)/runs, d.Quantile(0.975)/runs
			outside, mean := 0, 0.0
			for _, x := range sums {
				mean += x / looks
				if x < lo || x > hi {
					outside++
				}
			}
			t.Logf("NEES of %d: mean %.2f, 95 %% band %.2f to %.2f, %d of %d looks outside", n, mean, lo, hi, outside,
				looks)
			if mean < lo || mean > hi || outside > 2 {
				t.Errorf("NEES %.2f", sums)
			}
		})
	}
}

// TestVelocity compares the velocity with that of the causal fit to the same poses, both at the time of the pose.
func TestVelocity(t *testing.T) {
	for _, c := range []struct {
		rate, noise float64
		window      float64 // of the fit, s
		least       float64 // ratio
	}{{50, 0.003, 0.11, 4}, {60, 0.001, 0.11, 2}, {10, 0.003, 0.35, 4}} {
		p := params()
		p.Noise.Position = c.noise
		r := newRig(t, p, 7)
		r.poseRate, r.late = c.rate, 0
		r.gyroBias, r.accelBias = so3.Vec3{X: 0.01, Y: -0.02, Z: 0.01}, so3.Vec3{X: 0.1, Y: 0.2, Z: -0.1}
		fit, err := estimator.New(estimator.Params{Window: c.window, Order: 2, MaxSpeed: 30})
		if err != nil {
			t.Fatal(err)
		}
		var newest Pose
		r.spoilPose = func(_ float64, z *Pose) bool { newest = *z; return true }
		var fitted, ours, n float64
		for posed := 0; r.now() < 30; {
			r.step()
			if r.posed == posed {
				continue
			}
			posed = r.posed
			s, outcome := fit.Add(estimator.Pose{T: newest.T, P: newest.P, Q: newest.Q})
			if outcome != estimator.Ready || r.now() < 5 {
				continue
			}
			d, m := s.V.Sub(truthAt(newest.T).V), r.e.Estimate().State.V.Sub(truthAt(r.now()).V)
			fitted, ours, n = fitted+d.Dot(d), ours+m.Dot(m), n+1
		}
		fitted, ours = math.Sqrt(fitted/n), math.Sqrt(ours/n)
		t.Logf("%g Hz, %g mm: causal fit %.1f mm/s, filter %.1f mm/s: ÷ %.1f", c.rate, 1e3*c.noise, 1e3*fitted,
			1e3*ours, fitted/ours)
		if !(fitted/ours >= c.least) {
			t.Errorf("÷ %.2f, expected at least %g", fitted/ours, c.least)
		}
	}
}

// TestMount: an IMU beside the body's origin, turned by an angle, gives the body's state.
func TestMount(t *testing.T) {
	p := params()
	p.Mount, p.Turn = []float64{0.1, -0.05, 0.03}, []float64{math.Pi, 0, 0.5}
	p.Noise.Gyro, p.Noise.Accel, p.Noise.Position, p.Noise.Attitude = 1e-4, 1e-3, 1e-4, 1e-3
	r := newRig(t, p, 3)
	mount, turn := p.mount(), p.turn()
	body := r.truth
	imu := func(at float64) quad.State { // the truth of the IMU's place
		const h = 1e-4
		a, b := body(at-h), body(at+h)
		s := body(at)
		w := so3.Log(a.Q.Conj().Mul(b.Q)).Scale(1 / (2 * h))
		return quad.State{P: s.P.Add(s.Q.Rotate(mount)), Q: s.Q, V: s.V.Add(s.Q.Rotate(w.Cross(mount)))}
	}
	r.truth = imu
	r.spoilImu = func(s *Imu) { s.Rates, s.Force = turn.Conj().Rotate(s.Rates), turn.Conj().Rotate(s.Force) }
	r.spoilPose = func(at float64, z *Pose) bool { z.P = body(at).P; return true }
	r.fly(12, nil)
	x, s := r.e.Estimate(), body(r.now())
	if off := x.State.P.Sub(s.P).Norm(); r.e.Phase() != Ready || off > 0.003 {
		t.Errorf("%v, %.4f m off", r.e.Phase(), off)
	}
	if off := x.State.V.Sub(s.V).Norm(); off > 0.02 {
		t.Errorf("velocity %.4f m/s off", off)
	}
}

// TestDelayIsFound: poses whose stamps are 40 ms wrong are found out, and the state is as good as with right ones.
func TestDelayIsFound(t *testing.T) {
	for _, wrong := range []float64{0.04, -0.03} {
		p := params()
		p.DelaySpread = 0.03
		r := newRig(t, p, 5)
		r.stamp, r.late = wrong, 0.08
		sum, n := 0.0, 0.0
		r.fly(30, func(s quad.State, x Estimate) {
			if r.now() > 15 {
				sum, n = sum+math.Pow(x.State.P.Sub(s.P).Norm(), 2), n+1
			}
		})
		if off := r.e.Estimate().Delay - wrong; math.Abs(off) > 0.004 || math.Sqrt(sum/n) > 0.03 {
			t.Errorf("delay %.1f ms, expected %.1f; %.3f m off", 1e3*r.e.Estimate().Delay, 1e3*wrong, math.Sqrt(sum/n))
		}
	}
}

// TestNoAllocation: a sample and a pose allocate nothing.
func TestNoAllocation(t *testing.T) {
	e, err := New(params())
	if err != nil {
		t.Fatal(err)
	}
	k := 0
	rng := rand.New(rand.NewPCG(1, 1))
	if n := testing.AllocsPerRun(2000, func() {
		k++
		at := float64(k) / 500
		e.AddImu(Imu{T: at, Force: so3.Vec3{Z: quad.Gravity}})
		if k%10 == 0 {
			e.AddPose(Pose{T: at - 0.05, P: so3.Vec3{X: 0.003 * rng.NormFloat64()}, Q: so3.Identity()})
		}
	}); n != 0 || e.Phase() != Ready {
		t.Fatalf("%g allocations a sample, %v", n, e.Phase())
	}
}

func BenchmarkAddImu(b *testing.B) {
	e, err := New(params())
	if err != nil {
		b.Fatal(err)
	}
	for k := range b.N {
		at := float64(k) / 500
		e.AddImu(Imu{T: at, Force: so3.Vec3{Z: quad.Gravity}})
		if k%10 == 0 {
			e.AddPose(Pose{T: at - 0.08, Q: so3.Identity()})
		}
	}
}
