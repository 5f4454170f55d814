package inertial

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Phase says how far an Estimator is.
type Phase uint8

// Phases. There is a state to fly by in Ready alone.
const (
	Waiting  Phase = iota // for an IMU and a pose
	Settling              // velocity and biases are not known well enough
	Ready
	Lost // no pose was believed for too long
)

var phases = [...]string{"waits for an IMU and poses", "settles", "ready", "lost: no pose was believed for too long"}

// String says it in words.
func (p Phase) String() string { return phases[p] }

// Event says what became of a pose.
type Event uint8

const (
	Fused    Event = iota // it corrected the state
	Rejected              // too far from what was expected
	Jumped                // with those before it: the source has jumped, and the frame stays where it was
	Begun                 // the state begins at it
	Diverged              // what was believed cannot be: it begins anew at the next
	Refused               // there is Trouble, and nothing to begin with
	Late                  // older than the one before, or than the IMU's samples that are kept
	Apart                 // its stamp is far from those of the IMU
	Invalid               // no pose
)

// Counts of what happened since New.
type Counts struct {
	Events  [Invalid + 1]int // by Event
	ImuLate int              // samples of the IMU out of order
	ImuGaps int              // between two samples, after which the state begins anew
	ImuBad  int              // no numbers
}

const (
	capacity  = 1024 // samples kept: half a second at 2 kHz
	maxImuGap = 0.1  // s
	maxBehind = 0.5  // s by which a pose may be older than the newest sample
	maxAhead  = 0.05 // s by which it may be newer
	clockRun  = 5    // so many poses in a row from the past mean that a clock was set back
)

// mostRest is how much of a correction of the position may be left, m; more is taken up at once.
const mostRest = 0.1

// beginVelocity is the standard deviation of a velocity at the beginning, m/s.
const beginVelocity = 3.0

// What makes a state ready, or unbelievable.
const (
	readyVelocity = 0.15 // m/s
	readyPoses    = 4
	afterDiverged = 1.0 // s by which it settles longer then
	leastSettling = 1.0 // s without a believed pose before it begins anew
)

// biases of gyroscope and accelerometer, or what stands in their place.
type biases struct {
	gyro  float64 // rad/s
	accel float64 // m/s²
}

// origin is what is known of biases by where motion comes from.
type origin struct {
	begin, most biases  // standard deviations at the beginning; beyond most they cannot be
	settling    float64 // s, in which they are found
	// uptake is the time constant with which corrections of the position are taken up, s: one at once would be a kink
	// in the path, which no force makes.
	uptake   float64
	measured bool // by an IMU, whose axes and units may be wrong
}

// sensors are those of an IMU.
var sensors = origin{begin: biases{0.03, 0.3}, most: biases{0.3, 3}, settling: 3, uptake: 0.5, measured: true}

// Estimator is for one goroutine. After New it allocates nothing.
type Estimator struct {
	params Params
	origin origin
	mount  so3.Vec3
	turn   so3.Quat

	ring     [capacity]Imu
	first, n int

	past    belief // at the newest pose
	present belief // carried on from there to the newest sample
	work    poseWork
	frame   frame
	streak  streak // of poses that were not believed
	seen    Pose   // the newest, in the frame
	axes    axes

	phase    Phase
	trouble  Trouble
	accepted int     // poses since the beginning
	fused    float64 // time of the newest one that was believed, s
	sound    float64 // not ready before, s
	jump     so3.Vec3
	rest     so3.Vec3 // of corrections that the published position has not taken up yet, m
	nis      float64
	late     int
	stamp    float64 // of the newest pose that came, s
	counts   Counts
}

// New refuses parameters out of range.
func New(p Params) (*Estimator, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	return &Estimator{params: p, origin: sensors, mount: p.mount(), turn: p.turn(), sound: math.Inf(-1)}, nil
}

// at returns the i-th sample kept, 0 the oldest.
func (e *Estimator) at(i int) *Imu { return &e.ring[(e.first+i)%capacity] }

// AddImu takes the next sample and reports whether the state is now that of its time.
func (e *Estimator) AddImu(s Imu) bool {
	if !(s.T*0 == 0 && s.Rates.Finite() && s.Force.Finite()) {
		e.counts.ImuBad++
		return false
	}
	if e.n > 0 {
		switch dt := s.T - e.at(e.n-1).T; {
		case dt <= 0 && dt > -1:
			e.counts.ImuLate++
			return false
		case dt <= 0 || dt > maxImuGap:
			e.counts.ImuGaps++
			e.sound = min(e.sound, s.T)
			e.restart()
		}
	}
	s.Rates, s.Force = e.turn.Rotate(s.Rates), e.turn.Rotate(s.Force)
	if e.n == capacity {
		e.first, e.n = (e.first+1)%capacity, e.n-1
	}
	e.ring[(e.first+e.n)%capacity] = s
	e.n++
	if e.phase == Waiting {
		return false
	}
	if dt := s.T - e.present.t; dt > 0 {
		e.present.step(&s, dt, &e.params.Noise)
		e.relax(dt)
		e.rest = e.rest.Scale(math.Exp(-dt / e.origin.uptake))
	}
	if e.phase == Ready && s.T-e.fused > e.params.MaxReckoning {
		e.phase = Lost
	}
	return e.phase == Ready
}

// restart forgets everything but the frame and the biases.
func (e *Estimator) restart() {
	e.phase, e.n, e.accepted, e.streak, e.late = Waiting, 0, 0, streak{}, 0
	e.axes.known = false
}

// AddPose takes a pose that has come; the state of the newest sample of the IMU is corrected by it.
func (e *Estimator) AddPose(z Pose) Event {
	event := e.addPose(z)
	e.counts.Events[event]++
	return event
}

func (e *Estimator) addPose(z Pose) Event {
	if !z.valid() {
		return Invalid
	}
	z.Q = z.Q.Normalize()
	z.Spread = e.params.Noise.atLeast(z.Spread)
	if e.n < 2 {
		return Refused
	}
	t, newest := z.T-e.params.Delay-e.past.delay, e.at(e.n-1).T
	if off := t - newest; off > maxAhead || off < -maxBehind {
		e.trouble = Trouble{ClocksApart, off}
		return Apart
	}
	if e.trouble.Kind == ClocksApart {
		e.trouble = Trouble{}
	}
	if e.origin.measured {
		e.axes.add(e, &z, t)
	}
	switch {
	case t < e.at(0).T || e.phase != Waiting && t <= e.past.t:
		if z.T != e.stamp { // a source that repeats its last pose says nothing of clocks
			e.late++
		}
		if e.stamp = z.T; e.late >= clockRun {
			e.restart()
		}
		return Late
	case e.phase == Waiting || e.phase == Lost || e.stuck(t):
		e.late, e.stamp = 0, z.T
		return e.begin(&z, t)
	}
	e.late, e.stamp = 0, z.T
	return e.fuse(&z, t)
}

// stuck reports whether what it began with is wrong: no pose was believed since, for as long as makes a state lost.
func (e *Estimator) stuck(t float64) bool {
	return e.phase == Settling && t-e.fused > max(e.params.MaxReckoning, leastSettling)
}

// begin starts the state at a pose.
func (e *Estimator) begin(z *Pose, t float64) Event {
	if e.origin.measured {
		if e.trouble = e.examine(z); e.trouble.Kind != None {
			return Refused
		}
	}
	b, again := &e.past, e.phase == Lost || e.phase == Ready
	in := e.frame.of(z)
	known := &e.origin.begin
	gyro, accel := known.gyro*known.gyro, known.accel*known.accel
	if again { // with the biases that it had, and the velocity where that is still known
		if b.V = e.present.V; !(e.VelocityDeviation() < beginVelocity) {
			b.V = so3.Vec3{}
		}
		b.gyroBias, b.accelBias = e.present.gyroBias, e.present.accelBias
		gyro, accel = min(gyro, e.present.cov[atGyro*(size+1)]), min(accel, e.present.cov[atAccel*(size+1)])
	} else {
		b.V = so3.Vec3{}
		e.sound = max(e.sound, t+e.origin.settling)
	}
	b.t, b.cov = t, matrix{}
	b.Q, b.P = in.Q, in.P.Add(in.Q.Rotate(e.mount))
	for i, s := range [3]float64{z.Position.X, z.Position.Y, z.Position.Z} {
		b.cov.addDiagonal(atPosition+i, 1, s*s)
	}
	turn, delay := max(z.Attitude.X, z.Attitude.Y, z.Attitude.Z), e.params.DelaySpread*e.params.DelaySpread
	rates := e.at(e.n - 1).Rates
	b.cov.addDiagonal(atPosition, 3, beginVelocity*beginVelocity*delay)
	b.cov.addDiagonal(atTurn, 3, turn*turn+rates.Dot(rates)*delay)
	b.cov.addDiagonal(atVelocity, 3, beginVelocity*beginVelocity)
	b.cov.addDiagonal(atGyro, 3, gyro)
	b.cov.addDiagonal(atAccel, 3, accel)
	b.cov.addDiagonal(atDelay, 1, delay)
	e.phase, e.accepted, e.fused, e.streak = Settling, 1, t, streak{last: t}
	e.seen, e.work.r = in, [poseSize]float64{}
	e.catchUp()
	return Begun
}

// fuse corrects the state by a pose of t.
func (e *Estimator) fuse(z *Pose, t float64) Event {
	e.advance(&e.past, t)
	in := e.frame.of(z)
	_, last := e.work.off() // by which the attitude of the pose before was off
	e.nis = e.past.innovate(&in, e.mount, &e.work)
	event := Fused
	if steady := e.steady(&in); !(e.nis <= e.params.Gate) && !(steady && e.believeTurn(&in, last)) {
		event = e.outlying(z, &in, t)
	}
	switch event {
	case Rejected:
		if e.past.wrong(&e.origin.most) {
			return e.diverge(t)
		}
		e.catchUp()
		return Rejected
	case Jumped:
		if e.phase != Ready { // what is wrong is rather what it began with
			return e.begin(z, t)
		}
		e.jump = e.streak.off
		e.place(z)
		in = e.frame.of(z)
		e.past.innovate(&in, e.mount, &e.work)
	}
	e.past.correct(&e.work, e.phase == Ready)
	if !e.origin.measured { // what a robot does otherwise than commanded has no bound that it stays within
		e.past.gyroBias = e.past.gyroBias.Shorten(0.99 * e.origin.most.gyro)
	}
	if e.past.wrong(&e.origin.most) {
		return e.diverge(t)
	}
	e.accepted++
	e.fused, e.streak = t, streak{last: t}
	e.catchUp()
	if e.phase == Settling && e.accepted >= readyPoses && t >= e.sound && e.VelocityDeviation() < readyVelocity {
		e.phase = Ready
	}
	return event
}

// catchUp carries the present on from the past. What that moves it by is taken up slowly.
func (e *Estimator) catchUp() {
	before, ready := e.present.P, e.phase == Ready
	e.present = e.past
	e.advance(&e.present, max(e.at(e.n-1).T, e.past.t))
	e.rest = e.rest.Add(before.Sub(e.present.P))
	if !ready || e.rest.Norm() > mostRest {
		e.rest = so3.Vec3{}
	}
}

// advance carries a belief on to a time, by the samples kept.
func (e *Estimator) advance(b *belief, to float64) {
	i := e.n
	for i > 0 && e.at(i-1).T > b.t {
		i--
	}
	for ; i < e.n && b.t < to; i++ {
		s := e.at(i)
		b.step(s, min(s.T, to)-b.t, &e.params.Noise)
	}
	if dt := to - b.t; dt > 0 {
		b.step(e.at(e.n-1), dt, &e.params.Noise)
	}
}

// What a pose may err by that says nothing: beyond it float64 does not hold what a precise one adds.
const (
	vaguePosition = 1e3     // m
	vagueAttitude = math.Pi // rad
)

// atLeast is a pose's spread, where its message has one and it is more than the parameters', and no more than vague.
func (n *Noise) atLeast(s Spread) Spread {
	within := func(v so3.Vec3, least, most float64) so3.Vec3 {
		in := func(x float64) float64 { return min(max(x, least), most) }
		return so3.Vec3{X: in(v.X), Y: in(v.Y), Z: in(v.Z)}
	}
	return Spread{within(s.Position, n.Position, vaguePosition), within(s.Attitude, n.Attitude, vagueAttitude)}
}

// Phase says how far it is, and Trouble what is wrong, if anything is.
func (e *Estimator) Phase() Phase { return e.phase }

// Counts so far.
func (e *Estimator) Counts() Counts { return e.counts }

// Trouble is what keeps the estimator from a state, or the axes that do not fit where it has none.
func (e *Estimator) Trouble() Trouble {
	if e.phase != Ready && (e.trouble.Kind == None || e.trouble.Kind == Divergence) {
		if t := e.axes.verdict(); t.Kind != None {
			return t
		}
	}
	return e.trouble
}

// Jump is by how much the source of poses jumped last, m.
func (e *Estimator) Jump() so3.Vec3 { return e.jump }

// Distance is the squared Mahalanobis distance of the newest pose: about 6 on average where all is as believed.
func (e *Estimator) Distance() float64 { return e.nis }

// Estimate is the state of the newest sample of the IMU. It is one to fly by in Ready alone.
type Estimate struct {
	T         float64    // s
	State     quad.State // of the body
	Rates     so3.Vec3   // ω_B, rad/s
	GyroBias  so3.Vec3   // rad/s
	AccelBias so3.Vec3   // m/s²
	Delay     float64    // of the poses beyond their stamps, s
	Offset    so3.Vec3   // by which the frame is off that of the poses, m, where the robot is
}

// Estimate returns it.
func (e *Estimator) Estimate() Estimate {
	b := &e.present
	p, q := b.expected(e.mount)
	v := b.V.Sub(q.Rotate(b.rates.Cross(e.mount)))
	return Estimate{T: b.t, State: quad.State{P: p.Add(e.rest), Q: q, V: v}, Rates: b.rates, GyroBias: b.gyroBias,
		AccelBias: b.accelBias, Delay: e.params.Delay + b.delay, Offset: e.frame.offset}
}
