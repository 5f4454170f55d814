package dataset

import (
	"cmp"
	"math"
	"slices"

	"vnd/pkg/robot/quadrotor"
)

// Piece is what Balance knows of a segment: how long it is, and in which condition it was flown.
type Piece struct {
	Rows   int
	mean   []float32 // [D] of its windows; nil without one
	spread float64   // RMS distance of the windows from there
	draw   uint64    // at random, and the same for the same rows: which pieces of a condition stay
}

// NewPiece describes a segment by its windows [N][D]: points that lie near each other where conditions are alike.
func NewPiece(s *Segment, windows []float32, D int) Piece {
	t := 0.
	if len(s.Rows) > 0 {
		t = s.Rows[0].T
	}
	return PieceOf(len(s.Rows), draw(s.Flight, t), windows, D)
}

// PieceOf describes so many rows by a number, the same for the same rows, and by their windows.
func PieceOf(rows int, draw uint64, windows []float32, D int) Piece {
	p := Piece{Rows: rows, draw: draw}
	if D == 0 || len(windows) < D {
		return p
	}
	mean := make([]float32, D)
	n := float32(len(windows) / D)
	for i, x := range windows {
		mean[i%D] += x / n
	}
	for w := range slices.Chunk(windows, D) {
		p.spread += square(w, mean) / float64(n)
	}
	if p.spread = math.Sqrt(p.spread); p.spread*0 == 0 { // finite
		p.mean = mean
	}
	return p
}

func square(a, b []float32) (d float64) {
	for j, x := range a {
		d += float64(x-b[j]) * float64(x-b[j])
	}
	return d
}

// PushWindows describes a segment without a model: windows [N][3] of the accelerations, m/s² in the world, that the
// prior of a robot with ideal actuators leaves over.
func PushWindows(s *Segment, dt float64) (windows []float32) {
	const steps = 20
	mean, rows := quadrotor.NewResidualMean(quadrotor.NominalActuator(), dt, steps), s.QuadRows()
	for ; len(rows) > steps; rows = rows[steps:] {
		a := mean.Mean(rows[:steps+1])
		windows = append(windows, float32(a.X), float32(a.Y), float32(a.Z))
	}
	return windows
}

// PushSize is D of PushWindows.
const PushSize = 3

// mostConditions is how many are told apart.
const mostConditions = 64

// Balance chooses which of the pieces, oldest first, are kept in at most so many rows. Half of them are the newest,
// at least one piece. The older ones share the rest evenly among their conditions: one that is rare stays whole, and of
// the others as many go as must. Which of a condition stay is drawn: all that were ever flown are as likely, because a
// piece draws the same each time.
func Balance(pieces []Piece, most int) (keep []bool) {
	keep = make([]bool, len(pieces))
	older, rows := len(pieces), 0
	for older > 0 && (rows == 0 || rows+pieces[older-1].Rows <= most/2) {
		older--
		keep[older] = true
		rows += pieces[older].Rows
	}
	var of [mostConditions]condition
	for i, c := range conditions(pieces[:older]) {
		keep[i] = true
		of[c].pieces = append(of[c].pieces, i)
		of[c].rows += pieces[i].Rows
		rows += pieces[i].Rows
	}
	for c := range of {
		slices.SortFunc(of[c].pieces, func(i, j int) int { return cmp.Compare(pieces[i].draw, pieces[j].draw) })
	}
	for rows > most && older > 0 {
		c := 0
		for other := range of {
			if of[other].rows > of[c].rows {
				c = other
			}
		}
		rows -= of[c].drop(pieces, keep)
		older--
	}
	return keep
}

// Forget forgets segments, described by pieces, where there are more rows than most. Of the segments the first ones
// were learned from. It returns what is left of both, and the places where those that stay were.
func Forget[S any](all []S, learned int, pieces []Piece, most int) (segments []S, left int, kept []int) {
	const slack = 16 // that share is forgotten at once, so that it is rare
	for i, keep := range Balance(pieces, most-most/slack) {
		if !keep {
			continue
		}
		if i < learned {
			left++
		}
		kept, segments = append(kept, i), append(segments, all[i])
	}
	return segments, left, kept
}

// condition is what is kept of one: the last of its pieces goes first.
type condition struct {
	pieces []int
	rows   int
}

// drop lets a piece go, and returns its rows.
func (c *condition) drop(pieces []Piece, keep []bool) int {
	last := len(c.pieces) - 1
	i := c.pieces[last]
	c.pieces, keep[i] = c.pieces[:last], false
	c.rows -= pieces[i].Rows
	return pieces[i].Rows
}

// conditions numbers those of pieces: each next one begins at the piece that is farthest from all before, until none
// is farther than the windows of a piece are from each other. What is new is a condition at once.
func conditions(pieces []Piece) []int {
	of, away := make([]int, len(pieces)), make([]float64, len(pieces))
	var spreads []float64
	first := -1
	for i, p := range pieces {
		if p.mean == nil { // these are condition 0
			continue
		}
		spreads, away[i] = append(spreads, p.spread), math.Inf(1)
		if first < 0 || p.draw < pieces[first].draw {
			first = i
		}
	}
	if first < 0 {
		return of
	}
	slices.Sort(spreads)
	apart := spreads[len(spreads)/2] * spreads[len(spreads)/2]
	for c, centre := 1, first; c < mostConditions; c++ {
		for i, p := range pieces {
			if p.mean == nil {
				continue
			}
			if d := square(p.mean, pieces[centre].mean); d < away[i] {
				away[i], of[i] = d, c
			}
		}
		farthest := slices.Max(away)
		if farthest <= apart {
			break
		}
		centre = slices.Index(away, farthest)
	}
	return of
}
