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
	Turned   float64 `param:"turned" default:"0.5" min:"0.05" max:"3.2" unit:"rad" doc:"greatest turn of a goal from the box: policies learn 0.3"`
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
	Dt   float64 // s
	x, u []float32

	policy, before bundled // the one before is ready while this one is on probation
	begun          int     // pushes since the swap
	failed         int     // of them the newest on end that the policy did not bring to their goals
	allowed        int     // how many of those roll it back

	stage       Stage
	why         string
	byPolicy    bool // that it stopped
	observer    Observer
	seen        bool    // this push saw the box
	since, last float64 // times of the first and the newest tick, s
	box         [3]float64
	tool        [2]float64
}

// bundled is the policy of a bundle.
type bundled struct {
	Policy
	bundle string // ID; "": there is none
}

// A policy is on probation for so many pushes after a swap. It is rolled back by a push that it spoils, or by so many
// on end that are not there in time, beside as many as the one before was late with in the end.
const (
	probation  = 10
	mostFailed = 3
)

// NewLoop pushes in ticks of dt seconds, once there is a policy.
func NewLoop(dt float64, c Config) *Loop {
	return &Loop{Config: c, Dt: dt, x: make([]float32, Sees), u: make([]float32, Actions)}
}

// Stage is where the loop stands, and why it stopped.
func (l *Loop) Stage() (Stage, string) { return l.stage, l.why }

// PolicyFailed reports whether the push was given up for what the policy did, or did not do in time.
func (l *Loop) PolicyFailed() bool { return l.stage == Stopped && l.byPolicy }

// Goal is where the box is to be: x, y, heading.
func (l *Loop) Goal() [3]float64 { return l.observer.Goal }

// Bundle is that whose policy pushes.
func (l *Loop) Bundle() string { return l.policy.bundle }

// Swap has the policy of a bundle push on from the next tick. The one before it stays ready, and may be swapped back.
func (l *Loop) Swap(bundle string, p *vnd.Actor[float32]) {
	switch bundle {
	case l.policy.bundle:
	case l.before.bundle:
		l.rollBack()
	default:
		l.before, l.policy = l.policy, bundled{NewPolicy(p, 1), bundle}
		l.allowed = mostFailed + l.failed
		l.begun, l.failed = 0, 0
	}
}

// rollBack returns to the policy before a swap.
func (l *Loop) rollBack() { l.policy, l.before = l.before, bundled{} }

// judge rolls a policy on probation back that has failed.
func (l *Loop) judge(spoilt bool) {
	l.byPolicy = true
	if l.begun > 0 {
		l.failed++ // else another one began it
	}
	if l.before.bundle != "" && (spoilt || l.failed >= l.allowed) {
		l.rollBack()
	}
}

// Aim begins a push to a goal, x, y, heading, with the next tick.
func (l *Loop) Aim(goal [3]float64) {
	l.stage, l.why, l.byPolicy, l.observer, l.seen = Pushing, "", false, Observer{Goal: goal}, false
	if l.begun++; l.begun > probation {
		l.before = bundled{}
	}
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
		l.stage, l.failed = There, 0
		return c
	}
	if spoilt, err := l.fails(); err != nil {
		l.Stop(err.Error())
		l.judge(spoilt)
		return c
	}
	l.observer.Observe(l.x)
	l.policy.Act(l.x, l.u)
	for _, u := range l.u {
		if u*0 != 0 {
			l.Stop("the policy commands what is no number")
			l.judge(true)
			return c
		}
	}
	return l.observer.Command(l.u)
}

// sees takes places, or says what is wrong with them.
func (l *Loop) sees(t float64, box [3]float64, tool [2]float64) error {
	before, boxBefore, toolBefore := l.last, l.box, l.tool
	l.last, l.box, l.tool = t, box, tool
	off, turn := l.observer.Off(box)
	if !(turn <= math.Pi) {
		return errors.New("the heading of box or goal is no number")
	}
	if !l.seen {
		l.seen, l.since = true, t
		l.observer.Begin(box, tool)
		if !(off <= l.Farthest) {
			return fmt.Errorf("the goal is %.2f m from the box, expected at most %g", off, l.Farthest)
		}
		if !(turn <= l.Turned) {
			return fmt.Errorf("the goal is turned by %.2f rad from the box, expected at most %g", turn, l.Turned)
		}
		if away := l.away(); !(away <= l.Reach) {
			return fmt.Errorf("the tool is %.2f m from the box, expected at most %g", away, l.Reach)
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
	}
	return nil
}

// away is how far the tool is from the box, m.
func (l *Loop) away() float64 { return math.Hypot(l.tool[0]-l.box[0], l.tool[1]-l.box[1]) }

// lost is how far from its goal a box may get on the way, in times of how far a goal may be: it was pushed away.
const lost = 1.5

// fails says what is wrong with how the policy pushes, and whether it spoilt the push.
func (l *Loop) fails() (spoilt bool, err error) {
	off, turn := l.observer.Off(l.box)
	switch away := l.away(); {
	case !(away <= l.Reach):
		return true, fmt.Errorf("the tool went %.2f m away from the box, expected at most %g", away, l.Reach)
	case !(off <= lost*l.Farthest):
		return true, fmt.Errorf("the box went %.2f m away from its goal, expected at most %g", off, lost*l.Farthest)
	case l.last-l.since > l.Patience:
		return false, fmt.Errorf("the box is %.3f m and %.2f rad off its goal after %g s", off, turn, l.Patience)
	}
	return false, nil
}
