// Package guard decides which command goes to the vehicle: the policy's, or that of its own control law. It is for the
// node policy_controller, and for closed loops in simulation.
//
// It imports pkg/core alone: a guard built of the parts that it watches would fail together with them.
package guard

import (
	"math"

	"vnd/pkg/core/param"
	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

// Gains are those of the geometric law. The defaults are for an airframe whose rates lag by 20 to 60 ms, a state 20 to
// 40 ms old and 50 Hz.
type Gains struct {
	Position         float64 `param:"position" default:"8.0" min:"0.1" max:"100" unit:"1/s²" doc:"acceleration for an error in position"`
	Velocity         float64 `param:"velocity" default:"5.0" min:"0.1" max:"50" unit:"1/s" doc:"acceleration for an error in velocity"`
	Integral         float64 `param:"integral" default:"4.0" min:"0" max:"50" unit:"1/s³" doc:"growth of the acceleration under a lasting error in position; 0 takes no integral"`
	MaxIntegral      float64 `param:"integral_max" default:"4.0" min:"0" max:"20" unit:"m/s²" doc:"greatest acceleration that the integral gives: the steady wind that leaves no error"`
	Tilt             float64 `param:"tilt" default:"10.0" min:"0.5" max:"60" unit:"1/s" doc:"body rate for an error in the direction of thrust"`
	Yaw              float64 `param:"yaw" default:"3.0" min:"0" max:"30" unit:"1/s" doc:"body rate about z for an error in yaw"`
	MaxPositionError float64 `param:"max_position_error" was:"reach" default:"1.0" min:"0.05" max:"20" unit:"m" doc:"errors in position count up to this: from further off the way back is not steeper"`
	MaxTilt          float64 `param:"max_tilt" was:"lean" default:"0.8" min:"0.05" max:"1.3" unit:"rad" doc:"greatest tilt that the guard's law asks for"`
	Lead             float64 `param:"lead" default:"0.05" min:"0" max:"1" unit:"s" doc:"how far ahead the acceleration of a path is taken, against the lag of the attitude"`
}

// Law is a tracking controller on SE(3) that commands thrust and body rates. The acceleration wanted follows from
// errors in position and velocity and their bounded integral; it gives the direction of thrust and, projected on the
// body's own z, its size (T. Lee, M. Leok, N. H. McClamroch, "Geometric tracking control of a quadrotor UAV on SE(3)",
// CDC 2010). The body rates turn the thrust by the shortest way and correct the yaw apart from it (D. Brescianini, R.
// D'Andrea, "Tilt-prioritized quadrocopter attitude control", 2018), so that a wrong yaw costs no tilt.
//
// Whatever it is given, its command is finite and within the limits. It is for one goroutine and allocates nothing.
type Law struct {
	gains  Gains
	limits quad.Limits

	last     float64  // time of the last command, s; NaN before the first
	integral so3.Vec3 // acceleration in the world, m/s²
}

// NewLaw returns a law that remembers nothing. The error is that of limits under which the robot cannot hover.
func NewLaw(g Gains, l quad.Limits) (*Law, error) {
	if err := l.Check(); err != nil {
		return nil, err
	}
	return &Law{gains: g, limits: l, last: math.NaN()}, nil
}

// Reset forgets the integral.
func (l *Law) Reset() { l.last, l.integral = math.NaN(), so3.Vec3{} }

// maxIntegralStep is the longest time that the integral counts at once, s: over a gap the error is not known.
const maxIntegralStep = 0.1

// Track returns the command for the state s at time t (s) that leads to r. Without a usable state or reference it keeps
// the thrust of hovering and stops turning.
func (l *Law) Track(t float64, s *quad.State, r *quad.Reference) quad.Command {
	dt := t - l.last
	if !(dt > 0) {
		dt = 0
	}
	l.last = t
	q := s.Q.Normalize()
	e := r.P.Sub(s.P).Shorten(l.gains.MaxPositionError)
	feedback := e.Scale(l.gains.Position).Add(r.V.Sub(s.V).Scale(l.gains.Velocity))
	want := r.A.Add(feedback).Add(l.integral).Add(so3.Vec3{Z: quad.Gravity})
	f, reached := l.reachable(want)
	c := quad.Command{Thrust: f.Dot(q.ZAxis()), Rates: l.turn(q, f, r)}
	if !c.Finite() || !want.Finite() {
		return l.limits.Clip(quad.Command{Thrust: quad.Gravity})
	}
	if reached { // no integral against a limit
		l.integral = l.integral.Add(e.Scale(l.gains.Integral * min(dt, maxIntegralStep))).Shorten(l.gains.MaxIntegral)
	}
	return l.limits.Clip(c)
}

// minLift is the least lift that the law plans with, as a share of the weight: below it the direction of thrust, hence
// the attitude, would hang on noise.
const minLift = 0.3

// reachable returns the specific force closest to f (world, m/s²) that the limits allow: lift first, then the rest; and
// whether f is it.
func (l *Law) reachable(f so3.Vec3) (so3.Vec3, bool) {
	lift := min(max(f.Z, minLift*quad.Gravity, l.limits.MinThrust), l.limits.MaxThrust)
	rest := l.limits.MaxThrust*l.limits.MaxThrust - lift*lift // on arm64, rounded once, below 0 where they are equal
	side := min(lift*math.Tan(l.gains.MaxTilt), math.Sqrt(max(rest, 0)))
	h := so3.Vec3{X: f.X, Y: f.Y}.Shorten(side)
	g := so3.Vec3{X: h.X, Y: h.Y, Z: lift}
	return g, g == f
}

// turn returns the body rates that turn z_B to f and the body's heading to that of r.
func (l *Law) turn(q so3.Quat, f so3.Vec3, r *quad.Reference) so3.Vec3 {
	z := f.Scale(1 / f.Norm())
	zInB := q.Conj().Rotate(z) // where z_B is to go, in the body
	tilt := arc(zInB)
	rates := tilt.Scale(l.gains.Tilt)

	// The heading is compared after the tilt: what is left is a turn about z.
	sin, cos := math.Sincos(r.Yaw)
	x := (so3.Vec3{X: -sin, Y: cos}).Cross(z) // of a body at that yaw with its z there; not unit
	now := q.Mul(so3.Exp(tilt)).Rotate(so3.Vec3{X: 1})
	yaw := math.Atan2(now.Cross(x).Dot(z), now.Dot(x))
	rates.Z = l.gains.Yaw*yaw + r.YawRate*z.Z
	return rates
}

// arc returns the shortest rotation vector (rad) from e_z to the unit vector v: about x where they are opposite.
func arc(v so3.Vec3) so3.Vec3 {
	axis := so3.Vec3{X: -v.Y, Y: v.X} // e_z × v
	sin := axis.Norm()
	angle := math.Atan2(sin, v.Z)
	if sin < 1e-9 {
		return so3.Vec3{X: angle}
	}
	return axis.Scale(angle / sin)
}

// Path is where the robot is to be, and how it is to move there, at each moment; t in s.
type Path interface {
	At(t float64) quad.Reference
}

// PathFollower flies a path by the law: a baseline, and the controller of flights for learning. It implements
// quad.Controller; times are those of the path.
type PathFollower struct {
	*Law
	Path Path
}

// NewPathFollower flies along a path by the law with its default gains.
func NewPathFollower(l quad.Limits, path Path) (PathFollower, error) {
	var g Gains
	param.Default(&g)
	law, err := NewLaw(g, l)
	return PathFollower{Law: law, Path: path}, err
}

// Command implements quad.Controller.
func (f PathFollower) Command(t float64, s *quad.State) quad.Command {
	r := f.Path.At(t)
	r.A = f.Path.At(t + f.gains.Lead).A
	return f.Track(t, s, &r)
}
