package closedloop

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/sim"
)

// TestJudgedRobotIsTheIdentifiedOne: what is identified of the default robot gives the default robot, and one that is
// slower or weaker differs by as much, by filtered states and by others.
func TestJudgedRobotIsTheIdentifiedOne(t *testing.T) {
	for name, plain := range map[string]*looks{"filtered": looksOf(true), "bare": looksOf(false)} {
		t.Run(name, func(t *testing.T) { judgedRobotIsTheIdentifiedOne(t, plain) })
	}
}

func judgedRobotIsTheIdentifiedOne(t *testing.T, look *looks) {
	const dt = 0.02
	like := func(gain, delay, lag, drag, yaw float64) sim.World {
		r := quadgate.Identified{Dt: dt, Drag: drag * look.drag, Actuator: quadrotor.Actuator{ThrustGain: gain,
			RateGain: 1, ThrustDelay: (look.thrust + delay) / dt, ThrustLag: lag,
			RateDelay: (look.rateDelay + delay) / dt, RateLag: look.rate - look.rateDelay + lag,
			YawLag: look.yawLag + yaw}}
		return responding(sim.Default(), &r, look, rand.New(rand.NewPCG(1, 2)))
	}
	total := func(w sim.World) (thrust, rate float64) {
		rate = (1+w.Motor.Gain*w.RateLoop.Damping[0])/(w.Motor.Gain*w.RateLoop.Gain[0]) + w.Link.Delay
		return w.Motor.Lag + w.Link.ThrustLag + w.Link.Delay, rate
	}
	plain := sim.Default()
	thrust, rate := total(plain)
	for _, c := range []struct{ gain, delay, lag, drag float64 }{
		{0.97, 0, 0, 1}, {0.7, 0.05, 0, 1}, {1.3, 0.02, 0.05, 0.2}, {1, 0, 0.1, 1.8}, {0.7, 0.05, 0.05, 1},
		{1.3, 0.05, 0, 1},
	} {
		w, turns := like(c.gain, c.delay, c.lag, c.drag, 0), like(c.gain, c.delay, c.lag, c.drag, 0.1)
		yaw := func(w *sim.World) float64 { return following(&w.RateLoop, 2, w.Motor.Gain) }
		if later := yaw(&turns) - yaw(&w); math.Abs(later-0.1) > 1e-9 || turns.RateLoop.Gain[0] != w.RateLoop.Gain[0] {
			t.Errorf("%+v: yaw answers %.3f s later, want 0.1 and roll as before", c, later)
		}
		a, b := total(w)
		if off := a - thrust - c.delay - c.lag; math.Abs(off) > 0.015 {
			t.Errorf("%+v: thrust answers %.3f s too late", c, off)
		}
		if off := b - rate - c.delay - c.lag; math.Abs(off) > 0.005 {
			t.Errorf("%+v: rates answer %.3f s too late", c, off)
		}
		if w.Motor.Gain != c.gain || math.Abs(w.Drag.Rotor[0]-c.drag*plain.Drag.Rotor[0]) > 1e-9 {
			t.Errorf("%+v: gain %g, drag %v", c, w.Motor.Gain, w.Drag.Rotor)
		}
		if err := w.Check(); err != nil {
			t.Error(err)
		}
	}
	gaps := quadgate.Identified{Dt: dt, Every: 4, Gap: 0.1}
	w := responding(sim.Default(), &gaps, look, rand.New(rand.NewPCG(1, 2)))
	if o := w.Mocap.Dropout; o.Every != 4 || o.Length != 0.1 ||
		like(1, 0, 0, 1, 0).Mocap.Dropout != plain.Mocap.Dropout {
		t.Errorf("states are missing as by %+v, expected 0.1 s every 4 s", o)
	}
	if j := new(Judge).Of(quadgate.Identified{}).(*Judge); len(j.identified) != 0 {
		t.Error("a robot of which too little was flown is flown")
	}
}

// TestJudgedRobotIsAsStrongAsItsAirframe: the default airframe is that of the default robot, and another turns and
// lifts as little as its file says.
func TestJudgedRobotIsAsStrongAsItsAirframe(t *testing.T) {
	var a rotors.Airframe
	param.Default(&a)
	judged := func() sim.World { return NewJudge(gate.JudgeConfig{}, nil, quad.Limits{}, &a, nil).(*Judge).World }
	if w := judged(); !reflect.DeepEqual(w, sim.Default()) {
		t.Errorf("the default airframe is judged as %+v", w)
	}
	a.Mass, a.Thrust, a.ArmX, a.Inertia = 2*a.Mass, 4, 0.06, []float64{1e-3, 1e-3, 2e-3}
	w := judged()
	if w.Airframe.Mass != a.Mass || w.Motor.Thrust != 4 || w.Airframe.ArmX != 0.06 ||
		w.Airframe.Inertia[2] != 2e-3 || w.Drag.Rotor[0] != 2*sim.Default().Drag.Rotor[0] {
		t.Errorf("judged as %+v", w)
	}
	if err := w.Check(); err != nil {
		t.Error(err)
	}
}

func TestJudgeCountsWhatTheGuardWouldNotAllow(t *testing.T) {
	var g guard.Config
	param.Default(&g)
	j := &Judge{Guard: &g}
	up := so3.Identity()
	for _, c := range []struct {
		s    quad.State
		want string // "" is allowed
	}{
		{quad.State{P: so3.Vec3{Z: 1}, Q: up}, ""},
		{quad.State{P: so3.Vec3{X: 4.1, Z: 1}, Q: up}, "outside of the fence"},
		{quad.State{P: so3.Vec3{Y: -4.1, Z: 1}, Q: up}, "outside of the fence"},
		{quad.State{P: so3.Vec3{Z: 1}, Q: so3.FromEuler(1.3, 0, 0)}, "a tilt of 1.30 rad"},
		{quad.State{P: so3.Vec3{Z: 1}, Q: up, V: so3.Vec3{X: 7}}, "a speed of 7.0 m/s"},
	} {
		if got := j.trips(&c.s); (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, expected %q", c.s, got, c.want)
		}
	}
	if got := new(Judge).trips(&quad.State{P: so3.Vec3{X: 9}, Q: up}); got != "" {
		t.Errorf("without a guard: %q", got)
	}
}

// TestMisfit: a robot that answers 60 ms later or sooner than the lab's response says, in thrust or in body rates.
func TestMisfit(t *testing.T) {
	const dt = 0.02
	var lab guard.Config
	param.Default(&lab)
	robot := func(l *looks, thrust, rate float64) *quadgate.Identified {
		return &quadgate.Identified{Dt: dt, Actuator: quadrotor.Actuator{ThrustGain: 1, RateGain: 1,
			ThrustDelay: l.thrustDelay / dt, ThrustLag: l.thrust - l.thrustDelay + thrust,
			RateDelay: l.rateDelay / dt, RateLag: l.rate - l.rateDelay + rate}}
	}
	for name, c := range map[string]struct {
		thrust, rate, lab float64
		want              string
	}{
		"as by default":          {0, 0, 0, ""},
		"a little later":         {0.015, -0.015, 0, ""},
		"rates are a bit sooner": {0, -0.025, 0, "body rates -20 ms later"},
		"thrust is late":         {0.06, 0, 0, "thrust answers about +60 ms and body rates +0 ms later"},
		"body rates are late":    {0, 0.06, 0, "body rates +60 ms later"},
		"late, and the lab's so": {0.06, 0.06, 0.06, ""},
		"sooner than the lab's":  {0, 0, 0.06, "thrust answers about -60 ms and body rates -60 ms later"},
	} {
		t.Run(name, func(t *testing.T) {
			g := lab
			g.Response.ThrustLag, g.Response.RateLag = g.Response.ThrustLag+c.lab, g.Response.RateLag+c.lab
			for _, filtered := range []bool{true, false} {
				j := &Judge{Guard: &g}
				j.Filter = filtered
				got := j.Misfit(robot(looksOf(filtered), c.thrust, c.rate))
				if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
					t.Errorf("filtered %v: %q, expected %q", filtered, got, c.want)
				}
			}
		})
	}
	if got := new(Judge).Misfit(&quadgate.Identified{}); got != "" {
		t.Errorf("of a robot that nobody knows: %q", got)
	}
}
