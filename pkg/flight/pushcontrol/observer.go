// Package pushcontrol is how a policy pushes a box to its goal: what it sees, what its actions command, and when that
// is over. A policy sees and acts in the frame of the box.
package pushcontrol

import (
	"math"

	"vnd/pkg/robot/pusher"
)

// Sizes of what policies see: rows of the newest states, and the newest actions.
const (
	History, PastActions = 30, 5
	RowSize              = 5 // where tool and goal are in the box's frame, and the heading that lacks
	Actions              = 2
	Sees                 = History*RowSize + Actions*PastActions
	MostLate             = 2 // most steps that a state may be late in a simulation
)

// Success is within these of the goal, for so many steps.
const (
	CloseBy     = 0.02 // m
	Aligned     = 0.2  // rad
	SettleSteps = 30
)

// Observer keeps what a policy sees of a push, newest first. In a simulation states and commands may be late by whole
// steps.
type Observer struct {
	Goal             [3]float64 // x, y, heading
	Late, LateAction int
	Past             [Actions * PastActions]float32
	Rows             [(History + MostLate) * RowSize]float32
	Headings         [MostLate + 1]float64 // measured
	Settled          int                   // steps on end for which the box is at its goal
}

// Begin begins a push of a box that stood there, x, y, heading, with the tool at a place.
func (x *Observer) Begin(box [3]float64, tool [2]float64) {
	for range History + MostLate {
		x.Measure(box, tool)
	}
}

// Measure takes where sensors have the box and the tool now.
func (x *Observer) Measure(box [3]float64, tool [2]float64) {
	copy(x.Rows[RowSize:], x.Rows[:])
	copy(x.Headings[1:], x.Headings[:])
	x.Headings[0] = box[2]
	for k, v := range Row(box, tool, x.Goal) {
		x.Rows[k] = float32(v)
	}
}

// Row is what is seen of one moment.
func Row(box [3]float64, tool [2]float64, goal [3]float64) (row [RowSize]float64) {
	row[0], row[1] = In(box[2], tool[0]-box[0], tool[1]-box[1])
	row[2], row[3] = In(box[2], goal[0]-box[0], goal[1]-box[1])
	row[4] = math.Remainder(goal[2]-box[2], 2*math.Pi)
	return row
}

// In returns a vector of the table in the frame of a box with a heading.
func In(heading, x, y float64) (float64, float64) {
	sin, cos := math.Sincos(heading)
	return cos*x + sin*y, cos*y - sin*x
}

// Observe writes what the policy sees, and returns how many numbers that is.
func (x *Observer) Observe(row []float32) (n int) {
	n = copy(row, x.Rows[x.Late*RowSize:][:History*RowSize])
	return n + copy(row[n:], x.Past[:])
}

// Command is what the tool is to do after an action, which is its velocity in the frame of the box as it was measured,
// in shares of the greatest.
func (x *Observer) Command(u []float32) pusher.Command {
	copy(x.Past[Actions:], x.Past[:])
	copy(x.Past[:Actions], u)
	a, b := In(-x.Headings[x.Late], float64(x.Past[2*x.LateAction]), float64(x.Past[2*x.LateAction+1]))
	return pusher.Command{pusher.MostSpeed * min(max(a, -1), 1), pusher.MostSpeed * min(max(b, -1), 1)}
}

// Off is how far a box is from the goal, m and rad.
func (x *Observer) Off(box [3]float64) (distance, turn float64) {
	return math.Hypot(x.Goal[0]-box[0], x.Goal[1]-box[1]), math.Abs(math.Remainder(x.Goal[2]-box[2], 2*math.Pi))
}

// Settle counts the steps for which a box that is so far off is at its goal, and reports whether they are enough.
func (x *Observer) Settle(off, turn float64) (succeeded bool) {
	if x.Settled++; !(off < CloseBy && turn < Aligned) {
		x.Settled = 0
	}
	return x.Settled >= SettleSteps
}
