package closedloop

import (
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/airframe"
	"vnd/pkg/flight/estimator"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/motors"
	"vnd/pkg/flight/reference"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/sim"
)

// byMotors flies the guard's law by motors.
type byMotors struct {
	guard.PathFollower
	vehicle *motors.Vehicle
	frame   *rotors.Airframe
	tick    float64
}

func (c *byMotors) Limits() rotors.Limits {
	return rotors.Limits{Least: c.frame.Least, Most: c.frame.Most, Hover: c.frame.Hover(), Full: 1}
}

func (c *byMotors) Motors(t float64, s *rotors.State) [4]float64 {
	m := c.vehicle.Limit(c.vehicle.Mix(c.Command(t, &s.State), s.W), c.tick)
	c.vehicle.Sent(m)
	return m
}

// The guard's law tracks a figure-eight and comes back from a tilted start by its own rate loop and mixer.
func TestTheGuardsLawFliesByMotors(t *testing.T) {
	frame, err := airframe.Load("")
	if err != nil {
		t.Fatal(err)
	}
	var e estimator.Params
	param.Default(&e)
	for _, name := range []string{"hover", "track"} {
		for _, tick := range []float64{0.02, 0.01, 0.005} {
			path, err := reference.OfTask(name)
			if err != nil {
				t.Fatal(err)
			}
			law, err := guard.NewPathFollower(frame.Limits, path)
			if err != nil {
				t.Fatal(err)
			}
			vehicle, err := motors.New(&frame.Rotors)
			if err != nil {
				t.Fatal(err)
			}
			setup := &Setup{World: sim.Default(), Seed: 1, Path: path, Seconds: 8, Tick: tick, Estimate: e,
				Limits: frame.Limits}
			if name == "hover" {
				r := path.At(0)
				setup.Start = quad.State{P: r.P, Q: so3.FromEuler(0.7, -0.5, 1), V: so3.Vec3{X: 1}}
			}
			trace, err := FlyRotors(setup, &byMotors{law, vehicle, &frame.Rotors, tick})
			if err != nil || trace.Crash != "" {
				t.Fatalf("%s, %g s: %v %s", name, tick, err, trace.Crash)
			}
			worst := 0.
			for _, r := range trace.Rows[len(trace.Rows)/2:] {
				worst = max(worst, r.Error())
			}
			t.Logf("%s, ticks of %g s: at most %.3f m", name, tick, worst)
			if limit := map[string]float64{"hover": 0.1, "track": 0.6}[name]; worst > limit {
				t.Errorf("%s, ticks of %g s: %.3f m off, expected at most %g", name, tick, worst, limit)
			}
		}
	}
}
