package rounds

import (
	"encoding/hex"
	"path/filepath"

	"vnd/pkg/learning/continual"
	"vnd/pkg/learning/dataset"
)

// held is a segment in memory.
type held struct {
	path   string
	digest string // of the file
	dataset.Segment
}

// take adds an announced segment.
func (l *Runner) take(a *dataset.SegmentFile) {
	path := filepath.Join(a.Dir, a.File)
	for i := range l.segments {
		if l.segments[i].path == path {
			return // the buffer gave some of its rows up; here they stay
		}
	}
	segment, loss, err := a.Read(l.opt.Dt)
	if err != nil {
		l.log(true, "refused: "+err.Error())
		return
	}
	if loss != nil {
		l.log(true, "damaged: segment "+filepath.Join(a.Dir, loss.String()))
	}
	s := held{path, hex.EncodeToString(a.SHA256[:]), segment}
	l.segments = append(l.segments, s)
	l.rows += len(s.Rows)
	if !l.bundles.Learned(s.digest) {
		l.fresh += len(s.Rows)
	}
	if l.learner != nil {
		l.learner.Add(s.Segment)
	}
	l.stale = true
}

// bound has the learner forget segments where there are too many rows, and forgets them, too.
func (l *Runner) bound() {
	if l.learner == nil || l.rows <= l.cfg().MaxRows {
		return
	}
	kept := l.learner.Bound()
	if kept == nil {
		return
	}
	segments := make([]held, len(kept))
	fresh := 0
	l.rows = 0
	for i, at := range kept {
		s := l.segments[at]
		segments[i] = s
		l.rows += len(s.Rows)
		if !l.bundles.Learned(s.digest) {
			fresh += len(s.Rows)
		}
	}
	l.segments, l.fresh = segments, min(l.fresh, fresh)
}

// begin makes the learner around the bundle that flies and the segments that are here.
func (l *Runner) begin() error {
	l.generation++
	opt := continual.Options{Tasks: l.opt.Tasks, Task: l.opt.Task, Vehicle: l.opt.Vehicle, Judge: l.opt.Judge,
		Seed: l.opt.Seed<<8 + l.generation, Status: l.progress, Now: l.opt.Now}
	cfg := l.cfg()
	next, err := continual.New(cfg.Config, l.bundles.Current(), opt)
	if err != nil {
		return err
	}
	for i := range l.segments {
		if s := &l.segments[i]; l.bundles.Learned(s.digest) {
			next.AddLearned(s.Segment)
		} else {
			next.Add(s.Segment)
		}
	}
	l.learner, l.built = next, cfg
	return nil
}

// flown is the time that can be learned from, s.
func (l *Runner) flown() float64 { return float64(l.rows) * l.opt.Dt }
