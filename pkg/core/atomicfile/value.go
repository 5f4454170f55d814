package atomicfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/gob"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Save writes a value at path atomically: the SHA-256 of its gob encoding, then the
// encoding.
func Save(path string, value any) error {
	var body bytes.Buffer
	if err := gob.NewEncoder(&body).Encode(value); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	sum := sha256.Sum256(body.Bytes())
	return WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(append(sum[:], body.Bytes()...))
		return err
	})
}

// Every is the time between checkpoints of a work: the most that a kill loses.
const Every = 15 * time.Second

// Resume reads a value that Save wrote, if there is a file. A value that mine refuses, or that cannot be read, is an
// error: it is somebody's work, and not overwritten.
func Resume(path string, value any, mine func() error) (found bool, err error) {
	if err = Load(path, value); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err == nil {
		if err = mine(); err == nil {
			return true, nil
		}
		err = fmt.Errorf("%s: %w", path, err)
	}
	return false, fmt.Errorf("%w: remove it to start anew", err)
}

// Load reads a value that Save wrote. Without a file the error is fs.ErrNotExist; a
// file whose SHA-256 is wrong is refused.
func Load(path string, value any) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if len(data) < sha256.Size || sha256.Sum256(data[sha256.Size:]) != [sha256.Size]byte(data[:sha256.Size]) {
		return fmt.Errorf("%s: not whole, or not a checkpoint", path)
	}
	if err := gob.NewDecoder(bytes.NewReader(data[sha256.Size:])).Decode(value); err != nil {
		return fmt.Errorf("%s: not readable: %w", path, err)
	}
	return nil
}
