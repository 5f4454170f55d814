package pushlearning

import (
	"math/rand/v2"

	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/learning/ppo"
	"vnd/pkg/robot/pusher"
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

// NewEpisodes begins episodes in every world.
func NewEpisodes(t Task, p Plant, rng *rand.Rand) (*Episodes, error) {
	n := p.Size()
	e := &Episodes{Task: t, plant: p, rng: rng, all: make([]episode, n), commands: make([]pusher.Command, n)}
	for i := range e.all {
		if err := e.begin(i); err != nil {
			return nil, err
		}
		e.all[i].Steps = rng.IntN(t.Steps / 2) // so that not all end at once
	}
	return e, nil
}

// begin draws an episode.
func (e *Episodes) begin(i int) error {
	s, goal := e.draw(e.rng)
	return e.Place(i, s, goal)
}

// Place begins an episode from a state, towards a goal.
func (e *Episodes) Place(i int, s pusher.State, goal [3]float64) error {
	sensors := e.rng
	if !e.Sensors {
		sensors = nil
	}
	e.all[i].begin(s, goal, sensors)
	return e.plant.Begin(i, &s, e.rng)
}

// Together has all episodes that go on begin now.
func (e *Episodes) Together() {
	for i := range e.all {
		e.all[i].Steps = 0
	}
}

// Size implements ppo.World.
func (e *Episodes) Size() int { return len(e.all) }

// Sizes implements ppo.World.
func (e *Episodes) Sizes() (observation, critic, actions int) {
	observation = pushcontrol.Sees
	if e.Informed {
		observation += e.plant.HiddenSize()
	}
	critic = pushcontrol.RowSize + 5 + pushcontrol.Actions*pushcontrol.PastActions + 2 + e.plant.HiddenSize()
	return observation, critic, pushcontrol.Actions
}

// Observe implements ppo.World.
func (e *Episodes) Observe(all, critic []float32) {
	O, V, _ := e.Sizes()
	for i := range e.all {
		x, row, v := &e.all[i], all[i*O:][:O], critic[i*V:][:V]
		if n := x.Observe(row); e.Informed {
			e.plant.Hidden(i, row[n:])
		}
		s := &x.Now
		for k, w := range pushcontrol.Row(s.Box, s.Tool, x.Goal) {
			v[k] = float32(w)
		}
		for k, of := range [][]float64{s.ToolVelocity[:], s.BoxVelocity[:2]} {
			a, b := pushcontrol.In(s.Box[2], of[0], of[1])
			v[pushcontrol.RowSize+2*k], v[pushcontrol.RowSize+2*k+1] = float32(a), float32(b)
		}
		v[pushcontrol.RowSize+4] = float32(s.BoxVelocity[2])
		n := pushcontrol.RowSize + 5 + copy(v[pushcontrol.RowSize+5:], x.Past[:])
		v[n], v[n+1] = float32(x.Settled)/pushcontrol.SettleSteps, float32(x.Steps)/float32(e.Steps)
		e.plant.Hidden(i, v[n+2:])
	}
}

// Step implements ppo.World.
func (e *Episodes) Step(u, reward []float32, end []ppo.End) error {
	for i := range e.all {
		x := &e.all[i]
		e.commands[i] = x.Command(u[2*i:])
		if e.Seen != nil {
			e.Seen(i, &x.Now, e.commands[i])
		}
	}
	if err := e.plant.Step(e.commands); err != nil {
		return err
	}
	for i := range e.all {
		x := &e.all[i]
		e.plant.State(i, &x.Now)
		x.measure()
		reward[i], end[i] = x.reward()
		if x.Steps++; x.Steps >= e.Steps && end[i] == ppo.GoesOn {
			end[i] = ppo.Cut
		}
		if end[i] == ppo.GoesOn {
			continue
		}
		if e.Ended != nil {
			e.Ended(i, x.Settled >= pushcontrol.SettleSteps)
		}
		if err := e.begin(i); err != nil {
			return err
		}
	}
	return nil
}
