package quadtrain

import (
	"math"
	"math/rand/v2"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/train"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// Nominal is the physics prior alone, with an actuator drawn anew for each tile
// and epoch: a policy over-trained on one lag shakes on another.
type Nominal struct {
	Dt       float64 `param:"dt" default:"0.02" min:"0.001" max:"0.1" unit:"s" doc:"Δt of a step"`
	MinLag   float64 `param:"min_lag" default:"0.01" min:"0" max:"0.3" unit:"s" doc:"least lag of thrust and rates"`
	MaxLag   float64 `param:"max_lag" default:"0.03" min:"0" max:"0.3" unit:"s" doc:"greatest lag"`
	MaxDelay float64 `param:"max_delay" default:"4.0" min:"0" max:"8" unit:"steps" doc:"greatest delay of commands"`
	Gain     float64 `param:"gain" default:"0.05" min:"0" max:"0.5" doc:"spread of the thrust gain around 1 (standard deviation)"`
	Margins  Margins `param:"margins" doc:"margins: how commands may be followed otherwise than in the nominal simulator, drawn at random"`
	Wind     float64 `param:"wind" default:"0.0" min:"0" max:"20" unit:"m/s²" doc:"spread of a constant acceleration on each axis (standard deviation)"`
}

// draw returns some actuator of the range.
func (n *Nominal) draw(rng *rand.Rand) quadrotor.Actuator {
	lag := func() float64 { return n.MinLag + (max(n.MaxLag, n.MinLag)-n.MinLag)*rng.Float64() }
	delay := n.MaxDelay * rng.Float64()
	return quadrotor.Actuator{ThrustGain: max(0.1, 1+n.Gain*rng.NormFloat64()), RateGain: 1,
		ThrustLag: lag(), RateLag: lag(), ThrustDelay: delay, RateDelay: delay}
}

// NominalWorld is Nominal in the arithmetic of F.
func NominalWorld[F kernel.Float](n Nominal) train.World[F] {
	return respond(&train.Prior[F]{Nominal: quadrotor.NewQuadrotor[F](n.Dt, quadrotor.NominalActuator()),
		Draw: func(rng *rand.Rand) robot.System[F] { return quadrotor.NewQuadrotor[F](n.Dt, n.draw(rng)) },
		Push: func(rng *rand.Rand, w []F) { pushed(&n, rng, w) }}, n.Dt, n.Margins, 0)
}

// pushed draws what a wind adds to a state in a step, the tangent w[U].
func pushed[F kernel.Float](n *Nominal, rng *rand.Rand, w []F) {
	clear(w)
	for j := range 3 {
		push := n.Wind * n.Dt * rng.NormFloat64()
		w[j], w[3+j] = F(push*n.Dt/2), F(push)
	}
}

// MeanLag is the middle of the lags, s.
func (n *Nominal) MeanLag() float64 { return max((n.MinLag+max(n.MaxLag, n.MinLag))/2, 1e-3) }

// Margins are how far commands may be followed otherwise than the world says. Each robot of an episode draws anew, all
// three axes alike. Rate loops of autopilots are of second order: a policy that knows lags alone makes some of them
// swing. A late link delays thrust as it delays rates: without that draw the loop of height was the first to swing.
// Where Delay is above 0 thrust comes late in any robot, by up to 2 steps: turns tell a policy how late body rates
// follow, and nothing tells it of thrust.
type Margins struct {
	Gain      float64 `param:"gain" default:"0.2" min:"0" max:"0.9" doc:"greatest deviation of the gain of body rates from 1"`
	Delay     float64 `param:"delay" default:"0.0" min:"0" max:"6" unit:"steps" doc:"greatest delay of commands beside that of the model; above 0 thrust is late in any draw, by up to 2 of these"`
	Overshoot float64 `param:"overshoot" default:"0.35" min:"0" max:"0.9" doc:"greatest overshoot of body rates after a step, as a share of it; 0: none overshoots"`
	Frequency float64 `param:"frequency" default:"12" min:"1" max:"1000" unit:"rad/s" doc:"least natural frequency of body rates that overshoot"`
	Share     float64 `param:"share" default:"1.0" min:"0" max:"1" doc:"share of draws in which body rates are followed otherwise at all"`
}

// respond puts a world behind the responses that m draws; without margins it is the world itself. A policy sees lags of
// body rates in a unit, s; 0: none.
func respond[F kernel.Float](w train.World[F], dt float64, m Margins, unit float64) train.World[F] {
	r := &train.Responding[F]{World: w, Dt: dt, Draw: m.draw}
	switch {
	case unit > 0:
		r.Shown = func(each []train.Response) float64 { return each[len(each)-1].Lag(dt) / unit }
	case m.Gain == 0 && m.Delay == 0 && m.Overshoot == 0:
		return w
	}
	return r
}

// none draws whether body rates are followed as the world says.
func (m *Margins) none(rng *rand.Rand) bool { return m.Share < 1 && rng.Float64() >= m.Share }

// draw writes a response for each action, in place of those without gain, delay and lag.
func (m *Margins) draw(rng *rand.Rand, each []train.Response) {
	const overshooting, span = 0.7, 4 // share of the others; greatest frequency over the least
	const mostThrustDelay = 2.0       // steps, where body rates are followed as the world says
	if m.Delay > 0 {
		each[0].Delay = min(m.Delay, mostThrustDelay) * rng.Float64()
	}
	if m.none(rng) {
		return
	}
	r := train.Response{Gain: 1 + m.Gain*(2*rng.Float64()-1), Delay: m.Delay * rng.Float64()}
	if m.Overshoot > 0 && rng.Float64() < overshooting {
		least := train.Damping(m.Overshoot)
		r.Frequency, r.Damping = m.Frequency*math.Pow(span, rng.Float64()), least+(1-least)*rng.Float64()
	}
	each[0].Delay = max(each[0].Delay, r.Delay)
	for j := 1; j < len(each); j++ {
		each[j] = r
	}
}

// Pushes are constant accelerations on each axis that a learned model does not know, m/s² (standard deviations).
type Pushes struct {
	Hidden   float64 // is not seen by the policy either: what is not known yet
	Measured float64 // is seen by the policy, in units of itself, as policy.Push measures it
	Rate     float64 // of that measurement, rad/s
	Lag      float64 // unit of the lag beyond the model that the policy sees, s; 0: it sees none
}

// Learned is a fitted model at steps of dt seconds. through lets gradients flow through its residual. around is how
// else its body rates may follow.
func Learned[F kernel.Float](m *vnd.Model[F], dt float64, through bool, p Pushes, around Margins) train.World[F] {
	draw := func(rng *rand.Rand) so3.Vec3 {
		return so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}
	}
	w := &train.Learned[F]{Model: m, Through: through, Push: func(rng *rand.Rand, to []F) {
		put(draw(rng).Scale(p.Hidden), dt, to)
	}}
	if p.Measured > 0 {
		w.Measured = train.MeasuredDisturbance[F]{Size: WindSize, Share: F(1 - math.Exp(-p.Rate*dt)),
			Draw: func(rng *rand.Rand, z, to []F) {
				x := draw(rng)
				z[0], z[1], z[2] = F(x.X), F(x.Y), F(x.Z)
				put(x.Scale(p.Measured), dt, to)
			}}
	}
	return respond(w, dt, around, p.Lag)
}

// put writes what a wind, m/s², adds to a state in a step of dt seconds, m[M].
func put[F kernel.Float](wind so3.Vec3, dt float64, m []F) {
	quadrotor.Measured(&quad.State{P: wind.Scale(dt * dt / 2), V: wind.Scale(dt)}, m)
}

// WindSize is the size of what a policy of Informed sees in place of a latent.
const WindSize = 3

// Informed is another world under a constant wind that the policy is told instead of a latent: z ~ N(0, I) is in units
// of spread, the standard deviation of the wind on each axis, m/s².
func Informed[F kernel.Float](w train.World[F], dt, spread float64) *train.Informed[F] {
	return &train.Informed[F]{World: w, Size: WindSize, Push: func(z, m []F) {
		put(so3.Vec3{X: float64(z[0]), Y: float64(z[1]), Z: float64(z[2])}.Scale(spread), dt, m)
	}}
}

// TrueWind is what a policy of Informed sees in place of a latent under a wind, an acceleration in the world, m/s².
func TrueWind[F kernel.Float](wind so3.Vec3, spread float64) [WindSize]F {
	return [WindSize]F{F(wind.X / spread), F(wind.Y / spread), F(wind.Z / spread)}
}
