package bundle

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"vnd/pkg/core/atomicfile"
)

// Write puts the bundle at path, whole or not at all, and reads it back before it reports success: a
// disk that lies must not cost the robot its last good bundle.
func Write(path string, b *Bundle) error {
	data, err := b.Encode()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return WriteBytes(path, data)
}

// WriteBytes is Write for the bytes of a bundle.
func WriteBytes(path string, data []byte) error {
	err := atomicfile.WriteFile(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	back, err := readFile(path)
	if err != nil {
		return fmt.Errorf("reading the written bundle back: %w", err)
	}
	if !bytes.Equal(back, data) {
		return fmt.Errorf("%s: what was written reads back differently, the disk is not to be trusted", path)
	}
	return nil
}

// Read returns the bundle in the file at path.
func Read(path string) (*Bundle, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return Decode(path, data)
}

// readFile reads at most one byte more than a bundle may have, which Decode then refuses.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxSize+1))
}
