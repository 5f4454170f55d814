package policy

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// Push moves the reference that the policy sees against the newest push: what measured accelerations have beyond those
// that the model expects under the policy's latent. A latent is of 0.4 s, and its mean of a second; gusts and a
// payload that is hung on are quicker. It is the disturbance observer of a policy with a model; one without has none.
type Push struct {
	Rate  float64 `param:"rate" default:"8.0" min:"0" max:"100" unit:"rad/s" doc:"bandwidth with which a push is followed; 0 follows none"`
	Share float64 `param:"share" default:"0.7" min:"0" max:"1" doc:"share of a push that is answered: the rest is phase margin"`
	Limit float64 `param:"limit" default:"0.2" min:"0" max:"1" unit:"m" doc:"greatest distance by which the reference is moved"`
}

// pushSensor follows a flight by the model of a bundle, and reports the push that this did not expect.
type pushSensor struct {
	dt                float64
	rollout           *vnd.Rollout[float32]
	settled           []float32 // [S] of a robot that has hovered for long
	s, a, next        []float32 // [S] of the last row, its actuator as it should be by the commands; [A], [S]
	last              so3.Vec3  // velocity of the last row in the world, m/s
	at                float64   // s, of the last row; NaN before the first
	rows              int       // since then
	lateral, vertical float64   // by how much the policy's reference must be moved for a push, m per m/s²
}

// feltAfter is how many rows the actuator must have been followed for: before, it may not have hovered.
const feltAfter = 10

func newPushSensor(l *LoadedBundle, b *Buffers) *pushSensor {
	system := l.Robot.System()
	d := system.Dims()
	p := &pushSensor{dt: l.Dt, rollout: l.Model.NewMeanRollout(1, 1), settled: robot.Settled(system),
		s: make([]float32, d.State), a: make([]float32, d.Action), next: make([]float32, d.State)}
	p.lateral, p.vertical = b.compliance()
	p.reset()
	return p
}

// reset takes the robot to have hovered.
func (p *pushSensor) reset() {
	copy(p.s, p.settled)
	p.at, p.rows = math.NaN(), 0
}

// follow goes on from where another one is.
func (p *pushSensor) follow(before *pushSensor) {
	copy(p.s, before.s)
	p.last, p.at, p.rows = before.last, before.at, before.rows
}

// add takes the state at a row's end and the mean command of the row, and returns the push of the row that the model
// did not expect under the latent z, m/s² in the world, and how long the row was, s. It is unknown after a gap, and
// until the actuator is known.
func (p *pushSensor) add(t float64, s *quad.State, c *quad.Command, z []float32) (push so3.Vec3, dt float64,
	known bool) {
	if !c.Finite() || !s.V.Finite() || !s.Q.Finite() {
		p.reset()
		return push, 0, false
	}
	quadrotor.Action(c, p.a)
	p.rollout.Begin(0, 1, 1, z)
	p.rollout.Step(0, p.s, p.a, p.next)
	expected := quadrotor.State(p.next)
	dt = t - p.at
	push = s.V.Sub(p.last).Scale(1 / dt).Sub(expected.V.Sub(p.last).Scale(1 / p.dt))
	p.rows++
	if !(dt > p.dt/2 && dt < 2*p.dt) {
		p.rows = 0
	}
	p.s, p.next = p.next, p.s
	p.last, p.at = s.V, t
	quadrotor.Measured(&quad.State{Q: s.Q, V: s.V}, p.s) // the model does not look at places
	return push, dt, p.rows > feltAfter && push.Finite()
}

// answer is where the reference is to be moved for a push, m in the world.
func (k *Push) answer(p *pushSensor, push so3.Vec3) so3.Vec3 {
	to := so3.Vec3{X: p.lateral * push.X, Y: p.lateral * push.Y, Z: p.vertical * push.Z}
	return shorten(to.Scale(-k.Share), k.Limit)
}

// feelPush moves the reference against the push of the row that has ended.
func (f *Runner) feelPush(t float64, s *quad.State) {
	k, p := &f.policy.Push, f.sensor
	if p == nil { // it is of a policy before
		f.pushed = f.pushed.Scale(math.Exp(-f.dt / fade))
		return
	}
	c := f.policy.Command([nA]float32(f.past[len(f.past)-nA:]))
	if push, dt, known := p.add(t, s, &c, f.z); known {
		f.pushed = f.pushed.Add(k.answer(p, push).Sub(f.pushed).Scale(1 - math.Exp(-k.Rate*dt)))
	}
}

// stiffest is the least distance that a reference is taken to have to be moved for 1 m/s², and softest the greatest, m.
const (
	stiffest = 0.005
	softest  = 0.25
)

// compliance is by how much a policy's reference must be moved for 1 m/s², m: in the level, and upwards. Both are of
// the policy's own answers where it hovers, to a reference beside it, to a tilt, and to a reference above. They are its
// first ones: once it sees its own thrust of before it answers less, and a push is answered too much while it is new. A
// policy that does not go where its reference is has none.
func (b *Buffers) compliance() (lateral, vertical float64) {
	const offset, tilt = 0.03, 0.03 // m, rad
	var at so3.Vec3
	f := NewRunnerOf(b, 0, func(float64) quad.Reference { return quad.Reference{P: at} })
	answer := func(p so3.Vec3, q so3.Quat) quad.Command {
		f.ResetActions()
		at = p
		return f.Command(0, &quad.State{Q: q})
	}
	difference := func(p so3.Vec3, q so3.Quat) quad.Command {
		up, down := answer(p, q), answer(p.Scale(-1), q.Conj())
		return quad.Command{Thrust: up.Thrust - down.Thrust, Rates: up.Rates.Sub(down.Rates)}
	}
	level := so3.Identity()
	x, y := difference(so3.Vec3{X: offset}, level).Rates.Y, -difference(so3.Vec3{Y: offset}, level).Rates.X
	pitch := -difference(so3.Vec3{}, so3.FromEuler(0, tilt, 0)).Rates.Y
	roll := -difference(so3.Vec3{}, so3.FromEuler(tilt, 0, 0)).Rates.X
	z := difference(so3.Vec3{Z: offset}, level).Thrust
	return soft((roll+pitch)/tilt, quad.Gravity*(x+y)/offset), soft(2, z/offset)
}

// soft is a/b within bounds, 0 where there is none.
func soft(a, b float64) float64 {
	if c := a / b; a > 0 && b > 0 && c >= stiffest {
		return min(c, softest)
	}
	return 0
}
