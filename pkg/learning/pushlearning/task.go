package pushlearning

import (
	"math"
	"math/rand/v2"

	"vnd/pkg/flight/pushcontrol"
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

const (
	reach    = 0.6
	progress = 20
	// scale is that of all rewards: returns are then of the order of 1.
	scale = 0.02
)

// episode is one that goes on.
type episode struct {
	pushcontrol.Observer
	Now   pusher.State
	Steps int
	Worth float64    // of where box and tool are: what a step adds to it is progress
	rng   *rand.Rand // of the sensors; nil: they are true
}

// begin begins an episode from a state, towards a goal. Without rng, sensors are true and nothing is late.
func (x *episode) begin(s pusher.State, goal [3]float64, rng *rand.Rand) {
	*x = episode{Observer: pushcontrol.Observer{Goal: goal}, Now: s, rng: rng}
	if rng != nil {
		x.Late, x.LateAction = rng.IntN(pushcontrol.MostLate+1), rng.IntN(2)
	}
	x.Worth = x.potential(x.Off(s.Box))
	for range pushcontrol.History + pushcontrol.MostLate {
		x.measure()
	}
}

// measure appends what sensors say now.
func (x *episode) measure() {
	box, tool := x.Now.Box, x.Now.Tool
	if x.rng != nil {
		for k := range 2 {
			box[k] += 0.001 * x.rng.NormFloat64()
			tool[k] += 0.0005 * x.rng.NormFloat64()
		}
		box[2] += 0.005 * x.rng.NormFloat64()
	}
	x.Measure(box, tool)
}

// near is 1 up to a tolerance, and falls to 0.1 at margin beyond it.
func near(x, tolerance, margin float64) float64 {
	return 1 / (1 + 9*max(0, x-tolerance)/margin)
}

// potential is what the paper's terms of places and headings are worth together.
func (x *episode) potential(off, turn float64) float64 {
	toolX, toolY := x.Now.Tool[0]-x.Now.Box[0], x.Now.Tool[1]-x.Now.Box[1]
	const contact = pusher.Side/2 + pusher.ToolRadius
	gx, gy := (x.Goal[0]-x.Now.Box[0])/max(off, 1e-6), (x.Goal[1]-x.Now.Box[1])/max(off, 1e-6)
	behind := math.Hypot(toolX+contact*gx, toolY+contact*gy)
	return 8*near(off, 0.005, 0.4) + 6*near(turn, 0.2, math.Pi) + 2*near(math.Hypot(toolX, toolY)-contact, 0.1, 1) +
		near(behind, 0.1, 1)
}

// lost reports whether box or tool left the table, or are nowhere.
func (x *episode) lost() bool {
	s := &x.Now
	return !(math.Hypot(s.Box[0], s.Box[1]) < reach && math.Hypot(s.Tool[0], s.Tool[1]) < reach)
}

// reward is that of the step that has just been made: progress, so that credit comes with the step that earned it.
func (x *episode) reward() (float32, ppo.End) {
	s := &x.Now
	if x.lost() {
		return -50 * scale, ppo.Over
	}
	off, turn := x.Off(s.Box)
	var change, size float64
	for k := range 2 {
		d := float64(x.Past[k] - x.Past[2+k])
		change, size = change+d*d, size+float64(x.Past[k]*x.Past[k])
	}
	before := x.Worth
	x.Worth = x.potential(off, turn)
	r := progress*(x.Worth-before) - Dt*0.1*(change+size)
	switch succeeded := x.Settle(off, turn); {
	case succeeded:
		return float32(scale * (r + 500)), ppo.Over
	case x.Settled > 0:
		return float32(scale * (r + 3)), ppo.GoesOn
	default:
		return float32(scale * r), ppo.GoesOn
	}
}
