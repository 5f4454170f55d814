package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Writable refuses at once, and not after minutes of training, where nothing can be written in the end.
func Writable(path string) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("write %s: it is not a regular file", path)
	}
	dir := filepath.Dir(path)
	f, err := os.CreateTemp(dir, ".vnd-")
	if err != nil {
		return fmt.Errorf("write %s: cannot make files in %s: %w", path, dir, Cause(err))
	}
	f.Close()
	return os.Remove(f.Name())
}

// Cause strips operation and path from a system call's error.
func Cause(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}
