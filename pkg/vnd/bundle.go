package vnd

import (
	"encoding/json"
	"fmt"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

// Robot is the only robot that bundles of this format describe.
const Robot = "quadrotor"

// section is the model's place in a bundle's configuration.
const section = "model"

// config is the part of a bundle's configuration that rebuilds the model.
type config struct {
	Nets     nets.Config        `json:"nets"`
	Actuator quadrotor.Actuator `json:"actuator"`
	Prior    bool               `json:"prior"` // false: the ablation without physics
	Known    float64            `json:"known"` // anchor weight of a known condition
	Age      float64            `json:"age"`   // of the latent, steps; 0: held
	World    bool               `json:"world"` // residual and features in the world frame
	Origin   so3.Vec3           `json:"origin"`
	Fit      json.RawMessage    `json:"fit,omitempty"` // the fit's own configuration, for the record
}

// Quadrotor names what a Model's system was built from.
type Quadrotor struct {
	Dt       float64 // s
	Actuator quadrotor.Actuator
	Prior    bool     // false: the ablation without physics
	World    bool     // residual and features in the world frame instead of the body's
	Origin   so3.Vec3 // p_W that the model's positions are relative to, m: float32 holds an arena finely, not a country
}

// check refuses numbers that no fit writes.
func (c *config) check() error {
	a := c.Actuator
	for _, x := range []struct {
		name    string
		v, most float64
	}{{"known", c.Known, 1}, {"age", c.Age, 1e6}, {"thrust_gain", a.ThrustGain, 10},
		{"thrust_delay", a.ThrustDelay, quadrotor.MaxDelay},
		{"thrust_lag", a.ThrustLag, 10}, {"rate_gain", a.RateGain, 10}, {"rate_delay", a.RateDelay, quadrotor.MaxDelay},
		{"rate_lag", a.RateLag, 10}} {
		if !(x.v >= 0 && x.v <= x.most) {
			return fmt.Errorf("configuration: %s is %g, want 0 to %g", x.name, x.v, x.most)
		}
	}
	return nil
}

// Flatten writes rows as measured[N][M] and actions[N][A] around the model's origin.
func (q *Quadrotor) Flatten(rows []quad.Step) (measured, actions []float32) {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].State.P = rows[i].State.P.Sub(q.Origin)
	}
	return quadrotor.Flatten[float32](rows)
}

// System builds the batched system.
func (q Quadrotor) System() *quadrotor.Quadrotor[float32] {
	sys := quadrotor.NewQuadrotor[float32](q.Dt, q.Actuator)
	if !q.Prior {
		sys = sys.WithoutPrior()
	}
	if q.World {
		sys = sys.InWorld()
	}
	return sys
}

// normalisers lists the tensors beside the nets' weights.
func (m *Model[F]) normalisers() []struct {
	name string
	data []F
} {
	return []struct {
		name string
		data []F
	}{
		{"normaliser.context.mean", m.Context.Mean}, {"normaliser.context.scale", m.Context.Scale},
		{"normaliser.inputs.mean", m.Inputs.Mean}, {"normaliser.inputs.scale", m.Inputs.Scale},
		{"normaliser.output", m.Output}, {"normaliser.anchor", m.Anchor},
		{"normaliser.leftover", m.Leftover},
	}
}

// Bundle packs a model. fit is the configuration of the fit and metrics its figures; both are kept for the record.
func Bundle(m *Model[float32], q Quadrotor, fit, metrics any) (*bundle.Bundle, error) {
	fitJSON, err := json.Marshal(fit)
	if err != nil {
		return nil, err
	}
	conf := config{Nets: m.Net.Config, Actuator: q.Actuator, Prior: q.Prior, World: q.World, Origin: q.Origin,
		Known: float64(m.Known), Age: float64(m.Age), Fit: fitJSON}
	b := &bundle.Bundle{Robot: Robot, Dt: q.Dt}
	if err := b.SetSection(section, conf); err != nil {
		return nil, err
	}
	if err := b.SetMetrics("fit", metrics); err != nil {
		return nil, err
	}
	d := m.dims()
	b.Dimensions = map[string]int{"context": m.Net.Config.Context, "context_inputs": d.Context, "inputs": d.Inputs,
		"outputs": d.Tangent}
	if m.Net.Latent > 0 {
		b.Dimensions["latent"] = m.Net.Latent
	}
	for _, t := range m.Net.Tensors() {
		b.Tensors = append(b.Tensors, bundle.Tensor{Name: t.Name, Shape: t.Shape,
			Data: m.Net.Params[t.Offset:][:t.Size()]})
	}
	for _, n := range m.normalisers() {
		b.Tensors = append(b.Tensors, bundle.Tensor{Name: n.name, Shape: []int{len(n.data)}, Data: n.data})
		b.Normalisers = append(b.Normalisers, n.name)
	}
	return b, nil
}

// In reports whether a bundle has a model.
func In(b *bundle.Bundle) bool { return b.HasSection(section) }

// FromBundle unpacks the model of a bundle. It refuses, in words, what is not a quadrotor's or does not fit together.
func FromBundle(b *bundle.Bundle) (*Model[float32], Quadrotor, error) {
	var q Quadrotor
	if b.Robot != Robot {
		return nil, q, fmt.Errorf("bundle %s is of robot %q, want %q", b.ID, b.Robot, Robot)
	}
	var c config
	if err := b.Section(section, &c); err != nil {
		return nil, q, err
	}
	q = Quadrotor{Dt: b.Dt, Actuator: c.Actuator, Prior: c.Prior, World: c.World, Origin: c.Origin}
	m, err := New[float32](q.System(), c.Nets)
	if err != nil {
		return nil, q, fmt.Errorf("bundle %s: %w", b.ID, err)
	}
	if err := c.check(); err != nil {
		return nil, q, fmt.Errorf("bundle %s: %w", b.ID, err)
	}
	m.Known, m.Age = float32(c.Known), float32(c.Age)
	if m.Net.Config != c.Nets {
		return nil, q, fmt.Errorf("bundle %s has %d context inputs, %d inputs, %d outputs; this program's quadrotor has %d, %d, %d",
			b.ID, c.Nets.ContextInputs, c.Nets.Inputs, c.Nets.Outputs, m.Net.ContextInputs, m.Net.Inputs, m.Net.Outputs)
	}
	for _, t := range m.Net.Tensors() {
		data, err := b.Tensor(t.Name, t.Shape...)
		if err != nil {
			return nil, q, err
		}
		copy(m.Net.Params[t.Offset:], data)
	}
	for _, n := range m.normalisers() {
		data, err := b.Tensor(n.name, len(n.data))
		if err != nil {
			return nil, q, err
		}
		copy(n.data, data)
	}
	return m, q, nil
}
