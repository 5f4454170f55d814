package quadgate

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// TestLimitsBeyondTheVehicleAreRefused looks at each limit by itself, from both sides.
func TestLimitsBeyondTheVehicleAreRefused(t *testing.T) {
	vehicle := quad.Limits{MinThrust: 2, MaxThrust: 20, MaxTiltRate: 8, MaxYawRate: 4}
	for _, c := range []struct {
		name   string
		policy quad.Limits
		want   int
	}{
		{"the vehicle's own", vehicle, 0},
		{"narrower", quad.Limits{MinThrust: 4, MaxThrust: 15, MaxTiltRate: 6, MaxYawRate: 2}, 0},
		{"too little thrust", quad.Limits{MinThrust: 1, MaxThrust: 20, MaxTiltRate: 8, MaxYawRate: 4}, 1},
		{"too much thrust", quad.Limits{MinThrust: 2, MaxThrust: 21, MaxTiltRate: 8, MaxYawRate: 4}, 1},
		{"too fast a roll", quad.Limits{MinThrust: 2, MaxThrust: 20, MaxTiltRate: 9, MaxYawRate: 4}, 1},
		{"too fast a yaw", quad.Limits{MinThrust: 2, MaxThrust: 20, MaxTiltRate: 8, MaxYawRate: 5}, 1},
		{"all of them", quad.Limits{MinThrust: 1, MaxThrust: 30, MaxTiltRate: 30, MaxYawRate: 30}, 4},
		{"no number", quad.Limits{MinThrust: 2, MaxThrust: math.NaN(), MaxTiltRate: 8, MaxYawRate: 4}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := beyond(&c.policy, &vehicle); len(got) != c.want {
				t.Errorf("got %q, want %d reasons", got, c.want)
			}
		})
	}
}

// TestDragIsNoWind: a robot that drag alone slows down met no disturbance.
func TestDragIsNoWind(t *testing.T) {
	const k, fast = 0.5, 4. // 1/s, m/s
	var rows []quad.Row
	for i := range 400 {
		at := float64(i) * dt
		v := fast * math.Exp(-k*at)
		rows = append(rows, quad.Row{T: at, Command: quad.Command{Thrust: quad.Gravity},
			State: quad.State{P: so3.Vec3{X: (fast - v) / k, Z: 1}, V: so3.Vec3{X: v}, Q: so3.Identity()}})
	}
	if strength := DisturbanceStrength([][]quad.Row{rows}, dt); !(strength < 0.05) {
		t.Errorf("%.3f m/s² were met, of a drag of up to %.1f m/s²", strength, k*fast)
	}
}
