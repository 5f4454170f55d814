package rotors

import (
	"encoding/json"
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot"
)

// Name of the kind of robot in bundles.
const Name = "rotors"

// Reader reads quadrotors that rotors drive from bundles.
var Reader = robot.Reader[Robot]{Name: Name, Read: read}

// Robot is what a System is built from: a model without a history.
type Robot struct{ Model *Model }

// config is the part of a Robot that a bundle keeps.
type config struct {
	Model Config    `json:"rotors"`
	Theta []float64 `json:"parameters"`
}

func read(dt float64, from json.RawMessage) (Robot, error) {
	var c config
	err := robot.Decode(from, &c)
	if err == nil && (c.Model.Period != dt || c.Model.History > 0) {
		err = fmt.Errorf("steps of %g s after a history of %d rows, expected %g s and none", c.Model.Period,
			c.Model.History, dt)
	}
	var m *Model
	if err == nil {
		m, err = Load(c.Model, c.Theta)
	}
	if err != nil {
		return Robot{}, fmt.Errorf("configuration: %w", err)
	}
	return Robot{m}, nil
}

// Kind implements robot.Robot.
func (r Robot) Kind() string { return Name }

// Period implements robot.Robot.
func (r Robot) Period() float64 { return r.Model.Config.Period }

// Config implements robot.Robot.
func (r Robot) Config() any { return config{r.Model.Config, r.Model.Theta} }

// System implements robot.Robot.
func (r Robot) System() robot.System[float32] { return NewSystem[float32](r.Model) }

// State is the measured state of a quadrotor that senses its body rates.
type State struct {
	quad.State
	W so3.Vec3 // w_B, rad/s
}

// Put writes a state to m[M].
func (s *State) Put(m []float32) {
	for i, x := range [Measured]float64{s.P.X, s.P.Y, s.P.Z, s.Q.W, s.Q.X, s.Q.Y, s.Q.Z, s.V.X, s.V.Y, s.V.Z, s.W.X,
		s.W.Y, s.W.Z} {
		m[i] = float32(x)
	}
}

// Row is one row of a recording: the state at T, s, and the motors that are held from then on.
type Row struct {
	T      float64
	State  State
	Motors [4]float64
}

// Flatten writes rows as measured[N][M] and actions[N][A].
func (r Robot) Flatten(rows []Row) (measured, actions []float32) {
	measured, actions = make([]float32, len(rows)*Measured), make([]float32, len(rows)*nA)
	for i := range rows {
		rows[i].State.Put(measured[i*Measured:])
		r.Action(&rows[i].Motors, actions[i*nA:])
	}
	return measured, actions
}

// Action writes motors to a[A].
func (r Robot) Action(motors *[4]float64, a []float32) {
	for i, m := range motors {
		a[i] = float32(m)
	}
}

// State reads the state of s[S].
func (r Robot) State(s []float32) State {
	var x [Measured]float64
	for i := range x {
		x[i] = float64(s[i])
	}
	return stateOf(&x)
}

// Read returns the parts of a row.
func (r Robot) Read(row *Row) (t float64, s State, motors [4]float64) {
	return row.T, row.State, row.Motors
}

// Distances returns the distances of positions, m, and of velocities, m/s, and the angle between attitudes, rad.
func (r Robot) Distances(a, b *State) (position, velocity, attitude float64) {
	return a.P.Sub(b.P).Norm(), a.V.Sub(b.V).Norm(), so3.Log(b.Q.Conj().Mul(a.Q)).Norm()
}

// Finite reports whether no number of a state is NaN or infinite.
func (r Robot) Finite(s *State) bool {
	return s.P.Finite() && s.Q.Finite() && s.V.Finite() && s.W.Finite()
}
