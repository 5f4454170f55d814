package dataset

import (
	"fmt"
	"os"
	"path/filepath"

	"vnd/pkg/core/so3"
)

// Read reads a segment that another process announced, with rows dt seconds apart. A file that is not what was
// announced is refused as a whole.
func (a *SegmentFile) Read(dt float64) (s Segment, loss *Loss, err error) {
	if !filepath.IsAbs(a.Dir) || a.File == "" || a.File != filepath.Base(a.File) || a.File == ".." || a.File == "." {
		return s, nil, fmt.Errorf("segment %.80q in %.200q: expected a file's name and an absolute folder", a.File,
			a.Dir)
	}
	path := filepath.Join(a.Dir, a.File)
	const rowBytes, rest = 128, 1 << 20 // what a row takes at most, and all else
	switch st, err := os.Stat(path); {
	case err != nil:
		return s, nil, fmt.Errorf("segment: %w", err)
	case !st.Mode().IsRegular():
		return s, nil, fmt.Errorf("segment %s: not a file", path)
	case a.Rows > 1<<30 || uint64(st.Size()) > a.Rows*rowBytes+rest:
		return s, nil, fmt.Errorf("segment %s: %d bytes, too many for the %d rows announced", path, st.Size(), a.Rows)
	}
	sum, err := FileSHA256(path)
	if err != nil {
		return s, nil, fmt.Errorf("segment: %w", err)
	}
	if sum != a.SHA256 {
		return s, nil, fmt.Errorf("segment %s: its SHA-256 is %x…, announced was %x…", path, sum[:4], a.SHA256[:4])
	}
	s, loss, err = ReadFile(path, dt)
	if err != nil {
		return s, nil, fmt.Errorf("segment %w", err)
	}
	if uint64(len(s.Rows)) != a.Rows {
		why := ""
		if loss != nil {
			why = ": " + loss.Reason
		}
		return s, nil, fmt.Errorf("segment %s: %d sound rows, announced were %d%s", path, len(s.Rows), a.Rows, why)
	}
	for k := range s.Rows {
		if err := plausible(&s.Rows[k]); err != nil {
			return s, nil, fmt.Errorf("segment %s: row %d: %w", path, k+1, err)
		}
	}
	return s, loss, nil
}

// Numbers beyond these are no flight's, whatever the vehicle: one such row would spoil the normalisers of all.
const (
	mostPosition = 1e5   // m from the origin
	mostSpeed    = 200.0 // m/s
	mostThrust   = 500.0 // m/s²
	mostRate     = 200.0 // rad/s
)

func plausible(r *WeightedRow) error {
	for _, x := range []struct {
		name, unit string
		v          so3.Vec3
		most       float64
	}{
		{"position", "m", r.State.P, mostPosition},
		{"velocity", "m/s", r.State.V, mostSpeed},
		{"body rates", "rad/s", r.Command.Rates, mostRate},
		{"thrust", "m/s²", so3.Vec3{X: r.Command.Thrust}, mostThrust},
	} {
		if n := x.v.Norm(); !(n <= x.most) {
			return fmt.Errorf("%s of %.3g %s, expected at most %g", x.name, n, x.unit, x.most)
		}
	}
	return nil
}
