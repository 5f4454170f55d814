package closedloop

import (
	"math"
)

// Touchdown is what a landing must be.
type Touchdown struct {
	Offset float64 // greatest level distance from the place, m
	Speed  float64 // greatest speed, m/s
	Tilt   float64 // greatest tilt, rad
}

// Landing is the usual demand: within 10 cm, at rest, upright.
var Landing = Touchdown{Offset: 0.1, Speed: 0.2, Tilt: 0.2}

// Landed reports whether a flight ended standing where its reference ends,
// without a crash, the feet within 2 cm of their height there.
func (t *Trace) Landed(d Touchdown) bool {
	n := len(t.Rows)
	if n == 0 || t.Crash != "" {
		return false
	}
	r := &t.Rows[n-1]
	off := r.Truth.P.Sub(r.Reference.P)
	return math.Hypot(off.X, off.Y) <= d.Offset && math.Abs(off.Z) <= 0.05 && r.Truth.V.Norm() <= d.Speed &&
		math.Acos(min(1, r.Truth.Q.ZAxis().Z)) <= d.Tilt
}
