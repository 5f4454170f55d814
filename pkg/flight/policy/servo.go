package policy

import (
	"fmt"

	"vnd/pkg/core/so3"
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot/quadrotor"
)

// What a policy sees of a camera where it is given neither position nor velocity (Camera.StateFree): the image error
// of visual servoing, and how fast that changes, over several spans. The image error is by how much the features differ
// from those at the place to hover at, brought to three numbers by least squares over the visible points (Chaumette and
// Hutchinson 2006). Features are first turned to those of a level camera, by the attitude. The layout is
//
//	error and flag [4], then for each span the rate over it and flag [4]
//
// where a flag is 1 where points enough are visible, for a rate at both ends.
const (
	spans     = 4
	shownSize = (1 + spans) * ErrorSize
	axes      = 3
	fewest    = 3 // points that make an image error
)

// ErrorSize is the length of an image error with its flag.
const ErrorSize = axes + 1

// Spans is how many spans there are.
const Spans = spans

// SpanSteps are the Δt from a frame to the earlier end of span k, 1 … Spans. The longer ones average out noise.
func SpanSteps(k int) int { return [spans]int{3, 6, 10, 15}[k-1] }

// shown is the length of what a policy sees of a camera, 0 without points.
func (c *Camera) shown() int {
	if c.StateFree && len(c.Points) > 0 {
		return shownSize
	}
	return c.Size()
}

// Shown is the length of what the policy sees of a camera, 0 where it sees positions.
func (o *Observation) Shown() int { return o.Camera.shown() }

// addNames adds the names of what a policy sees of a camera.
func (c *Camera) addNames(add func(format string, of ...string)) {
	if !c.StateFree {
		for k := range c.Count() {
			add(fmt.Sprintf("point %d %%s", k), "x", "y", "visible")
		}
		return
	}
	add("image error %s", "x", "y", "z", "visible")
	for k := range spans {
		add(fmt.Sprintf("image error over %d steps, rate of %%s", SpanSteps(k+1)), "x", "y", "z", "visible")
	}
}

// Offset writes the image error e[4] of relative level features y[N][3], in the axes of the world; heading is cos and
// sin of the yaw of the place. To first order it is the distance from there, m.
func (c *Pinhole[F]) Offset(y, heading, e []F) {
	var b [axes]F
	m, ok := c.solve(y)
	if clear(e[:ErrorSize]); !ok {
		return
	}
	for i := range c.n {
		f, A := y[perFeature*i:][:perFeature], c.slopes[6*i:][:6]
		if f[2] != 0 {
			for j := range b {
				b[j] += A[j]*f[0] + A[axes+j]*f[1]
			}
		}
	}
	var x [axes]F
	for j := range x {
		x[j] = m[3*j]*b[0] + m[3*j+1]*b[1] + m[3*j+2]*b[2]
	}
	e[0], e[1], e[2], e[3] = heading[0]*x[0]-heading[1]*x[1], heading[1]*x[0]+heading[0]*x[1], x[2], 1
}

// OffsetVJP adds the pullback of de[3] through Offset to dy.
func (c *Pinhole[F]) OffsetVJP(y, heading, de, dy []F) {
	m, ok := c.solve(y)
	if !ok {
		return
	}
	x := [axes]F{heading[0]*de[0] + heading[1]*de[1], heading[0]*de[1] - heading[1]*de[0], de[2]}
	var b [axes]F
	for j := range b {
		b[j] = m[j]*x[0] + m[3+j]*x[1] + m[6+j]*x[2]
	}
	for i := range c.n {
		if A := c.slopes[6*i:][:6]; y[perFeature*i+2] != 0 {
			dy[perFeature*i] += A[0]*b[0] + A[1]*b[1] + A[2]*b[2]
			dy[perFeature*i+1] += A[3]*b[0] + A[4]*b[1] + A[5]*b[2]
		}
	}
}

// solve returns the inverse of the normal matrix of the visible points; false where they are too few, or on a line.
func (c *Pinhole[F]) solve(y []F) (m [9]F, ok bool) {
	var n [6]F // xx, xy, xz, yy, yz, zz
	visible := 0
	for i := range c.n {
		if y[perFeature*i+2] == 0 {
			continue
		}
		visible++
		for r := 0; r < 6; r += axes {
			a := c.slopes[6*i+r:][:axes]
			n[0], n[1], n[2] = n[0]+a[0]*a[0], n[1]+a[0]*a[1], n[2]+a[0]*a[2]
			n[3], n[4], n[5] = n[3]+a[1]*a[1], n[4]+a[1]*a[2], n[5]+a[2]*a[2]
		}
	}
	xx, xy, xz, yy, yz, zz := n[0], n[1], n[2], n[3], n[4], n[5]
	m = [9]F{yy*zz - yz*yz, xz*yz - xy*zz, xy*yz - xz*yy, 0, xx*zz - xz*xz, xy*xz - xx*yz, 0, 0, xx*yy - xy*xy}
	m[3], m[6], m[7] = m[1], m[2], m[5]
	det := xx*m[0] + xy*m[1] + xz*m[2]
	const least = 1e-6 // of the matrix's size, to the third
	if size := xx + yy + zz; visible < fewest || !(det > least*size*size*size) {
		return m, false
	}
	for j := range m {
		m[j] /= det
	}
	return m, true
}

// slope writes how relative features of point i change with the robot's place, [2][3], from where the place to hover at
// shows it, x/z and y/z, and its distance ahead.
func (c *Pinhole[F]) slope(i int, f []F, ahead F) {
	for k := range axes {
		for r := range 2 {
			c.slopes[6*i+axes*r+k] = (f[r]*c.axes[6+k] - c.axes[3*r+k]) / ahead
		}
	}
}

// Show writes what a policy sees, x[shown], of the newest image error e[4] and of earlier ones [4], with the times from
// there to e, s.
func Show[F kernel.Float](e []F, earlier [Spans][]F, apart [Spans]float64, x []F) {
	copy(x, e[:ErrorSize])
	for k, was := range earlier {
		rate := x[(1+k)*ErrorSize:][:ErrorSize]
		if clear(rate); !(apart[k] > 0) || e[axes] == 0 || was[axes] == 0 {
			continue
		}
		for j := range axes {
			rate[j] = (e[j] - was[j]) / F(apart[k])
		}
		rate[axes] = 1
	}
}

// ShowVJP adds the pullback of dx through Show to de and to the gradients of the earlier errors.
func ShowVJP[F kernel.Float](x, dx, de []F, dearlier [Spans][]F, apart [Spans]float64) {
	for j := range axes {
		de[j] += dx[j]
	}
	for k, was := range dearlier {
		if at := (1 + k) * ErrorSize; x[at+axes] != 0 {
			for j := range axes {
				de[j] += dx[at+j] / F(apart[k])
				was[j] -= dx[at+j] / F(apart[k])
			}
		}
	}
}

// Blank hides the velocities of an observation's row, or of its gradient, of a policy that is given none.
func Blank[F kernel.Float](o *Observation, x []F) {
	if o.Camera.StateFree {
		clear(x[o.where():][:velocities])
	}
}

// Level writes the features y[N][3] of the points marks[N][3] as a level camera at the place of that of a robot in
// state s would have them; heading is cos and sin of its yaw. Those that the robot's camera does not see are 0.
func (c *Pinhole[F]) Level(s, heading, marks, y []F) {
	c.Project(s, marks, y)
	var r [attitude]F
	quadrotor.Rotation(s[3:7], r[:])
	for i := range c.n {
		f := y[perFeature*i:][:perFeature]
		if f[2] == 0 {
			continue
		}
		x := c.level(&r, s, heading, marks[3*i:][:3])
		if f[0], f[1] = x[0]/x[2], x[1]/x[2]; !(x[2] > nearest) {
			f[0], f[1], f[2] = 0, 0, 0
		}
	}
}

// level is a point in the optical frame of the level camera: R_CB (Rz(−ψ) (m − p − R_WB place)).
func (c *Pinhole[F]) level(r *[attitude]F, s, heading, m []F) (x [3]F) {
	var d [3]F
	for j := range 3 {
		d[j] = m[j] - s[j] - r[3*j]*c.place[0] - r[3*j+1]*c.place[1] - r[3*j+2]*c.place[2]
	}
	b := [3]F{heading[0]*d[0] + heading[1]*d[1], heading[0]*d[1] - heading[1]*d[0], d[2]}
	for k := range 3 {
		x[k] = c.axes[3*k]*b[0] + c.axes[3*k+1]*b[1] + c.axes[3*k+2]*b[2]
	}
	return x
}

// PullLevel adds the pullback of dy[N][3] through Level to ds. y tells which features are visible.
func (c *Pinhole[F]) PullLevel(s, heading, marks, y, dy, ds []F) {
	var r, dr [attitude]F
	quadrotor.Rotation(s[3:7], r[:])
	for i := range c.n {
		if y[perFeature*i+2] == 0 {
			continue
		}
		x, du, dv := c.level(&r, s, heading, marks[3*i:][:3]), dy[perFeature*i], dy[perFeature*i+1]
		dx := [3]F{du / x[2], dv / x[2], -(du*x[0] + dv*x[1]) / (x[2] * x[2])}
		var db [3]F
		for j := range 3 {
			db[j] = c.axes[j]*dx[0] + c.axes[3+j]*dx[1] + c.axes[6+j]*dx[2]
		}
		dd := [3]F{heading[0]*db[0] - heading[1]*db[1], heading[1]*db[0] + heading[0]*db[1], db[2]}
		for j := range 3 {
			ds[j] -= dd[j]
			for k := range 3 {
				dr[3*j+k] -= dd[j] * c.place[k]
			}
		}
	}
	quadrotor.RotationVJP(s[3:7], dr[:], ds[3:7])
}

// turn makes features y[N][3] of a camera those of a level one, by the attitude q_WB and a heading, rad.
func (c *Pinhole[F]) turn(q so3.Quat, yaw float64, y []float32) {
	to := so3.FromEuler(0, 0, -yaw).Mul(q).Mat3()
	for i := range c.n {
		f := y[perFeature*i:][:perFeature]
		if f[2] == 0 {
			continue
		}
		ray := [3]float64{float64(f[0]), float64(f[1]), 1}
		var b so3.Vec3 // the ray in the body
		for k, x := range ray {
			b = b.Add(so3.Vec3{X: float64(c.axes[3*k]), Y: float64(c.axes[3*k+1]), Z: float64(c.axes[3*k+2])}.Scale(x))
		}
		b = to.MulVec(b)
		var x [3]float64
		for k := range x {
			x[k] = float64(c.axes[3*k])*b.X + float64(c.axes[3*k+1])*b.Y + float64(c.axes[3*k+2])*b.Z
		}
		if f[0], f[1] = float32(x[0]/x[2]), float32(x[1]/x[2]); !(x[2] > nearest) {
			f[0], f[1], f[2] = 0, 0, 0
		}
	}
}

// servo is what a policy that is given no state remembers of frames, in flight.
type servo struct {
	frames    [servoFrames]servoFrame // a ring
	newest    int
	count     int
	shown     [shownSize]float32
	attitudes [servoFrames]servoAttitude // a ring, of the ticks
	ticks     int
}

// servoFrames are more than a frame a tick at 400 Hz needs for the longest span.
const servoFrames = 64

type servoFrame struct {
	t float64
	e [ErrorSize]float32
}

type servoAttitude struct {
	t float64
	q so3.Quat
}

func (s *servo) reset() { *s = servo{} }

// tick notes the attitude of a tick.
func (s *servo) tick(t float64, q so3.Quat) {
	s.attitudes[s.ticks%servoFrames] = servoAttitude{t, q}
	s.ticks++
}

// attitude is that of a time, between two ticks or beyond them at the newest rate of turn; false before the first tick.
func (s *servo) attitude(t float64) (q so3.Quat, ok bool) {
	const most = 0.1 // s beyond the ticks
	if s.ticks == 0 {
		return q, false
	}
	n := min(s.ticks, servoFrames)
	at := func(back int) *servoAttitude { return &s.attitudes[(s.ticks-1-back)%servoFrames] }
	b := at(0)
	for i := 1; i < n; i++ {
		a := at(i)
		if dt := b.t - a.t; (a.t <= t || i == n-1) && dt > 0 {
			turn := so3.Log(a.q.Conj().Mul(b.q))
			return a.q.Mul(so3.Exp(turn.Scale(min(max((t-a.t)/dt, -1), 1+most/dt)))), true
		}
		b = a
	}
	return b.q, true
}

// add takes the image error of a frame of time t, later than those before.
func (s *servo) add(t float64, e [ErrorSize]float32) {
	s.newest = (s.newest + 1) % servoFrames
	s.frames[s.newest] = servoFrame{t, e}
	s.count = min(s.count+1, servoFrames)
}

// look writes what the policy sees at steps of dt: the newest frame, and the oldest ones within the spans.
func (s *servo) look(dt float64) []float32 {
	now := &s.frames[s.newest]
	var earlier [Spans][]float32
	var apart [Spans]float64
	for k := range Spans {
		within := float64(SpanSteps(k+1))*dt + dt/2
		f := now
		for i := 1; i < s.count; i++ {
			was := &s.frames[(s.newest+servoFrames-i)%servoFrames]
			if now.t-was.t > within {
				break
			}
			f = was
		}
		earlier[k], apart[k] = f.e[:], now.t-f.t
	}
	Show(now.e[:], earlier, apart, s.shown[:])
	return s.shown[:]
}

// move has the policy see the place to hover at moved by a distance, m in the world.
func (s *servo) move(by so3.Vec3) {
	if s.shown[axes] != 0 {
		for j, d := range [axes]float64{by.X, by.Y, by.Z} {
			s.shown[j] -= float32(d)
		}
	}
}

// off is the newest image error, m; false where there is none.
func (s *servo) off() (e so3.Vec3, ok bool) {
	x := &s.frames[s.newest].e
	return so3.Vec3{X: float64(x[0]), Y: float64(x[1]), Z: float64(x[2])}, s.count > 0 && x[axes] != 0
}
