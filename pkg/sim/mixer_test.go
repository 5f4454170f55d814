package sim

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"vnd/pkg/core/so3"
)

// wrench returns what the thrusts of four motors sum up to.
func wrench(f [4]float64) (thrust float64, torque so3.Vec3) {
	for i, x := range f {
		arm := [4]so3.Vec3{{X: 1, Y: -1}, {X: -1, Y: 1}, {X: 1, Y: 1}, {X: -1, Y: -1}}[i]
		thrust += x
		torque = torque.Add(so3.Vec3{X: .041 * arm.Y * x, Y: -.041 * arm.X * x,
			Z: []float64{-1, -1, 1, 1}[i] * .008 * x})
	}
	return thrust, torque
}

// TestMixer holds the laws of the mixer for any demand: motors within their limits; all of it where the limits allow
// it; else roll and pitch before thrust before yaw, and never a torque of the wrong sign.
func TestMixer(t *testing.T) {
	w := ideal()
	w.Motor.Idle = .1
	m := newMixer(&w)
	rapid.Check(t, func(t *rapid.T) {
		size := func(name string, most float64) float64 { return rapid.Float64Range(-most, most).Draw(t, name) }
		ask, turn := rapid.Float64Range(0, 16).Draw(t, "thrust"),
			so3.Vec3{X: size("x", .4), Y: size("y", .4), Z: size("z", .06)}
		f := m.mix(ask, turn)
		for i, x := range f {
			if x < m.least-1e-9 || x > m.most+1e-9 {
				t.Fatalf("motor %d gets %v N, expected %v … %v", i+1, x, m.least, m.most)
			}
		}
		thrust, torque := wrench(f)
		near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }
		gave := !near(thrust, ask) || !near(torque.X, turn.X) || !near(torque.Y, turn.Y) || !near(torque.Z, turn.Z)
		if gave != m.saturated {
			t.Fatalf("saturated %v, but %v N and %v of %v N and %v", m.saturated, thrust, torque, ask, turn)
		}
		if !near(torque.X, turn.X) || !near(torque.Y, turn.Y) {
			if need := (math.Abs(turn.X) + math.Abs(turn.Y)) / (2 * .041); need <= m.most-m.least {
				t.Fatalf("roll and pitch shrink to %v of %v though %v N of span suffice", torque, turn, need)
			}
			if !near(torque.X*turn.Y, torque.Y*turn.X) {
				t.Fatalf("roll and pitch shrink to %v of %v, not alike", torque, turn)
			}
		}
		if torque.Z*turn.Z < -1e-12 || math.Abs(torque.Z) > math.Abs(turn.Z)+1e-9 {
			t.Fatalf("yaw torque %v of %v", torque.Z, turn.Z)
		}
		if !near(thrust, ask) { // the thrust moves no further than roll and pitch or the limits need
			least, most := 4*m.least, 4*m.most
			spread := (math.Abs(torque.X) + math.Abs(torque.Y)) / .041
			if want := math.Max(least+spread, math.Min(most-spread, ask)); !near(thrust, want) {
				t.Fatalf("thrust %v N of %v, expected %v", thrust, ask, want)
			}
		}
	})
}
