package armcontrol

import (
	"errors"
	"math"

	"vnd/pkg/robot/arm"
)

// Path is where the joints are to be at each time: a transition, in which each follows a polynomial of the fifth order,
// and then a closed reference or rest.
type Path struct {
	began, takes float64                // s
	poly         [arm.Joints][6]float64 // of time in the transition
	end          [arm.Joints]float64    // where it rests
	then         *arm.Reference         // nil: it rests
	dt           float64                // of a row, s
}

const (
	share    = 0.5 // of a joint's greatest speed, in transitions
	quickest = 0.5 // s, of a transition
	slowest  = 30.
	hardest  = 5. // rad/s², in transitions
)

// works is which speeds do, as measured.
const works = "references work up to some 0.4 m/s"

// Rest is a path that stays at angles q.
func Rest(q [arm.Joints]float64, dt float64) *Path { return &Path{end: q, dt: dt} }

// NewPath leads from a state at time now into a reference of rows of dt seconds, from its first row on; where that is
// nil, to rest at angles goal. Angles, speeds and accelerations of the transition stay within the joints' limits.
func NewPath(now, dt float64, from *arm.State, then *arm.Reference, goal [arm.Joints]float64) (*Path, error) {
	to := arm.Target{Q: goal}
	if then != nil {
		to = then.Rows[0]
	}
	p := &Path{began: now, then: then, end: to.Q, dt: dt}
	links := arm.Panda().Links
	for p.takes = quickest; p.takes <= slowest; p.takes *= 1.1 {
		p.join(from, &to)
		if p.allowed(links) {
			return p, nil
		}
	}
	return nil, errors.New("no transition leads there within the joints' limits: " + works)
}

// join fits the polynomials to both ends: angles and rates, and accelerations, which begin at none.
func (p *Path) join(from *arm.State, to *arm.Target) {
	T := p.takes
	for j := range p.poly {
		q, v := from.Q[j], from.V[j]
		d, dv, da := to.Q[j]-q-v*T, (to.V[j]-v)*T, to.A[j]*T*T
		p.poly[j] = [6]float64{q, v, 0, (10*d - 4*dv + da/2) / (T * T * T),
			(-15*d + 7*dv - da) / math.Pow(T, 4), (6*d - 3*dv + da/2) / math.Pow(T, 5)}
	}
}

// allowed looks along the transition.
func (p *Path) allowed(links []arm.Link) bool {
	const looks = 40
	for j, l := range links {
		c := &p.poly[j]
		_, v0, _ := at(c, 0)
		_, v1, _ := at(c, p.takes)
		fastest := max(share*l.Speed, 1.1*max(math.Abs(v0), math.Abs(v1)))
		for i := range looks + 1 {
			q, v, a := at(c, p.takes*float64(i)/looks)
			if !(q >= l.Min && q <= l.Max && math.Abs(v) <= fastest && math.Abs(a) <= hardest) {
				return false
			}
		}
	}
	return true
}

// at is a polynomial with its derivatives.
func at(c *[6]float64, t float64) (q, v, a float64) {
	for i := 5; i >= 0; i-- {
		q, v, a = q*t+c[i], v*t+q, a*t+2*v
	}
	return q, v, a
}

// Joined reports whether the transition is over, and a reference is followed.
func (p *Path) Joined(t float64) bool { return p.then != nil && t >= p.began+p.takes }

// At writes the target at time t, but for its tool.
func (p *Path) At(t float64, to *arm.Target) {
	p.state(t, &to.Q, &to.V)
	var q, next [arm.Joints]float64
	p.state(t+p.dt, &q, &next)
	for j := range next {
		to.A[j] = (next[j] - to.V[j]) / p.dt
	}
}

// state writes angles and rates at time t.
func (p *Path) state(t float64, q, v *[arm.Joints]float64) {
	into := t - p.began
	switch {
	case p.takes > 0 && into < p.takes:
		for j := range p.poly {
			q[j], v[j], _ = at(&p.poly[j], max(into, 0))
		}
	case p.then == nil:
		*q, *v = p.end, [arm.Joints]float64{}
	default:
		p.between((into-p.takes)/p.dt, q, v)
	}
}

// between interpolates rows of the reference: angles by polynomials of the third order, rates linearly.
func (p *Path) between(row float64, q, v *[arm.Joints]float64) {
	rows := p.then.Rows
	whole, f := math.Modf(row)
	i := int(whole) % len(rows)
	a, b := &rows[i], &rows[(i+1)%len(rows)]
	for j := range q {
		d, va, vb := b.Q[j]-a.Q[j], p.dt*a.V[j], p.dt*b.V[j]
		q[j] = a.Q[j] + f*(va+f*(3*d-2*va-vb+f*(va+vb-2*d)))
		v[j] = a.V[j] + f*(b.V[j]-a.V[j])
	}
}
