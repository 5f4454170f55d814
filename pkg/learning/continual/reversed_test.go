package continual

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/learning/dataset"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/robot/quadrotor"
)

// sway rolls to and fro.
type sway struct{ still }

func (sway) Command(t float64, _ *quad.State) quad.Command {
	return quad.Command{Thrust: quad.Gravity, Rates: so3.Vec3{X: math.Sin(2 * t)}}
}

// TestNewestReversed: the newest minutes are refused where an axis is reversed in them, few as they are among what was
// learned from before; before anything of them is smoothed.
func TestNewestReversed(t *testing.T) {
	cfg := tiny()
	l, err := New(cfg, untrained(t, cfg), Options{Tasks: tasks(t), Task: "hover",
		Vehicle: quadgate.Vehicle{Robot: quadrotor.Name, Limits: limits()}})
	if err != nil {
		t.Fatal(err)
	}
	flown := func(seed uint64) []dataset.Segment {
		rows, _ := fly(sway{}, so3.Vec3{}, 12, rand.New(rand.NewPCG(1, seed)))
		return dataset.FromFlights([]quad.Flight{{Name: "f", Segments: [][]quad.Row{rows}}})
	}
	for seed := range uint64(12) {
		l.AddLearned(flown(seed)...)
	}
	if err := l.begin(t.Context()).obeyed(); err != nil {
		t.Error(err)
	}
	bad := flown(12)
	for k := range bad[0].Rows {
		bad[0].Rows[k].Command.Rates.X *= -1
	}
	l.Add(bad...)
	r := l.begin(t.Context())
	if err := r.plan(); err != nil {
		t.Fatal(err)
	}
	if err := r.fit(); !errors.Is(err, ErrNotEnoughGood) || r.segments[r.learned].Smoothed != nil {
		t.Errorf("error %v, %d states smoothed", err, len(r.segments[r.learned].Smoothed))
	}
}
