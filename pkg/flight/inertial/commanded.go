package inertial

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Moves is how what was commanded moves a state from one time to a later one: mean body rates, rad/s, and mean specific
// force in the body, m/s².
type Moves func(s *quad.State, from, to float64) (rates, force so3.Vec3)

// CommandEstimator is an Estimator for a robot without an IMU: what was commanded tells its motion, and poses correct
// it. What turns and pushes the robot beside is in the place of the sensors' biases. What poses err by is found from
// them. It is for one goroutine, and allocates nothing after NewCommandEstimator.
type CommandEstimator struct {
	filter  *Estimator
	moves   Moves
	t       float64 // to which the motion was told, s
	newest  float64 // stamp of a pose, s
	agreed  float64 // when a pose was believed last, s
	refused float64 // that, where poses came since that were not; NaN: the newest was
	noise   poseNoise
	onset   onset
	from    quad.State // that a move begins at
}

// commandNoise is what commands tell less well than an IMU: rates come out to 0.3 rad/s for a tenth of a second, and a
// push sets in at once. What real robots do beside it, poses are taken to err by: 2 mm and 3 mrad at least.
var commandNoise = Noise{Gyro: 0.1, Accel: 0.1, GyroWalk: 0.1, AccelWalk: 1, Position: 0.002, Attitude: 0.003}

// commands say nothing of a push, nor of what an autopilot is off by.
var commands = origin{begin: biases{0.1, 2}, most: biases{2, 2 * quad.Gravity}, settling: 0.5, uptake: 0.1}

const (
	leapAfter   = 0.1    // s for which poses agree elsewhere, after which their source has leapt
	unbelieved  = 0.13   // s of poses that are not believed, after which what commands tell is wrong
	longestMove = 0.02   // s that one sample stands for
	shortest    = 1.5e-3 // s between two poses; more of them cost more than they bring
	before      = 0.2    // s before the first pose from which on the motion is told
)

// NewCommandEstimator returns one whose robot moves as moves says.
func NewCommandEstimator(moves Moves) *CommandEstimator {
	p := DefaultParams()
	p.Noise, p.JumpAfter = commandNoise, leapAfter
	e, err := New(p)
	if err != nil {
		panic(err) // the defaults are in range
	}
	e.origin, e.past.pushed = commands, true
	return &CommandEstimator{filter: e, moves: moves, t: math.NaN(), newest: math.NaN(), refused: math.NaN()}
}

// AddPose takes a pose that has come by now, s.
func (c *CommandEstimator) AddPose(z Pose, now float64) {
	if since := z.T - c.newest; !z.valid() || since >= 0 && since < shortest {
		return
	}
	if !(math.Abs(now-c.t) < maxBehind) {
		c.Restart()
		c.t = z.T - before
	}
	c.newest = z.T
	c.follow(now)
	if p := c.filter.phase; p == Waiting || p == Lost {
		c.filter.leave() // poses are right
	}
	c.noise.add(&z)
	z.Spread = c.noise.spread()
	switch c.filter.AddPose(z) {
	case Begun, Jumped:
		c.agreed, c.refused = now, math.NaN()
		c.onset = onset{}
	case Fused:
		c.agreed, c.refused = now, math.NaN()
		if c.filter.phase == Ready && c.onset.add(z.T, &c.filter.work) {
			c.filter.past.pushedAnew(anewPush, anewSince)
			c.filter.catchUp()
		}
	case Rejected:
		if math.IsNaN(c.refused) {
			c.refused = c.agreed
		}
		if now-c.refused > unbelieved {
			c.filter.phase = Lost // it begins anew at the next
		}
	}
}

// At is the state at now, s, not before that of AddPose; false where poses do not bear it out.
func (c *CommandEstimator) At(now float64) (quad.State, bool) {
	if !(now-c.t < maxBehind) {
		return quad.State{}, false
	}
	c.follow(now)
	return c.filter.Estimate().State, c.filter.phase == Ready && !(now-c.refused > unbelieved)
}

// Yield has it begin anew where it is off the poses by a leap. It is for a time in which nobody flies by it.
func (c *CommandEstimator) Yield() {
	if c.filter.frame != (frame{}) {
		c.Restart()
	}
}

// Restart forgets all but what poses err by, and what the biases stood for.
func (c *CommandEstimator) Restart() {
	c.filter.restart()
	c.filter.sound, c.t, c.refused, c.noise.n = math.Inf(-1), math.NaN(), math.NaN(), 0
	c.newest = math.NaN()
}

// follow carries the motion on to a time, by what was commanded.
func (c *CommandEstimator) follow(now float64) {
	for c.t < now-1e-6 {
		to := min(now, c.t+longestMove)
		if c.from = c.filter.Estimate().State; c.filter.phase == Waiting {
			c.from = quad.State{Q: so3.Identity()}
		}
		sample := Imu{T: to}
		sample.Rates, sample.Force = c.moves(&c.from, c.t, to)
		c.filter.AddImu(sample)
		c.t = to
	}
}

// A push that has set in is unknown to 3 m/s², and has acted for 30 ms by when it is noticed.
const (
	anewPush  = 3.0
	anewSince = 0.03
)

// onset notices a push that sets in: poses come to lie to one side of where they are expected, by more than their
// scatter allows. Where turns do so, too, commands are followed otherwise than expected, and nothing pushes.
type onset struct {
	place, turn side
	turned      float64 // when a turn was not as expected last, s
}

// add takes an innovation at a stamp, s.
func (o *onset) add(t float64, w *poseWork) bool {
	const (
		place, turn = 8, 3 // squares of a mean, of those of white noise: one in 40,000 and in 300 is beyond
		settles     = 0.2  // s after a turn that was not as expected
	)
	p, r := w.off()
	if o.turn.add(r) > turn {
		o.turned = t
	}
	if !(o.place.add(p) > place) || math.Abs(t-o.turned) < settles {
		return false
	}
	o.place.mean = so3.Vec3{}
	return true
}

// side is the mean of the newest innovations, and mean squares of the last hundred: of innovations, and of that mean,
// which is more where what a source errs by lasts.
type side struct {
	mean   so3.Vec3
	square float64
	usual  float64
	n      float64 // innovations
}

// add returns the square of the mean over what it usually is, in white noise at least; 0 before that is known.
func (s *side) add(r so3.Vec3) float64 {
	const (
		newest  = 0.25 // share of an innovation in the mean
		longest = 100  // innovations that square is of
		known   = 20   // of them, from which on it is known
		most    = 9    // times square that one may count there
		alone   = 2.5  // times its root that one may count in the mean
		swaying = 1.5  // times less that counts which usually lasts: gusts come and go, too
	)
	s.n = min(s.n+1, longest)
	square := r.Dot(r)
	if s.n > 1 {
		r = r.Shorten(alone * math.Sqrt(s.square)) // one that stands out is no push
	}
	s.mean = s.mean.Add(r.Sub(s.mean).Scale(newest))
	white := s.square * newest / (2 - newest)
	if s.n > known {
		square = min(square, most*s.square)
	}
	s.square += (square - s.square) / s.n
	usual, mean := max(white, s.usual/swaying), s.mean.Dot(s.mean)
	s.usual += (min(mean, most*usual) - s.usual) / s.n
	if white == 0 || s.n < known {
		return 0
	}
	return mean / usual
}

// poseNoise follows what poses err by, from third divided differences: where a path bends evenly, noise alone is left.
type poseNoise struct {
	last               [4]Pose // the newest first
	n                  int
	position, attitude float64 // variances, m² and rad²; 0: not known
}

func (p *poseNoise) add(z *Pose) {
	const longest = 0.2 // s over which a path bends evenly
	if p.n > 0 && !(z.T > p.last[0].T) {
		return
	}
	copy(p.last[1:], p.last[:3])
	p.last[0] = *z
	if p.n = min(p.n+1, 4); p.n < 4 || p.last[0].T-p.last[3].T > longest {
		return
	}
	var off, turn so3.Vec3
	sum := 0.0
	for i := range p.last {
		w := 1.0
		for j := range p.last {
			if i != j {
				w /= p.last[i].T - p.last[j].T
			}
		}
		off = off.Add(p.last[i].P.Sub(z.P).Scale(w))
		turn = turn.Add(so3.Log(z.Q.Conj().Mul(p.last[i].Q)).Scale(w))
		sum += w * w
	}
	p.position = blend(p.position, off.Dot(off)/(3*sum), commandNoise.Position)
	p.attitude = blend(p.attitude, turn.Dot(turn)/(3*sum), commandNoise.Attitude)
}

// blend takes a new square into a variance, which one that stands out hardly moves. Nor is it to begin with: least is
// the square's root at best.
func blend(variance, square, least float64) float64 {
	const memory, most = 0.01, 9
	if variance == 0 {
		return min(square, most*least*least)
	}
	return variance + memory*(min(square, most*variance)-variance)
}

// spread is what poses err by.
func (p *poseNoise) spread() Spread {
	a, b := math.Sqrt(p.position), math.Sqrt(p.attitude)
	return Spread{Position: so3.Vec3{X: a, Y: a, Z: a}, Attitude: so3.Vec3{X: b, Y: b, Z: b}}
}
