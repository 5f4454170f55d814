package quadtrain

import (
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
	MaxLag   float64 `param:"max_lag" default:"0.06" min:"0" max:"0.3" unit:"s" doc:"greatest lag"`
	MaxDelay float64 `param:"max_delay" default:"1.0" min:"0" max:"4" unit:"steps" doc:"greatest delay of commands"`
	Gain     float64 `param:"gain" default:"0.05" min:"0" max:"0.5" doc:"spread of the thrust gain around 1 (standard deviation)"`
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
func NominalWorld[F kernel.Float](n Nominal) *train.Prior[F] {
	return &train.Prior[F]{Nominal: quadrotor.NewQuadrotor[F](n.Dt, quadrotor.NominalActuator()),
		Draw: func(rng *rand.Rand) robot.System[F] { return quadrotor.NewQuadrotor[F](n.Dt, n.draw(rng)) },
		Push: func(rng *rand.Rand, w []F) {
			for j := range 3 {
				push := n.Wind * n.Dt * rng.NormFloat64()
				w[j], w[3+j], w[6+j] = F(push*n.Dt/2), F(push), 0
			}
		}}
}

// Learned is a fitted model at steps of dt seconds. through lets gradients flow through its residual. wind is the
// spread of a constant acceleration on each axis (m/s², standard deviation) that neither model nor policy is told: what
// is not known yet.
func Learned[F kernel.Float](m *vnd.Model[F], dt float64, through bool, wind float64) *train.Learned[F] {
	return &train.Learned[F]{Model: m, Through: through, Push: func(rng *rand.Rand, to []F) {
		put(so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(wind), dt, to)
	}}
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
