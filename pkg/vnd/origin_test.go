package vnd

import (
	"testing"

	"vnd/pkg/core/so3"
	"vnd/pkg/robot/quadrotor"
)

// TestPredictionsKeepTheOrigin: flights far from the world's origin are predicted as those at it, moved.
func TestPredictionsKeepTheOrigin(t *testing.T) {
	origin := so3.Vec3{X: 1000, Y: -500, Z: 20}
	m, rows := random(t, vehicle, netConfig(1)), flight(vehicle, 60, 1)
	near := predict(t, m, rows, 30)
	for i := range rows {
		rows[i].State.P = rows[i].State.P.Add(origin)
	}
	defer func(q quadrotor.Robot) { vehicle = q }(vehicle)
	vehicle.Origin = origin
	for h, far := range predict(t, m, rows, 30) {
		if off := far.P.Sub(origin).Sub(near[h].P).Norm(); !(off < 1e-3) {
			t.Fatalf("step %d: predicted at %v, want %v from %v", h, far.P, near[h].P, origin)
		}
	}
}
