package rotors

import "vnd/pkg/nn/kernel/tape"

type (
	reg    = tape.Reg
	vec    [3]reg
	quat   [4]reg // w first
	matrix [3]vec // rows
)

// builder writes a program, its parameters' first values beside it.
type builder struct {
	*tape.Program
	theta []float64
	// observer are the parameters that multiply what the observer keeps, force those of the force beside them.
	observer, force []int
	index           index
	one             reg
}

// index names parameters that physics knows.
type index struct {
	lag, lead, torqueLag int
	thrust               int    // of the mean squared speed in the force along z
	torque               [3]int // of each pattern of squared speeds in its own axis
	rise                 int    // of the yaw pattern of rotor accelerations in the torque about z
	feedback             []int  // of what the state and hidden states add to force, torque and kinematics
}

func (b *builder) sum(x reg, more ...reg) reg {
	for _, y := range more {
		x = b.Add(x, y)
	}
	return x
}

// param returns a new parameter times x.
func (b *builder) param(first float64, x reg) reg {
	b.theta = append(b.theta, first)
	return b.Dot(len(b.theta)-1, x)
}

// linear returns Σ θ x with new parameters; first may be nil, for 0.
func (b *builder) linear(first map[int]float64, x []reg) reg {
	at := len(b.theta)
	for i := range x {
		b.theta = append(b.theta, first[i])
	}
	return b.Dot(at, x...)
}

// share returns a new parameter as a number between 0 and 1, first as given: ½ + θ/(2 √(1 + θ²)).
func (b *builder) share(theta float64) reg {
	x := b.param(theta, b.one)
	return b.Shift(.5, b.Scale(.5, b.Mul(x, b.Inv(b.Sqrt(b.Shift(1, b.Mul(x, x)))))))
}

// fed marks parameters from the index on as feedback.
func (b *builder) fed(first, n int) {
	for i := range n {
		b.index.feedback = append(b.index.feedback, first+i)
	}
}

// observed marks the last n parameters as the observer's.
func (b *builder) observed(n int) {
	for i := len(b.theta) - n; i < len(b.theta); i++ {
		b.observer = append(b.observer, i)
	}
}

// forced marks n parameters from the index on as the force's.
func (b *builder) forced(first, n int) {
	for i := range n {
		b.force = append(b.force, first+i)
	}
}

func (b *builder) each(f func(i int) reg) vec { return vec{f(0), f(1), f(2)} }

func (b *builder) plus(x, y vec) vec { return b.each(func(i int) reg { return b.Add(x[i], y[i]) }) }

func (b *builder) times(k float64, x vec) vec {
	return b.each(func(i int) reg { return b.Scale(k, x[i]) })
}

// dot is x·y.
func (b *builder) dot(x, y vec) reg {
	return b.sum(b.Mul(x[0], y[0]), b.Mul(x[1], y[1]), b.Mul(x[2], y[2]))
}

// turn is m x.
func (b *builder) turn(m matrix, x vec) vec { return b.each(func(i int) reg { return b.dot(m[i], x) }) }

// turnBack is mᵀ x.
func (b *builder) turnBack(m matrix, x vec) vec {
	return b.each(func(i int) reg { return b.dot(vec{m[0][i], m[1][i], m[2][i]}, x) })
}

// product is p ⊗ q.
func (b *builder) product(p, q quat) quat {
	m := b.Mul
	return quat{
		b.Sub(b.Sub(m(p[0], q[0]), m(p[1], q[1])), b.Add(m(p[2], q[2]), m(p[3], q[3]))),
		b.Add(b.Add(m(p[0], q[1]), m(p[1], q[0])), b.Sub(m(p[2], q[3]), m(p[3], q[2]))),
		b.Add(b.Sub(m(p[0], q[2]), m(p[1], q[3])), b.Add(m(p[2], q[0]), m(p[3], q[1]))),
		b.Add(b.Add(m(p[0], q[3]), m(p[1], q[2])), b.Sub(m(p[3], q[0]), m(p[2], q[1]))),
	}
}

// exp is the rotation by twice the vector u, as a series that is exact to 1e-9 for |u| ≤ 0.4.
func (b *builder) exp(u vec) quat {
	n := b.dot(u, u)
	series := func(c1, c2, c3 float64) reg {
		return b.Shift(1, b.Mul(n, b.Shift(c1, b.Mul(n, b.Shift(c2, b.Scale(c3, n))))))
	}
	c, s := series(-1./2, 1./24, -1./720), series(-1./6, 1./120, -1./5040)
	return quat{c, b.Mul(s, u[0]), b.Mul(s, u[1]), b.Mul(s, u[2])}
}

// rotation is the matrix of the unit quaternion q.
func (b *builder) rotation(q quat) matrix {
	m := b.Mul
	twice := func(x, y reg) reg { return b.Scale(2, b.Add(x, y)) }
	less := func(x, y reg) reg { return b.Scale(2, b.Sub(x, y)) }
	diagonal := func(x, y reg) reg { return b.Shift(1, b.Scale(-2, b.Add(x, y))) }
	w, x, y, z := q[0], q[1], q[2], q[3]
	xx, yy, zz := m(x, x), m(y, y), m(z, z)
	return matrix{
		{diagonal(yy, zz), less(m(x, y), m(w, z)), twice(m(x, z), m(w, y))},
		{twice(m(x, y), m(w, z)), diagonal(xx, zz), less(m(y, z), m(w, x))},
		{less(m(x, z), m(w, y)), twice(m(y, z), m(w, x)), diagonal(xx, yy)},
	}
}
