package experiment

import (
	"math"
	"slices"
	"testing"

	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
)

func measured(task string, wind, e float64, unseen bool, crash string) Flown {
	return Flown{Task: task, Kind: strength(wind), Wind: wind, Unseen: unseen,
		Figures: closedloop.Figures{Mean: e, Crash: crash}}
}

func TestSummary(t *testing.T) {
	seed := func(e float64, crash string, turns ...Turn) *Study {
		return &Study{Methods: []Measured{{Name: "one", Learned: e, Crashed: 1, Turns: turns, Flown: []Flown{
			measured("track", 10, 2*e, false, ""), measured("track", 3, e, false, ""),
			measured("track", 3, 3*e, false, ""), measured("track", 1, 5*e, true, crash)}}}}
	}
	turn := func(wide float64, opposite bool) Turn {
		return Turn{Task: "track", Opposite: opposite,
			Recovery: closedloop.Recovery{Wide: wide, Literal: 2 * wide, Peak: wide}}
	}
	all := []*Study{seed(0.1, "hit the ground", turn(1, true), turn(9, false)), seed(0.3, "", turn(2, true)),
		seed(0.2, "hit the ground", turn(math.MaxFloat64, true), turn(0, true))}
	if got, want := all[0].Columns(), []string{"track, 3.0 m/s²", "track, 10.0 m/s²", "track, all",
		"track, unseen"}; !slices.Equal(got, want) {
		t.Errorf("columns %q, want %q", got, want)
	}
	r := Summary(all)[0]
	for c, want := range map[string]float64{"track, 3.0 m/s²": 0.4, "track, 10.0 m/s²": 0.4, "track, all": 0.4,
		"track, unseen": math.MaxFloat64} {
		if got := r.Errors[c]; got != want && !(math.Abs(got-want) < 1e-12) {
			t.Errorf("%s: %g, want %g", c, got, want)
		}
	}
	if r.Crashes != 2+3 || r.Learned != 0.2 {
		t.Errorf("%d crashes, learned in %g s", r.Crashes, r.Learned)
	}
	if s := r.Turns; s.N != 4 || s.Wide != 1.5 || s.Literal != 3 || s.Zero != 0.25 || s.Never != 0.25 {
		t.Errorf("turns %+v", *s)
	}
}

// TestKinds: what is more than a wind has a column of its own, beside calm air and after the winds.
func TestKinds(t *testing.T) {
	scenarios, err := Scenarios(world(t,
		`conditions: {name: ["cut", "calm", "east", "south", "laden"], wind_x: [0.0, 0.0, 1.5, 0.0, 1.5], `+
			`wind_y: [0.0, 0.0, 0.0, -1.5, 0.0], cut_rotor: [1, 0, 0, 0, 0], cut_thrust: [0.8, 1.0, 1.0, 1.0, 1.0], `+
			`payload: [0.0, 0.0, 0.0, 0.0, 0.05]}`))
	if err != nil {
		t.Fatal(err)
	}
	m := Measured{}
	for i := range scenarios {
		m.Flown = append(m.Flown, Flown{Task: "hover", Kind: scenarios[i].kind(), Wind: scenarios[i].Wind(),
			Figures: closedloop.Figures{Mean: float64(i + 1)}})
	}
	s := &Study{Methods: []Measured{m}}
	if got, want := s.Columns(), []string{"hover, 0.0 m/s²", "hover, 1.5 m/s²", "hover, cut", "hover, laden",
		"hover, all"}; !slices.Equal(got, want) {
		t.Errorf("columns %q, want %q", got, want)
	}
	r := Summary([]*Study{s})[0]
	for c, want := range map[string]float64{"hover, cut": 1, "hover, 0.0 m/s²": 2, "hover, 1.5 m/s²": 3.5,
		"hover, laden": 5, "hover, all": 3} {
		if r.Errors[c] != want {
			t.Errorf("%s: %g, want %g", c, r.Errors[c], want)
		}
	}
}

func TestOpposite(t *testing.T) {
	w := sim.Default()
	w.Conditions = sim.Conditions{Name: []string{"calm", "east", "west", "north"}, WindX: []float64{0, 3, -3, 0},
		WindY: []float64{0, 0, 0, 3}}
	f := &Scenario{World: w}
	for _, c := range []struct {
		from, to string
		want     bool
	}{{"east", "west", true}, {"west", "east", true}, {"east", "north", false}, {"calm", "east", false},
		{"east", "calm", false}, {"calm", "calm", false}} {
		if got := f.opposite(c.from, c.to); got != c.want {
			t.Errorf("%s to %s: opposite %v", c.from, c.to, got)
		}
	}
}

func TestQuarter(t *testing.T) {
	w := sim.Default()
	w.Conditions = sim.Conditions{Name: []string{"calm", "east", "west", "north", "light"},
		WindX: []float64{0, 3, -3, 0, 0}, WindY: []float64{0, 0, 0, 3, 1}}
	f := &Scenario{World: w}
	for _, c := range []struct {
		from, to string
		want     bool
	}{{"east", "north", true}, {"north", "west", true}, {"east", "west", false}, {"calm", "east", false},
		{"east", "calm", false}, {"calm", "calm", false}, {"east", "light", false}} {
		if got := f.quarter(c.from, c.to); got != c.want {
			t.Errorf("%s to %s: quarter %v", c.from, c.to, got)
		}
	}
}

// TestReturned: what counts is each wind from its second stay on; calm does not.
func TestReturned(t *testing.T) {
	w := sim.Default()
	w.Conditions = sim.Conditions{Name: []string{"calm", "east", "north"}, WindX: []float64{0, 3, 0},
		WindY: []float64{0, 0, 3}}
	f := &Scenario{World: w}
	trace := &closedloop.Trace{}
	for i, name := range []string{"calm", "east", "east", "calm", "north", "east", "east", "north", "calm"} {
		row := closedloop.TraceRow{T: float64(i), Condition: name}
		row.Truth.P.X = float64(i)
		trace.Rows = append(trace.Rows, row)
	}
	if mean, ok := f.returned(trace); !ok || mean != 6 {
		t.Errorf("mean %g, %v; expected that of rows 5, 6 and 7", mean, ok)
	}
	trace.Crash = "the floor"
	if mean, ok := f.returned(trace); !ok || mean != math.MaxFloat64 {
		t.Errorf("mean %g of a crash, %v", mean, ok)
	}
	if _, ok := f.returned(&closedloop.Trace{Rows: trace.Rows[:5]}); ok {
		t.Error("no wind came back, and there is an error in those that did")
	}
}

// TestMemoryFigures: of two conditions met one after another, and both together.
func TestMemoryFigures(t *testing.T) {
	m := &Memory{Met: 2, Conditions: []string{"a", "b", "both"}, Rounds: []MemoryRound{
		{Errors: []float64{8, 8, 9}},
		{Errors: []float64{2, 6, 7}, OpenLoop: []float64{1, 4, 4}},
		{Errors: []float64{3, 2, 4}, OpenLoop: []float64{4, 2, 3}},
		{Errors: []float64{2, 2, 2}, OpenLoop: []float64{1, 1, 1}}}}
	for name, c := range map[string]struct{ got, want []float64 }{
		"fading":      {m.Fading(), []float64{1.5, 1}},
		"predictions": {m.OpenLoopFading(), []float64{4, 1}},
		"transfer":    {m.Transfer(), []float64{0.75}},
		"combined":    {m.Combined(), []float64{2}},
	} {
		if !slices.Equal(c.got, c.want) {
			t.Errorf("%s: %v, expected %v", name, c.got, c.want)
		}
	}
}
