package experiment

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/robot/quadrotor"
)

// TestActuatorFollowsSlowMotors: flights with motors of twice the lag show another actuator, further flights with the
// same motors do not.
func TestActuatorFollowsSlowMotors(t *testing.T) {
	c := bothTasks(t, 1)
	flown := func(seed uint64, motor string) (rows [][]quad.Row) {
		scenarios, err := Scenarios(world(t, `conditions: {name: ["calm", "east"], wind_x: [0.0, 2.0]}`+motor))
		if err != nil {
			t.Fatal(err)
		}
		c.Seed = seed
		s := &study{Campaign: c, ctx: t.Context(), plan: &Plan{Seconds: 30, Scenarios: scenarios}}
		if err := s.identifyingFlights(); err != nil {
			t.Fatal(err)
		}
		for _, f := range s.flown[0] {
			rows = append(rows, f.Segments...)
		}
		return rows
	}
	before, err := quadrotor.Identify(t.Context(), c.Nominal.Dt, flown(1, ""))
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(3) {
		same, err := quadrotor.Follow(t.Context(), c.Nominal.Dt, flown(2+seed, ""), before)
		if err != nil || same != before {
			t.Errorf("seed %d: the same motors are taken for %+v, before %+v, %v", seed, same, before, err)
		}
		slow, err := quadrotor.Follow(t.Context(), c.Nominal.Dt, flown(5+seed, "\n    motor: {lag: 0.049}"), before)
		if err != nil {
			t.Fatal(err)
		}
		late := c.Nominal.Dt*(slow.ThrustDelay-before.ThrustDelay) + slow.ThrustLag - before.ThrustLag
		if math.Abs(late-0.0245) > 0.0245/2 {
			t.Errorf("seed %d: thrust comes later by %.4f s, expected .0245: %+v, before %+v", seed, late, slow, before)
		}
	}
}
