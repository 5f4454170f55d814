// Package rounds is continual learning beside a flight: segments come in, rounds of learning begin when there is
// enough that is new, what passes the gate is kept on disk and goes out, and what flies worse than the bundle before
// it is taken back. It comes up again after a kill at any moment. It is for the node background_learner.
package rounds

import (
	"context"
	"crypto/ed25519"
	"time"

	"vnd/pkg/core/quad"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/train"
	"vnd/pkg/vnd/bundle"
)

// Schedule is when rounds begin, and what stays of them.
type Schedule struct {
	NewRows int `param:"new_rows" default:"1000" min:"1" max:"1e9" unit:"rows" doc:"rows that were not learned from yet with which a round begins"`
	Keep    int `param:"keep_bundles" default:"20" min:"2" max:"10000" read_only:"true" doc:"bundles that stay on disk; that which flies, the one before it and the newest that flew safely stay in any case"`
}

func (s *Schedule) schedule() *Schedule { return s }

// Settings of a Runner, which may change between rounds: a Schedule, and what a learner takes.
type Settings interface {
	schedule() *Schedule
	Needs() *continual.Data
}

// Supervision is what is made of what bundles show at work.
type Supervision struct {
	Safe     float64             `param:"safe_seconds" default:"10.0" min:"1" max:"3600" unit:"s" read_only:"true" doc:"a bundle has flown safely after this time in which the guard did not trip"`
	Rollback bool                `param:"auto_rollback" was:"return_by_itself" default:"true" doc:"a bundle that was shown to fly worse than the one before it is rolled back"`
	Evidence gate.EvidenceConfig `param:"evidence" read_only:"true" doc:"evidence that a bundle flies worse than the one before it"`
}

// Config of rounds of a quadrotor.
type Config struct {
	Schedule
	Supervision
	continual.Config
}

// Common are options of a Runner of any robot, beside its Settings. Functions are called one at a time.
type Common struct {
	// Robots are the names of those of a fleet, which fly the same bundles; empty: there is one, without a name.
	Robots []string
	Dir    string // of the bundles
	Seed   uint64
	Dt     float64 // Δt of the rows, s
	// BasePolicy makes the bundle to begin with, where there is none on disk.
	BasePolicy func(ctx context.Context, progress func(train.Progress)) (*bundle.Bundle, error)
	// Key signs the bundles that are published; nil: they go out unsigned.
	Key ed25519.PrivateKey
	// Publish sends a bundle, and the bytes of its file, to those that fly.
	Publish func(b *bundle.Bundle, data []byte)
	Report  func(continual.Status)      // may be nil
	Log     func(bad bool, line string) // may be nil
	Now     func() time.Time            // nil takes time.Now
}

// Learner learns in rounds from segments S of what a robot did. That of a quadrotor is continual.Learner, whose methods
// say what is asked of these.
type Learner[S any] interface {
	Add(segments ...S)
	AddLearned(segments ...S)
	Bound() (kept []int)
	Round(ctx context.Context) (*continual.Round, error)
	Return(b *bundle.Bundle)
}

// Robot is what rounds are of.
type Robot[S any] struct {
	Name string // in bundles
	// Begin makes a learner that begins with a bundle.
	Begin func(start *bundle.Bundle, seed uint64, report func(continual.Status)) (Learner[S], error)
	// Gate judges a first bundle, and one that was on disk at the start.
	Gate func() *gate.Gate
}

// Phases besides those of a round.
const (
	Waiting    continual.Phase = "waiting"
	NotEnough  continual.Phase = "not_enough_good_data"
	Paused     continual.Phase = "paused"
	BasePolicy continual.Phase = "base_policy"
	Rejudging  continual.Phase = "judge_again"
)

// ControllerTick is what one tick of the controller showed.
type ControllerTick struct {
	Robot     string // one of Common.Robots
	Stamp     int64  // ns
	Bundle    string
	Task      string
	Latent    []float32      // z[Z] under which the policy flew; empty where it had none
	Error     float64        // distance from the reference, m
	Policy    bool           // the guard let the policy fly
	Whole     bool           // its command went out as it was
	Row       quad.Row       // state and command
	Reference quad.Reference // at the tick; P, V and Yaw are known
	Place     *gate.Place    // in the space of conditions; nil: the latent tells
	// Dropped is the bundle that the controller itself rolled back at this tick, and Fault why; empty: none.
	Dropped, Fault string
}
