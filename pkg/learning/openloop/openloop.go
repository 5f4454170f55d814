// Package openloop scores predictions on recorded flights, open loop: from a true state, the recorded
// commands are played into a predictor for up to a second and what comes out is compared with what was
// measured. Nothing measured after the start is given away, except the commands.
//
// Any robot is scored whose recordings a Robot reads. For quadrotors there are simple baselines that any learned model
// must beat: the rigid body alone, with its recent mean residual, and with linear corrections; each also behind a
// fitted CommandFilter.
package openloop

import (
	"fmt"
	"slices"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot/quadrotor"
)

// Context is C, the number of past rows before the current one that a predictor sees.
const Context = 20

// maxBatch bounds the windows handed to a predictor at once, and with them the memory.
const maxBatch = 512

// Robot is what scoring knows of a robot: how its recordings are read, and its states compared.
type Robot[Row, Command, State any] interface {
	// Read returns the time of a row, s, its state and the command held from then on.
	Read(r *Row) (t float64, s State, c Command)
	// Distances returns how far two states are apart: positions, m, velocities, m/s or rad/s, and attitudes or joint
	// angles, rad. What the robot lacks is 0.
	Distances(a, b *State) (position, velocity, attitude float64)
	// Finite reports whether no number of a state is NaN or infinite.
	Finite(s *State) bool
}

// Recording is a robot's, cut into segments wherever time has a gap.
type Recording[Row any] struct {
	Name     string
	Segments [][]Row // each at a constant Δt
}

// PredictorOf predicts states of a robot open loop.
type PredictorOf[Row, Command, State any] interface {
	// Predict continues every window. windows[i] holds Context+1 consecutive rows, the last being the
	// current one, whose Command is the first of future[i]; future[i] holds the N commands from the
	// current row on; out[i] receives the N states after each of them. All i have the same N. What is
	// handed in must not be changed or kept.
	Predict(windows [][]Row, future [][]Command, out [][]State) error
}

// EntryOf is a predictor under the name that reports give it.
type EntryOf[Row, Command, State any] struct {
	Name      string
	Predictor PredictorOf[Row, Command, State]
	// Actuator, unless nil, filters the commands of each whole segment before the predictor sees any.
	Actuator Filter[Row]
}

// Filter returns a copy of a segment whose commands are those that arrive.
type Filter[Row any] interface{ Filter(segment []Row) []Row }

// Predictor and Entry are of quadrotors.
type (
	Predictor = PredictorOf[quad.Row, quad.Command, quad.State]
	Entry     = EntryOf[quad.Row, quad.Command, quad.State]
)

// quadrotors reads and compares those of any configuration.
var quadrotors quadrotor.Robot

// visitor receives one prediction: the row of the segment where it starts, and the states after it, only lent.
// predicted[h-1] stands beside row start+h of the segment.
type visitor[State any] func(start int, predicted []State) error

// predictSegment predicts steps states from the rows Context, Context+stride, … of a segment, as long
// as that many rows follow.
func predictSegment[Row, Command, State any](q Robot[Row, Command, State], e *EntryOf[Row, Command, State],
	segment []Row, steps, stride int, visit visitor[State]) error {
	seen := segment
	if e.Actuator != nil {
		seen = e.Actuator.Filter(segment)
	}
	commands := make([]Command, len(seen))
	for i := range seen {
		_, _, commands[i] = q.Read(&seen[i])
	}
	windows, future := make([][]Row, 0, maxBatch), make([][]Command, 0, maxBatch)
	states, out := make([]State, maxBatch*steps), make([][]State, maxBatch)
	for i := range out {
		out[i] = states[i*steps : (i+1)*steps]
	}
	for k := Context; k+steps < len(segment); k += stride {
		windows = append(windows, seen[k-Context:k+1])
		future = append(future, commands[k:k+steps])
		if len(windows) < maxBatch && k+stride+steps < len(segment) {
			continue
		}
		if err := e.Predictor.Predict(windows, future, out[:len(windows)]); err != nil {
			return fmt.Errorf("%s: %w", e.Name, err)
		}
		first := k - (len(windows)-1)*stride
		for i := range windows {
			start := first + i*stride
			if h := slices.IndexFunc(out[i], func(s State) bool { return !q.Finite(&s) }); h >= 0 {
				t, _, _ := q.Read(&segment[start])
				return fmt.Errorf("%s: prediction from t = %g s is not finite after %d steps", e.Name, t, h+1)
			}
			if err := visit(start, out[i]); err != nil {
				return err
			}
		}
		windows, future = windows[:0], future[:0]
	}
	return nil
}

// windows counts the windows that predictSegment makes of n rows.
func windows(n, steps, stride int) int {
	if n <= Context+steps {
		return 0
	}
	return (n-Context-steps-1)/stride + 1
}

// rigidStep is the physics prior over one step: a rigid body with ṗ = v, v̇ = T·z_B − g·e₃ by RK4 while
// the attitude turns at the constant body rate, and q' = q ⊗ Exp(ω·Δt).
func rigidStep(s quad.State, a quad.Command, dt float64) quad.State {
	half, full := s.Q.Mul(so3.Exp(a.Rates.Scale(dt/2))), s.Q.Mul(so3.Exp(a.Rates.Scale(dt)))
	k1, k2, k4 := acceleration(s.Q, a), acceleration(half, a), acceleration(full, a) // v̇ is free of v: k₃ = k₂
	return quad.State{
		P: s.P.Add(s.V.Scale(dt)).Add(k1.Add(k2.Scale(2)).Scale(dt * dt / 6)),
		Q: full.Normalize(),
		V: s.V.Add(k1.Add(k2.Scale(4)).Add(k4).Scale(dt / 6)),
	}
}

func acceleration(q so3.Quat, a quad.Command) so3.Vec3 {
	acc := q.ZAxis().Scale(a.Thrust)
	acc.Z -= quad.Gravity
	return acc
}
