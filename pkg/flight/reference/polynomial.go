package reference

import (
	"fmt"
	"math"

	"vnd/pkg/core/so3"
)

// Polynomial flies smoothly through points, from rest to rest. Times are given, or follow from the greatest speed and
// acceleration.
type Polynomial struct {
	Points       []float64 `param:"points" default:"" min:"-10000" max:"10000" unit:"m" doc:"points to pass, two to 65, each x, y, z in the world"`
	Times        []float64 `param:"times" default:"" min:"0" max:"100000" unit:"s" doc:"when to pass each, from 0 on; empty: from the greatest speed and acceleration"`
	Speed        float64   `param:"max_speed" default:"1.5" min:"0.05" max:"20" unit:"m/s" doc:"greatest speed, where times is empty"`
	Acceleration float64   `param:"max_acceleration" default:"4.0" min:"0.05" max:"30" unit:"m/s²" doc:"greatest acceleration, where times is empty"`
	Minimum      string    `param:"minimum" default:"snap" enum:"snap,jerk" doc:"the derivative whose square over the whole path is least: pieces of degree 7, or of degree 5"`
	Yaw          float64   `param:"yaw" default:"0.0" min:"-6.3" max:"6.3" unit:"rad" doc:"heading of the body x axis"`
	Repeat       bool      `param:"repeat" default:"false" doc:"over and over; the last point is then the first"`
}

// Bounds of what a table of points may ask for.
const (
	mostPoints = 65
	leastLeg   = 0.02 // s
)

// Kind implements Spec.
func (*Polynomial) Kind() string { return "polynomial" }

// Build implements Spec.
func (s *Polynomial) Build() (Reference, error) {
	ps, err := points("points", s.Points)
	if err != nil {
		return nil, err
	}
	if len(ps) > mostPoints {
		return nil, fmt.Errorf("parameter %q: got %d points, expected at most %d", "points", len(ps), mostPoints)
	}
	if s.Repeat && ps[0] != ps[len(ps)-1] {
		return nil, fmt.Errorf("parameter %q: the last point is not the first, as %q expects", "points", "repeat")
	}
	legs, err := s.legs(ps)
	if err != nil {
		return nil, err
	}
	order := map[string]int{"snap": 4, "jerk": 3}[s.Minimum]
	pieces, err := minimise(order, legs, ps)
	if err != nil {
		return nil, err
	}
	if len(s.Times) == 0 {
		scaleTime(pieces, s.Speed, s.Acceleration)
	}
	spec := *s
	return newTrack(&spec, pieces, s.Yaw, s.Repeat), nil
}

// legs returns the time from each point to the next, s: as given, or those of a body that stops at each.
func (s *Polynomial) legs(ps []so3.Vec3) ([]float64, error) {
	legs := make([]float64, len(ps)-1)
	if len(s.Times) == 0 {
		for i := range legs {
			d := ps[i+1].Sub(ps[i]).Norm()
			if d == 0 {
				return nil, fmt.Errorf("parameter %q: points %d and %d are the same, expected different ones or %q",
					"points", i, i+1, "times")
			}
			legs[i] = legDuration(d, 0, s.Speed, s.Acceleration)
		}
		return legs, nil
	}
	if len(s.Times) != len(ps) {
		return nil, fmt.Errorf("parameter %q: got %d, expected one for each of the %d points", "times", len(s.Times),
			len(ps))
	}
	if s.Times[0] != 0 {
		return nil, fmt.Errorf("parameter %q: begins at %g, expected 0", "times", s.Times[0])
	}
	for i := range legs {
		legs[i] = s.Times[i+1] - s.Times[i]
		if !(legs[i] >= leastLeg) {
			return nil, fmt.Errorf("parameter %q: element %d is %g after %g, expected at least %g more", "times", i+1,
				s.Times[i+1], s.Times[i], leastLeg)
		}
	}
	return legs, nil
}

// scaleTime stretches or shrinks all durations alike until the greatest speed or acceleration is as asked. A path from
// rest to rest keeps its shape by that: speeds go with 1/time, accelerations with 1/time².
func scaleTime(pieces []piece, speed, acceleration float64) {
	const samples = 200 // a piece: what is missed between them is far below 1 %
	var v2, a2 float64
	for i := range pieces {
		p := &pieces[i]
		for k := range samples + 1 {
			var v, a [3]float64
			for j := range 3 {
				_, v[j], a[j] = p.c[j].at(float64(k)/samples, p.duration)
			}
			v2, a2 = max(v2, vec(v).Dot(vec(v))), max(a2, vec(a).Dot(vec(a)))
		}
	}
	stretch := max(math.Sqrt(v2)/speed, math.Sqrt(math.Sqrt(a2)/acceleration))
	for i := range pieces {
		pieces[i].duration *= stretch
	}
}
