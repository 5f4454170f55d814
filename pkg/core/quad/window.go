package quad

import (
	"fmt"
)

// Window holds the newest unbroken rows. It is for one goroutine and allocates only in New.
type Window struct {
	dt   float64
	rows int // T+1
	// The newest rows are buf[end−n : end]. When the end is reached they move to the front, so that Rows is one slice.
	buf    []Row
	end, n int
}

// NewWindow returns an empty window of T past rows and the present one, dt seconds apart.
func NewWindow(T int, dt float64) (*Window, error) {
	if T < 1 || !(dt > 0) {
		return nil, fmt.Errorf("quad: window of %d rows, %g s apart: expected at least 1 row and a positive time", T,
			dt)
	}
	return &Window{dt: dt, rows: T + 1, buf: make([]Row, 4*(T+1))}, nil
}

// Push adds the next row. A row that does not follow the last one (Follows) starts the window anew: no window
// straddles a gap.
func (w *Window) Push(s Row) {
	if w.n > 0 && !Follows(w.buf[w.end-1].T, s.T, w.dt) {
		w.n = 0
	}
	if w.end == len(w.buf) {
		keep := min(w.n, w.rows-1)
		copy(w.buf, w.buf[w.end-keep:w.end])
		w.end = keep
	}
	w.buf[w.end] = s
	w.end++
	w.n = min(w.n+1, w.rows)
}

// Full reports whether T past rows and the present one are there.
func (w *Window) Full() bool { return w.n == w.rows }

// Rows returns the rows, oldest first; the last is the newest. They are valid until the next Push.
func (w *Window) Rows() []Row { return w.buf[w.end-w.n : w.end] }
