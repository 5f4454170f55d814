package reference

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Landing goes from where the robot is to a point on the ground and comes down on it: level motion against that point
// is over well before the descent, so that the last of it is straight down. The point may move, as that of a pad does;
// the reference goes on with it after the touch-down.
type Landing struct {
	To           []float64 `param:"to" default:"0,0,0" min:"-10000" max:"10000" unit:"m" doc:"touch-down: x, y, z in the world, of the body's centre when it stands"`
	From         []float64 `param:"from" default:"" min:"-10000" max:"10000" unit:"m" doc:"where the descent begins; empty: where the robot is (1 m above the touch-down where that is not known)"`
	FromVelocity []float64 `param:"from_velocity" default:"" min:"-50" max:"50" unit:"m/s" doc:"velocity at its begin; empty: rest"`
	Yaw          float64   `param:"yaw" default:"0.0" min:"-6.3" max:"6.3" unit:"rad" doc:"heading of the body x axis; the robot's own where from is empty"`
	Descent      float64   `param:"descent" default:"0.5" min:"0.05" max:"10" unit:"m/s" doc:"greatest speed downwards, from rest"`
	Approach     float64   `param:"approach" default:"1.0" min:"0.05" max:"20" unit:"m/s" doc:"greatest level speed, from rest"`
	Acceleration float64   `param:"acceleration" default:"1.0" min:"0.05" max:"20" unit:"m/s²" doc:"greatest acceleration, of the descent and of the level motion"`
	ToVelocity   []float64 `param:"to_velocity" default:"0,0,0" min:"-10" max:"10" unit:"m/s" doc:"velocity of the touch-down, which is at to when the descent begins"`
}

type landing struct {
	spec        Landing
	pad         so3.Vec3 // velocity of the touch-down, m/s
	x, y, z     quintic  // against it
	level, down float64  // durations, s
}

// overhead is the share of the descent in which the level motion ends.
const overhead = 0.7

// Kind implements Spec.
func (*Landing) Kind() string { return "landing" }

// Build implements Spec.
func (s *Landing) Build() (Reference, error) {
	to, err := point("to", s.To)
	if err != nil {
		return nil, err
	}
	from, v := to.Add(so3.Vec3{Z: 1}), so3.Vec3{}
	if len(s.From) > 0 {
		if from, err = point("from", s.From); err != nil {
			return nil, err
		}
	}
	if len(s.FromVelocity) > 0 {
		if v, err = point("from_velocity", s.FromVelocity); err != nil {
			return nil, err
		}
	}
	pad, err := point("to_velocity", s.ToVelocity)
	if err != nil {
		return nil, err
	}
	d := to.Sub(from)
	v = v.Sub(pad)
	l := &landing{spec: *s, pad: pad}
	l.level = legDuration(math.Hypot(d.X, d.Y), math.Hypot(v.X, v.Y), s.Approach, s.Acceleration)
	l.down = max(legDuration(math.Abs(d.Z), math.Abs(v.Z), s.Descent, s.Acceleration), l.level/overhead)
	l.x, l.y = newQuintic(from.X, v.X, to.X, l.level), newQuintic(from.Y, v.Y, to.Y, l.level)
	l.z = newQuintic(from.Z, v.Z, to.Z, l.down)
	return l, nil
}

// legDuration is the duration of a quintic over the distance d that begins at speed v, within a speed and an
// acceleration: the time from rest, where the greatest speed is 15/8 d/T and the greatest acceleration 10/√3 d/T², and
// the time to lose v, whose part of the acceleration is at most 4 v/T.
func legDuration(d, v, speed, acceleration float64) float64 {
	const least = 0.1 // a step of nothing takes some time too
	return max(least, 15./8*d/speed, math.Sqrt(10/math.Sqrt(3)*d/acceleration)) + 4*v/acceleration
}

// At implements Reference.
func (l *landing) At(t float64) quad.Reference {
	t = max(t, 0)
	r := quad.Reference{Yaw: l.spec.Yaw}
	r.P.X, r.V.X, r.A.X = l.x.at(t)
	r.P.Y, r.V.Y, r.A.Y = l.y.at(t)
	r.P.Z, r.V.Z, r.A.Z = l.z.at(t)
	r.P, r.V = r.P.Add(l.pad.Scale(t)), r.V.Add(l.pad)
	return r
}

func (l *landing) Duration() float64 { return l.down }
func (l *landing) Horizon() float64  { return l.down }
func (l *landing) Spec() Spec        { s := l.spec; return &s }
