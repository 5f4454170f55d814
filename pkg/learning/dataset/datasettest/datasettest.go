// Package datasettest puts rows into buffers for tests of what learns from them.
package datasettest

import (
	"path/filepath"
	"testing"
	"time"

	"vnd/pkg/learning/dataset"
)

// Segment puts a flight without a gap, rows 0.02 s apart, into the buffer in dir.
func Segment(t testing.TB, dir, flight string, rows []dataset.WeightedRow) dataset.SegmentFile {
	t.Helper()
	s, err := segment(dir, flight, rows)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func segment(dir, flight string, rows []dataset.WeightedRow) (s dataset.SegmentFile, err error) {
	b, err := dataset.Open(dir, dataset.Options{MaxRows: 1_000_000, Delta: 0.02, Clock: time.Now})
	if err != nil {
		return s, err
	}
	defer b.Close()
	a, err := b.Grow(flight)
	if err != nil {
		return s, err
	}
	for _, r := range rows {
		if err := a.Append(r); err != nil {
			return s, err
		}
	}
	if err := a.Close(); err != nil {
		return s, err
	}
	files := b.Files()
	f := files[len(files)-1]
	s = dataset.SegmentFile{Dir: dir, File: f.Name, Rows: uint64(f.Rows)}
	s.SHA256, err = dataset.FileSHA256(filepath.Join(dir, f.Name))
	return s, err
}
