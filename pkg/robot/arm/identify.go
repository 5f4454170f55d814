package arm

import (
	"fmt"

	"vnd/pkg/core/so3"
)

// corners are where masses are looked for, from the flange, m: masses there, which may be negative, have any mass and
// any centre.
var corners = [4]so3.Vec3{{}, {X: 0.1}, {Y: 0.1}, {Z: 0.1}}

// Masses are how many parameters of a Regressor are masses at corners, kg.
const Masses = len(corners)

// Parameters are those of a Regressor: masses, damping of each joint, N·m·s/rad, and friction of each, N·m.
const Parameters = Masses + 2*Joints

// Regressor is Y of τ = τ₀ + Y θ: torques are those of a Panda that carries nothing and Y times what is not known. It
// is for one goroutine.
type Regressor struct {
	Columns [Parameters][Joints]float64 // of Y

	own    *Dynamics
	corner [Masses]*Dynamics // a mass of 1 there on an arm of none
}

// NewRegressor makes one.
func NewRegressor() *Regressor {
	r := &Regressor{own: NewDynamics(Panda())}
	for k, at := range corners {
		c := Panda()
		for j := range c.Links {
			c.Links[j].Body, c.Links[j].Armature = Body{}, 0
		}
		c.Payload = Body{Mass: 1, At: c.Tool.Add(at)}
		r.corner[k] = NewDynamics(c)
	}
	return r
}

// At fills Columns of angles, rates and accelerations, and writes τ₀.
func (r *Regressor) At(q, v, a, tau *[Joints]float64) {
	r.own.Place(q[:])
	r.own.Torques(v[:], a[:], tau[:])
	for k, d := range r.corner {
		d.Place(q[:])
		d.Torques(v[:], a[:], r.Columns[k][:])
	}
	for j, x := range v {
		r.Columns[Masses+j][j] = x
		r.Columns[Masses+Joints+j][j] = Coulomb(x)
	}
}

// unknown are what Identify looks for: the masses, damping and friction of all joints.
const unknown = Masses + 2

// Identify finds the arm whose rows of Δt = dt these are, by least squares of the torques: its payload, damping and
// friction, as far as the rows tell. It integrates at 1 kHz.
func Identify(rows []Row, dt float64) (r Robot, err error) {
	const least, ridge = 10, 1e-3 // rows; (N·m)², per row, by which what no row tells of is nothing
	if len(rows) < least {
		return r, fmt.Errorf("%d rows, expected at least %d to identify an arm by", len(rows), least)
	}
	y := NewRegressor()
	var m [unknown * unknown]float64 // normal equations
	var x [unknown]float64
	for i := range rows[1:] {
		y.between(&rows[i], &rows[i+1], dt, m[:], x[:])
	}
	for i := range x {
		m[unknown*i+i] += ridge * float64(len(rows))
	}
	factor(m[:], unknown)
	solve(m[:], x[:])
	r = Robot{Dt: dt, Steps: max(1, int(dt/0.001+0.5)), Damping: max(0, x[Masses]), Friction: max(0, x[Masses+1])}
	var moment so3.Vec3
	for k, at := range corners {
		r.Payload += x[k]
		moment = moment.Add(at.Scale(x[k]))
	}
	const none, far = 0.05, 0.5 // kg, less than which has no centre; m
	if r.Payload = min(max(r.Payload, 0), MaxPayload); r.Payload > none {
		r.At = moment.Scale(1 / r.Payload)
		if n := r.At.Norm(); n > far {
			r.At = r.At.Scale(far / n)
		}
	}
	return r, r.Check()
}

// Unexplained are the torques, N·m, of rows of Δt = dt that an arm without payload, damping and friction does not
// explain: means of so many rows each, as far as they are whole.
func Unexplained(rows []Row, dt float64, each int) (means []Torque) {
	d := NewDynamics(Panda())
	for ; len(rows) > each; rows = rows[each:] {
		var mean Torque
		for i := range each {
			q, v, a := amid(&rows[i], &rows[i+1], dt)
			var tau [Joints]float64
			d.Place(q[:])
			d.Torques(v[:], a[:], tau[:])
			for j := range tau {
				mean[j] += (rows[i].Torque[j] - tau[j]) / float64(each)
			}
		}
		means = append(means, mean)
	}
	return means
}

// amid are angles, rates and accelerations between two rows that follow each other.
func amid(from, to *Row, dt float64) (q, v, a [Joints]float64) {
	for j := range q {
		q[j], v[j] = (from.State.Q[j]+to.State.Q[j])/2, (from.State.V[j]+to.State.V[j])/2
		a[j] = (to.State.V[j] - from.State.V[j]) / dt
	}
	return q, v, a
}

// between adds what two rows that follow each other tell to normal equations.
func (y *Regressor) between(from, to *Row, dt float64, m, x []float64) {
	var tau [Joints]float64
	q, v, a := amid(from, to, dt)
	y.At(&q, &v, &a, &tau)
	for j := range tau {
		var row [unknown]float64
		for k := range Masses {
			row[k] = y.Columns[k][j]
		}
		row[Masses], row[Masses+1] = y.Columns[Masses+j][j], y.Columns[Masses+Joints+j][j]
		for i, g := range row {
			x[i] += g * (from.Torque[j] - tau[j])
			for k, h := range row {
				m[unknown*i+k] += g * h
			}
		}
	}
}
