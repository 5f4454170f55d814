package pushcontrol

import (
	"errors"
	"fmt"
	"math"

	"vnd/pkg/nn/nets"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
	"vnd/pkg/vnd/bundle"
)

// Policy acts by rows of what it sees. It is for one goroutine.
type Policy struct {
	*vnd.Actor[float32]
	tape *nets.PolicyTape[float32]
}

// NewPolicy readies a policy for so many rows at once.
func NewPolicy(p *vnd.Actor[float32], rows int) Policy { return Policy{p, p.Net.NewTape(rows, 1)} }

// Act normalises x[N][O], and writes the actions u[N][A].
func (p Policy) Act(x, u []float32) {
	p.Norm.ApplyCut(x)
	p.Net.Forward(p.tape, 0, len(u)/p.Net.Actions, x, u)
}

// Load reads the policy of a bundle, or says why it pushes no box.
func Load(b *bundle.Bundle) (*vnd.Actor[float32], error) {
	if b.Robot != pusher.Name {
		return nil, fmt.Errorf("bundle %s is of robot %q, expected %q", b.ID, b.Robot, pusher.Name)
	}
	p, err := vnd.ActorFromBundle(b)
	if err != nil {
		return nil, err
	}
	if p.Size() != Sees || p.Net.Actions != Actions {
		return nil, fmt.Errorf("bundle %s: policy of %d inputs and %d actions, expected %d and %d", b.ID, p.Size(),
			p.Net.Actions, Sees, Actions)
	}
	return p, nil
}

// Config of a Loop: when a push is given up.
type Config struct {
	MaxAge   float64 `param:"max_age" default:"0.1" min:"0.02" max:"1" unit:"s" doc:"age of places from which the tool stands"`
	Jump     float64 `param:"jump" default:"0.05" min:"0.001" max:"1" unit:"m" doc:"greatest way of box or tool from one tick to the next: more is another thing that is seen"`
	Turn     float64 `param:"turn" default:"0.3" min:"0.01" max:"3" unit:"rad" doc:"greatest turn of the box from one tick to the next"`
	Reach    float64 `param:"reach" default:"0.6" min:"0.1" max:"5" unit:"m" doc:"greatest distance of the tool from the box"`
	Farthest float64 `param:"farthest" default:"0.35" min:"0.05" max:"5" unit:"m" doc:"greatest distance of a goal from the box: policies learn 0.3"`
	Patience float64 `param:"patience" default:"20.0" min:"1" max:"600" unit:"s" doc:"time after which a box that is not at its goal is given up"`
}

// Stage of a Loop.
type Stage int

// Stages. In all but Pushing the tool stands.
const (
	Idle Stage = iota
	Pushing
	There   // the box is at its goal
	Stopped // Why says why
)

// Loop pushes a box to a goal by a policy, one tick after the other.
type Loop struct {
	Config
	Dt     float64 // s
	policy Policy
	x, u   []float32

	stage       Stage
	why         string
	observer    Observer
	begun       bool
	since, last float64 // times of the first and the newest tick, s
	box         [3]float64
	tool        [2]float64
}

// NewLoop pushes by a policy, in ticks of dt seconds.
func NewLoop(p *vnd.Actor[float32], dt float64, c Config) *Loop {
	return &Loop{Config: c, Dt: dt, policy: NewPolicy(p, 1), x: make([]float32, Sees), u: make([]float32, Actions)}
}

// Stage is where the loop stands, and why it stopped.
func (l *Loop) Stage() (Stage, string) { return l.stage, l.why }

// Goal is where the box is to be: x, y, heading.
func (l *Loop) Goal() [3]float64 { return l.observer.Goal }

// Swap has another policy push on from the next tick.
func (l *Loop) Swap(p *vnd.Actor[float32]) { l.policy = NewPolicy(p, 1) }

// Aim begins a push to a goal, x, y, heading, with the next tick.
func (l *Loop) Aim(goal [3]float64) {
	l.stage, l.why, l.observer, l.begun = Pushing, "", Observer{Goal: goal}, false
}

// Stop gives a push up.
func (l *Loop) Stop(why string) {
	if l.stage == Pushing {
		l.stage, l.why = Stopped, why
	}
}

// Tick takes where the box and the tool are at a time, s, and returns what the tool is to do.
func (l *Loop) Tick(t float64, box [3]float64, tool [2]float64) (c pusher.Command) {
	if l.stage != Pushing {
		return c
	}
	if err := l.sees(t, box, tool); err != nil {
		l.Stop(err.Error())
		return c
	}
	if l.observer.Settle(l.observer.Off(box)) {
		l.stage = There
		return c
	}
	l.observer.Observe(l.x)
	l.policy.Act(l.x, l.u)
	for _, u := range l.u {
		if u-u != 0 {
			l.Stop("the policy commands what is no number")
			return c
		}
	}
	return l.observer.Command(l.u)
}

// lost is how far from its goal a box may get on the way, in times of how far a goal may be: it was pushed away.
const lost = 1.5

// sees takes places, or says what is wrong with them.
func (l *Loop) sees(t float64, box [3]float64, tool [2]float64) error {
	before, boxBefore, toolBefore := l.last, l.box, l.tool
	l.last, l.box, l.tool = t, box, tool
	if away := math.Hypot(tool[0]-box[0], tool[1]-box[1]); !(away <= l.Reach) {
		return fmt.Errorf("the tool is %.2f m from the box, expected at most %g", away, l.Reach)
	}
	off, turn := l.observer.Off(box)
	if !(turn <= math.Pi) {
		return errors.New("the heading of box or goal is no number")
	}
	if !l.begun {
		l.begun, l.since = true, t
		l.observer.Begin(box, tool)
		if !(off <= l.Farthest) {
			return fmt.Errorf("the goal is %.2f m from the box, expected at most %g", off, l.Farthest)
		}
		return nil
	}
	l.observer.Measure(box, tool)
	moved := math.Hypot(box[0]-boxBefore[0], box[1]-boxBefore[1])
	turned := math.Abs(math.Remainder(box[2]-boxBefore[2], 2*math.Pi))
	way := math.Hypot(tool[0]-toolBefore[0], tool[1]-toolBefore[1])
	switch gap := t - before; {
	case !(gap >= 0 && gap <= l.MaxAge):
		return fmt.Errorf("%.3f s from one place to the next, expected at most %g", gap, l.MaxAge)
	case !(moved <= l.Jump && turned <= l.Turn):
		return fmt.Errorf("the box jumped by %.3f m and %.2f rad", moved, turned)
	case !(way <= l.Jump):
		return fmt.Errorf("the tool jumped by %.3f m", way)
	case !(off <= lost*l.Farthest):
		return fmt.Errorf("the box went %.2f m away from its goal, expected at most %g", off, lost*l.Farthest)
	case t-l.since > l.Patience:
		return fmt.Errorf("the box is %.3f m and %.2f rad off its goal after %g s", off, turn, l.Patience)
	}
	return nil
}
