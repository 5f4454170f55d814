package inertial

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Reading is a row of a flight that is over: a pose, and what moves the robot from its time until that of the next.
type Reading struct {
	Pose
	Missed bool     // the pose was not measured: it is a guess, and corrects nothing
	Rates  so3.Vec3 // ω_B, rad/s
	Force  so3.Vec3 // specific force in the body, m/s²
}

// Smoothed is a row as all readings of a flight show it, those after it included.
type Smoothed struct {
	quad.State
	// Variances along and about each of the world's axes, the mean of three.
	Position float64 // m²
	Velocity float64 // m²/s²
	Turn     float64 // rad²
	Believed bool    // its pose was
	Cut      bool    // the source of poses jumped before it: what is before has another frame
}

// Smoother is a fixed-interval smoother (Rauch, Tung and Striebel 1965) over the filter's errors. It is for one
// goroutine; its memory is reused.
type Smoother struct {
	Noise Noise
	Gate  float64 // squared Mahalanobis distance from which a pose is not believed that is far off, too

	work           poseWork
	before, after  []belief     // of each row: without its pose, and with it
	steps          []transition // from the row before to a row
	believed       []bool
	loose          []bool // the motion to this row was not believed
	gain, back, up matrix
	sums           *sums // of what FindNoise needs; nil: not wanted
}

// What is known at the beginning of a flight of which the commands are known, and no IMU: standard deviations.
const (
	smoothVelocity = 1.0  // m/s
	smoothRates    = 0.2  // rad/s
	smoothForce    = 3.0  // m/s²
	smoothDelay    = 1e-6 // s; the smoother estimates none
	jumped         = 0.15 // s of poses in a row that are not believed: a jump
	slightOff      = 0.02 // m
	slightTurn     = 0.1  // rad
)

// Run smooths readings, whose times rise; velocity is known roughly at the first. The result is at the times at.
func (s *Smoother) Run(readings []Reading, at []float64, velocity so3.Vec3) []Smoothed {
	n := len(readings)
	s.before, s.after, s.steps = make([]belief, n), make([]belief, n), make([]transition, n)
	s.believed, s.loose = make([]bool, n), make([]bool, n)
	out := make([]Smoothed, n)
	for lo := 0; lo < n; {
		hi := s.forward(readings, lo, velocity)
		s.backward(readings, lo, hi)
		if out[lo].Cut = lo > 0; hi < n {
			velocity = s.after[hi-1].V
		}
		lo = hi
	}
	for k := range out {
		s.describe(&out[k], &s.after[k], at[k]-readings[k].T)
		out[k].Believed = s.believed[k]
	}
	return out
}

// begin is the belief at the first reading.
func (s *Smoother) begin(z *Reading, velocity so3.Vec3) (b belief) {
	b.t, b.P, b.Q, b.V = z.T, z.P, z.Q, velocity
	spread := s.Noise.atLeast(z.Spread)
	p, a := spread.Position.X, spread.Attitude.X
	b.cov.addDiagonal(atPosition, 3, p*p)
	b.cov.addDiagonal(atVelocity, 3, smoothVelocity*smoothVelocity)
	b.cov.addDiagonal(atTurn, 3, a*a)
	b.cov.addDiagonal(atGyro, 3, smoothRates*smoothRates)
	b.cov.addDiagonal(atAccel, 3, smoothForce*smoothForce)
	b.cov.addDiagonal(atDelay, 1, smoothDelay*smoothDelay)
	return b
}

// forward filters from row lo on. It ends at the row where the source of poses has jumped, or after the last. Where
// poses that are not believed do not lie as far off all along, none has jumped: the robot moved as nobody told, and
// they are filtered again as what shows it.
func (s *Smoother) forward(readings []Reading, lo int, velocity so3.Vec3) (hi int) {
	s.after[lo], s.believed[lo] = s.begin(&readings[lo], velocity), true
	s.before[lo] = s.after[lo]
	off := lo // the first row in a row that was not believed
	var first poseWork
	for k := lo + 1; k < len(readings); k++ {
		z := &readings[k]
		b := s.ahead(readings, k)
		if s.loose[k] {
			b.loosen(&first, z.T-s.after[k-1].t)
		}
		s.before[k] = b
		if z.Missed {
			s.after[k], s.believed[k] = b, false
			continue
		}
		pose := z.Pose
		pose.Spread = s.Noise.atLeast(pose.Spread)
		nis := b.innovate(&pose, so3.Vec3{}, &s.work)
		s.believed[k] = s.loose[k] || nis <= s.Gate || nis > s.Gate && s.work.slight()
		switch {
		case s.believed[k]:
			b.correct(&s.work, false)
			off = lo
		case off == lo:
			off, first = k, s.work
		}
		s.after[k] = b
		if off > lo && z.T-readings[off].T >= jumped {
			if s.work.alike(&first) {
				return off
			}
			s.loose[off] = true
			k, off = off-1, lo
		}
	}
	return len(readings)
}

// ahead is the belief of the row before, carried on to row k.
func (s *Smoother) ahead(readings []Reading, k int) belief {
	b, imu := s.after[k-1], Imu{T: readings[k].T, Rates: readings[k-1].Rates, Force: readings[k-1].Force}
	s.steps[k] = b.step(&imu, readings[k].T-b.t, &s.Noise)
	return b
}

// loosen has a belief be as unsure of the motion over the last dt seconds as a pose is off.
func (b *belief) loosen(w *poseWork, dt float64) {
	p, r := w.off()
	b.cov.addDiagonal(atVelocity, 3, p.Dot(p)/(dt*dt))
	b.cov.addDiagonal(atTurn, 3, r.Dot(r))
	b.cov.addDiagonal(atGyro, 3, r.Dot(r)/(dt*dt))
	b.cov.addDiagonal(atAccel, 3, smoothForce*smoothForce)
}

// off is what a pose is off by, m and rad.
func (w *poseWork) off() (p, r so3.Vec3) {
	return so3.Vec3{X: w.r[0], Y: w.r[1], Z: w.r[2]}, so3.Vec3{X: w.r[3], Y: w.r[4], Z: w.r[5]}
}

// alike reports whether a pose is off by much the same as another, which is not slight, in what that is off.
func (w *poseWork) alike(o *poseWork) bool {
	p, r := w.off()
	p0, r0 := o.off()
	near := func(a, b so3.Vec3, slight float64) bool {
		return b.Norm() < slight || a.Sub(b).Norm() < max(slight, b.Norm()/2)
	}
	return near(p, p0, slightOff) && near(r, r0, slightTurn)
}

// slight reports whether a pose is off by no more than a gust that sets in makes of it: that is no other place.
func (w *poseWork) slight() bool {
	p, r := w.off()
	return p.Norm() < slightOff && r.Norm() < slightTurn
}

// backward takes what later rows show to those before, lo … hi−1.
func (s *Smoother) backward(readings []Reading, lo, hi int) {
	for k := hi - 2; k >= lo; k-- {
		b, next, ahead := &s.after[k], &s.after[k+1], &s.before[k+1]
		if !s.pull(b, ahead, &s.steps[k+1]) {
			continue
		}
		filtered := *b
		d := next.beyond(&ahead.motion)
		var e [size]float64
		gain := s.gain.general()
		blas64.Gemv(blas.NoTrans, 1, gain, blas64.Vector{N: size, Inc: 1, Data: d[:]}, 0,
			blas64.Vector{N: size, Inc: 1, Data: e[:]})
		b.motion.add(&e)
		for i := range s.up {
			s.up[i] = next.cov[i] - ahead.cov[i]
		}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, gain, s.up.general(), 0, s.back.general())
		blas64.Gemm(blas.NoTrans, blas.Trans, 1, s.back.general(), gain, 1, b.cov.general())
		b.cov.symmetric()
		if s.sums != nil {
			s.learn(&readings[k], &filtered, b, next, k)
		}
	}
}

// pull fills the gain by which a row follows the next: P·Fᵀ·P'⁻¹. It is false where P' is no covariance.
func (s *Smoother) pull(b, ahead *belief, f *transition) bool {
	s.up = ahead.cov
	lower, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: size, Stride: size, Data: s.up[:]})
	if !ok {
		return false
	}
	s.gain = b.cov
	f.apply(&s.gain)
	s.gain.transpose()
	gain := s.gain.general()
	blas64.Trsm(blas.Right, blas.Trans, 1, lower, gain)
	blas64.Trsm(blas.Right, blas.NoTrans, 1, lower, gain)
	return true
}

// beyond is the error by which a motion is beyond another: m ⊟ o.
func (m *motion) beyond(o *motion) (d [size]float64) {
	put := func(at int, v so3.Vec3) { d[at], d[at+1], d[at+2] = v.X, v.Y, v.Z }
	put(atPosition, m.P.Sub(o.P))
	put(atVelocity, m.V.Sub(o.V))
	put(atTurn, so3.Log(o.Q.Conj().Mul(m.Q)))
	put(atGyro, m.gyroBias.Sub(o.gyroBias))
	put(atAccel, m.accelBias.Sub(o.accelBias))
	d[atDelay] = m.delay - o.delay
	return d
}

// describe writes a belief as it is some s later.
func (s *Smoother) describe(out *Smoothed, b *belief, later float64) {
	out.State = quad.State{P: b.P.Add(b.V.Scale(later)), Q: b.Q.Mul(so3.Exp(b.rates.Scale(later))).Normalize(), V: b.V}
	mean := func(at int) (sum float64) {
		for i := at; i < at+3; i++ {
			sum += max(0, b.cov[i*size+i]) / 3
		}
		return sum
	}
	out.Position, out.Velocity, out.Turn = mean(atPosition), mean(atVelocity), mean(atTurn)
}

// The least that poses are taken to err by: how forces change within a row makes as much.
const (
	leastPosition = 2e-4 // m
	leastAttitude = 1e-3 // rad
)

// sums of squares that rows show, of noise and of what moves the robot besides.
type sums struct {
	poses, steps       float64 // how many, in numbers of three axes
	position, attitude float64
	velocity, turn     float64
	gyro, accel        float64
}

// learn adds a row: its smoothed belief and that of the next, from what was filtered.
func (s *Smoother) learn(z *Reading, filtered, b, next *belief, k int) {
	x := s.sums
	if s.believed[k] {
		dp, turn := z.P.Sub(b.P), so3.Log(b.Q.Conj().Mul(z.Q))
		x.position += dp.Dot(dp)
		x.attitude += turn.Dot(turn)
		for i := range 3 {
			x.position += b.cov[(atPosition+i)*size+atPosition+i]
			x.attitude += b.cov[(atTurn+i)*size+atTurn+i]
		}
		x.poses += 3
	}
	// E(w·wᵀ) of w = x' ⊟ f(x): with the gain C it is ŵ·ŵᵀ + P' − F·C·P' − (…)ᵀ + F·P·Fᵀ.
	moved, imu := b.motion, Imu{Rates: z.Rates, Force: z.Force}
	dt := next.t - filtered.t
	moved.step(&imu, dt)
	w := next.motion.beyond(&moved)
	f := &s.steps[k+1]
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, s.gain.general(), next.cov.general(), 0, s.back.general())
	f.apply(&s.back)
	s.up = b.cov
	f.carry(&s.up)
	square := func(at int) (sum float64) {
		for i := at; i < at+3; i++ {
			sum += w[i]*w[i] + next.cov[i*size+i] - 2*s.back[i*size+i] + s.up[i*size+i]
		}
		return max(0, sum) / dt
	}
	x.velocity += square(atVelocity)
	x.turn += square(atTurn)
	x.gyro += square(atGyro)
	x.accel += square(atAccel)
	x.steps += 3
}

// secant speeds up a parameter on its way to where steps of expectation maximisation end, as the secant method finds a
// root: they shrink slowly, since poses say little of what moves the robot in each row. All is in logarithms.
type secant struct{ step, moved float64 }

const (
	firstPower = 3.0 // times the first step
	mostPower  = 30.0
	mostMoved  = 1.5 // at once
)

// next is by how much a parameter goes on where the next step is as given.
func (a *secant) next(step float64) float64 {
	power := mostPower
	switch shrunk := a.step - step; {
	case a.moved == 0:
		power = firstPower
	case shrunk*a.moved > 0:
		power = min(max(a.moved/shrunk, 1), mostPower)
	}
	a.step, a.moved = step, min(max(power*step, -mostMoved), mostMoved)
	return a.moved
}

// Flight is what FindNoise looks at.
type Flight struct {
	Readings []Reading
	Velocity so3.Vec3 // roughly, at the first
}

// FindNoise moves the noise towards what makes flights most likely, by so many steps of expectation maximisation
// (Shumway and Stoffer 1982), sped up. The drift stays.
func (s *Smoother) FindNoise(flights []Flight, steps int) {
	var ahead [4]secant
	for range steps {
		x := s.expect(flights)
		if x.steps == 0 || x.poses == 0 {
			return
		}
		s.Noise.maximisePoses(x)
		n := &s.Noise
		for i, c := range [...]struct {
			now *float64
			sum float64
		}{{&n.Accel, x.velocity}, {&n.Gyro, x.turn}, {&n.AccelWalk, x.accel}, {&n.GyroWalk, x.gyro}} {
			*c.now *= math.Exp(ahead[i].next(math.Log(math.Sqrt(c.sum/x.steps) / *c.now)))
		}
	}
}

func (n *Noise) maximisePoses(x *sums) {
	n.Position = max(leastPosition, math.Sqrt(x.position/x.poses))
	n.Attitude = max(leastAttitude, math.Sqrt(x.attitude/x.poses))
}

// expect smooths flights and returns the sums of what they show.
func (s *Smoother) expect(flights []Flight) *sums {
	x := &sums{}
	s.sums = x
	for i := range flights {
		f := &flights[i]
		at := make([]float64, len(f.Readings))
		for k := range at {
			at[k] = f.Readings[k].T
		}
		s.Run(f.Readings, at, f.Velocity)
	}
	s.sums = nil
	return x
}
