package closedloop

import (
	"math"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/gate"
	"vnd/pkg/sim"
	"vnd/pkg/vnd/bundle"
)

// TestJudgeDrawsTheRobot: from trial to trial thrust gain and command delay differ, half of the trials have a wind that
// turns in mid-flight, and starts are scattered.
func TestJudgeDrawsTheRobot(t *testing.T) {
	spec := new(reference.Hover)
	param.Default(spec)
	path, err := reference.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	j := &Judge{World: sim.Default(), Paths: []reference.Reference{path}, JudgeConfig: judging()}
	const trials = 400
	var gains, delays, offsets []float64
	turning, west, south := 0., 0., 0.
	for k := range trials {
		s, _, err := j.setup(&bundle.Bundle{Dt: 0.02}, gate.Trial{Number: uint64(k), DisturbanceStrength: math.Inf(1)})
		if err != nil {
			t.Fatal(err)
		}
		gains = append(gains, s.World.Motor.Gain/j.World.Motor.Gain)
		delays = append(delays, s.World.Link.Delay-j.World.Link.Delay)
		offsets = append(offsets, s.Start.P.X-path.At(0).P.X)
		if s.World.Conditions.WindX[0] < 0 {
			west++
		}
		if s.World.Conditions.WindY[0] < 0 {
			south++
		}
		switch at := s.World.Schedule.Start; len(at) {
		case 1:
		case 2:
			turning++
			if at[0] != 0 || at[1] != j.Seconds/2 {
				t.Fatalf("trial %d: winds from %v s on", k, at)
			}
		default:
			t.Fatalf("trial %d: %d winds", k, len(at))
		}
	}
	near := func(what string, got, want, within float64) {
		t.Helper()
		if !(math.Abs(got-want) <= within) {
			t.Errorf("%s: %.4f, want %.4f ± %.4f", what, got, want, within)
		}
	}
	gain, spread := moments(gains)
	near("mean thrust gain", gain, 1, 0.005)
	near("spread of the thrust gain", spread, 0.03, 0.005)
	delay, spread := moments(delays)
	near("mean further delay, s", delay, 0.005, 0.0007)
	near("its spread, s", spread, 0.01/math.Sqrt(12), 0.0005)
	_, spread = moments(offsets)
	near("spread of the starts, m", spread, j.Start, 0.03)
	near("share of winds to the west", west/trials, 0.5, 0.08)
	near("share of winds to the south", south/trials, 0.5, 0.08)
	near("share of turning winds", turning/trials, 0.5, 0.08)
}
