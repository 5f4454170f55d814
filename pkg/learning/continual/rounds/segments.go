package rounds

import "context"

// held is a segment in memory.
type held[S any] struct {
	path    string // "": of no file
	digest  string // of its file, or of its rows
	rows    int
	segment S
}

// Take takes a segment that is of no file, with a digest of its own.
func (l *Runner[S]) Take(ctx context.Context, digest string, rows int, s S) error {
	return l.do(ctx, func() { l.take(held[S]{digest: digest, rows: rows, segment: s}) })
}

// take adds a segment.
func (l *Runner[S]) take(s held[S]) {
	l.segments = append(l.segments, s)
	l.rows += s.rows
	if !l.bundles.Learned(s.digest) {
		l.fresh += s.rows
	}
	if l.learner != nil {
		l.learner.Add(s.segment)
	}
	l.stale = true
}

// bound has the learner forget segments where there are too many rows, and forgets them, too.
func (l *Runner[S]) bound() {
	if l.learner == nil || l.rows <= l.cfg().Needs().MaxRows {
		return
	}
	kept := l.learner.Bound()
	if kept == nil {
		return
	}
	segments := make([]held[S], len(kept))
	fresh := 0
	l.rows = 0
	for i, at := range kept {
		s := l.segments[at]
		segments[i] = s
		l.rows += s.rows
		if !l.bundles.Learned(s.digest) {
			fresh += s.rows
		}
	}
	l.segments, l.fresh = segments, min(l.fresh, fresh)
}

// begin makes the learner around the bundle that flies and the segments that are here.
func (l *Runner[S]) begin() error {
	l.generation++
	cfg := l.cfg()
	next, err := l.robot.Begin(l.bundles.Current(), l.opt.Seed<<8+l.generation, l.progress)
	if err != nil {
		return err
	}
	for i := range l.segments {
		if s := &l.segments[i]; l.bundles.Learned(s.digest) {
			next.AddLearned(s.segment)
		} else {
			next.Add(s.segment)
		}
	}
	l.learner, l.built = next, cfg
	return nil
}

// flown is the time that can be learned from, s.
func (l *Runner[S]) flown() float64 { return float64(l.rows) * l.opt.Dt }
