package supervisor

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"vnd/pkg/core/so3"
	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/dataset"
)

// held is a segment in memory.
type held struct {
	path   string
	digest string // of the file
	dataset.Segment
}

// read reads an announced segment. What is not what was announced is refused as a whole.
func read(a *Announced, dt float64) (*held, error) {
	if !filepath.IsAbs(a.Dir) || a.File == "" || a.File != filepath.Base(a.File) || a.File == ".." || a.File == "." {
		return nil, fmt.Errorf("segment %.80q in %.200q: expected a file's name and an absolute folder", a.File, a.Dir)
	}
	path := filepath.Join(a.Dir, a.File)
	const rowBytes, rest = 128, 1 << 20 // what a row takes at most, and all else
	switch st, err := os.Stat(path); {
	case err != nil:
		return nil, fmt.Errorf("segment: %w", err)
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("segment %s: not a file", path)
	case a.Rows > 1<<30 || uint64(st.Size()) > a.Rows*rowBytes+rest:
		return nil, fmt.Errorf("segment %s: %d bytes, too many for the %d rows announced", path, st.Size(), a.Rows)
	}
	sum, err := dataset.FileSHA256(path)
	if err != nil {
		return nil, fmt.Errorf("segment: %w", err)
	}
	if sum != a.SHA256 {
		return nil, fmt.Errorf("segment %s: its SHA-256 is %x…, announced was %x…", path, sum[:4], a.SHA256[:4])
	}
	s, loss, err := dataset.ReadFile(path, dt)
	if err != nil {
		return nil, fmt.Errorf("segment %w", err)
	}
	if uint64(len(s.Rows)) != a.Rows {
		why := ""
		if loss != nil {
			why = ": " + loss.Reason
		}
		return nil, fmt.Errorf("segment %s: %d sound rows, announced were %d%s", path, len(s.Rows), a.Rows, why)
	}
	for k := range s.Rows {
		if err := plausible(&s.Rows[k]); err != nil {
			return nil, fmt.Errorf("segment %s: row %d: %w", path, k+1, err)
		}
	}
	return &held{path, hex.EncodeToString(sum[:]), s}, nil
}

// Numbers beyond these are no flight's, whatever the vehicle: one such row would spoil the normalisers of all.
const (
	mostPosition = 1e5   // m from the origin
	mostSpeed    = 200.0 // m/s
	mostThrust   = 500.0 // m/s²
	mostRate     = 200.0 // rad/s
)

func plausible(r *dataset.Row) error {
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

// take adds an announced segment.
func (l *Supervisor) take(a *Announced) {
	path := filepath.Join(a.Dir, a.File)
	for i := range l.segments {
		if l.segments[i].path == path {
			return // the buffer gave some of its rows up; here they stay
		}
	}
	s, err := read(a, l.opt.Dt)
	if err != nil {
		l.log(true, "refused: "+err.Error())
		return
	}
	l.segments = append(l.segments, *s)
	l.rows += len(s.Rows)
	if !l.bundles.Learned(s.digest) {
		l.fresh += len(s.Rows)
	}
	if l.learner != nil {
		l.learner.Add(s.Segment)
	}
	l.stale = true
}

// bound forgets the oldest segments where there are too many rows. The model goes on from the bundle that flies.
func (l *Supervisor) bound() error {
	if l.rows <= l.cfg().MaxRows || l.learner == nil {
		return nil
	}
	const slack = 16 // an eighth of that share is forgotten at once, so that it is rare
	drop := 0
	for l.rows > l.cfg().MaxRows-l.cfg().MaxRows/slack && drop < len(l.segments)-1 {
		l.rows -= len(l.segments[drop].Rows)
		drop++
	}
	l.segments = append([]held(nil), l.segments[drop:]...)
	return l.begin()
}

// begin makes the learner around the bundle that flies and the segments that are here.
func (l *Supervisor) begin() error {
	l.generation++
	opt := continual.Options{Tasks: l.opt.Tasks, Task: l.opt.Task, Vehicle: l.opt.Vehicle, Judge: l.opt.Judge,
		Seed: l.opt.Seed<<8 + l.generation, Status: l.progress, Now: l.opt.Now}
	cfg := l.cfg()
	next, err := continual.New(cfg.Config, l.bundles.Current(), opt)
	if err != nil {
		return err
	}
	for i := range l.segments {
		next.Add(l.segments[i].Segment)
	}
	l.learner, l.built = next, cfg
	return nil
}

// flown is the time that can be learned from, s.
func (l *Supervisor) flown() float64 { return float64(l.rows) * l.opt.Dt }
