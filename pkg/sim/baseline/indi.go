package baseline

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
)

// INDI flies a path by incremental nonlinear dynamic inversion of the acceleration (E. Tal and S. Karaman, "Accurate
// tracking of aggressive quadrotor trajectories using incremental nonlinear dynamic inversion and differential
// flatness", 2018): the thrust vector wanted is the filtered one of now plus what the filtered acceleration lacks.
// The acceleration is the difference of velocities, since the controller has no accelerometer; the thrust vector is
// that of its own commands behind the identified actuator. Both pass the same second-order Butterworth filter. The
// incremental loop of body rates is the autopilot's. It ticks once per Δt, is for one goroutine, and observes what it
// flies.
type INDI struct {
	law    *geometric
	plant  *plant
	accel  butterworth // measured, m/s² in the world
	thrust butterworth // thrust over mass, m/s² in the world
	last   quad.Row
	acted  so3.Vec3 // thrust over the step since
	begun  bool
}

// INDIConfig is that of the incremental loop.
type INDIConfig struct {
	Gains  guard.Gains // of the geometric law, but for its integral and its lead
	Cutoff float64     // of both filters, rad/s
}

// NewINDI makes one for a robot, at Δt = dt seconds.
func NewINDI(c INDIConfig, l quad.Limits, r Airframe, dt float64, path guard.Path) (*INDI, error) {
	law, err := newGeometric(c.Gains, l, r, dt, path)
	r.Drag = 0 // the increment has it
	f := newButterworth(c.Cutoff, dt)
	return &INDI{law: law, plant: newPlant(r, dt), accel: f, thrust: f}, err
}

// Reset implements quad.Controller.
func (n *INDI) Reset() {
	n.law.law.Reset()
	n.plant.reset()
	n.accel.reset(so3.Vec3{})
	n.thrust.reset(so3.Vec3{Z: quad.Gravity})
	n.begun = false
}

// Command implements quad.Controller: thrust wanted = filtered thrust + (acceleration wanted − filtered acceleration).
// In terms of a law that wants the acceleration and knows a push, the push is filtered acceleration − thrust − gravity.
func (n *INDI) Command(t float64, s *quad.State) quad.Command {
	push := n.accel.y.Sub(n.thrust.y).Add(so3.Vec3{Z: quad.Gravity})
	push = push.Add(n.law.path.At(t).V.Scale(n.law.robot.Drag)) // its drag, which the law feeds forward
	return n.law.command(t, s, push)
}

// Observe takes what was flown, once per tick after its command. Over a gap the filters stay.
func (n *INDI) Observe(s quad.Row) {
	if n.begun && quad.Follows(n.last.T, s.T, n.plant.dt) {
		n.accel.step(s.State.V.Sub(n.last.State.V).Scale(1 / n.plant.dt))
		n.thrust.step(n.acted)
	}
	n.acted = n.plant.observe(&s).Add(so3.Vec3{Z: quad.Gravity})
	n.last, n.begun = s, true
}

// butterworth is a low-pass filter of second order, by the bilinear transform.
type butterworth struct {
	b, a1, a2      float64 // y = b·(x + 2x₁ + x₂) − a1·y₁ − a2·y₂
	x1, x2, y, old so3.Vec3
}

func newButterworth(cutoff, dt float64) butterworth {
	k := math.Tan(min(cutoff*dt/2, 1.5)) // at most near the Nyquist frequency
	n := 1 / (1 + k*(math.Sqrt2+k))
	return butterworth{b: k * k * n, a1: 2 * (k*k - 1) * n, a2: (1 - k*(math.Sqrt2-k)) * n}
}

// reset has the filter rest at a value.
func (f *butterworth) reset(x so3.Vec3) { f.x1, f.x2, f.y, f.old = x, x, x, x }

func (f *butterworth) step(x so3.Vec3) {
	y := x.Add(f.x1.Scale(2)).Add(f.x2).Scale(f.b).Sub(f.y.Scale(f.a1)).Sub(f.old.Scale(f.a2))
	f.x1, f.x2, f.y, f.old = x, f.x1, y, f.y
}
