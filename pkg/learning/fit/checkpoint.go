package fit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/core/dist"
	"vnd/pkg/nn/kernel"
)

// checkpointFormat changes whenever a checkpoint of before would be read wrongly.
const checkpointFormat = 2

// checkpoint is all that a fit needs to go on as if it had not stopped.
type checkpoint struct {
	Key    string // configuration, seed, kernel and data that it belongs to
	State  progress
	Params []float32
	M, V   []float32
	Steps  int
	Source []byte // random generator
}

// keyOf names the fit that a checkpoint belongs to.
func keyOf(cfg *Config, dt float64, opt Options, data [32]byte) string {
	conf := *cfg
	conf.Train.Workers = 0      // does not decide the result
	c, _ := json.Marshal(&conf) // plain numbers, strings and bools: cannot fail
	c = fmt.Appendf(c, "|%d|%v|%d|%s|%x", checkpointFormat, dt, opt.Seed, kernel.Name(), data)
	if opt.From != nil {
		c = fmt.Appendf(c, "|%v", opt.From.Model.Net.Params)
	}
	sum := sha256.Sum256(c)
	return hex.EncodeToString(sum[:])
}

// save writes the checkpoint, whole or not at all.
func (t *trainer) save() error {
	if t.opt.Checkpoint == "" || t.opt.Ranks.Rank() > 0 {
		return nil
	}
	source, err := t.source.MarshalBinary()
	if err != nil {
		return err
	}
	return atomicfile.Save(t.opt.Checkpoint, &checkpoint{Key: t.key, State: t.state, Params: t.model.Net.Params,
		M: t.adam.M, V: t.adam.V, Steps: t.adam.Steps, Source: source})
}

// load reads the checkpoint if there is one of this very fit; else it has no key.
func (t *trainer) load() (c checkpoint, err error) {
	if t.opt.Checkpoint == "" || t.opt.Ranks.Rank() > 0 {
		return c, nil
	}
	_, err = atomicfile.Resume(t.opt.Checkpoint, &c, func() error { return t.fits(&c) })
	return c, err
}

// resume goes on from rank 0's checkpoint.
func (t *trainer) resume() error {
	c, err := t.load()
	if c, err = dist.First(t.opt.Ranks, c, err); err != nil || c.Key == "" {
		return err
	}
	copy(t.model.Net.Params, c.Params)
	t.rolled.Net.Refresh()
	t.adam.M, t.adam.V, t.adam.Steps = c.M, c.V, c.Steps
	t.state, t.saved = c.State, c.State.Elapsed
	return t.source.UnmarshalBinary(c.Source)
}

// fits refuses a checkpoint of another fit.
func (t *trainer) fits(c *checkpoint) error {
	n := len(t.model.Net.Params)
	if c.Key != t.key || len(c.Params) != n || len(c.M) != n || len(c.V) != n || len(c.State.Average) != n ||
		len(c.State.Best) != 0 && len(c.State.Best) != n || math.IsNaN(c.State.BestLoss) {
		return errors.New("checkpoint of a fit with another configuration, seed, kernel or data")
	}
	return nil
}
