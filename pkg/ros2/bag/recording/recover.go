package recording

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"vnd/pkg/core/atomicfile"
	"vnd/pkg/ros2/bag"
)

// Folders beside the bags in which one is made whole: the copy, and what it replaces.
const (
	copies = ".recovering"
	torn   = ".torn"
)

// settle ends what a killed Recover left undone: a bag is always either as it was or whole.
func (r *Recording) settle() error {
	if err := os.RemoveAll(filepath.Join(r.opt.Dir, copies)); err != nil {
		return fmt.Errorf("bags: %w", err)
	}
	aside := filepath.Join(r.opt.Dir, torn)
	left, err := os.ReadDir(aside)
	if err != nil {
		return nil // there is none
	}
	for _, e := range left {
		home := filepath.Join(r.opt.Dir, e.Name())
		if _, err := os.Lstat(home); err != nil {
			if err := os.Rename(filepath.Join(aside, e.Name()), home); err != nil {
				return fmt.Errorf("bags: %w", err)
			}
		}
	}
	if err := os.RemoveAll(aside); err != nil {
		return fmt.Errorf("bags: %w", err)
	}
	return nil
}

// list remembers what is there before the first bag of our own.
func (r *Recording) list() error {
	entries, err := os.ReadDir(r.opt.Dir)
	if err != nil {
		return fmt.Errorf("bags: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			r.left = append(r.left, e.Name())
		}
	}
	return nil
}

// Recover makes bags whole that a killed recording left cut off, and tells of each in a line. A bag for whose copy there is
// too little space stays as it is: readers take it, and say what is missing. It may run while a bag is recorded.
func (r *Recording) Recover(ctx context.Context, tell func(line string)) {
	for _, name := range r.left {
		dir := filepath.Join(r.opt.Dir, name)
		if ctx.Err() != nil || !unfinished(dir) {
			continue
		}
		n, err := r.recover(name)
		if err != nil {
			tell(fmt.Sprintf("%s: a recording that was cut off stays as it is: %v", dir, err))
			continue
		}
		tell(fmt.Sprintf("%s: a recording that was cut off is whole again, with %d messages", dir, n))
	}
}

// unfinished reports whether a folder is a bag whose recording did not end.
func unfinished(dir string) bool {
	rd, err := bag.Open(dir)
	if err != nil {
		return false
	}
	defer rd.Close()
	info := rd.Info()
	return info.Live || info.Lost.Truncated || info.MetadataVersion == 0
}

// recover replaces a bag by a whole copy.
func (r *Recording) recover(name string) (messages uint64, err error) {
	home, copied, aside := filepath.Join(r.opt.Dir, name), filepath.Join(r.opt.Dir, copies, name), filepath.Join(r.opt.Dir, torn, name)
	info, err := bag.Info(home)
	if err != nil {
		return 0, err
	}
	r.mu.RLock()
	least := uint64(r.cfg.LeastFree) << 20
	r.mu.RUnlock()
	if n, err := r.opt.Free(r.opt.Dir); err != nil {
		return 0, err
	} else if n < least+uint64(info.Size) {
		return 0, fmt.Errorf("%d MiB are free on the disk, a copy takes %d and parameter least_free asks for %d", n>>20, info.Size>>20, least>>20)
	}
	for _, d := range []string{copies, torn} {
		if err := os.MkdirAll(filepath.Join(r.opt.Dir, d), 0o777); err != nil {
			return 0, err
		}
	}
	defer os.RemoveAll(filepath.Join(r.opt.Dir, copies))
	done, err := bag.Recover(home, copied, bag.WriterOptions{MaxFileSize: int64(r.cfg.Size) << 20})
	if err != nil {
		return 0, err
	}
	if err := os.Rename(home, aside); err != nil {
		return 0, err
	}
	if err := os.Rename(copied, home); err != nil {
		return 0, err
	}
	if err := atomicfile.SyncDir(r.opt.Dir); err != nil {
		return 0, err
	}
	return done.Written, os.RemoveAll(filepath.Join(r.opt.Dir, torn))
}
