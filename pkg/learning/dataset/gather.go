package dataset

import (
	"math"
	"time"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

// ControllerStep is one tick of a controller.
type ControllerStep struct {
	Seq   uint64
	Stamp int64 // of State, ns
	State quad.State
	Sent  quad.Command // after the guard: what the robot was told
	Stage guard.Stage
	// Deviation is the standard deviation of the velocity's worst axis, as its source gives it, m/s; 0: not known.
	Deviation float64
	// Stands says that the robot may stand: it follows a landing, and does not sink.
	Stands bool
}

// flightRow is a row of the flight of that name.
type flightRow struct {
	WeightedRow
	Flight string // names its beginning, see FlightStart
}

// StepLosses counts what did not become a row as it should.
type StepLosses struct {
	Steps     uint64 // gaps in the sequence: ticks that never came
	Repeated  uint64 // steps that came again, or late
	Unfit     uint64 // not finite, or no attitude
	Unlearned uint64 // standing, blind or not followed: nothing was measured that a model of flight explains
	Restarts  uint64 // of the controller, or its clock: another flight each
}

// gatherer makes rows at Δt out of ticks at any rate. A row is the state at its time and the mean command until the
// next: where ticks are more frequent than rows, every n-th state is taken, as the encoder does.
//
// The confidence of a row is 1 where the policy flew, whichever bundle and latent it flew under: that the command
// came from another policy does not make the transition less true. It is less where the guard flew, for what made it
// trip may have been the state itself; and by the share of ticks that were lost on the way here, since the mean
// command is of the others. A velocity that its source is unsure of makes it less, too: by 1/(1 + (σ/halved)²), as a
// measurement counts beside one that errs by halved. Rows without motors, on dead reckoning, or of commands that nobody
// followed are left out.
type gatherer struct {
	dt      float64
	guarded float32
	halved  float64 // deviation of a velocity at which a row counts half, m/s

	last    ControllerStep // that came
	begun   bool           // last is one
	flight  string
	origin  int64        // stamp of the flight's first step
	row     flightRow    // begun and not complete
	open    bool         // row is one
	at      int64        // its stamp, ns
	sum     quad.Command // of its ticks
	ticks   int          // of the row
	spacing float64      // of ticks, averaged over some twenty, s; 0 before the second
	missing uint64       // of the row
	sure    float32      // certainty of the row's state
	losses  StepLosses
}

// newGatherer gathers rows dt seconds apart.
func newGatherer(c *CollectorConfig) *gatherer {
	return &gatherer{dt: c.Dt, guarded: float32(c.Guarded), halved: c.Halved}
}

// late is how far back in the sequence a step may be that comes late; one further back is of another run.
const late = 50

// pause is a time without steps after which another flight begins.
const pause = 2 * time.Second

// add takes the next step and gives the row that it completed, if any.
func (g *gatherer) add(s ControllerStep) (done flightRow, ok bool) {
	if g.begun && s.Seq <= g.last.Seq && g.last.Seq-s.Seq < late && s.Stamp <= g.last.Stamp {
		g.losses.Repeated++
		return flightRow{}, false
	}
	lost := g.follow(&s)
	if !usable(&s) {
		g.losses.Unfit++
		return g.finish()
	}
	if !s.Stage.Flown() || s.Stands {
		g.losses.Unlearned++
		return g.finish()
	}
	if g.open {
		g.missing += lost
	}
	if g.open && g.within(&s) {
		g.tick(&s)
		return flightRow{}, false
	}
	done, ok = g.finish()
	row := quad.Row{T: float64(s.Stamp-g.origin) / 1e9, State: s.State}
	g.row = flightRow{WeightedRow: WeightedRow{Row: row, Confidence: 1}, Flight: g.flight}
	g.sure = g.certainty(s.Deviation)
	g.open, g.at = true, s.Stamp
	g.tick(&s)
	return done, ok
}

// follow looks at how a step follows the one before, and begins another flight where it does not. It returns how many
// ticks are missing between the two.
func (g *gatherer) follow(s *ControllerStep) (lost uint64) {
	defer func() { g.last, g.begun = *s, true }()
	switch {
	case !g.begun:
	case s.Seq <= g.last.Seq || s.Stamp <= g.last.Stamp:
		g.losses.Restarts++
	case s.Stamp-g.last.Stamp > int64(pause):
		lost = s.Seq - g.last.Seq - 1
	default:
		lost = s.Seq - g.last.Seq - 1
		g.losses.Steps += lost
		if apart := float64(s.Stamp-g.last.Stamp) / 1e9 / float64(lost+1); g.spacing == 0 {
			g.spacing = apart
		} else {
			g.spacing += (apart - g.spacing) / 20
		}
		return lost
	}
	g.losses.Steps += lost
	g.origin, g.flight, g.spacing = s.Stamp, FlightName(s.Stamp), 0
	return lost
}

// within reports whether a step belongs to the row begun: it is nearer to its ticks than to the next row's.
func (g *gatherer) within(s *ControllerStep) bool {
	if s.Stamp <= g.at || g.row.Flight != g.flight {
		return false
	}
	const rounding = 1e-9 // s, of stamps
	return float64(s.Stamp-g.at)/1e9 < g.dt-min(g.spacing, g.dt)/2-rounding
}

func (g *gatherer) tick(s *ControllerStep) {
	g.sum.Thrust += s.Sent.Thrust
	g.sum.Rates = g.sum.Rates.Add(s.Sent.Rates)
	g.ticks++
	if s.Stage == guard.Hold || s.Stage == guard.Land {
		g.row.Confidence = g.guarded
	}
}

// finish gives the row that no other step follows, if there is one.
func (g *gatherer) finish() (done flightRow, ok bool) {
	if !g.open {
		return flightRow{}, false
	}
	done = g.row
	n := 1 / float64(g.ticks)
	done.Command = quad.Command{Thrust: n * g.sum.Thrust, Rates: g.sum.Rates.Scale(n)}
	done.Confidence *= g.sure
	done.Confidence *= float32(g.ticks) / float32(uint64(g.ticks)+g.missing)
	g.open, g.sum, g.ticks, g.missing = false, quad.Command{}, 0, 0
	return done, true
}

// certainty is what a velocity of some standard deviation counts.
func (g *gatherer) certainty(deviation float64) float32 {
	if !(deviation > 0) {
		return 1
	}
	x := deviation / g.halved
	return float32(1 / (1 + x*x))
}

func usable(s *ControllerStep) bool {
	p, q, v, w := s.State.P, s.State.Q, s.State.V, s.Sent.Rates
	for _, x := range []so3.Vec3{p, v, w, {X: q.W, Y: q.X, Z: q.Y}, {X: q.Z, Y: s.Sent.Thrust}} {
		if n := x.Norm(); n*0 != 0 {
			return false
		}
	}
	return math.Abs(q.Norm()-1) <= quad.NormSlack
}

// flightLayout names a flight by its beginning, in UTC.
const flightLayout = "2006-01-02T15:04:05.000000000Z"

// FlightName names a flight by its beginning, ns.
func FlightName(stamp int64) string { return time.Unix(0, stamp).UTC().Format(flightLayout) }

// FlightStart is when a flight of that name began, ns; false for names that are of other sources.
func FlightStart(flight string) (stamp int64, ok bool) {
	t, err := time.Parse(flightLayout, flight)
	return t.UnixNano(), err == nil
}
