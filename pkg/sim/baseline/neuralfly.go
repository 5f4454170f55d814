package baseline

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

// NeuralFly flies a path by the geometric law with a push aᵀ·φ(x), whose coefficients adapt in flight: a Kalman filter
// of what the rigid body leaves of its accelerations, with forgetting, and a term of the tracking error (composite
// adaptation: M. O'Connell et al., "Neural-Fly enables rapid learning for agile flight in strong winds", 2022). The
// filter takes discrete steps of Δt. It ticks once per Δt, is for one goroutine, and observes what it flies.
type NeuralFly struct {
	config NeuralFlyConfig
	law    *geometric
	plant  *plant
	basis  *Basis
	dt     float64

	a        [functions]so3.Vec3           // coefficients, m/s²
	p        [functions][functions]float64 // their covariance, the same for each axis
	last     quad.Row
	f        features // at the last row
	expected so3.Vec3
	begun    bool
}

// NeuralFlyConfig is that of law and adaptation.
type NeuralFlyConfig struct {
	Gains      guard.Gains // of the geometric law, but for its integral and its lead
	Forgetting float64     // λ, 1/s
	Process    float64     // Q, growth of the covariance, 1/s
	Noise      float64     // R, variance of what a step leaves
	Tracking   float64     // weight of the tracking error beside that of the prediction
}

// NewNeuralFly makes one for a robot, at Δt = dt seconds.
func NewNeuralFly(c NeuralFlyConfig, b *Basis, l quad.Limits, r Airframe, dt float64, path guard.Path) (*NeuralFly,
	error) {
	law, err := newGeometric(c.Gains, l, r, dt, path)
	if err != nil {
		return nil, err
	}
	n := &NeuralFly{config: c, law: law, plant: newPlant(r, dt), dt: dt}
	n.basis, err = b.clone()
	n.Reset()
	return n, err
}

// Reset implements quad.Controller.
func (n *NeuralFly) Reset() {
	n.law.law.Reset()
	n.plant.reset()
	n.a, n.p, n.begun = [functions]so3.Vec3{}, [functions][functions]float64{}, false
	for j := range n.p {
		n.p[j][j] = 1
	}
}

// push is the sum of the basis, m/s² in the world.
func (n *NeuralFly) push(f *features) (sum so3.Vec3) {
	for j := range f {
		sum = sum.Add(n.a[j].Scale(f[j]))
	}
	return sum
}

// Command implements quad.Controller.
func (n *NeuralFly) Command(t float64, s *quad.State) quad.Command {
	row := n.last
	row.State = *s
	f := n.basis.at(&row)
	return n.law.command(t, s, n.push(&f))
}

// Observe takes what was flown, once per tick after its command. Over a gap the coefficients stay.
func (n *NeuralFly) Observe(s quad.Row) {
	if n.begun && quad.Follows(n.last.T, s.T, n.dt) {
		n.adapt(s.State.V.Sub(n.last.State.V).Scale(1/n.dt).Sub(n.expected), &s)
	}
	n.expected, n.last, n.begun = n.plant.observe(&s), s, true
	n.f = n.basis.at(&s)
}

// adapt takes what the step since the last row left, m/s².
func (n *NeuralFly) adapt(left so3.Vec3, s *quad.Row) {
	c, f := &n.config, &n.f
	keep := 1 - c.Forgetting*n.dt
	var gain features
	noise := c.Noise
	for i := range n.p {
		for j := range n.p {
			n.p[i][j] *= keep * keep
		}
		n.p[i][i] += c.Process * n.dt
	}
	for i := range n.p {
		for j := range n.p {
			gain[i] += n.p[i][j] * f[j]
		}
		noise += gain[i] * f[i]
	}
	r := n.law.path.At(s.T)
	g := &c.Gains
	lag := s.State.V.Sub(r.V).Add(s.State.P.Sub(r.P).Scale(g.Position / g.Velocity)) // s of the paper
	off := left.Sub(n.push(f).Scale(keep)).Scale(1 / noise).Add(lag.Scale(c.Tracking * n.dt))
	for i := range n.a {
		n.a[i] = n.a[i].Scale(keep).Add(off.Scale(gain[i]))
		for j := range n.p {
			n.p[i][j] -= gain[i] * gain[j] / noise
		}
	}
}
