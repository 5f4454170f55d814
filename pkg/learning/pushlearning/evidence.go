package pushlearning

import (
	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/learning/continual/rounds"
	"vnd/pkg/learning/gate"
	"vnd/pkg/robot/pusher"
)

// Supervision is what is made of how bundles push.
type Supervision struct {
	Rollback bool     `param:"auto_rollback" default:"true" doc:"a bundle that was shown to push worse than the one before it is rolled back"`
	Evidence Evidence `param:"evidence" read_only:"true" doc:"evidence that a bundle pushes worse than the one before it"`
}

// Evidence is what it takes to call a bundle worse than its parent.
type Evidence struct {
	Radius    float64 `param:"radius" default:"4.0" min:"0.01" max:"100" unit:"N" doc:"boxes are alike that take forces within this of each other"`
	Pushes    int     `param:"pushes" default:"10" min:"1" max:"3600" doc:"least pushes of like boxes by each bundle before they are compared"`
	Most      int     `param:"max_pushes" default:"100" min:"1" max:"36000" doc:"newest pushes of each bundle that count"`
	Tolerance float64 `param:"tolerance" default:"0.005" min:"0" max:"10" unit:"m" doc:"by how much more a bundle may err than its parent, to a goal 0.2 m away"`
	Relative  float64 `param:"relative_tolerance" default:"0.2" min:"0" max:"10" doc:"the same as a share of the parent's error; the larger of the two counts"`
	Level     float64 `param:"level" default:"0.95" min:"0.5" max:"0.999" doc:"level of the bootstrap interval, over all kinds of boxes compared"`
	Resamples int     `param:"resamples" default:"2000" min:"100" max:"100000" doc:"resamples of the bootstrap"`
}

// of returns it as rounds have it: a push is a block of a second.
func (s *Supervision) of() *rounds.Supervision {
	e := &s.Evidence
	return &rounds.Supervision{Safe: 1, Rollback: s.Rollback, Evidence: gate.EvidenceConfig{Radius: e.Radius,
		Seconds: float64(e.Pushes), Most: float64(e.Most), Block: 1, Tolerance: e.Tolerance, Relative: e.Relative,
		Level: e.Level, Resamples: e.Resamples}}
}

// Pushed sums how far a box is from its goal during a push, as the gate does over an episode. The zero value has not
// begun.
type Pushed struct {
	first, last, sum float64
	steps            int
}

// Add takes where the box and its goal are, a step after the one before.
func (p *Pushed) Add(box, goal [3]float64) {
	x := pushcontrol.Observer{Goal: goal}
	p.last = erred(x.Off(box))
	if p.steps == 0 {
		p.first = p.last
	}
	p.rest(p.last, 1)
}

// rest has the box be so far away for some steps, of those of an episode.
func (p *Pushed) rest(off float64, steps int) {
	n := min(steps, DefaultTask.Steps-p.steps)
	p.sum, p.steps = p.sum+float64(n)*off, p.steps+n
}

// Error of a push that is over, whose box stays at its goal, or else counts as lost: the mean distance, as if the goal
// had been 0.2 m away. One that was hardly away says nothing.
func (p *Pushed) Error(there bool) (off float64, ok bool) {
	const nearest, usual = 0.05, 0.2
	stays := p.last
	if !there {
		stays = reach
	}
	p.rest(stays, DefaultTask.Steps)
	return usual * p.sum / float64(DefaultTask.Steps) / p.first, p.first >= nearest
}

// Place is where in the space of conditions a box was pushed: the force that it takes, N. Of a box that was hardly
// pushed it is not known.
func Place(rows []pusher.Row) (*gate.Place, error) {
	box, err := pusher.Identify(rows, Dt, Prior.Mass)
	return &gate.Place{box.Force()}, err
}
