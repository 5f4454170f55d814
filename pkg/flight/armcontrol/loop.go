package armcontrol

import (
	"cmp"
	"fmt"
	"math"

	"vnd/pkg/core/so3"
	"vnd/pkg/robot/arm"
)

// Config are the limits of the guard.
type Config struct {
	MaxAge float64   `param:"max_age" default:"0.05" min:"0.005" max:"1" unit:"s" doc:"age of joint states from which the arm is held blindly"`
	Torque []float64 `param:"max_torque" default:"30,30,30,30,8,8,4" min:"0.1" max:"87" unit:"N m" doc:"greatest torque of each joint, beside what carries the arm's own weight"`
	Speed  float64   `param:"max_speed" default:"0.9" min:"0.05" max:"1" doc:"share of each joint's greatest speed"`
	Margin float64   `param:"margin" default:"0.02" min:"0" max:"0.5" unit:"rad" doc:"distance from a joint's limits"`
	Error  float64   `param:"max_error" default:"0.1" min:"0.001" max:"1" unit:"m" doc:"distance of the tool from its reference"`
}

// Check refuses what does not fit an arm.
func (c *Config) Check() error {
	if n := len(c.Torque); n != arm.Joints {
		return fmt.Errorf("parameter guard.max_torque has %d numbers, expected %d", n, arm.Joints)
	}
	for j, link := range arm.Panda().Links {
		if x := c.Torque[j]; x > link.Torque {
			return fmt.Errorf("parameter guard.max_torque has %g N·m for joint %d, expected at most %g", x, j+1,
				link.Torque)
		}
	}
	return nil
}

const (
	Pole   = 30   // of the law, rad/s: 32.5 errs less, and 40 far more (benchmarks/manipulation.md)
	Period = 0.02 // between two commands at most, s: with a longer one the law's poles would be unstable

	leap  = 1.    // s: states that are further apart are of a clock that was set
	slack = 0.02  // rad, that noise may move a joint
	brake = 15.   // rad/s², with which a joint stops at least
	inset = 0.005 // rad, from the bounds that the guard checks: an arm that is held there is no fault
)

// Loop commands an arm. It is for one goroutine.
type Loop struct {
	config   Config
	dt       float64
	policy   *Policy // nil: the law alone
	law      *ComputedTorque
	chain    *arm.Chain
	pose     arm.Pose
	to       arm.Target
	path     *Path // nil before the first tick
	state    arm.State
	last     float64 // time of the last tick, s
	period   float64 // between ticks, the mean of the last second, s
	fault    string  // why the law holds the arm; "": it does not
	denied   int     // ticks on end in which angles denied the rates; those of too many are not believed until a reset
	unseen   bool    // no state has come since Blind
	same     int     // ticks on end whose angles were those of before
	distance float64
	flown    bool    // by the policy, at the last tick
	before   *Policy // that commanded before a swap; nil: the law did
	swapped  float64 // time of that, s; NaN: there was none, or it was rolled back
}

// probation is how long after a swap a fault of the policy rolls it back, s.
const probation = 60.0

// NewLoop commands each dt seconds, which a policy has of its own.
func NewLoop(c Config, dt float64, p *Policy) *Loop {
	l := &Loop{config: c, dt: dt, period: dt, policy: p, law: NewComputedTorque(Pole, dt), chain: arm.Panda(),
		swapped: math.NaN()}
	l.pose = l.chain.NewPose()
	if p != nil {
		p.Forget()
	}
	return l
}

// Swap has another policy command from the next tick on, which knows what was done before. It commands as often as the
// one before. A fault of its own within a minute rolls it back.
func (l *Loop) Swap(p *Policy) {
	if l.policy != nil {
		p.learnPast(l.policy)
	}
	l.before, l.policy, l.swapped = l.policy, p, l.last
	l.flown = false // by this one: what is wrong at the next tick is not its fault
}

// Policy is the one that commands along references; nil where the law does.
func (l *Loop) Policy() *Policy { return l.policy }

// Reference is what is followed, or led into; nil: nothing is.
func (l *Loop) Reference() *arm.Reference {
	if l.path == nil {
		return nil
	}
	return l.path.then
}

// rollBack returns to the policy before a swap, where that was of late and its successor commanded.
func (l *Loop) rollBack() {
	if since := l.last - l.swapped; l.fault == "" && l.flown && since >= 0 && since < probation {
		l.policy, l.before, l.swapped = l.before, nil, math.NaN()
		if l.policy != nil {
			l.policy.Forget()
		}
	}
}

// Follow leads into a reference, or, where that is nil, to rest at angles goal, from where the arm is to be now. It
// refuses what the joints' limits do not allow, and a fault that was not reset.
func (l *Loop) Follow(r *arm.Reference, goal [arm.Joints]float64) error {
	switch {
	case l.path == nil:
		return fmt.Errorf("no joint states have come")
	case l.fault != "":
		return fmt.Errorf("the guard holds the arm until it is reset: %s", l.fault)
	}
	if err := l.tooFast(r); err != nil {
		return err
	}
	p, err := NewPath(l.last, l.dt, &arm.State{Q: l.to.Q, V: l.to.V}, r, goal)
	if err == nil {
		l.path = p
	}
	return err
}

// tooFast refuses a reference that the guard would stop: the arm may turn a little faster than that.
func (l *Loop) tooFast(r *arm.Reference) error {
	if r == nil {
		return nil
	}
	for _, row := range r.Rows {
		for j, v := range row.V {
			if most := 0.97 * l.config.Speed * l.chain.Links[j].Speed; math.Abs(v) > most {
				return fmt.Errorf("joint %d would turn with %.2f rad/s, expected at most %.2f (of guard.max_speed): %s",
					j+1, math.Abs(v), most, works)
			}
		}
	}
	return nil
}

// Target is where the joints are to be, rad, as of the last tick.
func (l *Loop) Target() [arm.Joints]float64 { return l.to.Q }

// Reset ends a fault: the law holds the arm where it is, until another reference is followed.
func (l *Loop) Reset() {
	if l.path != nil {
		l.fault, l.denied = "", 0
		l.hold()
	}
}

// Fault is why the guard holds the arm; "" where it does not.
func (l *Loop) Fault() string { return l.fault }

// Distance is that of the tool from its reference at the last tick, m.
func (l *Loop) Distance() float64 { return l.distance }

// Tool is where the tool was at the last tick, and where it was to be, m.
func (l *Loop) Tool() (is, to so3.Vec3) { return l.pose.Tool, l.to.Tool }

// PolicyCommands reports whether the policy commanded at the last tick.
func (l *Loop) PolicyCommands() bool { return l.flown }

// hold has the law keep the joints where they are, within their limits.
func (l *Loop) hold() {
	q := l.state.Q
	for j := range q {
		link := &l.chain.Links[j]
		in := l.config.Margin + inset
		q[j] = min(max(q[j], link.Min+in), link.Max-in)
	}
	l.path = Rest(q, l.dt)
	l.place(l.last)
}

// place brings target, pose and distance to a time.
func (l *Loop) place(t float64) {
	l.path.At(t, &l.to)
	l.chain.Place(l.to.Q[:], &l.pose)
	l.to.Tool = l.pose.Tool
	l.chain.Place(l.state.Q[:], &l.pose)
	l.distance = l.pose.Tool.Sub(l.to.Tool).Norm()
}

// Tick returns the torques at a state of time t, s, N·m, to be held for dt.
func (l *Loop) Tick(t float64, s *arm.State) (tau [arm.Joints]float64) {
	late := math.Abs(t-l.last-l.dt) > l.dt/2
	begins := l.path == nil || l.unseen
	why, seen := "", *s
	if l.path != nil {
		if why = cmp.Or(l.jumps(t, s), l.frozen(s)); why != "" {
			return l.Blind(why)
		}
		why = cmp.Or(l.leaps(t), l.rates(t, &seen))
		l.period += (min(max(t-l.last, 0), 3*l.dt) - l.period) * l.dt
	}
	l.state, l.last = seen, t
	if l.period > 1.1*l.dt {
		return l.Blind(fmt.Sprintf("joint states come too seldom for commands each %g ms", 1e3*l.dt))
	}
	l.unseen = false
	if begins {
		l.hold()
	}
	l.stop(why)
	if late && l.policy != nil {
		l.policy.Forget()
	}
	l.place(t)
	if why = l.wrong(); why != "" {
		l.rollBack()
	}
	l.stop(why)
	l.flown = l.policy != nil && l.fault == "" && l.path.Joined(t)
	if l.policy != nil {
		l.fly(&tau)
	}
	if !l.flown {
		l.byLaw(&tau)
	}
	l.cut(&tau)
	if l.policy != nil {
		l.policy.Push(&tau)
	}
	return tau
}

// fly has the policy see the state, and command where it flies.
func (l *Loop) fly(tau *[arm.Joints]float64) {
	var s [2 * arm.Joints]float32
	for j := range arm.Joints {
		s[j], s[arm.Joints+j] = float32(l.state.Q[j]), float32(l.state.V[j])
	}
	l.policy.See(s[:])
	if !l.flown {
		return
	}
	l.policy.Torque(s[:], l.pose.Tool, &l.to, tau)
	for _, x := range tau {
		if x*0 != 0 {
			l.rollBack()
			l.flown = false
			l.stop("the policy commands a torque that is no finite number")
			return
		}
	}
}

// byLaw commands by computed torque.
func (l *Loop) byLaw(tau *[arm.Joints]float64) {
	x := arm.Seen{Q: l.state.Q, V: l.state.V, A: l.to.A}
	for j := range arm.Joints {
		x.OffQ[j], x.OffV[j] = x.Q[j]-l.to.Q[j], x.V[j]-l.to.V[j]
	}
	l.law.Torque(&x, tau)
}

// Blind returns the torques while joint states are too old, which why says: those that carry the payload. When they
// come again, the law holds the arm where it is then.
func (l *Loop) Blind(why string) (tau [arm.Joints]float64) {
	if l.path == nil {
		return tau
	}
	l.unseen = true
	if l.fault == "" {
		l.fault = why
	}
	l.law.Rest(&l.state.Q, &tau)
	l.cut(&tau)
	return tau
}

// cut cuts torques to what the guard allows.
func (l *Loop) cut(tau *[arm.Joints]float64) {
	for j, most := range l.config.Torque {
		asked := tau[j]
		tau[j] = min(max(asked, -most), most)
		l.law.cut[j] = tau[j] != asked
	}
}

// stop has the law hold the arm where it is now, for a reason; "" is none. The first reason remains.
func (l *Loop) stop(why string) {
	if why == "" {
		return
	}
	if l.fault == "" {
		l.fault = why
	}
	l.hold()
}

// Goal returns angles whose tool is at a place with axes turn, nearest to the ready pose. It begins at angles from.
func Goal(place so3.Vec3, turn so3.Quat, from [arm.Joints]float64) (q [arm.Joints]float64, err error) {
	if n := turn.Norm(); !(math.Abs(n-1) < 0.05) || place.Dot(place)*0 != 0 {
		return q, fmt.Errorf("position %v m, attitude of norm %.3g: expected finite numbers and norm 1", place, n)
	}
	q = from
	return q, arm.Panda().Reach(place, turn.Normalize().Mat3(), arm.Home[:], q[:])
}
