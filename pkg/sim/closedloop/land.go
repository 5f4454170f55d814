package closedloop

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
)

// Criteria are what a landing must be.
type Criteria struct {
	Offset float64 // greatest level distance from the place where it is to stand, m
	Down   float64 // greatest speed downwards at the first contact, m/s
	Tilt   float64 // greatest tilt where it stands, rad
	Bounce float64 // greatest height of the lowest foot after the first contact, m
}

// Landing is the usual demand: within 10 cm, at most half a metre per second, upright within 10°, without a bounce.
var Landing = Criteria{Offset: 0.1, Down: 0.5, Tilt: 10 * math.Pi / 180, Bounce: 0.01}

// standing is for how long a robot stands with its motors off before its landing is judged, s.
const standing = 0.5

// Landable reports whether a reference is a landing.
func Landable(r reference.Reference) bool {
	if r == nil {
		return false
	}
	_, ok := r.Spec().(*reference.Landing)
	return ok
}

// DrawLanding draws a start up to 1 m aside of the place of a landing and 0.5 to 1.5 m above it, and returns the
// landing from there to that place on the world's floor, along with which it moves. The reference ends below the floor.
func DrawLanding(r reference.Reference, w *sim.World, rng *rand.Rand) (start quad.State, path reference.Reference,
	err error) {
	spec := new(reference.Landing)
	param.Default(spec)
	if l, ok := r.Spec().(*reference.Landing); ok {
		*spec = *l
	}
	start = quad.State{Q: so3.Identity(), P: so3.Vec3{X: spec.To[0] + 2*rng.Float64() - 1,
		Y: spec.To[1] + 2*rng.Float64() - 1, Z: w.Ground.Height + 0.5 + rng.Float64()}}
	spec.To = []float64{spec.To[0], spec.To[1], w.Ground.Height + w.Ground.Feet - reference.Below}
	spec.ToVelocity = append(slices.Clone(w.Ground.Velocity), 0)
	spec.From, spec.FromVelocity = nil, nil
	if path, err = reference.New(spec); err == nil {
		path, err = reference.StartAt(path, &start)
	}
	return start, path, err
}

// touchdown stops the motors of a robot that has landed.
type touchdown struct {
	reference.Touchdown
	end   float64 // height at which the reference ends, m
	found bool
	at    float64 // s
}

// command is what is sent at a tick of a landing, and whether that is the last.
func (d *touchdown) command(row *TraceRow) (over bool) {
	if d.found = d.found || d.Found(row.T, &row.Estimate, &row.Reference, d.end); !d.found {
		d.at = row.T
		return false
	}
	row.Command = quad.Command{}
	return row.T-d.at > standing
}

// Offset is the level distance from where the robot is to be, at the end of a flight, m.
func (t *Trace) Offset() float64 {
	if len(t.Rows) == 0 {
		return math.Inf(1)
	}
	r := &t.Rows[len(t.Rows)-1]
	off := r.Truth.P.Sub(r.Reference.P)
	return math.Hypot(off.X, off.Y)
}

// Missed says why a flight is no landing, "" where it is one.
func (t *Trace) Missed(d Criteria) string {
	switch {
	case t.Crash != "":
		return t.Crash
	case len(t.Rows) == 0 || !t.Stands:
		return "it did not come to stand"
	case !t.Touchdown.Touched:
		return "its motors stopped in the air"
	}
	for _, x := range []struct {
		what      string
		got, most float64
	}{
		{"stands %.3f m off, at most %g", t.Offset(), d.Offset},
		{"touched down at %.2f m/s, at most %g", t.Touchdown.Down, d.Down},
		{"stands tilted by %.2f rad, at most %.2f", t.Rows[len(t.Rows)-1].Truth.Q.Tilt(), d.Tilt},
		{"bounced by %.3f m, at most %g", t.Touchdown.Bounce, d.Bounce},
	} {
		if !(x.got <= x.most) {
			return fmt.Sprintf(x.what, x.got, x.most)
		}
	}
	return ""
}

// Landings are some landings, counted.
type Landings struct {
	Flights int      `json:"flights"`
	Landed  int      `json:"landed"`
	Down    float64  `json:"down_m_s"`         // greatest speed downwards at the first contact
	Tilt    float64  `json:"touch_tilt_rad"`   // greatest tilt there
	Bounce  float64  `json:"bounce_m"`         // greatest
	Missed  []string `json:"missed,omitempty"` // why, of those that missed
}

// MeasureLandings counts landings. The error in the figures is the level distance from the place, where they ended.
func MeasureLandings(traces []*Trace) (Figures, Landings) {
	var f Figures
	l := Landings{Flights: len(traces)}
	var off []float64
	for _, t := range traces {
		e := t.Offset()
		off = append(off, e)
		f.Mean += e / float64(len(traces))
		f.RMS += e * e / float64(len(traces))
		if n := len(t.Rows); n > 0 {
			f.Seconds += t.Rows[n-1].T
		}
		if f.Crash == "" {
			f.Crash = t.Crash
		}
		if why := t.Missed(Landing); why != "" {
			l.Missed = append(l.Missed, why)
		} else {
			l.Landed++
		}
		l.Down, l.Tilt = max(l.Down, t.Touchdown.Down), max(l.Tilt, t.Touchdown.Tilt)
		l.Bounce = max(l.Bounce, t.Touchdown.Bounce)
	}
	if slices.Sort(off); len(off) > 0 {
		f.P95, f.Max = off[int(0.95*float64(len(off)-1))], off[len(off)-1]
	}
	f.RMS = math.Sqrt(f.RMS)
	return f, l
}
