// Package quadrotor is the batched, differentiable transition of a quadrotor, with its cost and what its policies see:
// the physics prior of the paper with an actuator.
//
// Shapes are those of package robot.
package quadrotor

import (
	"encoding/json"
	"fmt"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot"
)

// Name of the kind of robot in bundles.
const Name = "quadrotor"

// Reader reads quadrotors from bundles.
var Reader = robot.Reader[Robot]{Name: Name, Read: read}

// Robot is what the System of a quadrotor is built from.
type Robot struct {
	Dt       float64 // s
	Actuator Actuator
	Prior    bool     // false: the ablation without physics
	World    bool     // residual and features in the world frame instead of the body's
	Origin   so3.Vec3 // p_W that the model's positions are relative to, m: float32 holds an arena finely, not a country
}

// config is the part of a Robot that a bundle keeps.
type config struct {
	Actuator Actuator `json:"actuator"`
	Prior    bool     `json:"prior"`
	World    bool     `json:"world"`
	Origin   so3.Vec3 `json:"origin"`
}

func read(dt float64, from json.RawMessage) (Robot, error) {
	var c config
	if err := robot.Decode(from, &c); err != nil {
		return Robot{}, fmt.Errorf("configuration: %w", err)
	}
	a := c.Actuator
	for _, x := range []struct {
		name    string
		v, most float64
	}{{"thrust_gain", a.ThrustGain, 10}, {"thrust_delay", a.ThrustDelay, MaxDelay}, {"thrust_lag", a.ThrustLag, 10},
		{"rate_gain", a.RateGain, 10}, {"rate_delay", a.RateDelay, MaxDelay}, {"rate_lag", a.RateLag, 10},
		{"yaw_lag", a.YawLag, 10}} {
		if !(x.v >= 0 && x.v <= x.most) {
			return Robot{}, fmt.Errorf("configuration: %s is %g, want 0 to %g", x.name, x.v, x.most)
		}
	}
	return Robot{Dt: dt, Actuator: a, Prior: c.Prior, World: c.World, Origin: c.Origin}, nil
}

// Kind implements robot.Robot.
func (q Robot) Kind() string { return Name }

// Period implements robot.Robot.
func (q Robot) Period() float64 { return q.Dt }

// Config implements robot.Robot.
func (q Robot) Config() any { return config{q.Actuator, q.Prior, q.World, q.Origin} }

// System implements robot.Robot.
func (q Robot) System() robot.System[float32] {
	sys := NewQuadrotor[float32](q.Dt, q.Actuator)
	if !q.Prior {
		sys = sys.WithoutPrior()
	}
	if q.World {
		sys = sys.InWorld()
	}
	return sys
}

// Flatten writes rows as measured[N][M] and actions[N][A] around the model's origin.
func (q Robot) Flatten(rows []quad.Row) (measured, actions []float32) {
	rows = slices.Clone(rows)
	for i := range rows {
		rows[i].State.P = rows[i].State.P.Sub(q.Origin)
	}
	return Flatten[float32](rows)
}

// Read returns the parts of a row.
func (q Robot) Read(r *quad.Row) (t float64, s quad.State, c quad.Command) {
	return r.T, r.State, r.Command
}

// Distances returns the distances of positions, m, and of velocities, m/s, and the angle between attitudes, rad.
func (q Robot) Distances(a, b *quad.State) (position, velocity, attitude float64) {
	return a.P.Sub(b.P).Norm(), a.V.Sub(b.V).Norm(), so3.Log(b.Q.Conj().Mul(a.Q)).Norm()
}

// Finite reports whether no number of a state is NaN or infinite.
func (q Robot) Finite(s *quad.State) bool { return s.P.Finite() && s.Q.Finite() && s.V.Finite() }

// Action writes a command to a[A].
func (q Robot) Action(c *quad.Command, a []float32) { Action(c, a) }

// State reads the state of s[S] in the world.
func (q Robot) State(s []float32) quad.State {
	out := State(s)
	out.P = out.P.Add(q.Origin)
	return out
}

// Rest implements System: level at the origin, under the thrust that hovers.
func (m *Quadrotor[F]) Rest(measured, a []F) {
	Measured(&quad.State{Q: so3.Identity()}, measured)
	Action(&quad.Command{Thrust: quad.Gravity}, a)
}

var _ robot.System[float32] = (*Quadrotor[float32])(nil)

func span(name string, lo, hi int) robot.Span { return robot.Span{Name: name, Lo: lo, Hi: hi} }
