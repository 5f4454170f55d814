package policy

import (
	"encoding/json"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/robot"
	"vnd/pkg/robot/quadrotor"
	"vnd/pkg/vnd"
)

// Push is how the newest push is measured, which a policy sees that is trained to (Observation.Push): what measured
// accelerations have beyond those that the model expects under the policy's latent. A latent is of 0.4 s, and its mean
// of a second; gusts and a payload that is hung on are quicker. Within the window that an estimator takes velocities
// from, their noise comes back with the other sign: a mean over as long takes most of it away. A longer one lets less
// of 5 Hz pass: there robots swing that follow late. One of 0.2 s had some swing slower, on another autopilot.
type Push struct {
	Rate  float64 `param:"rate" default:"40.0" min:"0.1" max:"100" unit:"rad/s" doc:"bandwidth with which the mean of the newest pushes is followed"`
	Mean  float64 `param:"mean" default:"0.16" min:"0" max:"0.6" unit:"s" doc:"time over which that mean is; longer than the window of velocities, it takes their noise and late swings away"`
	Calm  float64 `param:"calm" default:"1.0" min:"0" max:"100" unit:"rad/s" doc:"bandwidth for a push that is noise of measured velocities; 0: as for any"`
	Swing float64 `param:"swing" default:"0.5" min:"0" max:"100" unit:"rad/s" doc:"bandwidth in hover for a push that comes and goes at one rhythm, as that of a load on a cable; 0: as for any"`
}

// Bandwidth is that of one filter as late as mean and rate together, rad/s.
func (k *Push) Bandwidth() float64 { return 1 / (1/k.Rate + k.Mean/2) }

// rows is over how many rows of dt seconds a mean is.
func (k *Push) rows(dt float64) int { return int(k.Mean/dt + 0.5) }

// UnmarshalJSON reads bundles of when a push moved the reference, too: they have more, which is passed over.
func (k *Push) UnmarshalJSON(data []byte) error {
	type push Push
	return json.Unmarshal(data, (*push)(k))
}

// sensor follows a flight by the model of a bundle, and reports the push and the lag that this did not expect.
type sensor struct {
	dt         float64
	rollout    *vnd.Rollout[float32]
	settled    []float32 // [S] of a robot that has hovered for long
	s, a, next []float32 // [S] of the last row, its actuator as it should be by the commands; [A], [S]
	last       so3.Vec3  // velocity of the last row in the world, m/s
	at         float64   // s, of the last row; NaN before the first
	rows       int       // since then
	lag        lag
	truth      quad.State // to measure by, if it is known
	truthAt    float64    // s; NaN: it is not known
}

// feltAfter is how many rows the actuator must have been followed for: before, it may not have hovered.
const feltAfter = 10

func newSensor(l *LoadedBundle) *sensor {
	system := l.Robot.System()
	d := system.Dims()
	p := &sensor{dt: l.Dt, rollout: l.Model.NewMeanRollout(1, 1), settled: robot.Settled(system), truthAt: math.NaN(),
		s: make([]float32, d.State), a: make([]float32, d.Action), next: make([]float32, d.State)}
	p.reset()
	return p
}

// reset takes the robot to have hovered. Its link is as late as it was.
func (p *sensor) reset() {
	copy(p.s, p.settled)
	p.at, p.rows, p.lag.known = math.NaN(), 0, 0
}

// follow goes on from where another one is.
func (p *sensor) follow(before *sensor) {
	copy(p.s, before.s)
	p.last, p.at, p.rows, p.lag = before.last, before.at, before.rows, before.lag
	if p.dt != before.dt {
		p.lag = lag{} // its rows were of another length
	}
}

// add takes the state at a row's end and the mean command of the row, and returns the push of the row that the model
// did not expect under the latent z, m/s² in the world, and how long the row was, s. It is unknown after a gap, and
// until the actuator is known.
func (p *sensor) add(t float64, s *quad.State, c *quad.Command, z []float32) (push so3.Vec3, dt float64,
	known bool) {
	if !c.Finite() || !s.V.Finite() || !s.Q.Finite() {
		p.reset()
		return push, 0, false
	}
	quadrotor.Action(c, p.a)
	p.rollout.Begin(0, 1, 1, z)
	p.rollout.Step(0, p.s, p.a, p.next)
	expected := quadrotor.State(p.next)
	dt = t - p.at
	push = s.V.Sub(p.last).Scale(1 / dt).Sub(expected.V.Sub(p.last).Scale(1 / p.dt))
	if p.rows++; !(dt > p.dt/2 && dt < 2*p.dt) {
		p.rows, p.lag.known = 0, 0
	}
	if p.rows > feltAfter {
		back := quadrotor.State(p.s).Q.Conj()
		p.lag.add(so3.Log(back.Mul(s.Q)).Scale(p.dt/dt), so3.Log(back.Mul(expected.Q)), dt)
	}
	p.s, p.next = p.next, p.s
	p.last, p.at = s.V, t
	quadrotor.Measured(&quad.State{Q: s.Q, V: s.V}, p.s) // the model does not look at places
	return push, dt, p.rows > feltAfter && push.Finite()
}

// recent are the pushes of the newest rows, a ring.
type recent struct {
	pushes [30]so3.Vec3
	rows   int // that came in
}

// mean takes a push, and returns the mean of the newest n there are.
func (r *recent) mean(push so3.Vec3, n int) (mean so3.Vec3) {
	r.pushes[r.rows%len(r.pushes)] = push
	r.rows++
	n = min(max(n, 1), r.rows, len(r.pushes))
	for k := range n {
		mean = mean.Add(r.pushes[(r.rows-1-k)%len(r.pushes)])
	}
	return mean.Scale(1 / float64(n))
}

// mostPush is the greatest push that a policy sees, in units of those that it was trained under.
const mostPush = 3

// SetTruth has pushes and lags be measured by the true state at t, s, where the policy sees them. It is for comparison:
// nobody knows that state in flight.
func (f *Runner) SetTruth(t float64, s *quad.State) {
	if f.sensor != nil {
		f.sensor.truth, f.sensor.truthAt = *s, t
	}
}

// measure takes push and lag of the row that has ended.
func (f *Runner) measure(t float64, s *quad.State) {
	p := f.sensor
	if p == nil { // it is of a policy before
		f.push = f.push.Scale(math.Exp(-f.dt / fade))
		f.swing, f.recent = swing{}, recent{}
		return
	}
	at, by := t, s
	if !math.IsNaN(p.truthAt) {
		at, by = p.truthAt, &p.truth
	}
	c := f.policy.Command([nA]float32(f.past[len(f.past)-nA:]))
	push, dt, known := p.add(at, by, &c, f.z)
	if !known {
		f.recent = recent{}
		return
	}
	k := &f.policy.Push
	push = f.recent.mean(push.Shorten(mostPush*f.policy.Observation.Push), k.rows(f.dt))
	f.push = f.push.Add(push.Sub(f.push).Scale(1 - math.Exp(-k.Rate*dt)))
	f.swing.add(k, f.push, dt, f.arrival.step(f.ahead, s.P, dt), f.ahead[0].P.Sub(s.P).Norm())
}
