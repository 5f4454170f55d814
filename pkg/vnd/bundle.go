package vnd

import (
	"bytes"
	"encoding/json"
	"fmt"

	"vnd/pkg/nn/nets"
	"vnd/pkg/robot"
	"vnd/pkg/vnd/bundle"
)

// section is the model's place in a bundle's configuration.
const section = "model"

// config is the part of a bundle's configuration that rebuilds the model. What the robot keeps of itself stands beside
// it.
type config struct {
	Nets  nets.Config     `json:"nets"`
	Known float64         `json:"known"`         // weight of the bias correction in a known condition
	Age   float64         `json:"age"`           // of the latent, steps; 0: held
	Fit   json.RawMessage `json:"fit,omitempty"` // the fit's own configuration, for the record
}

// check refuses numbers that no fit writes.
func (c *config) check() error {
	for _, x := range []struct {
		name    string
		v, most float64
	}{{"known", c.Known, 1}, {"age", c.Age, 1e6}} {
		if !(x.v >= 0 && x.v <= x.most) {
			return fmt.Errorf("configuration: %s is %g, want 0 to %g", x.name, x.v, x.most)
		}
	}
	return nil
}

// join returns one JSON object with the members of both.
func join(c *config, robot any) (map[string]json.RawMessage, error) {
	all := map[string]json.RawMessage{}
	for _, part := range []any{robot, c} {
		raw, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(raw, &all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// split takes the members of the model out of an object into c and returns the rest, which are the robot's.
func split(all map[string]json.RawMessage, c *config) (robot json.RawMessage, err error) {
	for name, to := range map[string]any{"nets": &c.Nets, "known": &c.Known, "age": &c.Age, "fit": &c.Fit} {
		if raw, ok := all[name]; ok {
			dec := json.NewDecoder(bytes.NewReader(raw))
			dec.DisallowUnknownFields()
			if err := dec.Decode(to); err != nil {
				return nil, fmt.Errorf("configuration: %s: %w", name, err)
			}
			delete(all, name)
		}
	}
	return json.Marshal(all)
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
		{"normaliser.output", m.Output}, {"normaliser.anchor", m.BiasShare},
		{"normaliser.leftover", m.ResidualScale},
	}
}

// Bundle packs a model of a robot. fit is the configuration of the fit and metrics its figures; both are kept for the
// record.
func Bundle(m *Model[float32], r robot.Robot, fit, metrics any) (*bundle.Bundle, error) {
	fitJSON, err := json.Marshal(fit)
	if err != nil {
		return nil, err
	}
	conf, err := join(&config{Nets: m.Net.Config, Known: float64(m.Known), Age: float64(m.Age), Fit: fitJSON},
		r.Config())
	if err != nil {
		return nil, err
	}
	b := &bundle.Bundle{Robot: r.Kind(), Dt: r.Period()}
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
	if p := m.LatentPrior; p != nil {
		b.Dimensions[centres] = len(p.Centres) / m.Net.Latent
		b.Tensors = append(b.Tensors, p.tensors(m.Net.Latent)...)
	}
	return b, nil
}

// In reports whether a bundle has a model.
func In(b *bundle.Bundle) bool { return b.HasSection(section) }

// FromBundle unpacks the model of a bundle and its robot. It refuses, in words, a robot of another kind, and what does
// not fit together.
func FromBundle[R robot.Robot](b *bundle.Bundle, kind robot.Reader[R]) (*Model[float32], R, error) {
	var none R
	if b.Robot != kind.Name {
		return nil, none, fmt.Errorf("bundle %s is of robot %q, want %q", b.ID, b.Robot, kind.Name)
	}
	all := map[string]json.RawMessage{}
	if err := b.Section(section, &all); err != nil {
		return nil, none, err
	}
	var c config
	rest, err := split(all, &c)
	if err != nil {
		return nil, none, fmt.Errorf("bundle %s: %w", b.ID, err)
	}
	r, err := kind.Read(b.Dt, rest)
	if err != nil {
		return nil, none, fmt.Errorf("bundle %s: %w", b.ID, err)
	}
	m, err := New[float32](r.System(), c.Nets)
	if err != nil {
		return nil, none, fmt.Errorf("bundle %s: %w", b.ID, err)
	}
	if err := c.check(); err != nil {
		return nil, none, fmt.Errorf("bundle %s: %w", b.ID, err)
	}
	m.Known, m.Age = float32(c.Known), float32(c.Age)
	if m.Net.Config != c.Nets {
		return nil, none, fmt.Errorf("bundle %s has %d context inputs, %d inputs, %d outputs; this program's %s has %d, %d, %d",
			b.ID, c.Nets.ContextInputs, c.Nets.Inputs, c.Nets.Outputs, kind.Name, m.Net.ContextInputs, m.Net.Inputs,
			m.Net.Outputs)
	}
	for _, t := range m.Net.Tensors() {
		data, err := b.Tensor(t.Name, t.Shape...)
		if err != nil {
			return nil, none, err
		}
		copy(m.Net.Params[t.Offset:], data)
	}
	for _, n := range m.normalisers() {
		data, err := b.Tensor(n.name, len(n.data))
		if err != nil {
			return nil, none, err
		}
		copy(n.data, data)
	}
	if m.LatentPrior, err = readLatentPrior(b, m.Net.Latent); err != nil {
		return nil, none, err
	}
	return m, r, nil
}
