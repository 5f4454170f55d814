package inertial

import (
	"math"

	"vnd/pkg/core/so3"
)

// frame is where the estimate's frame lies in that of the poses: they differ once the source of poses has jumped.
// Gravity is the same in both: they differ by a shift and a turn about z.
type frame struct {
	yaw    float64  // rad
	shift  so3.Vec3 // m; of what is turned
	offset so3.Vec3 // of the newest pose, m
}

func yawed(angle float64) so3.Quat { return so3.Exp(so3.Vec3{Z: angle}) }

// of is a pose in the estimate's frame.
func (f *frame) of(z *Pose) Pose {
	if *f == (frame{}) {
		return *z
	}
	turn := yawed(f.yaw)
	in := *z
	in.P, in.Q = turn.Rotate(z.P).Add(f.shift), turn.Mul(z.Q)
	return in
}

// place sets the frame so that a pose, the newest of a streak, lies where it was expected.
func (e *Estimator) place(z *Pose) {
	f, p := &e.frame, e.past.P.Sub(e.past.Q.Rotate(e.mount))
	f.yaw -= e.streak.yaw
	f.shift = p.Sub(yawed(f.yaw).Rotate(z.P))
	f.offset = p.Sub(z.P)
}

// relax takes the frame back to that of the poses, by so many m and, a rad for a metre, so many rad about a place in
// it. It returns the turn and the shift that take what is in the frame along.
func (f *frame) relax(p so3.Vec3, most float64) (angle float64, by so3.Vec3) {
	raw := yawed(-f.yaw).Rotate(p.Sub(f.shift))
	f.offset = p.Sub(raw)
	angle, by = -min(max(f.yaw, -most), most), f.offset.Shorten(most).Scale(-1)
	f.yaw += angle
	f.offset = f.offset.Add(by)
	f.shift = p.Add(by).Sub(yawed(f.yaw).Rotate(raw))
	if f.yaw == 0 && f.offset.Norm() < 1e-9 {
		*f = frame{}
	}
	return angle, by
}

// relax takes frame and beliefs back, by as much as dt seconds allow.
func (e *Estimator) relax(dt float64) {
	if e.frame == (frame{}) || !(e.params.Return > 0) {
		return
	}
	about := e.present.P
	angle, by := e.frame.relax(about, e.params.Return*dt)
	turn := yawed(angle)
	for _, b := range []*belief{&e.past, &e.present} {
		b.P = about.Add(turn.Rotate(b.P.Sub(about))).Add(by)
		b.Q = turn.Mul(b.Q)
		b.turnLevel(turn)
	}
}

// leave has the frame be that of the poses at once, before the filter begins anew there.
func (e *Estimator) leave() {
	turn := yawed(-e.frame.yaw)
	for _, b := range []*belief{&e.past, &e.present} {
		b.turnLevel(turn)
	}
	e.frame = frame{}
}

// streak is of poses in a row that were not believed, and agree among themselves.
type streak struct {
	n           int
	leapt       bool     // the source, between two poses: else what was expected went astray
	since, last float64  // times of the first and the newest, s
	off         so3.Vec3 // by which the newest is off what was expected, m
	yaw         float64  // rad
	turnLeapt   bool     // an attitude of them leapt, between two poses
}

// What poses that agree among themselves may differ by, beside their noise.
const (
	agreeOff   = 0.03 // m
	agreeSpeed = 0.3  // m/s
	agreeYaw   = 0.05 // rad
	agreeTilt  = 0.1  // rad; no jump of a frame tilts
)

// outlying looks at a pose that is far from what was expected; in is that pose in the frame. Several that agree
// elsewhere are a jump of their source: then the frame is set so that nothing has moved.
func (e *Estimator) outlying(z, in *Pose, t float64) Event {
	p, q := e.past.expected(e.mount)
	off, turn := in.P.Sub(p), so3.Log(in.Q.Mul(q.Conj()))
	s := &e.streak
	noise := 4 * max(z.Position.X, z.Position.Y, z.Position.Z)
	angle := 4 * max(z.Attitude.X, z.Attitude.Y, z.Attitude.Z)
	agrees := off.Sub(s.off).Norm() <= agreeOff+noise+agreeSpeed*(t-s.last) && math.Abs(turn.Z-s.yaw) <= agreeYaw+angle
	s.leapt = s.leapt || !agrees
	if s.n == 0 || !agrees || math.Hypot(turn.X, turn.Y) > agreeTilt+angle {
		*s = streak{since: t, leapt: s.leapt, turnLeapt: s.turnLeapt}
	}
	s.n, s.last, s.off, s.yaw = s.n+1, t, off, turn.Z
	if s.n < 3 || t-s.since < e.params.JumpAfter || !s.leapt && !e.origin.measured {
		return Rejected
	}
	return Jumped
}

// steady reports whether attitudes have come to that of a pose as a robot turns, since the newest one that was
// believed: none has leapt, nor stands still to less than poses err by. The pose is the newest seen then.
func (e *Estimator) steady(in *Pose) bool {
	const (
		fastest = 20.0 // rad/s
		most    = 0.2  // rad between two poses
		still   = 0.1  // of what attitudes err by
	)
	errs := max(in.Attitude.X, in.Attitude.Y, in.Attitude.Z)
	step := so3.Log(e.seen.Q.Conj().Mul(in.Q)).Norm()
	e.streak.turnLeapt = e.streak.turnLeapt || !(step <= min(fastest*(in.T-e.seen.T), most))
	e.seen = *in
	return !e.streak.turnLeapt && step > still*errs
}

// believeTurn takes the attitude for less known, where a pose does not fit: a robot whose motors saturate turns
// otherwise than it was commanded to. The pose before was off to the same side then, by last. The attitude is taken to
// err by half of what it is off by, in the manner of a strong tracking filter (Zhou and Frank 1996). It reports whether
// the pose fits by that. With an IMU it never does: a gyroscope tells of such turns.
func (e *Estimator) believeTurn(in *Pose, last so3.Vec3) bool {
	const along = 0.2 // of what this one is off by
	_, off := e.work.off()
	if e.origin.measured || math.IsNaN(e.nis) || !(off.Dot(last) >= along*off.Dot(off)) {
		return false
	}
	loosen := func(share float64) {
		for i, r := range [...]float64{off.X, off.Y, off.Z} {
			e.past.cov.addDiagonal(atTurn+i, 1, share*r*r)
		}
	}
	loosen(0.25)
	if nis := e.past.innovate(in, e.mount, &e.work); nis <= e.params.Gate {
		e.nis = nis
		return true
	}
	loosen(-0.25)
	return false
}
