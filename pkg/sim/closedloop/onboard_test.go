package closedloop

import (
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/inertial"
	"vnd/pkg/flight/reference"
	"vnd/pkg/sim"
)

// TestFliesByAnIMU: from poses at 10 Hz that are 80 ms late, and an IMU, a controller gets states of each tick whose
// velocities are right. It begins once there is one; until then somebody holds the robot. With an IMU the filter by
// commands, which is on by default, has nothing to say.
func TestFliesByAnIMU(t *testing.T) {
	path, err := reference.OfTask("track")
	if err != nil {
		t.Fatal(err)
	}
	w := sim.Default()
	w.Conditions = sim.Conditions{Name: []string{"wind"}, WindX: []float64{2}, WindY: []float64{0}}
	if w, err = w.Scheduled([]sim.Switch{{Start: 0, Condition: "wind"}}, 0); err != nil {
		t.Fatal(err)
	}
	s := &Setup{World: w, Seed: 1, Path: path, Seconds: 15, Tick: 0.02, Inertial: &inertial.Params{},
		Filtered: true}
	param.Default(&s.Estimate)
	param.Default(&s.Limits)
	param.Default(s.Inertial)
	m := &s.World.Mocap
	m.Rate, m.Latency, m.Position, m.Attitude, s.World.Imu.Rate = 10, 0.08, 0.003, 0.01, 250
	law, err := guard.NewPathFollower(s.Limits, path)
	if err != nil {
		t.Fatal(err)
	}
	c := &seeing{PathFollower: law}
	trace, err := Fly(s, c)
	if err != nil || trace.Crash != "" {
		t.Fatalf("%v %s", err, trace.Crash)
	}
	if n := len(trace.Rows); len(c.asked) < n/2 || len(c.observed) < len(c.asked)*9/10 || len(c.asked) == n {
		t.Errorf("of %d ticks %d have a state, %d are observed", n, len(c.asked), len(c.observed))
	}
	if off := trace.Rows[len(trace.Rows)-len(c.asked)-1].Error(); off > 0.5 {
		t.Errorf("when the first state comes the robot is off by %.2f m", off)
	}
	if c.worst > 0.3 {
		t.Errorf("velocities are off by up to %.2f m/s", c.worst)
	}
	s.Inertial.Mount = nil
	if _, err := Fly(s, c); err == nil {
		t.Error("an IMU without a place flies")
	}
}

// TestFliesByCommands: from noisy poses of 60 ms before, a controller gets states of each tick by what was commanded.
// Their velocities are far better than those made of poses alone.
func TestFliesByCommands(t *testing.T) {
	fly := func(filtered bool) *seeing {
		path, err := reference.OfTask("track")
		if err != nil {
			t.Fatal(err)
		}
		s := &Setup{World: sim.Default(), Seed: 1, Path: path, Seconds: 10, Tick: 0.02, Filtered: filtered}
		param.Default(&s.Estimate)
		param.Default(&s.Limits)
		s.World.Mocap.Latency, s.World.Mocap.Position, s.World.Mocap.Attitude = 0.06, 0.003, 0.02
		law, err := guard.NewPathFollower(s.Limits, path)
		if err != nil {
			t.Fatal(err)
		}
		c := &seeing{PathFollower: law}
		if trace, err := Fly(s, c); err != nil || trace.Crash != "" {
			t.Fatalf("%v %s", err, trace.Crash)
		}
		return c
	}
	bare, with := fly(false), fly(true)
	if !(with.worst < bare.worst/2) || len(with.observed) < len(bare.observed) {
		t.Errorf("velocities are off by up to %.2f m/s in %d rows, without it by %.2f in %d", with.worst,
			len(with.observed), bare.worst, len(bare.observed))
	}
}
