package dataset

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"vnd/pkg/core/atomicfile"
)

const (
	slackShare = 64  // an eviction frees MaxRows/slackShare rows more than it must, so that it is rare
	minShare   = 250 // rows; a smaller part of a flight (5 s) is not worth protecting
)

// evict brings the buffer back to MaxRows. The oldest rows go first, but each of the F flights keeps its newest
// MaxRows/(2·F) rows: half of the buffer is for what is new, and half is shared evenly, so that one long flight does
// not drive out the memory of all others. With more flights than MaxRows/500 each keeps 250 rows, and beyond that the
// oldest flights are forgotten. A segment may lose its oldest rows and stay; the growing one loses none.
func (b *Buffer) evict() error {
	excess := b.rows() - b.options.MaxRows
	if excess <= 0 {
		return nil
	}
	excess += b.options.MaxRows / slackShare
	flights := map[string]int{} // rows of each
	for _, e := range b.files {
		flights[e.Flight] += e.Rows
	}
	share := max(b.options.MaxRows/(2*len(flights)), minShare)
	cuts := make([]int, len(b.files))
	for _, keep := range []int{share, 0} {
		for i, e := range b.files {
			if e.Growing {
				continue
			}
			cut := min(e.Rows-cuts[i], max(flights[e.Flight]-keep, 0), excess)
			cuts[i] += cut
			flights[e.Flight] -= cut
			excess -= cut
		}
	}
	return b.cut(cuts)
}

// cut removes the oldest cuts[i] rows of file i, and files of which nothing is left. A crash in between leaves more
// rows than there may be, which the next Open evicts.
func (b *Buffer) cut(cuts []int) error {
	kept := b.files[:0:0]
	var failed error
	for i, e := range b.files {
		switch {
		case failed != nil || cuts[i] == 0:
			kept = append(kept, e)
		case cuts[i] == e.Rows:
			if failed = os.Remove(filepath.Join(b.dir, e.Name)); failed != nil {
				kept = append(kept, e)
			}
		default:
			failed = b.trim(&e, cuts[i])
			kept = append(kept, e)
		}
	}
	b.files = kept
	if failed == nil {
		failed = atomicfile.SyncDir(b.dir)
	}
	if failed != nil {
		return fmt.Errorf("buffer %s: forgetting old rows: %w", b.dir, failed)
	}
	return nil
}

// trim rewrites a file without its oldest n rows.
func (b *Buffer) trim(e *entry, n int) error {
	path := filepath.Join(b.dir, e.Name)
	s, _, err := ReadFile(path, b.options.Delta)
	if err != nil {
		return err
	}
	if len(s.Rows) <= n {
		return fmt.Errorf("%s: %d rows, expected %d: it was changed from outside", path, len(s.Rows), e.Rows)
	}
	s.Rows = s.Rows[n:]
	if err := atomicfile.WriteFile(path, func(w io.Writer) error { return encode(w, s, b.options.Delta) }); err != nil {
		return err
	}
	e.Rows, e.Digest = len(s.Rows), s.digest()
	return nil
}
