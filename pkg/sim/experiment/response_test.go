package experiment

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/sim"
	"vnd/pkg/sim/closedloop"
	"vnd/pkg/vnd/bundle"
)

// TestDefaultRobotRespondsAsByDefault: flights of the default robot show the default response, by filtered states and
// by others. So the judge's robot is the default one where the lab's is.
func TestDefaultRobotRespondsAsByDefault(t *testing.T) {
	var plain guard.Config
	param.Default(&plain)
	for _, filtered := range []bool{true, false} {
		t.Run(fmt.Sprintf("filtered %v", filtered), func(t *testing.T) {
			thrust, rate := later(responseShown(t, sim.Default(), &plain, filtered), &plain.Response)
			if math.Abs(thrust) > 0.005 || math.Abs(rate) > 0.01 {
				t.Errorf("thrust %+.3f s, body rates %+.3f s later, expected 5 and 10 ms at most", thrust, rate)
			}
		})
	}
}

// TestFilterShowsASlowRobotAsItIs: where a lab has set its response to what flights without the filter show, those by
// filtered states show the same.
func TestFilterShowsASlowRobotAsItIs(t *testing.T) {
	w := sim.Default()
	w.Link.Delay, w.Motor.Lag, w.Link.ThrustLag = 0.041, 0.065, 0.077
	var lab guard.Config
	param.Default(&lab)
	lab.Response = *responseShown(t, w, &lab, false)
	thrust, rate := later(responseShown(t, w, &lab, true), &lab.Response)
	if math.Abs(thrust) > 0.01 || math.Abs(rate) > 0.01 {
		t.Errorf("thrust %+.3f s, body rates %+.3f s later than without the filter, to 10 ms", thrust, rate)
	}
}

// lateVehicle follows thrust and body rates with one time constant, s.
type lateVehicle struct {
	lag    float64
	thrust float64
	rates  so3.Vec3
	s      quad.State
}

func (v *lateVehicle) Reset(s quad.State, hold quad.Command) error {
	v.s, v.rates, v.thrust = s, so3.Vec3{}, hold.Thrust
	return nil
}

func (v *lateVehicle) Follow(c quad.Command, wind so3.Vec3, h float64) (quad.State, so3.Vec3, error) {
	share := 1 - math.Exp(-h/v.lag)
	v.thrust += share * (c.Thrust - v.thrust)
	v.rates = v.rates.Add(c.Rates.Sub(v.rates).Scale(share))
	v.s.Q = v.s.Q.Mul(so3.Exp(v.rates.Scale(h))).Normalize()
	a := v.s.Q.Rotate(so3.Vec3{Z: v.thrust}).Add(wind).Sub(so3.Vec3{Z: quad.Gravity})
	v.s.P, v.s.V = v.s.P.Add(v.s.V.Scale(h)), v.s.V.Add(a.Scale(h))
	return v.s, v.rates, nil
}

func (v *lateVehicle) Close() error { return nil }

// TestLabFindsTheResponseOfAnothersVehicle: totals are those of link and vehicle, whatever poses and schedules are
// like. What a file says stays.
func TestLabFindsTheResponseOfAnothersVehicle(t *testing.T) {
	var plain, lab guard.Config
	param.Default(&plain)
	param.Default(&lab)
	lab.MaxAge = 0.3
	known := lab
	known.Response.RateLag = 0.06
	late, turning := sim.Default(), sim.Default()
	late.Mocap.Latency, late.Mocap.Rate = 0.06, 100
	turning.Conditions.Name, turning.Conditions.WindX = []string{"calm", "windy"}, []float64{0, 3}
	turning.Schedule = sim.Schedule{Condition: []string{"calm", "windy"}, Start: []float64{0, 5}}
	for name, x := range map[string]struct {
		lag   float64 // s
		in    sim.World
		guard *guard.Config
		finds bool
	}{
		"quick":                         {0.03, sim.Default(), nil, true},
		"slow":                          {0.08, sim.Default(), nil, true},
		"poses are late":                {0.03, late, nil, true},
		"the wind turns":                {0.08, turning, nil, true},
		"a file says something else":    {0.08, sim.Default(), &lab, true},
		"a file says how":               {0.08, sim.Default(), &known, false},
		"the simulator's own, no plant": {0, sim.Default(), nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			c := bothTasks(t, 1)
			if c.Guard = x.guard; x.lag > 0 {
				c.External = func(sim.World) (sim.External, error) { return &lateVehicle{lag: x.lag}, nil }
			}
			found, err := c.Respond(t.Context(), Scenario{World: x.in, Seconds: 600})
			if err != nil || found != nil != x.finds || !c.Filter {
				t.Fatalf("%v, %v, by the filter %v", found, err, c.Filter)
			}
			if !x.finds {
				if c.Guard != x.guard {
					t.Errorf("%+v is believed", c.Guard)
				}
				return
			}
			truth := x.in.Link.Delay + x.lag
			thrust, rate := found.ThrustDelay+found.ThrustLag, found.RateDelay+found.RateLag
			if math.Abs(thrust-truth) > 0.01 || math.Abs(rate-truth) > 0.01 || c.Guard.Response != *found {
				t.Errorf("thrust after %.3f s, body rates after %.3f s, expected %.3f to 0.01", thrust, rate, truth)
			}
			if c.Guard.MaxAge != cmp.Or(x.guard, &plain).MaxAge || lab.Response != plain.Response {
				t.Errorf("the guard is %+v", c.Guard)
			}
			if again, err := c.Respond(t.Context(), Scenario{World: x.in}); again != nil || err != nil {
				t.Errorf("found anew: %v, %v", again, err)
			}
		})
	}
}

// fallenVehicle lies below the floor, whatever is commanded.
type fallenVehicle struct{}

func (fallenVehicle) Reset(quad.State, quad.Command) error { return nil }

func (fallenVehicle) Follow(quad.Command, so3.Vec3, float64) (quad.State, so3.Vec3, error) {
	return quad.State{P: so3.Vec3{Z: -1}, Q: so3.Identity()}, so3.Vec3{}, nil
}

func (fallenVehicle) Close() error { return nil }

// TestNoResponseOfAVehicleThatHardlyFlies: what crashes at once shows no response, and nothing is believed for that.
func TestNoResponseOfAVehicleThatHardlyFlies(t *testing.T) {
	c := bothTasks(t, 1)
	c.External = func(sim.World) (sim.External, error) { return fallenVehicle{}, nil }
	r, err := c.Respond(t.Context(), Scenario{World: sim.Default()})
	if !errors.Is(err, ErrHardlyShown) || r != nil || c.Guard != nil {
		t.Errorf("%v, %v, and %v is believed", r, err, c.Guard)
	}
}

// responseShown is what flights of a world's robot show, where the lab believes what its guard has.
func responseShown(t *testing.T, w sim.World, lab *guard.Config, filtered bool) *guard.Response {
	t.Helper()
	b, err := bundle.Read(filepath.Join("..", "..", "flight", "control", "testdata", "a.vnd"))
	if err != nil {
		t.Fatal(err)
	}
	c := bothTasks(t, 1)
	c.Guard, c.Filter = lab, filtered
	var rows [][]quad.Row
	for k := range 6 {
		_, f, err := c.Record(b, Scenario{World: w}, c.Tasks[k%2], uint64(k), 20)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, f.Segments...)
	}
	found, err := quadgate.Identify(t.Context(), rows, b.Dt)
	if err != nil {
		t.Fatal(err)
	}
	return closedloop.ResponseOf(&found, filtered)
}

// later is by how many s thrust and body rates answer later by one response than by another.
func later(r, than *guard.Response) (thrust, rate float64) {
	return r.ThrustDelay + r.ThrustLag - than.ThrustDelay - than.ThrustLag,
		r.RateDelay + r.RateLag - than.RateDelay - than.RateLag
}

// TestJudgeSeesAsItsWorlds: the judge has the worst poses of the worlds that are flown in, by the filter where those
// are. An IMU's states are of now, however poor the poses are.
func TestJudgeSeesAsItsWorlds(t *testing.T) {
	var plain gate.JudgeConfig
	param.Default(&plain)
	good := Scenario{World: sim.Default()}
	poor, onboard := good, good
	m := &poor.Mocap
	m.Rate, m.Lost, m.Latency, m.Jitter, m.Position, m.Attitude = 100, 0.2, 0.06, 0.01, 0.003, 0.02
	onboard.Mocap, onboard.Imu.Rate = poor.Mocap, 250
	late := gate.Poses{Rate: 80, Latency: m.Latency + m.Jitter, Position: 0.003, Attitude: 0.02}
	usual := gate.Poses{Rate: 200, Latency: 0.0055, Position: 0.0003, Attitude: 0.002}
	for name, c := range map[string]struct {
		filtered bool
		in       []Scenario
		want     gate.Poses
		by       bool
	}{
		"good":                          {true, []Scenario{good}, usual, true},
		"one is poor":                   {true, []Scenario{good, poor, good}, late, true},
		"poor, without the filter":      {false, []Scenario{poor}, late, false},
		"with an IMU":                   {true, []Scenario{onboard}, plain.Poses, true},
		"an IMU in place of the filter": {false, []Scenario{onboard}, plain.Poses, true},
		"an IMU in one":                 {false, []Scenario{onboard, good}, usual, false},
	} {
		t.Run(name, func(t *testing.T) {
			j := plain
			if seen(&j, c.filtered, c.in); j.Poses != c.want || j.Filter != c.by {
				t.Errorf("%+v by the filter %v, expected %+v and %v", j.Poses, j.Filter, c.want, c.by)
			}
		})
	}
}
