// Package openloop scores predictions on recorded flights, open loop: from a true state, the recorded
// commands are played into a predictor for up to a second and what comes out is compared with what was
// measured. Nothing measured after the start is given away, except the commands.
//
// It also has the simple peers that any learned model must beat: the rigid body alone, with the mean of
// its recent misses, and with linear corrections; each also behind an identified actuator.
package openloop

import (
	"fmt"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Context is C, the number of past rows before the current one that a predictor sees.
const Context = 20

// maxBatch bounds the windows handed to a predictor at once, and with them the memory.
const maxBatch = 512

// Predictor predicts states open loop.
type Predictor interface {
	// Predict continues every window. windows[i] holds Context+1 consecutive rows, the last being the
	// current one, whose Command is the first of future[i]; future[i] holds the N commands from the
	// current row on; out[i] receives the N states after each of them. All i have the same N. What is
	// handed in must not be changed or kept.
	Predict(windows [][]quad.Step, future [][]quad.Command, out [][]quad.State) error
}

// Entry is a predictor under the name that reports give it.
type Entry struct {
	Name      string
	Predictor Predictor
	// Actuator, unless nil, filters the commands of each whole segment before the predictor sees any.
	Actuator *Actuator
}

// visitor receives one prediction: the row of the segment where it starts and the states after it.
// predicted[h-1] stands beside segment[start+h].State. Both are only lent.
type visitor func(segment []quad.Step, start int, predicted []quad.State) error

// predictSegment predicts steps states from the rows Context, Context+stride, … of a segment, as long
// as that many rows follow.
func (e *Entry) predictSegment(segment []quad.Step, steps, stride int, visit visitor) error {
	seen := segment
	if e.Actuator != nil {
		seen = e.Actuator.Filter(segment)
	}
	commands := make([]quad.Command, len(seen))
	for i := range seen {
		commands[i] = seen[i].Command
	}
	windows := make([][]quad.Step, 0, maxBatch)
	future := make([][]quad.Command, 0, maxBatch)
	states := make([]quad.State, maxBatch*steps)
	out := make([][]quad.State, maxBatch)
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
			if h := firstRunaway(out[i]); h > 0 {
				return fmt.Errorf("%s: prediction from t = %g s is not finite after %d steps", e.Name, segment[start].T,
					h)
			}
			if err := visit(segment, start, out[i]); err != nil {
				return err
			}
		}
		windows, future = windows[:0], future[:0]
	}
	return nil
}

// firstRunaway returns the first step whose state is not finite, 0 when all are.
func firstRunaway(predicted []quad.State) int {
	for h, s := range predicted {
		if x := s.P.Norm() + s.Q.Norm() + s.V.Norm(); x-x != 0 { // true for NaN and the infinities alone
			return h + 1
		}
	}
	return 0
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
