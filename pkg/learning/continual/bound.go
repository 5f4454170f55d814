package continual

import (
	"vnd/pkg/core/quad"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/fit/quadfit"
	"vnd/pkg/vnd"
)

// Bound forgets segments where there are more rows than may be, see dataset.Balance: conditions are told apart by the
// latents of the newest model, before the first by what pushes the robot. It returns the places of those that stay,
// nil where nothing is forgotten. No round may run meanwhile.
func (l *Learner) Bound() (kept []int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rows := 0
	for i := range l.segments {
		rows += len(l.segments[i].Rows)
	}
	if rows <= l.cfg.MaxRows {
		return nil
	}
	pieces := make([]dataset.Piece, len(l.segments))
	for i := range l.segments {
		pieces[i] = l.piece(&l.segments[i])
	}
	l.segments, l.learned, kept = dataset.Forget(l.segments, l.learned, pieces, l.cfg.MaxRows)
	return kept
}

// piece describes a segment by its latents, one for each second.
func (l *Learner) piece(s *dataset.Segment) dataset.Piece {
	dt := l.current.Dt
	if l.model == nil || l.model.Model.Net.Latent == 0 {
		return dataset.NewPiece(s, dataset.PushWindows(s, dt), dataset.PushSize)
	}
	m := l.model.Model
	stride := max(1, int(1/dt+.5))
	z := vnd.Latents(m, quadfit.Robot(l.model), [][]quad.Row{s.QuadRows()}, stride)
	return dataset.NewPiece(s, z, m.Net.Latent)
}
