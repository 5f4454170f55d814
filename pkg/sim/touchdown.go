package sim

import (
	"math"

	"vnd/pkg/core/so3"
)

// Touchdown is the first contact with the ground after a flight began in the air.
type Touchdown struct {
	Touched bool
	Time    float64  // s since the start
	P       so3.Vec3 // of the body's origin, m
	Down    float64  // speed downwards before the contact, m/s
	Level   float64  // speed along the floor before it, against that of the floor, m/s
	Tilt    float64  // of the body's z axis, rad
	Bounce  float64  // greatest height of the lowest foot above the floor since, m

	flew bool
}

// Touchdown returns the first contact of the flight.
func (s *Simulator) Touchdown() Touchdown { return s.touch }

// Floor is where a point of the floor that was at p at the start is now: it moves.
func (s *Simulator) Floor(p so3.Vec3) so3.Vec3 { return p.Add(s.ground.moves.Scale(s.Time())) }

// look looks at the step from before to the present body.
func (t *Touchdown) look(s *Simulator, before *body) {
	high := s.ground.clearance(&s.body)
	switch {
	case t.Touched:
		t.Bounce = max(t.Bounce, high)
	case high > 0:
		t.flew = true
	case t.flew:
		v := before.v.Sub(s.ground.moves)
		t.Touched, t.Time, t.P = true, s.Time(), before.p
		t.Down, t.Level = -v.Z, math.Hypot(v.X, v.Y)
		t.Tilt = before.q.Tilt()
	}
}
