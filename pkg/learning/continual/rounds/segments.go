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

// bound forgets the oldest segments where there are too many rows. The model goes on from the bundle that flies.
func (l *Runner) bound() error {
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
