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

// Folders beside the bags for the recovered copy of a bag, and for the bag that it replaces.
const (
	copies    = ".recovering"
	originals = ".torn"
)

// undoRecovery puts back the bag that a killed Recover had moved but not replaced.
func (r *Recording) undoRecovery() error {
	if err := os.RemoveAll(filepath.Join(r.opt.Dir, copies)); err != nil {
		return fmt.Errorf("bags: %w", err)
	}
	folder := filepath.Join(r.opt.Dir, originals)
	moved, err := os.ReadDir(folder)
	if err != nil {
		return nil // there is none
	}
	for _, e := range moved {
		dir := filepath.Join(r.opt.Dir, e.Name())
		if _, err := os.Lstat(dir); err != nil {
			if err := os.Rename(filepath.Join(folder, e.Name()), dir); err != nil {
				return fmt.Errorf("bags: %w", err)
			}
		}
	}
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("bags: %w", err)
	}
	return nil
}

// list remembers the bags that exist before the first new one.
func (r *Recording) list() error {
	entries, err := os.ReadDir(r.opt.Dir)
	if err != nil {
		return fmt.Errorf("bags: %w", err)
	}
	for _, e := range entries {
		if e.IsDir() && !strings.HasPrefix(e.Name(), ".") {
			r.found = append(r.found, e.Name())
		}
	}
	return nil
}

// Recover replaces each bag that a killed recording left cut off by a complete copy, and reports each in one line. A
// bag
// stays as it is when the disk has too little space for the copy: it is readable all the same. Recover may run while a
// bag is recorded.
func (r *Recording) Recover(ctx context.Context, report func(line string)) {
	for _, name := range r.found {
		dir := filepath.Join(r.opt.Dir, name)
		if ctx.Err() != nil || !unfinished(dir) {
			continue
		}
		n, err := r.recover(name)
		if err != nil {
			report(fmt.Sprintf("%s: a recording that was cut off stays as it is: %v", dir, err))
			continue
		}
		report(fmt.Sprintf("%s: a recording that was cut off is recovered, with %d messages", dir, n))
	}
}

// unfinished reports whether a folder is a bag that was cut off.
func unfinished(dir string) bool {
	rd, err := bag.Open(dir)
	if err != nil {
		return false
	}
	defer rd.Close()
	info := rd.Info()
	return info.Live || info.Lost.Truncated || info.MetadataVersion == 0
}

// recover replaces a bag by a complete copy.
func (r *Recording) recover(name string) (messages uint64, err error) {
	dir, copied := filepath.Join(r.opt.Dir, name), filepath.Join(r.opt.Dir, copies, name)
	info, err := bag.Info(dir)
	if err != nil {
		return 0, err
	}
	r.mu.RLock()
	least := uint64(r.cfg.LeastFree) << 20
	r.mu.RUnlock()
	if n, err := r.opt.Free(r.opt.Dir); err != nil {
		return 0, err
	} else if n < least+uint64(info.Size) {
		return 0, fmt.Errorf("%d MiB are free on the disk, a copy takes %d and parameter least_free asks for %d", n>>20,
			info.Size>>20, least>>20)
	}
	for _, d := range []string{copies, originals} {
		if err := os.MkdirAll(filepath.Join(r.opt.Dir, d), 0o777); err != nil {
			return 0, err
		}
	}
	defer os.RemoveAll(filepath.Join(r.opt.Dir, copies))
	done, err := bag.Recover(dir, copied, bag.WriterOptions{MaxFileSize: int64(r.cfg.Size) << 20})
	if err != nil {
		return 0, err
	}
	if err := os.Rename(dir, filepath.Join(r.opt.Dir, originals, name)); err != nil {
		return 0, err
	}
	if err := os.Rename(copied, dir); err != nil {
		return 0, err
	}
	if err := atomicfile.SyncDir(r.opt.Dir); err != nil {
		return 0, err
	}
	return done.Written, os.RemoveAll(filepath.Join(r.opt.Dir, originals))
}
