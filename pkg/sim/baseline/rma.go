package baseline

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/nn/layers"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// RMA flies a policy that was trained under disturbances that it was told, and tells it what a network reads from the
// newest rows (A. Kumar et al., "RMA: rapid motor adaptation for legged robots", 2021). It ticks once per Δt, is for
// one goroutine, and observes what it flies.
type RMA struct {
	*Informed
	history history
	adapter *Adapter
	keep    float64  // share of its wind that a step keeps
	wind    so3.Vec3 // as the policy sees it, m/s²
}

// Rows that the adaptation module reads, as the encoder of vnd does, and its inputs.
const (
	historyRows   = 20
	adapterInputs = 3*historyRows + basisInputs
)

// history are the newest rows: what the rigid body left of their accelerations, m/s², the youngest last, and the state.
type history struct {
	plant    *plant
	expected so3.Vec3
	last     quad.Row
	rows     int // without a gap
	left     [historyRows]so3.Vec3
}

func (h *history) reset() {
	h.plant.reset()
	h.rows, h.left = 0, [historyRows]so3.Vec3{}
}

// observe takes a row. Over a gap what was there stays.
func (h *history) observe(r *quad.Row) {
	if h.rows > 0 && quad.Follows(h.last.T, r.T, h.plant.dt) {
		copy(h.left[:], h.left[1:])
		h.left[historyRows-1] = r.State.V.Sub(h.last.State.V).Scale(1 / h.plant.dt).Sub(h.expected)
	}
	h.expected, h.last = h.plant.observe(r), *r
	h.rows++
}

// put writes the inputs of the adaptation module.
func (h *history) put(x []float32) {
	const unit = 3 // m/s²
	for k, l := range h.left {
		x[3*k], x[3*k+1], x[3*k+2] = float32(l.X/unit), float32(l.Y/unit), float32(l.Z/unit)
	}
	now := inputs(&h.last)
	copy(x[3*historyRows:], now[:])
}

// Adapter is the adaptation module: from the newest rows to what the policy is told. It is for one goroutine.
type Adapter struct {
	net  *nets.Policy[float32]
	tape *nets.PolicyTape[float32]
	x    [adapterInputs]float32
}

// adapterRange is the greatest number that an adaptation module tells; outputs of the network are bounded.
const adapterRange = 4

func newAdapter(rows int) (*Adapter, error) {
	net, err := nets.NewPolicy[float32](nets.PolicyConfig{Inputs: adapterInputs, Actions: 3, Hidden: []int{64, 64}})
	if err != nil {
		return nil, err
	}
	return &Adapter{net: net, tape: net.NewTape(rows, 1)}, nil
}

// clone is a module with the same weights, for another goroutine.
func (a *Adapter) clone() (*Adapter, error) {
	o, err := newAdapter(1)
	if err == nil {
		copy(o.net.Params, a.net.Params)
		o.net.Refresh()
	}
	return o, err
}

// read is what the newest rows tell, in units of the spread.
func (a *Adapter) read(h *history) so3.Vec3 {
	var u [3]float32
	h.put(a.x[:])
	a.net.Forward(a.tape, 0, 1, a.x[:], u[:])
	return so3.Vec3{X: float64(u[0]), Y: float64(u[1]), Z: float64(u[2])}.Scale(adapterRange)
}

// NewRMA makes one of a policy of NewInformed and its adaptation module, for a robot. What it tells passes a filter of
// cutoff, rad/s.
func NewRMA(p *policy.Policy[float32], spread float64, a *Adapter, cutoff float64, r Airframe, dt float64,
	reference func(t float64) quad.Reference) (*RMA, error) {
	o, err := NewInformed(p, spread, dt, reference)
	if err != nil {
		return nil, err
	}
	m := &RMA{Informed: o, history: history{plant: newPlant(r, dt)}, keep: math.Exp(-cutoff * dt)}
	m.adapter, err = a.clone()
	return m, err
}

// Reset implements quad.Controller.
func (m *RMA) Reset() {
	m.Informed.Reset()
	m.history.reset()
	m.wind = so3.Vec3{}
	m.SetWind(m.wind)
}

// Observe takes what was flown, once per tick after its command.
func (m *RMA) Observe(s quad.Row) {
	m.history.observe(&s)
	if m.history.rows > historyRows {
		m.wind = m.wind.Scale(m.keep).Add(m.adapter.read(&m.history).Scale((1 - m.keep) * m.spread))
	}
	m.SetWind(m.wind)
}

// Adaptation is how an adaptation module is learned: in flights of the policy in the model that it was trained in.
type Adaptation struct {
	Policy  *policy.Policy[float32]
	Spread  float64             // of the winds, m/s²
	Winds   []so3.Vec3          // that half of the flights meet
	Model   *vnd.Model[float32] // of all but the wind
	Noise   float64             // of measured velocities, m/s
	Robot   Airframe
	Dt      float64 // s
	Paths   []func(t float64) quad.Reference
	Flights int // in each of two turns
	Updates int // likewise
	Seed    uint64
}

// Steps of a flight, and rows of an update.
const (
	adaptationSteps = 150
	adaptationBatch = 256
)

// Learn learns an adaptation module. In the first flights the policy is told the truth, in the second what the module
// reads: so it learns where it leads.
func (c *Adaptation) Learn(ctx context.Context) (*Adapter, error) {
	if len(c.Paths) == 0 || c.Policy.Latent != 3 {
		return nil, fmt.Errorf("an adaptation module of %d paths and a policy that is given %d numbers, want 3",
			len(c.Paths), c.Policy.Latent)
	}
	a, err := newAdapter(adaptationBatch)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(c.Seed, 0x12a))
	a.net.Init(rng, nil)
	a.net.Refresh()
	var rows []adapted
	for turn := range 2 {
		for k := range c.Flights {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			flown, err := c.fly(a, turn > 0, c.Paths[k%len(c.Paths)], rng)
			if err != nil {
				return nil, err
			}
			rows = append(rows, flown...)
		}
		if err := a.descend(ctx, rows, c.Updates, rng); err != nil {
			return nil, err
		}
	}
	return a.clone()
}

// adapted is what the module saw and should have told.
type adapted struct {
	x [adapterInputs]float32
	y [3]float32
}

// wind draws one.
func (c *Adaptation) wind(rng *rand.Rand) so3.Vec3 {
	if len(c.Winds) > 0 && rng.IntN(2) == 0 {
		return c.Winds[rng.IntN(len(c.Winds))]
	}
	return so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(c.Spread)
}

// fly flies once, in a wind that changes.
func (c *Adaptation) fly(a *Adapter, read bool, path func(t float64) quad.Reference, rng *rand.Rand) (rows []adapted,
	err error) {
	m, err := NewRMA(c.Policy, c.Spread, a, math.Inf(1), c.Robot, c.Dt, path)
	if err != nil {
		return nil, err
	}
	m.Reset()
	world := newImagined(c.Model)
	start := path(0)
	state := quad.State{P: start.P, Q: so3.FromEuler(0, 0, start.Yaw), V: start.V}
	wind := c.wind(rng)
	const steps = adaptationSteps
	turns := steps/4 + rng.IntN(steps/2)
	for k := range steps {
		if k == turns {
			wind = c.wind(rng)
		}
		t := float64(k) * c.Dt
		seen := state
		seen.V = seen.V.Add(so3.Vec3{X: rng.NormFloat64(), Y: rng.NormFloat64(), Z: rng.NormFloat64()}.Scale(c.Noise))
		if !read {
			m.SetWind(wind)
		}
		row := quad.Row{T: t, State: seen, Command: c.Policy.Limits.Clip(m.Command(t, &seen))}
		if m.Observe(row); m.history.rows > historyRows {
			var r adapted
			m.history.put(r.x[:])
			y := wind.Scale(1 / (adapterRange * c.Spread))
			r.y = [3]float32{float32(y.X), float32(y.Y), float32(y.Z)}
			rows = append(rows, r)
		}
		state = world.step(&state, &row.Command, wind, c.Dt)
		if !state.P.Sub(path(t).P).Finite() || state.P.Sub(path(t).P).Norm() > 5 {
			break // it has lost its way: what it sees there is no flight
		}
	}
	return rows, nil
}

// descend takes steps down the mean square error of rows.
func (a *Adapter) descend(ctx context.Context, rows []adapted, updates int, rng *rand.Rand) error {
	const rate = 2e-3
	n := adaptationBatch
	x, u, du := make([]float32, n*adapterInputs), make([]float32, n*3), make([]float32, n*3)
	dx, grad := make([]float32, n*adapterInputs), make([]float32, len(a.net.Params))
	y := make([]float32, n*3)
	adam := layers.NewAdam[float32](len(a.net.Params))
	adam.Clip = 1
	for k := range updates {
		if err := ctx.Err(); err != nil {
			return err
		}
		for i := range n {
			r := &rows[rng.IntN(len(rows))]
			copy(x[i*adapterInputs:], r.x[:])
			copy(y[3*i:], r.y[:])
		}
		a.net.Forward(a.tape, 0, n, x, u)
		for i := range du {
			du[i] = (u[i] - y[i]) / float32(n)
		}
		clear(grad)
		a.net.Backward(a.tape, 0, du, dx)
		a.net.Grads(a.tape, 1, grad)
		adam.Update(a.net.Params, grad, rate*(1-float64(k)/float64(updates)))
		a.net.Refresh()
	}
	return nil
}

// imagined is a robot in a model.
type imagined struct {
	rollout    *vnd.Rollout[float32]
	s, a, next []float32
}

func newImagined(m *vnd.Model[float32]) *imagined {
	d := m.System.Dims()
	return &imagined{m.NewMeanRollout(1, 1), robot.Settled(m.System), make([]float32, d.Action),
		make([]float32, d.State)}
}

// step returns the state after a step of dt seconds under a command, in a wind, m/s². Models do not look at places.
func (w *imagined) step(s *quad.State, c *quad.Command, wind so3.Vec3, dt float64) quad.State {
	quadrotor.Measured(&quad.State{Q: s.Q, V: s.V}, w.s)
	quadrotor.Action(c, w.a)
	w.rollout.Begin(0, 1, 1, nil)
	w.rollout.Step(0, w.s, w.a, w.next)
	w.s, w.next = w.next, w.s
	after := quadrotor.State(w.s)
	after.P = s.P.Add(after.P).Add(wind.Scale(dt * dt / 2))
	after.V = after.V.Add(wind.Scale(dt))
	return after
}

// VelocityNoise is the noise of measured velocities as flights show it, m/s: what a step leaves of accelerations beside
// the mean of its neighbours.
func VelocityNoise(segments [][]quad.Row, r Airframe, dt float64) float64 {
	var sum, n float64
	for _, rows := range segments {
		h := history{plant: newPlant(r, dt)}
		h.reset()
		for k := range rows {
			if h.observe(&rows[k]); h.rows > historyRows {
				const last = historyRows - 1
				d := h.left[last].Sub(h.left[last-1].Scale(2)).Add(h.left[last-2])
				sum, n = sum+d.Dot(d), n+3
			}
		}
	}
	// A velocity's noise σ comes with the weights 1, −3, 3, −1 into a second difference of accelerations.
	return math.Sqrt(sum/max(1, n)/20) * dt
}
