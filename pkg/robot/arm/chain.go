package arm

import (
	"math"

	"vnd/pkg/core/so3"
)

// Chain is a serial chain of revolute joints on a base that stands still. Angles q, rad, rates v, rad/s, and torques,
// N·m, have one number a joint.
type Chain struct {
	Links   []Link
	Tool    so3.Vec3 // p of the tool in the last link, m; its axes are that link's
	Payload Body     // what the last link carries beside its own
	// Compensated chains carry their links by themselves, but not the payload: torques come on top of that.
	Compensated bool
}

// Link is a body that turns about the z axis of its frame.
type Link struct {
	Turn     so3.Mat3 // frame in that of the link before, at angle 0
	At       so3.Vec3 // m
	Body     Body
	Armature float64 // inertia of the drive, seen from the link, kg·m²
	Damping  float64 // N·m·s/rad
	Friction float64 // of Coulomb, N·m
	Min, Max float64 // angle, rad
	Speed    float64 // at most, rad/s
	Torque   float64 // at most, N·m
}

// Pose is where a chain is: frames of its links and tool in the world.
type Pose struct {
	Tool so3.Vec3 // p_W, m
	Turn so3.Mat3 // R_WT

	turn []so3.Mat3
	at   []so3.Vec3
	axis []spatial // motion of what is behind a joint, at a rate of 1
}

// NewPose makes space for a chain's pose.
func (c *Chain) NewPose() Pose {
	n := len(c.Links)
	return Pose{turn: make([]so3.Mat3, n), at: make([]so3.Vec3, n), axis: make([]spatial, n)}
}

// Place is forward kinematics: it writes the pose at angles q.
func (c *Chain) Place(q []float64, p *Pose) {
	r, at := so3.Mat3{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, so3.Vec3{}
	for i := range c.Links {
		l := &c.Links[i]
		at = at.Add(r.MulVec(l.At))
		r = r.Mul(l.Turn)
		sin, cos := math.Sincos(q[i])
		for row := range 3 {
			x, y := r[row][0], r[row][1]
			r[row][0], r[row][1] = cos*x+sin*y, cos*y-sin*x
		}
		z := so3.Vec3{X: r[0][2], Y: r[1][2], Z: r[2][2]}
		p.turn[i], p.at[i], p.axis[i] = r, at, spatial{z, at.Cross(z)}
	}
	p.Tool, p.Turn = at.Add(r.MulVec(c.Tool)), r
}

// Jacobian is a column of the tool's: its velocity and angular velocity in the world at a rate of 1 of joint i.
func (p *Pose) Jacobian(i int) (lin, ang so3.Vec3) {
	ang = p.axis[i].ang
	return ang.Cross(p.Tool.Sub(p.at[i])), ang
}

// Pull adds to dq the gradient of one that is dx of the tool's position and turn of its rotation vector in the world.
func (p *Pose) Pull(dx, turn so3.Vec3, dq []float64) {
	for i := range dq {
		lin, ang := p.Jacobian(i)
		dq[i] += lin.Dot(dx) + ang.Dot(turn)
	}
}
