package vnd

import (
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"vnd/pkg/durable"
)

// checkpointEvery is the training time between checkpoints: the most that a kill loses.
const checkpointEvery = 15 * time.Second

// checkpoint is all that a fit needs to go on as if it had not stopped.
type checkpoint struct {
	Key     string // configuration, seed and data that it belongs to
	State   progress
	Params  []float32
	M, V    []float32
	Steps   int
	Sources [][]byte // random generators
}

// keyOf names the fit that a checkpoint belongs to.
func keyOf(cfg *Config, seed uint64, workers int, dataDigest string) string {
	c, _ := json.Marshal(cfg) // plain numbers, strings and bools: cannot fail
	sum := sha256.Sum256(fmt.Appendf(c, "|%d|%d|%s", seed, workers, dataDigest))
	return hex.EncodeToString(sum[:])
}

// save writes the checkpoint, whole or not at all.
func (t *trainer) save() error {
	if t.opt.Checkpoint == "" {
		return nil
	}
	c := checkpoint{Key: t.key, State: t.state, Params: t.model.Net.Params, M: t.adam.M, V: t.adam.V, Steps: t.adam.Steps}
	for _, s := range t.sources {
		b, err := s.MarshalBinary()
		if err != nil {
			return err
		}
		c.Sources = append(c.Sources, b)
	}
	t.saved = t.state.Elapsed
	return durable.WriteFile(t.opt.Checkpoint, func(w io.Writer) error { return gob.NewEncoder(w).Encode(&c) })
}

// resume goes on from the checkpoint if there is one of this very fit. One of another fit, or one that cannot be read,
// is an error: it is somebody's work, and not overwritten.
func (t *trainer) resume() error {
	if t.opt.Checkpoint == "" {
		return nil
	}
	f, err := os.Open(t.opt.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	var c checkpoint
	if err := gob.NewDecoder(f).Decode(&c); err != nil {
		return fmt.Errorf("%s: not a readable checkpoint of a fit (%v): remove it to start anew", t.opt.Checkpoint, err)
	}
	if c.Key != t.key || len(c.Params) != len(t.model.Net.Params) || len(c.Sources) != len(t.sources) {
		return fmt.Errorf("%s: checkpoint of a fit with another configuration, seed, thread count or data: remove it to start anew",
			t.opt.Checkpoint)
	}
	for i, s := range t.sources {
		if err := s.UnmarshalBinary(c.Sources[i]); err != nil {
			return fmt.Errorf("%s: %w", t.opt.Checkpoint, err)
		}
	}
	copy(t.model.Net.Params, c.Params)
	t.adam.M, t.adam.V, t.adam.Steps = c.M, c.V, c.Steps
	t.state, t.saved = c.State, c.State.Elapsed
	return nil
}
