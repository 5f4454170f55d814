package arm

import (
	"math"
	"strings"
	"testing"

	"vnd/pkg/core/so3"
)

// TestIdentifyFindsThePayload: of a second of a smooth motion, its mass, its centre, damping and friction.
func TestIdentifyFindsThePayload(t *testing.T) {
	const dt = 0.02
	for _, mass := range []float64{0, 1.5, 3} {
		truth := Robot{Dt: dt, Steps: 20, Payload: mass, At: so3.Vec3{X: 0.04, Z: 0.05}, Damping: 0.5, Friction: 0.7}
		rows := swing(truth, 100)
		got, err := Identify(rows, dt)
		if err != nil {
			t.Fatal(err)
		}
		off := got.At.Sub(truth.At).Norm() * mass
		if math.Abs(got.Payload-mass) > 0.05 || off > 0.02 || math.Abs(got.Damping-0.5) > 0.2 ||
			math.Abs(got.Friction-0.7) > 0.2 || got.Steps != 20 {
			t.Errorf("%g kg: %+v", mass, got)
		}
	}
	if _, err := Identify(nil, dt); err == nil || !strings.Contains(err.Error(), "0 rows, expected at least 10") {
		t.Errorf("of nothing: %v", err)
	}
}

// swing is an arm whose joints are driven to and fro.
func swing(truth Robot, steps int) (rows []Row) {
	sys := New[float64](truth)
	carries := NewDynamics(truth.Chain())
	s, none := make([]float64, nS), make([]float64, nS)
	sys.Rest(s, make([]float64, nA))
	for k := range steps {
		row := Row{T: float64(k) * truth.Dt}
		copy(row.State.Q[:], s)
		copy(row.State.V[:], s[Joints:])
		var a [Joints]float64
		for j := range a {
			a[j] = 3 * math.Cos(float64(j+4)*row.T)
		}
		carries.Place(row.State.Q[:])
		carries.Torques(row.State.V[:], a[:], row.Torque[:])
		rows = append(rows, row)
		sys.Step(1, s, row.Torque[:], none, s)
	}
	return rows
}
