package inertial

import (
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// truthAt is a figure-eight of 2 × 1 m and 4 s, with a turning heading: up to 4.5 m/s and 10 m/s².
func truthAt(t float64) quad.State {
	w := 2 * math.Pi / 4
	p := so3.Vec3{X: 2 * math.Sin(w*t), Y: math.Sin(2 * w * t), Z: 1 + 0.3*math.Sin(w*t)}
	v := so3.Vec3{X: 2 * w * math.Cos(w*t), Y: 2 * w * math.Cos(2*w*t), Z: 0.3 * w * math.Cos(w*t)}
	q := so3.FromEuler(0.5*math.Sin(2*w*t+1), 0.4*math.Sin(w*t), 0.6*math.Sin(0.7*t))
	return quad.State{P: p, Q: q, V: v}
}

// standing is at rest, level.
func standing(float64) quad.State { return quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()} }

// rig is a robot that moves along a truth, its IMU and its source of poses.
type rig struct {
	truth             func(t float64) quad.State
	imuRate, poseRate float64
	noise             Noise   // of the sensors
	late              float64 // s from a pose to its arrival
	stamp             float64 // by which stamps are later than the poses, s
	spoilImu          func(s *Imu)
	spoilPose         func(at float64, z *Pose) bool // false: it does not come

	gyroBias, accelBias so3.Vec3
	rng                 *rand.Rand
	tick, posed         int
	waiting             []Pose
	arrivals            []float64
	e                   *Estimator
	last                Event
}

// newRig has sensors with the noise that the parameters assume.
func newRig(t testing.TB, p Params, seed uint64) *rig {
	t.Helper()
	e, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{truth: truthAt, imuRate: 200, poseRate: 10, noise: p.Noise, late: 0.08, e: e,
		rng: rand.New(rand.NewPCG(seed, 1))}
}

func params() (p Params) {
	param.Default(&p)
	return p
}

func (r *rig) normal() so3.Vec3 {
	return so3.Vec3{X: r.rng.NormFloat64(), Y: r.rng.NormFloat64(), Z: r.rng.NormFloat64()}
}

func (r *rig) now() float64 { return float64(r.tick) / r.imuRate }

// step moves on by one sample of the IMU, and by the poses that have come by then.
func (r *rig) step() {
	dt := 1 / r.imuRate
	a := r.truth(r.now())
	if at := float64(r.posed) / r.poseRate; at <= r.now()+1e-9 {
		r.posed++
		s := r.truth(at)
		z := Pose{T: at + r.stamp, P: s.P.Add(r.normal().Scale(r.noise.Position)),
			Q: s.Q.Mul(so3.Exp(r.normal().Scale(r.noise.Attitude)))}
		if r.spoilPose == nil || r.spoilPose(at, &z) {
			r.waiting, r.arrivals = append(r.waiting, z), append(r.arrivals, at+r.late)
		}
	}
	r.tick++
	b := r.truth(r.now())
	spread := math.Sqrt(r.imuRate)
	turn := so3.Log(a.Q.Conj().Mul(b.Q))
	halfway := a.Q.Mul(so3.Exp(turn.Scale(0.5)))
	push := halfway.Conj().Rotate(b.V.Sub(a.V).Add(so3.Vec3{Z: quad.Gravity * dt}))
	r.gyroBias = r.gyroBias.Add(r.normal().Scale(r.noise.GyroWalk / spread))
	r.accelBias = r.accelBias.Add(r.normal().Scale(r.noise.AccelWalk / spread))
	s := Imu{T: r.now(), Rates: turn.Scale(r.imuRate).Add(r.gyroBias).Add(r.normal().Scale(r.noise.Gyro * spread)),
		Force: push.Scale(r.imuRate).Add(r.accelBias).Add(r.normal().Scale(r.noise.Accel * spread))}
	if r.spoilImu != nil {
		r.spoilImu(&s)
	}
	r.e.AddImu(s)
	for len(r.waiting) > 0 && r.arrivals[0] <= r.now() {
		r.last = r.e.AddPose(r.waiting[0])
		r.waiting, r.arrivals = r.waiting[1:], r.arrivals[1:]
	}
}

// fly moves on to a time, and has each step looked at.
func (r *rig) fly(to float64, look func(truth quad.State, x Estimate)) {
	for r.now() < to-1e-9 {
		r.step()
		if look != nil {
			look(r.truth(r.now()), r.e.Estimate())
		}
	}
}

// errors are the errors of an estimate, as the filter has them.
func (r *rig) errors() (d [size]float64) {
	x, s := r.e.Estimate(), r.truth(r.now())
	put := func(at int, v so3.Vec3) { d[at], d[at+1], d[at+2] = v.X, v.Y, v.Z }
	put(atPosition, s.P.Sub(x.State.P.Sub(r.e.rest)))
	put(atVelocity, s.V.Sub(x.State.V))
	put(atTurn, so3.Log(x.State.Q.Conj().Mul(s.Q)))
	put(atGyro, r.gyroBias.Sub(x.GyroBias))
	put(atAccel, r.accelBias.Sub(x.AccelBias))
	d[atDelay] = r.stamp - x.Delay
	return d
}
