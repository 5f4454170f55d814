// Package nmpc is nonlinear model predictive control of a quadrotor by thrust and body rates, in real-time iterations
// (M. Diehl et al., 2005): one step of control-limited differential dynamic programming (Y. Tassa, N. Mansard,
// E. Todorov, ICRA 2014) at each tick, from the plan of the tick before.
package nmpc

import (
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
)

const (
	nX = 13 // p, v, rotation, thrust, rates: coordinates of a state about another
	nU = 4  // thrust, rates

	iP, iV, iR, iT, iW = 0, 3, 6, 9, 10
)

type (
	vecX [nX]float64
	vecU [nU]float64
	matX [nX][nX]float64
	matB [nX][nU]float64
)

// State is that of the prediction: the rigid body and what its actuator does.
type State struct {
	quad.State
	Thrust float64  // m/s²
	Rates  so3.Vec3 // ω_B, rad/s
}

// Model predicts steps of H seconds. Thrust and rates follow their commands with first-order lags; drag is linear.
type Model struct {
	H                    float64
	ThrustGain, RateGain float64
	ThrustLag, RateLag   float64  // s
	YawLag               float64  // s, by which the time constant of yaw is longer
	Drag                 float64  // 1/s
	Push                 so3.Vec3 // disturbance, m/s² in the world
}

// response returns the shares of what was that a lag leaves after a step, and in the mean over it.
func (m *Model) response(lag float64) (end, mean float64) {
	if lag <= 0 {
		return 0, 0
	}
	end = math.Exp(-m.H / lag)
	return end, lag / m.H * (1 - end)
}

// turning returns the shares of response for each body rate.
func (m *Model) turning() (end, mean [3]float64) {
	for i, lag := range [3]float64{m.RateLag, m.RateLag, m.RateLag + m.YawLag} {
		end[i], mean[i] = m.response(lag)
	}
	return end, mean
}

// toward returns where rates w are on their way to others, of which each axis leaves a share of what was between.
func toward(to, w so3.Vec3, left [3]float64) so3.Vec3 {
	off := w.Sub(to)
	return to.Add(so3.Vec3{X: left[0] * off.X, Y: left[1] * off.Y, Z: left[2] * off.Z})
}

// step is what Step finds on its way, for the derivatives.
type step struct {
	thrust float64  // mean over the step
	turn   so3.Vec3 // rotation vector of the step
	middle so3.Mat3 // attitude amid the step
}

// Step returns the state after a step under a command.
func (m *Model) Step(s *State, c *quad.Command) State {
	next, _ := m.step(s, c)
	return next
}

func (m *Model) step(s *State, c *quad.Command) (State, step) {
	endT, meanT := m.response(m.ThrustLag)
	endW, meanW := m.turning()
	asked, turning := m.ThrustGain*c.Thrust, c.Rates.Scale(m.RateGain)
	w := toward(turning, s.Rates, meanW).Scale(m.H)
	k := step{thrust: asked + meanT*(s.Thrust-asked), turn: w, middle: s.Q.Mul(so3.Exp(w.Scale(0.5))).Mat3()}
	a := k.middle.MulVec(so3.Vec3{Z: k.thrust}).Add(m.Push).Sub(s.V.Scale(m.Drag))
	a.Z -= quad.Gravity
	next := State{Thrust: asked + endT*(s.Thrust-asked), Rates: toward(turning, s.Rates, endW)}
	next.P = s.P.Add(s.V.Scale(m.H)).Add(a.Scale(m.H * m.H / 2))
	next.V = s.V.Add(a.Scale(m.H))
	next.Q = s.Q.Mul(so3.Exp(w)).Normalize()
	return next, k
}

// derivatives are those of Step by the coordinates of state and command.
func (m *Model) derivatives(k *step, a *matX, b *matB) {
	*a, *b = matX{}, matB{}
	endT, meanT := m.response(m.ThrustLag)
	endW, meanW := m.turning()
	h := m.H
	back, jac := so3.Exp(k.turn).Mat3().T(), rightJacobian(k.turn)
	halfBack, half := so3.Exp(k.turn.Scale(0.5)).Mat3().T(), rightJacobian(k.turn.Scale(0.5))
	lean := k.middle.Mul(so3.Hat(so3.Vec3{Z: -k.thrust})) // of the acceleration by a rotation amid the step
	byStart, byTurn := lean.Mul(halfBack), lean.Mul(half)
	for i := range 3 {
		a[iP+i][iP+i], a[iP+i][iV+i] = 1, h-h*h/2*m.Drag
		a[iV+i][iV+i] = 1 - h*m.Drag
		z := k.middle[i][2]
		a[iP+i][iT], a[iV+i][iT] = h*h/2*z*meanT, h*z*meanT
		b[iP+i][0], b[iV+i][0] = h*h/2*z*(1-meanT)*m.ThrustGain, h*z*(1-meanT)*m.ThrustGain
		for j := range 3 {
			turned := h * byTurn[i][j] / 2 // acceleration by the mean rate
			a[iP+i][iR+j], a[iV+i][iR+j] = h*h/2*byStart[i][j], h*byStart[i][j]
			a[iP+i][iW+j], a[iV+i][iW+j] = h*h/2*turned*meanW[j], h*turned*meanW[j]
			given := turned * (1 - meanW[j]) * m.RateGain
			b[iP+i][1+j], b[iV+i][1+j] = h*h/2*given, h*given
			a[iR+i][iR+j], a[iR+i][iW+j] = back[i][j], h*jac[i][j]*meanW[j]
			b[iR+i][1+j] = h * jac[i][j] * (1 - meanW[j]) * m.RateGain
		}
		a[iW+i][iW+i], b[iW+i][1+i] = endW[i], (1-endW[i])*m.RateGain
	}
	a[iT][iT], b[iT][0] = endT, (1-endT)*m.ThrustGain
}

// rightJacobian of SO(3): Exp(φ + δ) ≈ Exp(φ)·Exp(J·δ).
func rightJacobian(phi so3.Vec3) so3.Mat3 {
	t2 := phi.Dot(phi)
	a, b := 0.5-t2/24, 1./6-t2/120
	if t2 > 1e-6 {
		t := math.Sqrt(t2)
		a, b = (1-math.Cos(t))/t2, (t-math.Sin(t))/(t2*t)
	}
	hat := so3.Hat(phi)
	square := hat.Mul(hat)
	j := so3.Mat3{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}
	for r := range 3 {
		for c := range 3 {
			j[r][c] += b*square[r][c] - a*hat[r][c]
		}
	}
	return j
}

// minus returns the coordinates of s about o.
func (s *State) minus(o *State) (x vecX) {
	p, v, r, w := s.P.Sub(o.P), s.V.Sub(o.V), so3.Log(o.Q.Conj().Mul(s.Q)), s.Rates.Sub(o.Rates)
	put(x[iP:], p)
	put(x[iV:], v)
	put(x[iR:], r)
	x[iT] = s.Thrust - o.Thrust
	put(x[iW:], w)
	return x
}

// plus returns the state at coordinates about s.
func (s *State) plus(x *vecX) State {
	o := *s
	o.P, o.V = s.P.Add(take(x[iP:])), s.V.Add(take(x[iV:]))
	o.Q = s.Q.Mul(so3.Exp(take(x[iR:]))).Normalize()
	o.Thrust, o.Rates = s.Thrust+x[iT], s.Rates.Add(take(x[iW:]))
	return o
}

func put(x []float64, v so3.Vec3)  { x[0], x[1], x[2] = v.X, v.Y, v.Z }
func take(x []float64) so3.Vec3    { return so3.Vec3{X: x[0], Y: x[1], Z: x[2]} }
func coords(c *quad.Command) vecU  { return vecU{c.Thrust, c.Rates.X, c.Rates.Y, c.Rates.Z} }
func command(u *vecU) quad.Command { return quad.Command{Thrust: u[0], Rates: take(u[1:])} }
