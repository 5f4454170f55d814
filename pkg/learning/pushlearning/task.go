package pushlearning

import (
	"math"
	"math/rand/v2"

	"vnd/pkg/learning/ppo"
	"vnd/pkg/robot/pusher"
)

// Task is to push a box to a place and heading. Of the paper: history, rewards and their scales, delays and noise; not
// those of joints, which are not there.
type Task struct {
	Nearest, Farthest float64 // of the goal from the box, m
	Turn              float64 // greatest of the goal's heading from the box's, rad
	Informed          bool    // the policy is informed of the hidden condition: the oracle
	Sensors           bool    // states and commands are late, and states noisy
	Steps             int     // of an episode
}

// DefaultTask is the one that is measured.
var DefaultTask = Task{Nearest: 0.1, Farthest: 0.3, Turn: 0.3, Sensors: true, Steps: 400}

// draw draws where an episode begins and leads.
func (t *Task) draw(rng *rand.Rand) (s pusher.State, goal [3]float64) {
	even := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	s.Box[2] = even(-math.Pi, math.Pi)
	sin, cos := math.Sincos(even(-math.Pi, math.Pi))
	far := even(0.12, 0.2)
	s.Tool = [2]float64{far * cos, far * sin}
	sin, cos = math.Sincos(even(-math.Pi, math.Pi))
	far = even(t.Nearest, t.Farthest)
	return s, [3]float64{far * cos, far * sin, s.Box[2] + even(-t.Turn, t.Turn)}
}

// Success is within these of the goal, for so many steps.
const (
	closeBy     = 0.02 // m
	aligned     = 0.2  // rad
	settleSteps = 30
)

const (
	history, pastActions = 30, 5
	rowSize              = 5 // where tool and goal are in the box's frame, and the heading that lacks
	latest               = 2 // most steps that a state is late
	reach                = 0.6
	progress             = 20
	// scale is that of all rewards: returns are then of the order of 1.
	scale = 0.02
)

// episode is one that goes on.
type episode struct {
	now              pusher.State
	goal             [3]float64
	rows             [(history + latest) * rowSize]float32 // newest first
	past             [2 * pastActions]float32              // newest first
	headings         [latest + 1]float64                   // measured, newest first
	late, lateAction int
	steps, settled   int
	worth            float64    // of where box and tool are: what a step adds to it is progress
	rng              *rand.Rand // of the sensors; nil: they are true
}

// in returns a vector of the table in the frame of a box with that heading.
func in(heading, x, y float64) (float64, float64) {
	sin, cos := math.Sincos(heading)
	return cos*x + sin*y, cos*y - sin*x
}

// begin begins an episode from a state, towards a goal. Without rng, sensors are true and nothing is late.
func (x *episode) begin(s pusher.State, goal [3]float64, rng *rand.Rand) {
	*x = episode{now: s, goal: goal, rng: rng}
	if rng != nil {
		x.late, x.lateAction = rng.IntN(latest+1), rng.IntN(2)
	}
	x.worth = x.potential(x.off())
	for range history + latest {
		x.measure()
	}
}

// measure appends what sensors say now.
func (x *episode) measure() {
	box, tool := x.now.Box, x.now.Tool
	if x.rng != nil {
		for k := range 2 {
			box[k] += 0.001 * x.rng.NormFloat64()
			tool[k] += 0.0005 * x.rng.NormFloat64()
		}
		box[2] += 0.005 * x.rng.NormFloat64()
	}
	copy(x.rows[rowSize:], x.rows[:])
	copy(x.headings[1:], x.headings[:])
	x.headings[0] = box[2]
	write(x.rows[:rowSize], box, tool, x.goal)
}

// observe writes what a policy sees of the episode.
func (x *episode) observe(row []float32) (n int) {
	n = copy(row, x.rows[x.late*rowSize:][:history*rowSize])
	return n + copy(row[n:], x.past[:])
}

// command is what the tool is to do after an action, which is its velocity in the frame of the box as it was measured.
func (x *episode) command(u []float32) (c pusher.Command) {
	copy(x.past[2:], x.past[:])
	copy(x.past[:2], u)
	a, b := in(-x.headings[x.late], float64(x.past[2*x.lateAction]), float64(x.past[2*x.lateAction+1]))
	return pusher.Command{pusher.MostSpeed * min(max(a, -1), 1), pusher.MostSpeed * min(max(b, -1), 1)}
}

func write(row []float32, box [3]float64, tool [2]float64, goal [3]float64) {
	tx, ty := in(box[2], tool[0]-box[0], tool[1]-box[1])
	gx, gy := in(box[2], goal[0]-box[0], goal[1]-box[1])
	for k, v := range []float64{tx, ty, gx, gy, math.Remainder(goal[2]-box[2], 2*math.Pi)} {
		row[k] = float32(v)
	}
}

// near is 1 up to a tolerance, and falls to 0.1 at margin beyond it.
func near(x, tolerance, margin float64) float64 {
	return 1 / (1 + 9*max(0, x-tolerance)/margin)
}

// potential is what the paper's terms of places and headings are worth together.
func (x *episode) potential(off, turn float64) float64 {
	toolX, toolY := x.now.Tool[0]-x.now.Box[0], x.now.Tool[1]-x.now.Box[1]
	const contact = pusher.Side/2 + pusher.ToolRadius
	gx, gy := (x.goal[0]-x.now.Box[0])/max(off, 1e-6), (x.goal[1]-x.now.Box[1])/max(off, 1e-6)
	behind := math.Hypot(toolX+contact*gx, toolY+contact*gy)
	return 8*near(off, 0.005, 0.4) + 6*near(turn, 0.2, math.Pi) + 2*near(math.Hypot(toolX, toolY)-contact, 0.1, 1) +
		near(behind, 0.1, 1)
}

// lost reports whether box or tool left the table, or are nowhere.
func (x *episode) lost() bool {
	s := &x.now
	return !(math.Hypot(s.Box[0], s.Box[1]) < reach && math.Hypot(s.Tool[0], s.Tool[1]) < reach)
}

// settle counts the steps for which the box is at its goal, and reports whether they are enough.
func (x *episode) settle(off, turn float64) (succeeded bool) {
	if x.settled++; !(off < closeBy && turn < aligned) {
		x.settled = 0
	}
	return x.settled >= settleSteps
}

// reward is that of the step that has just been made: progress, so that credit comes with the step that earned it.
func (x *episode) reward() (float32, ppo.End) {
	if x.lost() {
		return -50 * scale, ppo.Over
	}
	off, turn := x.off()
	var change, size float64
	for k := range 2 {
		d := float64(x.past[k] - x.past[2+k])
		change, size = change+d*d, size+float64(x.past[k]*x.past[k])
	}
	before := x.worth
	x.worth = x.potential(off, turn)
	r := progress*(x.worth-before) - Dt*0.1*(change+size)
	switch succeeded := x.settle(off, turn); {
	case succeeded:
		return float32(scale * (r + 500)), ppo.Over
	case x.settled > 0:
		return float32(scale * (r + 3)), ppo.GoesOn
	default:
		return float32(scale * r), ppo.GoesOn
	}
}

// off is how far the box is from its goal, m and rad.
func (x *episode) off() (distance, turn float64) {
	b := &x.now.Box
	return math.Hypot(x.goal[0]-b[0], x.goal[1]-b[1]), math.Abs(math.Remainder(x.goal[2]-b[2], 2*math.Pi))
}
