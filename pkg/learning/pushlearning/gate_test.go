package pushlearning

import (
	"math"
	"testing"

	"vnd/pkg/flight/pushcontrol"
	"vnd/pkg/robot/pusher"
	"vnd/pkg/vnd"
)

// moving is a policy that commands half of the speed along both axes, in any state.
func moving(t *testing.T, sees int) *vnd.Actor[float32] {
	t.Helper()
	p, err := vnd.NewActor(sees, 0, make([]float32, 2), []float32{1, 1}, []int{4})
	if err != nil {
		t.Fatal(err)
	}
	last := p.Net.Tensors()[len(p.Net.Tensors())-1]
	for j := range last.Size() {
		p.Net.Params[last.Offset+j] = 1
	}
	p.Net.Refresh()
	return p
}

// TestRunnerRestsAtItsGoal: a tool that has brought its box to the goal stands, whatever the policy commands. A heading
// counts as the distance that is as bad.
func TestRunnerRestsAtItsGoal(t *testing.T) {
	s, a := make([]float32, 10), make([]float32, 2)
	task := brief
	r := Vehicle{task}.begin(moving(t, pushcontrol.Sees), random(1, 1), s)
	at := pusher.State{Box: [3]float64{0.1, 0, 0.5}, Tool: [2]float64{-0.2, 0}}
	r.episode.begin(at, [3]float64{0.1, 0.005, 0.4}, nil)
	at.Write(s)
	for k := range pushcontrol.SettleSteps + 1 {
		tick := r.Tick(float64(k)*Dt, s, a)
		moves := a[0] != 0 && a[1] != 0 && tick.Units[0] != 0
		if tick.Crash != "" || math.Abs(tick.Error-0.01) > 1e-6 || moves != (k < pushcontrol.SettleSteps) {
			t.Fatalf("step %d: %+v, commands %v", k, tick, a)
		}
	}
	at.Tool[0] = -0.7
	at.Write(s)
	for range 2 { // a box that is lost stays so
		if tick := r.Tick(1, s, a); tick.Error != reach || tick.Crash != "" || a[0] != 0 {
			t.Errorf("off the table: %+v, commands %v", tick, a)
		}
		at.Tool[0] = -0.2
		at.Write(s)
	}
}
