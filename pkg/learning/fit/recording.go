package fit

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"vnd/pkg/robot"
)

// Recording is a stretch of N rows of a robot at its Δt without a gap: states, and the actions held after each.
type Recording struct {
	Name     string    // of the flight; validation holds out whole flights
	Measured []float32 // [N][M]
	Actions  []float32 // [N][A]
	Weight   []float32 // [N] confidence of the transition from row n to n+1, 0 … 1
	// HeldOut is of all recordings of a name. Where there are such, they alone are the validation.
	HeldOut bool
	// True is [N][M], the states as they are known afterwards: rollouts begin at them and are compared with them, while
	// windows read what was measured. nil: what was measured is true. Variance is theirs, [N][U]; nil: none.
	True, Variance []float32
}

// states are those of the loss.
func (r *Recording) states() []float32 {
	if r.True != nil {
		return r.True
	}
	return r.Measured
}

// rows is N.
func (r *Recording) rows() int { return len(r.Weight) }

// check refuses rows that are not of the robot's sizes.
func (r *Recording) check(d robot.Dims) error {
	n := r.rows()
	if len(r.Measured) != n*d.Measured || len(r.Actions) != n*d.Action {
		return fmt.Errorf("flight %q: %d rows with %d measured numbers and %d of actions, expected %d and %d a row",
			r.Name, n, len(r.Measured), len(r.Actions), d.Measured, d.Action)
	}
	if r.True != nil && len(r.True) != len(r.Measured) || r.Variance != nil && len(r.Variance) != n*d.Tangent {
		return fmt.Errorf("flight %q: %d rows with %d numbers of true states and %d variances, expected %d and %d a "+
			"row", r.Name, n, len(r.True), len(r.Variance), d.Measured, d.Tangent)
	}
	return nil
}

// Recorded is a robot with what it did.
type Recorded struct {
	Robot      robot.Robot
	Recordings []Recording
	Digest     [32]byte // of what was recorded: checkpoint and bundle keep it
}

// Source reads a robot and what it did. Where the configuration asks for it, the robot is identified from that; it
// keeps the actuator of from, the robot of the fit to go on from, unless that is nil.
type Source func(ctx context.Context, cfg *Config, from robot.Robot) (*Recorded, error)

// KnownRobot is a source with a given robot: nothing is identified from the recordings.
func KnownRobot(r robot.Robot, recordings []Recording) Source {
	return func(_ context.Context, cfg *Config, _ robot.Robot) (*Recorded, error) {
		if !cfg.Prior.Enabled {
			return nil, fmt.Errorf(`parameter "prior.enabled" is false, a %s is fitted with its prior alone`, r.Kind())
		}
		digest, err := digestOf(r, recordings)
		return &Recorded{r, recordings, digest}, err
	}
}

// digestOf is the SHA-256 of a robot and its recordings.
func digestOf(r robot.Robot, recordings []Recording) (out [32]byte, err error) {
	config, err := json.Marshal(r.Config())
	if err != nil {
		return out, err
	}
	h := sha256.New()
	fmt.Fprintf(h, "%s %v %s", r.Kind(), r.Period(), config)
	for _, r := range recordings {
		fmt.Fprintf(h, "\n%q %d ", r.Name, r.rows())
		for _, x := range [][]float32{r.Measured, r.Actions, r.Weight, r.True, r.Variance} {
			binary.Write(h, binary.LittleEndian, x) // a hash takes all
		}
	}
	h.Sum(out[:0])
	return out, nil
}
