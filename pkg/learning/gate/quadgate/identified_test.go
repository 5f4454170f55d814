package quadgate

import (
	"context"
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/robot/quadrotor"
)

// TestIdentifiedGainHoldsTheRobotUp: thrusts that were recorded wrongly make another robot, which does not agree.
func TestIdentifiedGainHoldsTheRobotUp(t *testing.T) {
	flown := taught().flown
	good, err := Identify(context.Background(), flown, dt)
	if err != nil {
		t.Fatal(err)
	}
	if g := good.Actuator.ThrustGain; math.Abs(g-0.97) > 0.02 || good.Actuator.RateGain != 1 {
		t.Errorf("gain %.3f, expected 0.97", g)
	}
	wrong := make([][]quad.Row, len(flown))
	for i := range flown {
		wrong[i] = append([]quad.Row(nil), flown[i]...)
		for k := range wrong[i] {
			wrong[i][k].Command.Thrust *= 1.4
		}
	}
	bad, err := Identify(context.Background(), wrong, dt)
	if err != nil {
		t.Fatal(err)
	}
	if bad.Agree(&good) || !good.Agree(&good) || math.Abs(bad.Actuator.ThrustGain-0.97/1.4) > 0.03 {
		t.Errorf("gain %.3f of thrusts that are 1.4 times too great", bad.Actuator.ThrustGain)
	}
	if r, err := Identify(context.Background(), nil, dt); err != nil || r != (Identified{}) {
		t.Errorf("of no flight: %+v, %v", r, err)
	}
	slow := good
	slow.Actuator = quadrotor.Actuator{ThrustGain: good.Actuator.ThrustGain, RateDelay: good.Actuator.RateDelay + 3,
		RateLag: good.Actuator.RateLag}
	if slow.Agree(&good) {
		t.Error("60 ms of further delay agree")
	}
}
