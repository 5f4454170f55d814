package scene

import (
	"fmt"
	"math"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Prediction is a rollout from a past state under the commands that were then sent, beside what was flown. Nothing
// measured after its start is in it, except these commands.
type Prediction struct {
	Bundle         string
	Start, End     int64      // stamps of the first and the last state
	Flown          []so3.Vec3 // p_W, m, from the start on
	Model, Physics []so3.Vec3 // under the learned model; under its physics prior alone
}

// ModelError and PhysicsError are how far from the end of the flown path the rollouts end, m.
func (i *Prediction) ModelError() float64   { return apart(i.Model, i.Flown) }
func (i *Prediction) PhysicsError() float64 { return apart(i.Physics, i.Flown) }

func apart(a, b []so3.Vec3) float64 { return a[len(a)-1].Sub(b[len(b)-1]).Norm() }

// mostImagined are kept.
const mostImagined = 600

// predictor is the learned model of a bundle, with the rows that it is asked about.
type predictor struct {
	id               string
	dt               float64
	past, ahead      int // rows
	learned, physics *vnd.Predictor[quad.Row, quad.Command, quad.State]

	window *quad.Window
	zero   int64 // stamp from which times count, ns
	sum    quad.Command
	n      int // ticks of the newest row
	last   float64
}

// AddModel takes the model of a bundle, if it has one, for what the steps that fly it are compared with.
func (s *Scene) AddModel(b *bundle.Bundle) error {
	if !vnd.In(b) {
		return nil
	}
	m, err := newModel(b, s.cfg.Horizon)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.models = append(s.models, m); len(s.models) > mostModels {
		s.models = slices.Delete(s.models, 0, 1)
	}
	return nil
}

// mostModels are kept: of the bundle that flies, of those that came after it, and of some to roll back to.
const mostModels = 4

// predictor is the model of a bundle; nil where it is not known.
func (s *Scene) predictor(id string) *predictor {
	for _, m := range slices.Backward(s.models) {
		if m.id == id {
			return m
		}
	}
	return nil
}

func newModel(b *bundle.Bundle, horizon float64) (*predictor, error) {
	m, q, err := vnd.FromBundle(b, quadrotor.Reader)
	if err != nil {
		return nil, err
	}
	prior := *m
	// 0 switches a head off
	prior.Output, prior.BiasShare = make([]float32, len(m.Output)), make([]float32, len(m.BiasShare))
	n := &predictor{id: b.ID, dt: q.Dt, past: m.Net.Context, ahead: max(int(math.Round(horizon/q.Dt)), 1),
		learned: vnd.NewPredictor(m, q), physics: vnd.NewPredictor(&prior, q)}
	if n.window, err = quad.NewWindow(n.past+n.ahead, q.Dt); err != nil {
		return nil, fmt.Errorf("bundle %s: %w", b.ID, err)
	}
	return n, nil
}

// origin is a stamp near which times are exact.
func (m *predictor) origin(stamp int64) int64 {
	if m.zero == 0 {
		m.zero = stamp
	}
	return m.zero
}

func (m *predictor) forget() {
	m.zero, m.n = 0, 0
	m.window.Push(quad.Row{T: math.NaN()}) // which nothing follows
}

// push takes a tick. A row is the state of its first tick and the mean command until the next row.
func (m *predictor) push(s quad.Row, rate float64) {
	if m.n > 0 {
		if d := s.T - m.last; d >= 0 && d < m.dt-0.5/rate {
			m.add(s.Command)
			return
		}
		rows := m.window.Rows()
		rows[len(rows)-1].Command = quad.Command{Thrust: m.sum.Thrust / float64(m.n),
			Rates: m.sum.Rates.Scale(1 / float64(m.n))}
	}
	m.window.Push(s)
	m.sum, m.n, m.last = quad.Command{}, 0, s.T
	m.add(s.Command)
}

func (m *predictor) add(c quad.Command) {
	m.sum.Thrust += c.Thrust
	m.sum.Rates = m.sum.Rates.Add(c.Rates)
	m.n++
}

// Predict has the model imagine the last second of flight from its start, and reports whether it did: before there is a
// model and a whole window there is nothing to imagine. One goroutine may call it at a time.
func (s *Scene) Predict() (bool, error) {
	s.mu.Lock()
	m, epoch := s.flies, s.epoch
	if m == nil || !m.window.Full() {
		s.mu.Unlock()
		return false, nil
	}
	rows, zero := slices.Clone(m.window.Rows()), m.zero
	s.mu.Unlock()
	i, err := m.predict(rows)
	if err != nil {
		return false, err
	}
	stamp := func(t float64) int64 { return zero + int64(math.Round(t*1e9)) }
	i.Start, i.End = stamp(rows[m.past].T), stamp(rows[len(rows)-1].T)
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.imagined); epoch != s.epoch || n > 0 && s.imagined[n-1].Start >= i.Start {
		return false, nil
	}
	if len(s.imagined) == mostImagined {
		s.imagined = slices.Clone(s.imagined[1:])
	}
	s.imagined = append(s.imagined, *i)
	s.imagines++
	return true, nil
}

func (m *predictor) predict(rows []quad.Row) (*Prediction, error) {
	window, flown := rows[:m.past+1], rows[m.past:]
	future := make([]quad.Command, m.ahead)
	for h := range future {
		future[h] = flown[h].Command
	}
	out := &Prediction{Bundle: m.id}
	for i := range flown {
		out.Flown = append(out.Flown, flown[i].State.P)
	}
	states := make([]quad.State, m.ahead)
	for _, p := range []struct {
		by *vnd.Predictor[quad.Row, quad.Command, quad.State]
		to *[]so3.Vec3
	}{{m.learned, &out.Model}, {m.physics, &out.Physics}} {
		if err := p.by.Predict([][]quad.Row{window}, [][]quad.Command{future}, [][]quad.State{states}); err != nil {
			return nil, fmt.Errorf("bundle %s: %w", m.id, err)
		}
		*p.to = append(*p.to, flown[0].State.P)
		for h := range states {
			*p.to = append(*p.to, states[h].P)
		}
	}
	return out, nil
}
