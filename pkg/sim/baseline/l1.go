package baseline

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

// L1 is the adaptive estimate of a push by the piecewise-constant law (Z. Wu et al., "L1 adaptive augmentation for
// geometric tracking control of quadrotors", 2022): a predictor of the velocity, its error over one step as the push,
// and a low-pass filter. Over steps of Δt the published law returns exp(A·Δt) of a constant push; at the paper's
// 400 Hz this is near 1, at 50 Hz it is not. The factor is divided out here, and with it A. Torques are left out: they
// are the autopilot's.
type L1 struct {
	plant    *plant
	keep     float64 // share of the filtered push that a step keeps
	expected so3.Vec3
	last     quad.Row
	push     so3.Vec3
	begun    bool
}

// NewL1 makes one for a robot at Δt = dt seconds, whose filter passes frequencies below cutoff, rad/s.
func NewL1(r Airframe, cutoff, dt float64) *L1 {
	return &L1{plant: newPlant(r, dt), keep: math.Exp(-cutoff * dt)}
}

// Reset forgets the past.
func (l *L1) Reset() {
	l.plant.reset()
	l.push, l.begun = so3.Vec3{}, false
}

// Push is the estimate of now, an acceleration in the world, m/s².
func (l *L1) Push() so3.Vec3 { return l.push }

// Observe takes what was flown, once per tick after its command. Over a gap the estimate stays.
func (l *L1) Observe(s quad.Row) {
	if l.begun && quad.Follows(l.last.T, s.T, l.plant.dt) {
		off := s.State.V.Sub(l.last.State.V).Scale(1 / l.plant.dt).Sub(l.expected)
		l.push = l.push.Scale(l.keep).Add(off.Scale(1 - l.keep))
	}
	l.expected, l.last, l.begun = l.plant.observe(&s), s, true
}

// L1Geometric flies a path by the geometric law with an L1 estimate of the push. It ticks once per Δt, is for one
// goroutine, and observes what it flies.
type L1Geometric struct {
	*L1
	law *geometric
}

// L1Config is that of the geometric law with L1 adaptation.
type L1Config struct {
	Gains  guard.Gains // of the geometric law, but for its integral and its lead
	Cutoff float64     // of the filter behind the estimate, rad/s
}

// NewL1Geometric makes one for a robot, at Δt = dt seconds.
func NewL1Geometric(c L1Config, l quad.Limits, r Airframe, dt float64, path guard.Path) (*L1Geometric, error) {
	law, err := newGeometric(c.Gains, l, r, dt, path)
	return &L1Geometric{NewL1(r, c.Cutoff, dt), law}, err
}

// Reset implements quad.Controller.
func (g *L1Geometric) Reset() {
	g.L1.Reset()
	g.law.law.Reset()
}

// Command implements quad.Controller.
func (g *L1Geometric) Command(t float64, s *quad.State) quad.Command {
	return g.law.command(t, s, g.push)
}
