package pushing

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

// Episodes is a Task in N worlds of a plant: it implements ppo.World. What the critic sees has no noise and no delay,
// and has the hidden condition.
type Episodes struct {
	Task
	plant    Plant
	rng      *rand.Rand
	all      []episode
	commands []pusher.Command
	// Ended is called with each episode that ends, Seen with each state and the command that follows it, unless nil.
	Ended func(i int, success bool)
	Seen  func(i int, s *pusher.State, c pusher.Command)
}

// episode is one that goes on.
type episode struct {
	now              pusher.State
	goal             [3]float64
	rows             [(history + latest) * rowSize]float32 // newest first
	past             [2 * pastActions]float32              // newest first
	headings         [latest + 1]float64                   // measured, newest first
	late, lateAction int
	steps, settled   int
	worth            float64 // of where box and tool are: what a step adds to it is progress
}

// NewEpisodes begins episodes in every world.
func NewEpisodes(t Task, p Plant, rng *rand.Rand) (*Episodes, error) {
	n := p.Size()
	e := &Episodes{Task: t, plant: p, rng: rng, all: make([]episode, n), commands: make([]pusher.Command, n)}
	for i := range e.all {
		if err := e.begin(i); err != nil {
			return nil, err
		}
		e.all[i].steps = rng.IntN(t.Steps / 2) // so that not all end at once
	}
	return e, nil
}

// begin draws an episode.
func (e *Episodes) begin(i int) error {
	even := func(lo, hi float64) float64 { return lo + (hi-lo)*e.rng.Float64() }
	var s pusher.State
	s.Box[2] = even(-math.Pi, math.Pi)
	sin, cos := math.Sincos(even(-math.Pi, math.Pi))
	far := even(0.12, 0.2)
	s.Tool = [2]float64{far * cos, far * sin}
	sin, cos = math.Sincos(even(-math.Pi, math.Pi))
	far = even(e.Nearest, e.Farthest)
	return e.place(i, s, [3]float64{far * cos, far * sin, s.Box[2] + even(-e.Turn, e.Turn)})
}

// place begins an episode from a state, towards a goal.
func (e *Episodes) place(i int, s pusher.State, goal [3]float64) error {
	x := &e.all[i]
	*x = episode{now: s, goal: goal}
	if e.Sensors {
		x.late, x.lateAction = e.rng.IntN(latest+1), e.rng.IntN(2)
	}
	if err := e.plant.Begin(i, &x.now, e.rng); err != nil {
		return err
	}
	x.worth = x.potential(x.off())
	for range history + latest {
		e.measure(x)
	}
	return nil
}

// in returns a vector of the table in the frame of a box with that heading.
func in(heading, x, y float64) (float64, float64) {
	sin, cos := math.Sincos(heading)
	return cos*x + sin*y, cos*y - sin*x
}

// measure appends what sensors say now.
func (e *Episodes) measure(x *episode) {
	box, tool := x.now.Box, x.now.Tool
	if e.Sensors {
		for k := range 2 {
			box[k] += 0.001 * e.rng.NormFloat64()
			tool[k] += 0.0005 * e.rng.NormFloat64()
		}
		box[2] += 0.005 * e.rng.NormFloat64()
	}
	copy(x.rows[rowSize:], x.rows[:])
	copy(x.headings[1:], x.headings[:])
	x.headings[0] = box[2]
	write(x.rows[:rowSize], box, tool, x.goal)
}

func write(row []float32, box [3]float64, tool [2]float64, goal [3]float64) {
	tx, ty := in(box[2], tool[0]-box[0], tool[1]-box[1])
	gx, gy := in(box[2], goal[0]-box[0], goal[1]-box[1])
	for k, v := range []float64{tx, ty, gx, gy, math.Remainder(goal[2]-box[2], 2*math.Pi)} {
		row[k] = float32(v)
	}
}

// Size implements ppo.World.
func (e *Episodes) Size() int { return len(e.all) }

// Sizes implements ppo.World.
func (e *Episodes) Sizes() (observation, critic, actions int) {
	observation = history*rowSize + 2*pastActions
	if e.Informed {
		observation += e.plant.HiddenSize()
	}
	return observation, rowSize + 5 + 2*pastActions + 2 + e.plant.HiddenSize(), 2
}

// Observe implements ppo.World.
func (e *Episodes) Observe(all, critic []float32) {
	O, V, _ := e.Sizes()
	for i := range e.all {
		x, row, v := &e.all[i], all[i*O:][:O], critic[i*V:][:V]
		n := copy(row, x.rows[x.late*rowSize:][:history*rowSize])
		n += copy(row[n:], x.past[:])
		if e.Informed {
			e.plant.Hidden(i, row[n:])
		}
		s := &x.now
		write(v, s.Box, s.Tool, x.goal)
		for k, of := range [][]float64{s.ToolVelocity[:], s.BoxVelocity[:2]} {
			a, b := in(s.Box[2], of[0], of[1])
			v[rowSize+2*k], v[rowSize+2*k+1] = float32(a), float32(b)
		}
		v[rowSize+4] = float32(s.BoxVelocity[2])
		n = rowSize + 5 + copy(v[rowSize+5:], x.past[:])
		v[n], v[n+1] = float32(x.settled)/settleSteps, float32(x.steps)/float32(e.Steps)
		e.plant.Hidden(i, v[n+2:])
	}
}

// Step implements ppo.World. Actions are the tool's velocity in the frame of the box as it was measured.
func (e *Episodes) Step(u, reward []float32, end []ppo.End) error {
	for i := range e.all {
		x := &e.all[i]
		copy(x.past[2:], x.past[:])
		copy(x.past[:2], u[2*i:])
		a, b := in(-x.headings[x.late], float64(x.past[2*x.lateAction]), float64(x.past[2*x.lateAction+1]))
		e.commands[i] = pusher.Command{pusher.MostSpeed * min(max(a, -1), 1), pusher.MostSpeed * min(max(b, -1), 1)}
		if e.Seen != nil {
			e.Seen(i, &x.now, e.commands[i])
		}
	}
	if err := e.plant.Step(e.commands); err != nil {
		return err
	}
	for i := range e.all {
		x := &e.all[i]
		e.plant.State(i, &x.now)
		e.measure(x)
		reward[i], end[i] = x.reward()
		if x.steps++; x.steps >= e.Steps && end[i] == ppo.GoesOn {
			end[i] = ppo.Cut
		}
		if end[i] == ppo.GoesOn {
			continue
		}
		if e.Ended != nil {
			e.Ended(i, x.settled >= settleSteps)
		}
		if err := e.begin(i); err != nil {
			return err
		}
	}
	return nil
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

// reward is that of the step that has just been made: progress, so that credit comes with the step that earned it.
func (x *episode) reward() (float32, ppo.End) {
	s := &x.now
	if !(math.Hypot(s.Box[0], s.Box[1]) < reach && math.Hypot(s.Tool[0], s.Tool[1]) < reach) {
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
	x.settled++
	if !(off < closeBy && turn < aligned) {
		x.settled = 0
		return float32(scale * r), ppo.GoesOn
	}
	if x.settled >= settleSteps {
		return float32(scale * (r + 500)), ppo.Over
	}
	return float32(scale * (r + 3)), ppo.GoesOn
}

// off is how far the box is from its goal, m and rad.
func (x *episode) off() (distance, turn float64) {
	b := &x.now.Box
	return math.Hypot(x.goal[0]-b[0], x.goal[1]-b[1]), math.Abs(math.Remainder(x.goal[2]-b[2], 2*math.Pi))
}
