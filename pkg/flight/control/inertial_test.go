package control

import (
	"math"
	"testing"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/inertial"
	"vnd/pkg/sim"
)

// onInertial is a loop that flies by an inertial estimate, closed over the simulator with its IMU and its poses.
type onInertial struct {
	*closed
	estimator *inertial.Estimator
	spoil     func(z *inertial.Pose) bool // false: the pose does not come
	sum, n    float64                     // of squared errors from the reference
	worst     float64
	from      float64    // s, from when errors count
	law       *guard.Law // of an autopilot that holds until there is a state
	trips     map[guard.Cause]int
}

// poor is a world whose poses come at 10 Hz, 80 ms late, with an IMU beside them.
func poor() sim.World {
	w := sim.Default()
	w.Imu.Rate = 250
	w.Mocap.Rate, w.Mocap.Latency, w.Mocap.Position, w.Mocap.Attitude = 10, 0.08, 0.003, 0.01
	return w
}

func newOnInertial(t testing.TB, w sim.World, task string, seed uint64) *onInertial {
	t.Helper()
	c := defaults()
	c.Source = FromOdometry
	f := &onInertial{closed: newClosedIn(t, c, "a.vnd", w, seed), trips: map[guard.Cause]int{}}
	f.loop.SetReference(taskReference(t, task))
	var err error
	if f.estimator, err = inertial.New(inertial.DefaultParams()); err != nil {
		t.Fatal(err)
	}
	if f.law, err = guard.NewLaw(c.Guard.Gains, c.Limits); err != nil {
		t.Fatal(err)
	}
	return f
}

// flyOn flies for some time, s.
func (f *onInertial) flyOn(seconds float64) {
	const step, every = 0.002, 10_000_000
	for end := f.sim.Time() + seconds; f.sim.Time() < end-step/2; {
		if len(f.ticks) == 0 {
			s := f.sim.State()
			f.command = f.law.Track(f.sim.Time(), &s, &quad.Reference{P: so3.Vec3{Z: 1}})
		}
		f.sim.Step(f.command, step)
		now := epoch + int64(f.sim.Time()*1e9)
		due := false
		for _, s := range f.sim.Inertial() {
			if f.estimator.AddImu(inertial.Imu{T: s.Stamp, Rates: s.Rates, Force: s.Force}) {
				stamp := epoch + int64(s.Stamp*1e9)
				f.loop.AddSample(&Sample{Stamp: stamp, State: f.estimator.Estimate().State, HasVelocity: true})
				due = f.pace.DueAtSample(stamp, now) || due
			}
		}
		for _, s := range f.sim.Mocap() {
			z := inertial.Pose{T: s.Stamp, P: s.P, Q: s.Q}
			if f.spoil == nil || f.spoil(&z) {
				f.estimator.AddPose(z)
			}
		}
		if due || f.pace.DueByClock(now) {
			f.fly(now)
			f.measure(now)
		}
	}
}

func (f *onInertial) measure(now int64) {
	if c := f.loop.Guard().Tripped(); c != guard.None {
		f.trips[c]++
	}
	if f.sim.Time() < f.from || math.IsNaN(f.loop.task.start) {
		return
	}
	off := f.sim.State().P.Sub(f.loop.task.at(seconds(now, f.loop.origin)).P).Norm()
	f.sum, f.n, f.worst = f.sum+off*off, f.n+1, max(f.worst, off)
}

func (f *onInertial) rms() float64 { return math.Sqrt(f.sum / f.n) }

// figures says how it went.
func (f *onInertial) figures(t *testing.T, task string, seed uint64) {
	t.Helper()
	t.Logf("%s, seed %d: %.1f mm rms, %.1f at most, %v", task, seed, 1e3*f.rms(), 1e3*f.worst, f.trips)
	if f.sim.Crashed() || len(f.trips) != 0 {
		t.Errorf("%s, seed %d: tripped by %v, %s", task, seed, f.trips, f.sim.Crash())
	}
}

// TestFliesOnInertial: hover and figure-eight on poses at 10 Hz, 80 ms late, with an IMU.
func TestFliesOnInertial(t *testing.T) {
	for _, c := range []struct {
		task string
		most float64
	}{{"hover", 0.05}, {"track", 0.1}} {
		for seed := uint64(1); seed <= 3; seed++ {
			f := newOnInertial(t, poor(), c.task, seed)
			f.from = 5
			f.flyOn(25)
			if f.figures(t, c.task, seed); f.rms() > c.most {
				t.Errorf("%.3f m, expected at most %g", f.rms(), c.most)
			}
		}
	}
}

// TestJumpInFlight: poses jump by 20 cm for good. The guard does not trip; the robot follows the jump, slowly, and no
// further.
func TestJumpInFlight(t *testing.T) {
	if testing.Short() {
		t.Skip("flies for long")
	}
	for _, task := range []string{"hover", "track"} {
		for seed := uint64(1); seed <= 3; seed++ {
			f := newOnInertial(t, poor(), task, seed)
			way := so3.Exp(so3.Vec3{Z: float64(seed)}).Rotate(so3.Vec3{X: 0.16, Z: 0.12})
			f.spoil = func(z *inertial.Pose) bool {
				if f.sim.Time() > 8 {
					z.P = z.P.Add(way)
				}
				return true
			}
			f.from = 5
			f.flyOn(25)
			n := f.estimator.Counts().Events[inertial.Jumped]
			if f.figures(t, task, seed); f.worst > 0.3 || n != 1 {
				t.Errorf("up to %.3f m off, expected 0.2 and at most 0.1 more; %d jumps", f.worst, n)
			}
		}
	}
}

// TestLostEstimateIsTheGuards: without poses the estimate ends after a time, and the guard lands on its own.
func TestLostEstimateIsTheGuards(t *testing.T) {
	f := newOnInertial(t, poor(), "hover", 1)
	f.spoil = func(*inertial.Pose) bool { return f.sim.Time() < 8 }
	f.flyOn(20)
	if len(f.trips) == 0 || f.sim.Crashed() || f.sim.State().P.Z > 0.1 || f.estimator.Phase() == inertial.Ready {
		t.Errorf("%v at %.2f m, %v, %s", f.trips, f.sim.State().P.Z, f.estimator.Phase(), f.sim.Crash())
	}
}
