// Package robot is what learning knows of any robot: a batched, differentiable step with its manifold. Each robot is a
// package below this one.
//
// Shapes: B batch, S state, M measured part of the state, A action, X residual inputs, U tangent, C context inputs.
// Arrays are row-major, batch first. Gradients are d<name>; every VJP adds to its outputs.
package robot

import (
	"bytes"
	"encoding/json"

	"vnd/pkg/nn/kernel"
)

// Dims are the sizes of a System.
type Dims struct {
	State    int // S, measured and actuator part
	Measured int // M, the first entries of the state: what sensors give
	Action   int // A
	Tangent  int // U, dimension of ⊖ on the measured part, and of the residual D
	Inputs   int // X, features of (s, a) that the residual sees
	Context  int // C, features of one row of the context window
}

// Span names a run of channels, for weights, plots and switches. Some names have a meaning; any other has none:
//   - tangent "velocity": novelty is of it alone, and 0 without it; also "position", "rotation": weights of the loss,
//     switches of heads, and "rates", which that of "rotation" switches
//   - input "position", "last_command", "actuator", "thrust_vector", and context "actuator", "residual": switches of
//     inputs; a position is no input unless it is switched on
type Span struct {
	Name   string
	Lo, Hi int // channels Lo … Hi-1
	// Spread is the standard deviation that a fit takes inputs of residual or encoder to have at least, in their own
	// unit: a model of flights that stood still must not tell small moves from huge ones. 0 leaves it as recorded.
	Spread float32
}

// System is the transition of a robot: s' = f_prior(s, a) ⊕ d on the measured part, with ⊕ the addition of
// a tangent d = D(s, a, z), and an actuator part that has no residual.
type System[F kernel.Float] interface {
	Dims() Dims
	// TangentSpans, InputSpans and ContextSpans name the channels of U, X and C. Nobody writes to the slices.
	TangentSpans() []Span
	InputSpans() []Span
	ContextSpans() []Span

	// Rest writes a state of rest, m[M], and the action a[A] that keeps it: where rollouts begin whose history is not
	// known.
	Rest(m, a []F)
	// GainDrift names the action channels whose gain differs from flight to flight: a fit may train on varied gains.
	GainDrift() Span

	// Step writes next[B][S] = f_prior(s, a) ⊕ d from s[B][S], a[B][A], d[B][U].
	Step(B int, s, a, d, next []F)
	// StepVJP adds the pullback of dnext[B][S] to ds[B][S], da[B][A] (may be nil) and dd[B][U].
	StepVJP(B int, s, a, d, dnext, ds, da, dd []F)
	// Inputs writes x[B][X], the raw (not normalised) residual inputs.
	Inputs(B int, s, a, x []F)
	// InputsVJP adds the pullback of dx[B][X] to ds and da (may be nil).
	InputsVJP(B int, s, a, dx, ds, da []F)
	// ToWorld adds to w[B][U] the tangents d[B][U] at states s with their vectors turned to the world, where a
	// disturbance such as wind stays while the robot turns.
	ToWorld(B int, s, d, w []F)
	// ToBody is the inverse of ToWorld and its transpose: it adds to d the tangents at s of w.
	ToBody(B int, s, w, d []F)
	// ToBodyVJP adds the pullback of dd[B][U] through ToBody to ds.
	ToBodyVJP(B int, s, w, dd, ds []F)
	// Minus writes e[B][U] = s1 ⊖ s0 of the measured parts: s1[B][stride1…], s0[B][stride0…] with M leading entries.
	Minus(B int, s1 []F, stride1 int, s0 []F, stride0 int, e []F)
	// MinusVJP adds the pullback of de[B][U] to ds1.
	MinusVJP(B int, s1 []F, stride1 int, s0 []F, stride0 int, de, ds1 []F)

	// Window reads one context, measured[T+1][M] and actions[T][A], and writes the state at its end, s[S], with the
	// actuator part filtered from the window's commands; optionally (each may be nil) the raw context features
	// ctx[T][C], the states of every row states[T][S], and the one-step residuals r[T][U] = s_{i+1} ⊖ f_prior(s_i,
	// a_i).
	Window(T int, measured, actions, s, ctx, states, r []F)
}

// Robot describes one robot: what its Systems are made of, and what a bundle keeps of it.
type Robot interface {
	Kind() string            // name of the kind, as bundles have it
	Period() float64         // Δt of a step, s
	System() System[float32] // for batches in float32
	Config() any             // JSON object whose keys are those that the kind reads
}

// Reader reads robots of one kind from bundles.
type Reader[R Robot] struct {
	Name string
	// Read returns the robot of a configuration with steps of dt seconds. It refuses, in words, what no robot can be.
	Read func(dt float64, config json.RawMessage) (R, error)
}

// Decode reads the configuration of a robot into a struct, and refuses fields that this has not.
func Decode(config json.RawMessage, into any) error {
	dec := json.NewDecoder(bytes.NewReader(config))
	dec.DisallowUnknownFields()
	return dec.Decode(into)
}

// Settled returns the state s[S] of a robot that has rested for long, for its actuator part.
func Settled[F kernel.Float](sys System[F]) []F {
	const rows = 100
	d := sys.Dims()
	s, m, a := make([]F, d.State), make([]F, (rows+1)*d.Measured), make([]F, (rows+1)*d.Action)
	for i := range rows + 1 {
		sys.Rest(m[i*d.Measured:][:d.Measured], a[i*d.Action:][:d.Action])
	}
	sys.Window(rows, m, a, s, nil, nil, nil)
	return s
}
