package vnd

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"time"

	"vnd/pkg/durable"
	"vnd/pkg/kernel"
)

const (
	// checkpointEvery is the training time between checkpoints: the most that a kill loses.
	checkpointEvery = 15 * time.Second
	// checkpointFormat changes whenever a checkpoint of before would be read wrongly.
	checkpointFormat = 2
)

// checkpoint is all that a fit needs to go on as if it had not stopped. In its file, the SHA-256 of the gob stands before
// the gob.
type checkpoint struct {
	Key    string // configuration, seed, kernel and data that it belongs to
	State  progress
	Params []float32
	M, V   []float32
	Steps  int
	Source []byte // random generator
}

// keyOf names the fit that a checkpoint belongs to.
func keyOf(cfg *Config, dt float64, seed uint64, workers int, data [32]byte) string {
	c, _ := json.Marshal(cfg) // plain numbers, strings and bools: cannot fail
	sum := sha256.Sum256(fmt.Appendf(c, "|%d|%v|%d|%d|%s|%x", checkpointFormat, dt, seed, workers, kernel.Name(), data))
	return hex.EncodeToString(sum[:])
}

// save writes the checkpoint, whole or not at all.
func (t *trainer) save() error {
	if t.opt.Checkpoint == "" {
		return nil
	}
	source, err := t.source.MarshalBinary()
	if err != nil {
		return err
	}
	var body bytes.Buffer
	c := checkpoint{Key: t.key, State: t.state, Params: t.model.Net.Params, M: t.adam.M, V: t.adam.V, Steps: t.adam.Steps, Source: source}
	if err := gob.NewEncoder(&body).Encode(&c); err != nil {
		return err
	}
	t.saved = t.state.Elapsed
	sum := sha256.Sum256(body.Bytes())
	return durable.WriteFile(t.opt.Checkpoint, func(w io.Writer) error {
		_, err := w.Write(append(sum[:], body.Bytes()...))
		return err
	})
}

// resume goes on from the checkpoint if there is one of this very fit. One of another fit, or one that cannot be read,
// is an error: it is somebody's work, and not overwritten.
func (t *trainer) resume() error {
	if t.opt.Checkpoint == "" {
		return nil
	}
	data, err := os.ReadFile(t.opt.Checkpoint)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	c, err := t.decode(data)
	if err != nil {
		return fmt.Errorf("%s: %w: remove it to start anew", t.opt.Checkpoint, err)
	}
	copy(t.model.Net.Params, c.Params)
	t.adam.M, t.adam.V, t.adam.Steps = c.M, c.V, c.Steps
	t.state, t.saved = c.State, c.State.Elapsed
	return nil
}

// decode reads a checkpoint of this fit and sets the random generator.
func (t *trainer) decode(data []byte) (*checkpoint, error) {
	if len(data) < sha256.Size || sha256.Sum256(data[sha256.Size:]) != [sha256.Size]byte(data[:sha256.Size]) {
		return nil, errors.New("not a whole checkpoint of a fit")
	}
	var c checkpoint
	if err := gob.NewDecoder(bytes.NewReader(data[sha256.Size:])).Decode(&c); err != nil {
		return nil, fmt.Errorf("not a readable checkpoint of a fit (%v)", err)
	}
	n := len(t.model.Net.Params)
	if c.Key != t.key || len(c.Params) != n || len(c.M) != n || len(c.V) != n || len(c.State.Average) != n ||
		len(c.State.Best) != 0 && len(c.State.Best) != n || math.IsNaN(c.State.BestLoss) {
		return nil, errors.New("checkpoint of a fit with another configuration, seed, kernel, thread count or data")
	}
	return &c, t.source.UnmarshalBinary(c.Source)
}
