package closedloop

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/flight/guard"
	"vnd/pkg/flight/policy"
	"vnd/pkg/flight/reference"
	"vnd/pkg/learning/gate"
	"vnd/pkg/learning/gate/quadgate"
	"vnd/pkg/robot/rotors"
	"vnd/pkg/sim"
	"vnd/pkg/vnd/bundle"
)

// Judge flies bundles in the full simulator under disturbances drawn at random:
// winds of any direction up to a speed, now and then one that turns, thrust that
// is off, commands that come late. The world that the robot is in plays no part.
// It implements gate.Judge.
type Judge struct {
	World  sim.World // the robot, in calm
	Paths  []reference.Reference
	Limits quad.Limits
	// Guard is the lab's: how the controller believes that the robot responds, whatever was identified, and the fence,
	// tilt and speed at which flights count as crashes, because the guard takes over; nil: the default response alone.
	Guard *guard.Config
	// Exactly has the robot be World's: nothing of it is drawn. Poses are those of the configuration.
	Exactly bool
	// identified are the robots that World's is made like, one in each trial; none: it stays as it is
	identified []quadgate.Identified
	// sooner is how much sooner than drawn it answers, s
	sooner float64
	// JudgeConfig has the greatest wind; a learner that met weaker ones only is flown in somewhat more than those.
	gate.JudgeConfig
}

// NewJudge returns the judge of an airframe, nil for the default robot, which flies along each of the paths under a
// guard, nil for none.
func NewJudge(c gate.JudgeConfig, paths []reference.Reference, l quad.Limits, a *rotors.Airframe,
	g *guard.Config) gate.Judge {
	w := sim.Default()
	if a != nil {
		w = built(w, a)
	}
	return &Judge{World: w, Paths: paths, Limits: l, Guard: g, JudgeConfig: c}
}

// built returns a world whose robot has mass, inertia, arms and motors of an airframe. A robot whose motors can hardly
// turn it loses thrust where a policy asks for more: a strong one does not show that. Drag is as great for its mass.
func built(w sim.World, a *rotors.Airframe) sim.World {
	by := a.Mass / w.Airframe.Mass
	w.Drag.Rotor, w.Drag.Body = scaled(w.Drag.Rotor, by), scaled(w.Drag.Body, by)
	w.Airframe = sim.Airframe{Mass: a.Mass, Inertia: a.Inertia, ArmX: a.ArmX, ArmY: a.ArmY}
	w.Motor.Thrust, w.Motor.Torque, w.Motor.Speed, w.Motor.Inertia = a.Thrust, a.Torque, a.Speed, a.Rotor
	return w
}

// Fly implements gate.Judge.
func (j *Judge) Fly(ctx context.Context, b *bundle.Bundle, t gate.Trial) (*gate.Flight, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	s, path, err := j.setup(b, t)
	if err != nil {
		return nil, err
	}
	trace, err := j.flies(s, b, path)
	if err != nil {
		return nil, err
	}
	if trace.Flown == 0 && trace.Crash == "" {
		return nil, errors.New("no policy flies by these poses: they come too late, or too rarely")
	}
	f := &gate.Flight{Dt: s.Tick, Crash: trace.Crash}
	rows := trace.Rows
	if last := len(rows) - 1; last >= 0 && f.Crash == "" {
		f.Missed = quadgate.OffHeading(rows[last].Truth.Q, rows[last].Reference.Yaw)
	}
	if s.Lands {
		if f.Crash == "" {
			f.Missed = trace.Missed(Landing)
		}
		rows = trace.inTheAir()
	}
	for i := range rows {
		if why := j.trips(&rows[i].Truth); why != "" {
			f.Crash = fmt.Sprintf("the guard takes over after %.2f s: %s", rows[i].T, why)
			break
		}
		f.Errors = append(f.Errors, rows[i].Error())
		u := j.Limits.Units(rows[i].Command)
		f.Actions = append(f.Actions, u[:])
	}
	return f, nil
}

// flies has a bundle fly along a path.
func (j *Judge) flies(s *Setup, b *bundle.Bundle, path Path) (*Trace, error) {
	c, err := policy.NewClosedLoopRunner(b, path.At)
	if err != nil {
		return nil, err
	}
	if c.Encoder != nil {
		c.Encoder.SetMaxAge(j.LatentAge)
	}
	s.Camera = CameraOf(c.Policy(), b.Dt)
	return Fly(s, c)
}

// trips says why the guard takes over in a state, "" where it does not.
func (j *Judge) trips(s *quad.State) string {
	g := j.Guard
	if g == nil {
		return ""
	}
	for i, x := range [3]float64{s.P.X, s.P.Y, s.P.Z} {
		if x < g.FenceMin[i] || x > g.FenceMax[i] {
			return "outside of the fence"
		}
	}
	if x := s.Q.Tilt(); x > g.MaxTilt {
		return fmt.Sprintf("a tilt of %.2f rad", x)
	}
	if v := s.V.Norm(); v > g.MaxSpeed {
		return fmt.Sprintf("a speed of %.1f m/s", v)
	}
	return ""
}

// setup draws a trial.
func (j *Judge) setup(b *bundle.Bundle, t gate.Trial) (*Setup, reference.Reference, error) {
	rng := rand.New(rand.NewPCG(t.Number, 0x60d9e))
	path := j.Paths[rng.IntN(len(j.Paths))]
	w := j.robot(t.Number, rng)
	w.Conditions = sim.Conditions{Name: []string{"first", "second"}}
	const beyond, least = 1.1, 0.2 // of what was met; m/s²
	greatest := min(j.Wind, max(beyond*t.DisturbanceStrength, least))
	for range 2 {
		s, c := math.Sincos(2 * math.Pi * rng.Float64())
		wind := greatest * math.Sqrt(rng.Float64())
		w.Conditions.WindX, w.Conditions.WindY = append(w.Conditions.WindX, wind*c), append(w.Conditions.WindY, wind*s)
	}
	turns := []sim.Switch{{Start: 0, Condition: "first"}}
	if rng.IntN(2) == 0 {
		turns = append(turns, sim.Switch{Start: j.Seconds / 2, Condition: "second"})
	}
	w, err := w.Scheduled(turns, 0)
	if err != nil {
		return nil, nil, err
	}
	s := &Setup{World: w, Seed: t.Number, Path: path, Seconds: j.Seconds, Tick: b.Dt, Limits: j.Limits,
		Filtered: j.Filter, Guard: j.Guard}
	param.Default(&s.Estimate)
	if Landable(path) {
		path, err := s.landing(path, rng)
		return s, path, err
	}
	r := path.At(0)
	s.Start = quad.State{Q: so3.FromEuler(0, 0, r.Yaw), V: r.V, P: r.P.Add(so3.Vec3{
		X: j.Start * rng.NormFloat64(), Y: j.Start * rng.NormFloat64(), Z: j.Start * math.Abs(rng.NormFloat64())})}
	return s, path, nil
}

// robot draws that of a trial, in calm.
func (j *Judge) robot(number uint64, rng *rand.Rand) sim.World {
	w := j.World
	if m, p := &w.Mocap, &j.Poses; j.Filter { // without it late poses show as a late robot
		m.Rate, m.Latency, m.Position, m.Attitude = p.Rate, p.Latency, p.Position, p.Attitude
	}
	if n := len(j.identified); n > 0 {
		robot := rand.New(rand.NewPCG(number, 0x1de7))
		w = responding(w, &j.identified[robot.IntN(n)], looksOf(j.Filter), robot)
	}
	if gain, delay := 1+0.03*rng.NormFloat64(), 0.01*rng.Float64(); !j.Exactly {
		w.Motor.Gain *= gain
		w.Link.Delay += delay
	}
	by := min(j.sooner, w.Link.Delay)
	w.Link.Delay -= by
	w.Link.ThrustLag = max(0, w.Link.ThrustLag-(j.sooner-by))
	return w
}

// landing draws a trial that lands, every other time on a pad that moves.
func (s *Setup) landing(r reference.Reference, rng *rand.Rand) (path reference.Reference, err error) {
	const fastest = 0.3 // m/s
	if rng.IntN(2) == 0 {
		sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
		s.World.Ground.Velocity = []float64{fastest * cos, fastest * sin}
	}
	s.Start, path, err = DrawLanding(r, &s.World, rng)
	s.Path, s.Lands = path, true
	return path, err
}

// inTheAir are the rows before the first contact with the floor.
func (t *Trace) inTheAir() []TraceRow {
	if !t.Touchdown.Touched {
		return t.Rows
	}
	n := sort.Search(len(t.Rows), func(i int) bool { return t.Rows[i].T >= t.Touchdown.Time })
	return t.Rows[:n]
}
