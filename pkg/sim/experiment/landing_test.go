package experiment

import (
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
)

// landing is a campaign whose task is to land.
func landing(t *testing.T) *Campaign {
	t.Helper()
	c := new(Campaign)
	param.Default(&c.Config)
	param.Default(&c.Limits)
	path, err := reference.OfTask("land")
	if err == nil {
		err = c.AddTask("land", path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestLandingsAreFlown: as many as fill the time, each from a place of its own, also on a pad that moves.
func TestLandingsAreFlown(t *testing.T) {
	c := landing(t)
	w := sim.Default()
	w.Ground.Velocity = []float64{0.2, 0.2}
	traces, err := c.FlyAll(c.Law(), Scenario{World: w, Name: "pad"}, c.Tasks[0], 1, 12)
	if err != nil {
		t.Fatal(err)
	}
	f, l := closedloop.MeasureLandings(traces)
	if len(traces) < 2 || l.Landed != len(traces) || f.Seconds < 12 {
		t.Errorf("%d flights, %+v, %+v", len(traces), f, l)
	}
	if a, b := traces[0].Rows[0].Truth.P, traces[1].Rows[0].Truth.P; a == b {
		t.Errorf("both begin at %v", a)
	}
}

// TestRowsOfLandings are in the air: a robot that does not sink, though its reference does, tells of the floor.
func TestRowsOfLandings(t *testing.T) {
	c := landing(t)
	begin := quad.State{P: so3.Vec3{Z: 1}, Q: so3.Identity()}
	path, err := reference.StartAt(c.Tasks[0].Path, &begin)
	if err != nil {
		t.Fatal(err)
	}
	runner, err := policy.NewClosedLoopRunner(idle(t, c), path.At)
	if err != nil {
		t.Fatal(err)
	}
	rec := &recording{ClosedLoopRunner: runner, landing: path}
	const dt, floor = 0.02, 0.4
	flown := 0
	for k := range int(path.Duration() / dt) {
		r := quad.Row{T: float64(k) * dt}
		at := path.At(r.T)
		if r.State = (quad.State{P: at.P, V: at.V, Q: so3.Identity()}); at.P.Z < floor {
			r.State.P.Z, r.State.V.Z = floor, 0
		} else {
			flown++
		}
		rec.Observe(r)
	}
	if n := len(rec.rows); n < flown || n > flown+8 || flown == 0 {
		t.Errorf("%d rows, of which %d flew", n, flown)
	}
	if traces, flight, err := c.Record(idle(t, c), Scenario{World: sim.Default(), Name: "calm"}, c.Tasks[0], 1,
		8); err != nil || len(traces) < 2 || len(flight.Segments) < 2 {
		t.Errorf("%d flights, %d segments, error %v", len(traces), len(flight.Segments), err)
	}
}
