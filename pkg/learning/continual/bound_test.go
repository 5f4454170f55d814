package continual

import (
	"math/rand/v2"
	"slices"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/inertial"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd/bundle"
)

// TestBound: a learner whose buffer is full keeps the newest flights and a rare wind of before, told apart by what
// pushes the robot, and by the latents of a model once there is one.
func TestBound(t *testing.T) {
	model, _ := fitted(t, 0)
	for _, name := range []string{"without a model", "with a model"} {
		t.Run(name, func(t *testing.T) {
			cfg := tiny()
			cfg.MaxRows = 3000
			l, err := New(cfg, untrained(t, cfg), Options{Tasks: tasks(t), Task: "hover",
				Vehicle: quadgate.Vehicle{Robot: quadrotor.Name, Limits: limits()}})
			if err != nil {
				t.Fatal(err)
			}
			if name == "with a model" {
				l.model = model.fitted
			}
			rng := rand.New(rand.NewPCG(1, 2))
			flight := func(name string, wind float64) {
				rows, _ := fly(stiff{}, so3.Vec3{X: wind}, 6, rng)
				l.Collect(quad.Flight{Name: name, Segments: [][]quad.Row{rows}})
			}
			flight("rare", 3)
			for k := range 9 {
				flight(string(rune('a'+k)), 0)
			}
			l.AddLearned()
			if kept := l.Bound(); kept != nil {
				t.Fatalf("3000 rows are bounded by 3000: %v stay", kept)
			}
			flight("new", 0)
			kept := l.Bound()
			if len(kept) != 9 || kept[0] != 0 || !slices.Equal(kept[5:], []int{7, 8, 9, 10}) {
				t.Errorf("%v stay of eleven, expected the first, the last four and some between", kept)
			}
			r := l.begin(t.Context())
			segments, rows := r.segments, r.out.Rows
			if rows != 2700 || segments[0].Flight != "rare" || segments[8].Flight != "new" || l.learned != 8 {
				t.Errorf("%d rows, %q to %q, %d segments learned", rows, segments[0].Flight, segments[8].Flight,
					l.learned)
			}
			if again := l.Bound(); again != nil {
				t.Errorf("bounded twice: %v", again)
			}
		})
	}
}

// TestRoundsJoinWhatGoesOn: segments of a flight between which a sample was lost are one, those that were learned from
// and the others apart, and what was found of them is kept for the next round.
func TestRoundsJoinWhatGoesOn(t *testing.T) {
	rows, _ := fly(still{}, so3.Vec3{}, 8, rand.New(rand.NewPCG(1, 1)))
	piece := func(lo, hi int) dataset.Segment {
		return dataset.FromFlights([]quad.Flight{{Name: "f", Segments: [][]quad.Row{rows[lo:hi]}}})[0]
	}
	l := &Learner{current: &bundle.Bundle{Dt: dt}}
	l.AddLearned(piece(0, 100), piece(101, 200))
	l.Add(piece(202, 300), piece(301, 400))
	r := l.begin(t.Context())
	if len(r.segments) != 2 || r.learned != 1 || r.taken != 4 || r.out.Rows != 398 {
		t.Fatalf("%d segments, %d learned, of %d, %d rows", len(r.segments), r.learned, r.taken, r.out.Rows)
	}
	r.segments[0].Smoothed = make([]inertial.Smoothed, 200)
	l.keep(r.segments)
	l.Add(piece(302, 400))
	if again := l.begin(t.Context()); len(again.segments[0].Smoothed) != 200 || again.segments[1].Smoothed != nil {
		t.Error("what a round found is not kept, or of another segment")
	}
}
