package durable

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ErrLocked is in the error of a lock that another process, or this one, holds.
var ErrLocked = errors.New("another process holds it")

// Lock takes the lock file path, which it makes, until unlock removes it. The lock of a killed process is free. Where
// the file system has no locks there is none, and that is no error.
func Lock(path string) (unlock func(), err error) {
	f, err := take(path, os.O_CREATE)
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, syscall.ENOLCK) {
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, cause(err))
	}
	return func() {
		os.Remove(path) // while it is held: who waits to open it makes a new one
		f.Close()
	}, nil
}

// take opens the file at path and locks it; closing it lets go. The file locked is the one at path: not one that its
// last holder removed in the meantime.
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
