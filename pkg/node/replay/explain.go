package replay

import (
	"context"
	"fmt"
	"math"
	"slices"

	"vnd/msgs"
	"vnd/pkg/bridge"
	"vnd/pkg/flight/control"
	"vnd/pkg/flight/guard"
)

// Explanation is what the policy saw and did at a tick. Lengths in m, velocities in m/s, thrust in m/s², rates in
// rad/s; quaternions w, x, y, z.
type Explanation struct {
	Seq          uint64      `json:"seq"`
	Stamp        int64       `json:"stamp_ns"`
	Task         string      `json:"task"`
	Bundle       string      `json:"bundle"`
	Guard        string      `json:"guard"`
	Position     [3]float64  `json:"position"`
	Attitude     [4]float64  `json:"attitude"`
	Velocity     [3]float64  `json:"velocity"`
	Error        float64     `json:"error"` // distance from the reference now
	Reference    []Reference `json:"reference"`
	Latent       []float32   `json:"latent"`
	LatentAge    *float64    `json:"latent_age_s"` // at the tick, of the state it is of; null: the prior mean
	LatentAgain  []float32   `json:"latent_again"` // what the encoder finds of the same steps
	Confidence   float32     `json:"confidence"`
	Actuator     [4]float64  `json:"actuator"`      // what the model takes to act: thrust, rates
	Command      [4]float64  `json:"command"`       // of the policy
	CommandSent  [4]float64  `json:"command_sent"`  // after the guard
	CommandAgain [4]float64  `json:"command_again"` // of the same policy now
	Difference   float64     `json:"difference"`    // largest of the two, m/s² or rad/s
	Unusual      []Input     `json:"unusual"`       // inputs of the policy far from what it was trained on
	Inputs       []float32   `json:"inputs"`        // all of them, in units of their spread in training
}

// Reference is a look-ahead of the policy.
type Reference struct {
	Ahead    float64    `json:"ahead_s"`
	Position [3]float64 `json:"position"`
	Velocity [3]float64 `json:"velocity"`
	Yaw      float64    `json:"yaw"`
}

// Input is one of the policy's, in units of its spread in training.
type Input struct {
	Name  string  `json:"name"`
	Value float32 `json:"value"`
}

// unusual is how many spreads an input is off at the least.
const unusual = 4

// Explain replays a bag and tells of the first tick of a number.
func Explain(ctx context.Context, path, config string, bundles []string, seq uint64) (*Explanation, error) {
	var found *Explanation
	first, last := uint64(math.MaxUint64), uint64(0)
	_, err := Run(ctx, path, config, bundles, func(t *ReplayedTick) {
		first, last = min(first, t.Step.Seq), max(last, t.Step.Seq)
		if t.Step.Seq == seq && found == nil {
			found = explained(t)
		}
	})
	if err == nil && found == nil {
		err = fmt.Errorf("bag %s: no tick %d that can be replayed, they are %d … %d", path, seq, first, last)
	}
	return found, err
}

func explained(t *ReplayedTick) *Explanation {
	s, state := t.Step, bridge.FromStep(t.Step).State
	p, q, v := state.P, state.Q, state.V
	e := &Explanation{Seq: s.Seq, Stamp: stamp(s), Task: s.Task, Bundle: s.BundleID,
		Guard:    guard.Stage(s.GuardState).String(),
		Position: [3]float64{p.X, p.Y, p.Z}, Attitude: [4]float64{q.W, q.X, q.Y, q.Z},
		Velocity: [3]float64{v.X, v.Y, v.Z},
		Latent:   s.Latent, LatentAgain: slices.Clone(t.Latent), Confidence: s.Confidence,
		Actuator: s.Actuator, Command: s.Command, CommandSent: s.CommandSent,
		CommandAgain: [4]float64{t.Again.Thrust, t.Again.Rates.X, t.Again.Rates.Y, t.Again.Rates.Z}, Difference: t.Off,
		Inputs: slices.Clone(t.Inputs), Unusual: []Input{}}
	if z := bridge.Nanoseconds(s.LatentStamp); z != 0 {
		age := float64(stamp(s)-z) / 1e9
		e.LatentAge = &age
	}
	e.Reference = references(s, t.Policy)
	if len(e.Reference) > 0 {
		r := e.Reference[0].Position
		e.Error = math.Hypot(math.Hypot(r[0]-p.X, r[1]-p.Y), r[2]-p.Z)
	}
	names := t.Policy.InputNames()
	for i, x := range e.Inputs {
		if i < len(names) && (x > unusual || x < -unusual) {
			e.Unusual = append(e.Unusual, Input{names[i], x})
		}
	}
	return e
}

func references(s *msgs.Step, policy *control.LoadedPolicy) (all []Reference) {
	for k := 0; 7*(k+1) <= len(s.Reference); k++ {
		r := s.Reference[7*k:]
		all = append(all, Reference{Ahead: policy.PreviewTime(k), Position: [3]float64(r[:3]),
			Velocity: [3]float64(r[3:6]), Yaw: r[6]})
	}
	return all
}
