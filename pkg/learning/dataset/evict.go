package dataset

import (
	"fmt"
	"os"
	"path/filepath"

	"vnd/pkg/core/atomicfile"
)

// slackShare: an eviction frees MaxRows/slackShare rows more than it must, so that it is rare.
const slackShare = 64

// evict brings the buffer back to MaxRows, see Balance: segments go as a whole. A newest one that is longer than all
// that there may be loses its oldest rows, the growing one none.
func (b *Buffer) evict() error {
	if b.rows() <= b.options.MaxRows {
		return nil
	}
	most := b.options.MaxRows - b.options.MaxRows/slackShare
	var pieces []Piece
	var at []int // of them among the files
	for i := range b.files {
		if b.files[i].Growing {
			most -= b.files[i].Rows
			continue
		}
		p, err := b.piece(&b.files[i])
		if err != nil {
			return fmt.Errorf("buffer: %w", err)
		}
		pieces, at = append(pieces, *p), append(at, i)
	}
	cuts := make([]int, len(b.files))
	for j, keep := range Balance(pieces, most) {
		if i := at[j]; !keep {
			cuts[i] = b.files[i].Rows
		} else if j == len(at)-1 {
			cuts[i] = max(0, b.files[i].Rows-most)
		}
	}
	return b.cut(cuts)
}

// piece describes a file, which it reads where that was not done yet.
func (b *Buffer) piece(e *entry) (*Piece, error) {
	if e.piece == nil {
		s, _, err := b.read(e.Name)
		if err != nil {
			return nil, err
		}
		b.describe(e, &s)
	}
	return e.piece, nil
}

// describe keeps what Balance has to know of a file with these rows.
func (b *Buffer) describe(e *entry, s *Encoded) {
	p := b.options.Kind.piece(s, b.options.Delta)
	e.piece = &p
}

// choose returns so many files: half of them are the newest, the others balanced over conditions.
func (b *Buffer) choose(n int) (chosen []File, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var pieces []Piece
	for i := range b.files {
		p, err := b.piece(&b.files[i])
		if err != nil {
			return nil, fmt.Errorf("buffer: %w", err)
		}
		one := *p
		one.Rows = 1
		pieces = append(pieces, one)
	}
	for i, keep := range Balance(pieces, n) {
		if keep {
			chosen = append(chosen, b.files[i].File)
		}
	}
	return chosen, nil
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
		return fmt.Errorf("buffer %s: forgetting rows: %w", b.dir, failed)
	}
	return nil
}

// trim rewrites a file without its oldest n rows.
func (b *Buffer) trim(e *entry, n int) error {
	s, _, err := b.read(e.Name)
	if err != nil {
		return err
	}
	kind := b.options.Kind
	if has := kind.rows(&s); has <= n {
		return fmt.Errorf("%s: %d rows, expected %d: it was changed from outside", filepath.Join(b.dir, e.Name), has,
			e.Rows)
	}
	s.Rows = s.Rows[n*kind.Size:]
	if err := b.write(e.Name, &s); err != nil {
		return err
	}
	e.Rows, e.Digest = kind.rows(&s), s.Digest()
	b.describe(e, &s)
	return nil
}
