package pushing

import (
	"math/rand/v2"

	"vnd/pkg/learning/pushlearning"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/pusher"
)

// Trial is an episode under a hidden condition.
type Trial struct {
	Condition Condition
	Success   bool
}

// Trials pushes n boxes of MuJoCo by a method, each once, each under its own hidden condition. The same seed gives the
// same conditions and goals to any method.
func Trials(m *Method, t pushlearning.Task, n int, seed uint64, draw func(rng *rand.Rand) Condition) ([]Trial,
	error) {
	trials, rng := make([]Trial, n), rand.New(rand.NewPCG(seed, 8))
	for i := range trials {
		trials[i].Condition = draw(rng)
	}
	real, err := NewReal(n, kernel.Workers(), func(i int, _ *rand.Rand) Condition { return trials[i].Condition })
	if err != nil {
		return nil, err
	}
	defer real.Close()
	won, err := pushlearning.Successes(m.acting, m.task(t), real, rng)
	for i, success := range won {
		trials[i].Success = success
	}
	return trials, err
}

// Ways pushes a box of each condition by a method from one state to one goal, and returns where that leads, step by
// step, until success or the end of the time.
func Ways(m *Method, t pushlearning.Task, conditions []Condition, s pusher.State,
	goal [3]float64) ([][]pusher.State, error) {
	given := func(i int, _ *rand.Rand) Condition { return conditions[i] }
	real, err := NewReal(len(conditions), kernel.Workers(), given)
	if err != nil {
		return nil, err
	}
	defer real.Close()
	e, err := pushlearning.NewEpisodes(m.task(t), real, rand.New(rand.NewPCG(1, 9)))
	if err != nil {
		return nil, err
	}
	ways, over := make([][]pusher.State, len(conditions)), make([]bool, len(conditions))
	e.Ended = func(i int, _ bool) { over[i] = true }
	e.Seen = func(i int, s *pusher.State, _ pusher.Command) {
		if !over[i] {
			ways[i] = append(ways[i], *s)
		}
	}
	for i := range conditions {
		if err := e.Place(i, s, goal); err != nil {
			return nil, err
		}
	}
	a := m.acting(e)
	for range t.Steps {
		if a.Decide(); err == nil {
			err = a.Step()
		}
	}
	return ways, err
}

// Share is that of trials that succeeded, among those whose box takes a force to push of lo up to hi, N.
func Share(trials []Trial, lo, hi float64) (share float64, n int) {
	won := 0
	for _, t := range trials {
		if f := t.Condition.Mass * t.Condition.Friction * 9.81; f >= lo && f < hi {
			if n++; t.Success {
				won++
			}
		}
	}
	return float64(won) / float64(n), n
}
