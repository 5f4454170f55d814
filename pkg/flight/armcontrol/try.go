package armcontrol

import (
	"fmt"
	"math"

	"vnd/pkg/robot/arm"
)

// tried is how long a policy is tried out, s: its encoder has a whole window in it.
const tried = 1.

// Try has a policy that is not in use follow a reference, from its first row on, with an arm that carries nothing; nil
// is to rest at the ready pose, from which the tool may go. It refuses, in words, torques that are no numbers or that
// no joint has, and a tool that is further off than the guard allows.
func (p *Policy) Try(r *arm.Reference, c *Config) error {
	for j, link := range arm.Panda().Links {
		if x := math.Abs(float64(p.actor.Middle[j])) + float64(p.actor.Half[j]); !(x <= link.Torque) {
			return fmt.Errorf("bundle %s: its policy commands up to %.3g N·m of joint %d, expected at most %g", p.ID, x,
				j+1, link.Torque)
		}
	}
	defer p.Forget()
	off, err := p.tryOn(r)
	if err != nil {
		return err
	}
	if r != nil && !(off <= c.Error) {
		return fmt.Errorf("bundle %s: tried out on the reference without a payload, the tool is %.3g m off it after "+
			"%g s, expected at most %g (guard.max_error)", p.ID, off, tried, c.Error)
	}
	return nil
}

// tryOn returns how far the tool is off in the end, m.
func (p *Policy) tryOn(r *arm.Reference) (off float64, err error) {
	chain := arm.Panda()
	pose := chain.NewPose()
	rows := make([]arm.Target, 1)
	if r != nil {
		rows = r.Rows
	} else {
		chain.Place(arm.Home[:], &pose)
		rows[0] = arm.Target{Tool: pose.Tool, Q: arm.Home}
	}
	var s, none [2 * arm.Joints]float32
	for j := range arm.Joints {
		s[j], s[arm.Joints+j] = float32(rows[0].Q[j]), float32(rows[0].V[j])
	}
	p.Forget()
	sys := arm.Robot{Dt: p.Dt, Steps: 1}.System()
	for k := range int(tried / p.Dt) {
		var q, tau [arm.Joints]float64
		for j := range q {
			q[j] = float64(s[j])
		}
		chain.Place(q[:], &pose)
		to := &rows[k%len(rows)]
		off = pose.Tool.Sub(to.Tool).Norm()
		p.See(s[:])
		p.Torque(s[:], pose.Tool, to, &tau)
		for j, x := range tau {
			if x*0 != 0 {
				return off, fmt.Errorf("bundle %s: tried out, its policy commands %g N·m of joint %d, expected a "+
					"finite number", p.ID, x, j+1)
			}
		}
		p.Push(&tau)
		sys.Step(1, s[:], p.a, none[:], s[:])
	}
	return off, nil
}
