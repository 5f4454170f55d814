package atomicfile

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrLocked is wrapped in the error of Lock when another process, or this one, holds the lock.
var ErrLocked = errors.New("another process holds it")

// Lock creates and locks the file at path; unlock removes it. The lock of a killed process is free. On a file system
// without locks it does nothing.
func Lock(path string) (unlock func(), err error) {
	f, err := take(path, os.O_CREATE)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) {
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, cause(err))
	}
	return func() {
		os.Remove(path) // while it is locked: whoever opens it next makes a new one
		f.Close()
	}, nil
}

// take opens the file at path and locks it; closing unlocks it. The locked file is the one at path, not one that its
// last holder has removed.
func take(path string, flag int) (*os.File, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDONLY|flag, 0o666)
		if err != nil {
			return nil, err
		}
		if err := flock(f); err != nil {
			f.Close()
			return nil, err
		}
		held, errHeld := f.Stat()
		there, errThere := os.Stat(path)
		if errHeld == nil && errThere == nil && os.SameFile(held, there) {
			return f, nil
		}
		f.Close()
	}
}

// flock locks without waiting.
func flock(f *os.File) error {
	for {
		switch err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
		case errors.Is(err, syscall.EINTR):
		case errors.Is(err, syscall.EWOULDBLOCK):
			return ErrLocked
		default:
			return err
		}
	}
}
