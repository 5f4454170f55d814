package ppo

import (
	"context"
	"crypto/sha256"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/nn/layers"
	"vnd/pkg/vnd"
)

// Kept is a World whose state can be kept, so that a training goes on in it after an interruption.
type Kept interface {
	World
	encoding.BinaryMarshaler
	encoding.BinaryUnmarshaler
}

// checkpoint is all that a training needs to go on as if it had not stopped.
type checkpoint struct {
	Key           string
	Iteration     int
	Elapsed       time.Duration
	Params        [3][]float32 // of the policy, the logarithms of its deviations, the critic
	Adam          [3]*layers.Adam[float32]
	Norm          vnd.Norm[float32] // of the policy's inputs
	Rate          float64
	Seen, Known   statistics
	Sums          []float64
	Source, World []byte
}

// params are those that are learned, and adams what moves them.
func (l *learner[F]) params() [3][]F { return [3][]F{l.actor.Net.Params, l.logStd, l.critic.Params} }

func (l *learner[F]) adams() [3]*layers.Adam[F] {
	return [3]*layers.Adam[F]{l.forActor, l.forStd, l.forWorth}
}

// keyOf names the training that a checkpoint belongs to, by all that decides it.
func keyOf(c *Config, from *vnd.Actor[float32]) string {
	conf, _ := json.Marshal(c) // plain numbers and strings: cannot fail
	conf = fmt.Appendf(conf, "|%s", kernel.Name())
	if from != nil {
		conf = fmt.Appendf(conf, "|%v|%v", from.Net.Params, from.Norm)
	}
	return fmt.Sprintf("%x", sha256.Sum256(conf))
}

// save writes the checkpoint, whole or not at all.
func (t *training) save() error {
	if t.Checkpoint == "" {
		return nil
	}
	world, err := t.world.(Kept).MarshalBinary()
	if err != nil {
		return err
	}
	source, err := t.source.MarshalBinary()
	if err != nil {
		return err
	}
	l, b := t.l, t.b
	return atomicfile.Save(t.Checkpoint, &checkpoint{Key: t.key, Iteration: t.at, Elapsed: t.elapsed(),
		Params: l.params(), Adam: l.adams(), Norm: l.actor.Norm, Rate: l.rate, Seen: b.seen, Known: b.known,
		Sums: b.sums, Source: source, World: world})
}

// resume goes on from the checkpoint, if there is one.
func (t *training) resume() (found bool, err error) {
	if t.Checkpoint == "" {
		return false, nil
	}
	var c checkpoint
	found, err = atomicfile.Resume(t.Checkpoint, &c, func() error {
		if c.Key != t.key {
			return errors.New("checkpoint of a training with another configuration, seed, kernel or start")
		}
		return nil
	})
	if !found {
		return false, err
	}
	l, b := t.l, t.b
	for k, params := range l.params() {
		copy(params, c.Params[k])
		*l.adams()[k] = *c.Adam[k]
	}
	l.actor.Net.Refresh()
	l.critic.Refresh()
	l.actor.Norm, l.rate, b.seen, b.known, b.sums = c.Norm, c.Rate, c.Seen, c.Known, c.Sums
	t.at, t.before = c.Iteration, c.Elapsed
	return true, errors.Join(t.world.(Kept).UnmarshalBinary(c.World), t.source.UnmarshalBinary(c.Source))
}

// stop ends a training that was interrupted, and keeps what it has.
func (t *training) stop(ctx context.Context) error { return errors.Join(ctx.Err(), t.save()) }
