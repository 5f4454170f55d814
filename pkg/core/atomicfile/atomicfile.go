// Package atomicfile writes files atomically: after a crash or a power loss a file is complete or not there.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// tempMark is part of the name of every temporary file: .NAME.unfinished-RANDOM.
const tempMark = ".unfinished-"

// WriteFile replaces the file at path atomically by what write writes. It writes a temporary file in the same
// directory, syncs it, renames it, and syncs the directory. On any error, a full disk included, the old file is
// untouched and the temporary file is removed. Temporary files of a killed WriteFile to the same path are removed
// first. A symbolic link is followed; anything else that is not a regular file is refused.
//
// The writer that write gets is buffered. The error names path and the cause of a failed system call.
func WriteFile(path string, write func(io.Writer) error) error {
	target, err := resolve(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	removeStale(target)
	f, release, err := createTemp(target)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	defer release()
	temp := f.Name()
	defer os.Remove(temp) // fails after the rename; removes the file also when write panics
	if err := fill(f, write); err != nil {
		return fmt.Errorf("write %s: %w", path, causeOf(temp, err))
	}
	if err := os.Rename(temp, target); err != nil {
		return fmt.Errorf("write %s: %w", path, cause(err))
	}
	return SyncDir(filepath.Dir(target))
}

// SyncDir makes the creation, renaming and removal of files in dir survive a power loss.
func SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	defer d.Close()
	// Some file systems cannot sync a directory and return EINVAL.
	if err := d.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}

// RemoveUnfinished removes the temporary files of killed WriteFile calls from dir. Only the sole writer of dir may
// call it.
func RemoveUnfinished(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") && strings.Contains(e.Name(), tempMark) {
			if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// resolve follows a symbolic link, so that the link stays, and refuses devices, pipes and directories: a rename
// would replace /dev/null by a file.
func resolve(path string) (string, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, os.ErrNotExist) {
		return path, nil
	}
	if err == nil && info.Mode()&os.ModeSymlink != 0 {
		if path, err = filepath.EvalSymlinks(path); err == nil {
			info, err = os.Lstat(path)
		}
	}
	if err != nil {
		return "", cause(err)
	}
	if info.IsDir() {
		return "", errors.New("it is a directory, expected a file")
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("it is not a regular file")
	}
	return path, nil
}

// createTemp makes the temporary file beside target, with the permissions that the umask leaves
// (os.CreateTemp would make it private to the user). It is locked until release, so that removeStale keeps it.
func createTemp(target string) (f *os.File, release func(), err error) {
	for {
		name := fmt.Sprintf(".%s%s%08x", filepath.Base(target), tempMark, rand.Uint32())
		f, err := os.OpenFile(filepath.Join(filepath.Dir(target), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, os.ErrExist) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		// A descriptor of its own, since the file is closed, which may fail, before it is renamed.
		lock, err := take(f.Name(), 0)
		if errors.Is(err, ErrLocked) || errors.Is(err, os.ErrNotExist) {
			f.Close() // another removeStale has locked it first, and removes it
			continue
		}
		if err != nil {
			return f, func() {}, nil // no locks on this file system: removeStale removes nothing either
		}
		return f, func() { lock.Close() }, nil
	}
}

// removeStale removes temporary files of target that no process has locked. Errors are ignored: they only cost space.
func removeStale(target string) {
	dir := filepath.Dir(target)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || !strings.HasPrefix(e.Name(), "."+filepath.Base(target)+tempMark) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if lock, err := take(path, 0); err == nil {
			os.Remove(path)
			lock.Close()
		}
	}
}

// file is the part of os.File that fill needs, so that tests can run out of disk at any byte.
type file interface {
	io.WriteCloser
	Sync() error
}

// fill writes, flushes, syncs and closes f; it closes f in any case.
func fill(f file, write func(io.Writer) error) (err error) {
	closed := false
	defer func() {
		if !closed {
			f.Close()
		}
	}()
	w := bufio.NewWriterSize(f, 1<<16)
	if err := write(w); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	closed = true
	return f.Close()
}

// cause strips operation and path from a system call's error: the caller names the path that the user knows.
func cause(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	if le, ok := errors.AsType[*os.LinkError](err); ok {
		return le.Err
	}
	return err
}

// causeOf strips only errors of path: write may have failed on another file, whose name must stay.
func causeOf(path string, err error) error {
	if pe := (*os.PathError)(nil); errors.As(err, &pe) && pe.Path == path {
		return pe.Err
	}
	return err
}
