package train

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/dist"
	"vnd/pkg/nn/kernel"
)

// checkpoint is all that a training needs to go on as if it had not stopped. The
// generators of its epochs follow from the seed.
type checkpoint struct {
	Key    string
	State  state
	Params []float32
	M, V   []float32
	Steps  int
}

// keyOf names the training that a checkpoint belongs to, and that all ranks have to
// do: what decides it and is known here, and the caller's name for the rest.
func (t *trainer) keyOf(dt float64) string {
	c := struct {
		Observation any `json:",omitempty"`
		Config
	}{t.opt.Observation, *t.cfg}
	c.Workers = 0              // does not decide the result
	conf, _ := json.Marshal(c) // plain numbers: cannot fail
	h := sha256.New()
	fmt.Fprintf(h, "%s|%d|%g|%s|%v|%v", conf, t.opt.Seed, dt, kernel.Name(), t.actor.Net.Params, t.opt.Bank)
	fmt.Fprintf(h, "|%v|%s", t.actor.Norm, t.opt.Key)
	if t.along != nil { // a checkpoint holds what Adam steps in these coordinates
		fmt.Fprintf(h, "|%v", t.along.to)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// params are those that Adam steps.
func (t *trainer) params() []float32 {
	if t.along != nil {
		return t.along.params
	}
	return t.actor.Net.Params
}

// save writes the checkpoint, whole or not at all.
func (t *trainer) save() error {
	if t.opt.Checkpoint == "" || t.opt.Ranks.Rank() > 0 {
		return nil
	}
	return atomicfile.Save(t.opt.Checkpoint, &checkpoint{t.key, t.state, t.params(), t.adam.M, t.adam.V,
		t.adam.Steps})
}

// load reads the checkpoint if there is one of this very training; else it has
// no key.
func (t *trainer) load() (c checkpoint, err error) {
	if t.opt.Checkpoint == "" || t.opt.Ranks.Rank() > 0 {
		return c, nil
	}
	_, err = atomicfile.Resume(t.opt.Checkpoint, &c, func() error {
		n := len(t.actor.Net.Params)
		if c.Key != t.key || len(c.Params) != n || len(c.M) != n || len(c.V) != n ||
			len(c.State.Best) != 0 && len(c.State.Best) != n {
			return errors.New("checkpoint of a training with another configuration, seed, kernel, task, model or start")
		}
		return nil
	})
	return c, err
}

// resume goes on from rank 0's checkpoint.
func (t *trainer) resume() error {
	c, err := t.load()
	if c, err = dist.First(t.opt.Ranks, c, err); err != nil || c.Key == "" {
		return err
	}
	copy(t.params(), c.Params)
	if t.along != nil {
		t.along.put(t.actor.Net.Params)
	}
	t.refresh()
	t.adam.M, t.adam.V, t.adam.Steps, t.state = c.M, c.V, c.Steps, c.State
	return nil
}

// stop ends a training that was interrupted or went wrong, and keeps what it has.
func (t *trainer) stop(ctx context.Context, err error) error {
	if ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return errors.Join(err, t.save())
}
