package gatestudy

import (
	"testing"

	"vnd/pkg/nn/kernel"
)

// TestGateIsRightOnOtherRobots flies a few of the robots of make gate: one whose lag and delay differ from the default
// robot's, in the judge that flies what was identified.
func TestGateIsRightOnOtherRobots(t *testing.T) {
	if testing.Short() {
		t.Skip("flies for half a minute")
	}
	if kernel.Instructions() == "" {
		t.Skip("SKIPPED: plain Go takes five to ten minutes for flights that the C kernels fly in half a minute")
	}
	o := Options{Robots: 1, Flights: 24, Seed: 1, Workers: 2}
	flown, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	r := NewReport(&o, flown)
	for _, c := range r.Classes {
		t.Logf("%s: %d pairs, %d promoted", c.Class, c.Pairs, c.Promoted)
		switch {
		case c.Class == Better && (c.Pairs < 4 || c.Refused > 0.1):
			t.Errorf("%.0f %% of %d truly better candidates are refused", 100*c.Refused, c.Pairs)
		case (c.Class == SlightWorse || c.Class == Worse) && (c.Pairs < 1 || c.Promoted > 0):
			t.Errorf("%s: %d of %d are promoted", c.Class, c.Promoted, c.Pairs)
		}
	}
}

// TestStudyGoesOn: robots that were judged before are not judged again, and a report is gone on with by the program
// that made it alone.
func TestStudyGoesOn(t *testing.T) {
	if kernel.Instructions() == "" {
		t.Skip("trains a policy")
	}
	o := Options{Robots: 2, Flights: 24, Seed: 1, Build: "v1", Done: func(*Report) { t.Error("a robot was judged") }}
	for k := range o.Robots {
		o.Known = append(o.Known, Flown{Robot: Draw(1, k),
			Policies: map[string]Truth{"base": {}}, Judged: []Judged{{Robot: k, Class: Better, Pass: k == 0}}})
	}
	flown, err := Run(t.Context(), o)
	if err != nil || len(flown) != 2 || flown[1].Judged[0].Pass {
		t.Fatalf("%v, %+v", err, flown)
	}
	r := NewReport(&o, flown)
	other, later, fewer := o, o, o
	other.Seed, later.Build, fewer.Robots = 2, "v2", 1
	if c := r.Classes[0]; c.Pairs != 2 || c.Promoted != 1 || !r.Continues(&o) || r.Continues(&later) ||
		r.Continues(&other) || r.Continues(&fewer) {
		t.Errorf("%+v", r)
	}
}
