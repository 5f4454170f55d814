package baseline

import (
	"context"
	"errors"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/nn/layers"
	"vnd/pkg/nn/nets"
)

const (
	basisInputs = 7 // velocity, direction of thrust, thrust
	learned     = 3 // functions of the network
	functions   = learned + 1
)

// features are the values of the basis at a row; the last is 1.
type features [functions]float64

// Basis are functions of the state, common to all conditions, whose sums with coefficients of a condition are what the
// rigid body leaves of its accelerations: y = aᵀ·φ(x) on each axis. They are learned by the meta-learning of
// Neural-Fly (M. O'Connell et al., Science Robotics 2022): least squares over some rows of a condition give its
// coefficients, and the network descends the error of others. Its domain-adversarial term is left out, and outputs
// are bounded by tanh where the paper bounds the spectral norm.
type Basis struct {
	net  *nets.Policy[float32]
	tape *nets.PolicyTape[float32]
}

// BasisConfig is that of the meta-learning.
type BasisConfig struct {
	Updates int
	Shot    int // rows that give the coefficients
	Batch   int // rows that the error is of
	Rate    float64
	Seed    uint64
}

// DefaultBasis is what opponents are made with.
var DefaultBasis = BasisConfig{Updates: 3000, Shot: 64, Batch: 128, Rate: 2e-3, Seed: 1}

// basisRow is one step of a flight: where the robot was and what the rigid body left of its acceleration, m/s².
type basisRow struct {
	x [basisInputs]float32
	y so3.Vec3
}

func inputs(r *quad.Row) [basisInputs]float32 {
	v, z := r.State.V.Scale(0.5), r.State.Q.ZAxis()
	return [basisInputs]float32{float32(v.X), float32(v.Y), float32(v.Z), float32(z.X), float32(z.Y), float32(z.Z),
		float32(r.Command.Thrust/quad.Gravity - 1)}
}

// LearnBasis learns from flights in some conditions: flights[condition] are segments.
func LearnBasis(ctx context.Context, c BasisConfig, flights [][][]quad.Row, r Airframe, dt float64) (*Basis, error) {
	var conditions [][]basisRow
	for _, segments := range flights {
		if rows := basisRows(segments, r, dt); len(rows) >= c.Shot+c.Batch {
			conditions = append(conditions, rows)
		}
	}
	return learnBasis(ctx, c, conditions)
}

func learnBasis(ctx context.Context, c BasisConfig, conditions [][]basisRow) (*Basis, error) {
	if len(conditions) == 0 {
		return nil, errors.New("too little was flown in any condition to learn a basis")
	}
	b, err := newBasis(c.Shot + c.Batch)
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(c.Seed, 0xba515))
	b.net.Init(rng, nil)
	adam := layers.NewAdam[float32](len(b.net.Params))
	adam.Clip = 1
	l := newMetaStep(c)
	for k := range c.Updates {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		b.net.Refresh()
		l.draw(conditions[rng.IntN(len(conditions))], rng)
		l.descend(b)
		adam.Update(b.net.Params, l.grad, c.Rate*(1-float64(k)/float64(c.Updates)))
		clear(l.grad)
	}
	return b.clone()
}

func newBasis(rows int) (*Basis, error) {
	net, err := nets.NewPolicy[float32](nets.PolicyConfig{Inputs: basisInputs, Actions: learned, Hidden: []int{32, 32}})
	if err != nil {
		return nil, err
	}
	return &Basis{net: net, tape: net.NewTape(rows, 1)}, nil
}

// clone is a basis with the same functions, for another goroutine.
func (b *Basis) clone() (*Basis, error) {
	o, err := newBasis(1)
	if err == nil {
		copy(o.net.Params, b.net.Params)
		o.net.Refresh()
	}
	return o, err
}

// at returns the functions at a row.
func (b *Basis) at(r *quad.Row) (f features) {
	var u [learned]float32
	x := inputs(r)
	b.net.Forward(b.tape, 0, 1, x[:], u[:])
	for j, v := range u {
		f[j] = float64(v)
	}
	f[learned] = 1
	return f
}

// basisRows are the steps of segments.
func basisRows(segments [][]quad.Row, r Airframe, dt float64) (out []basisRow) {
	const settle = 10 // rows, until the actuator's past is known
	for _, rows := range segments {
		p := newPlant(r, dt)
		for k := range len(rows) - 1 {
			expected := p.observe(&rows[k])
			if k >= settle {
				y := rows[k+1].State.V.Sub(rows[k].State.V).Scale(1 / dt).Sub(expected)
				out = append(out, basisRow{inputs(&rows[k]), y})
			}
		}
	}
	return out
}

// metaStep is one update of the meta-learning at work.
type metaStep struct {
	shot, rows int
	x, u, du   []float32
	dx, grad   []float32
	y          []so3.Vec3
}

func newMetaStep(c BasisConfig) *metaStep {
	n := c.Shot + c.Batch
	return &metaStep{shot: c.Shot, rows: n, x: make([]float32, n*basisInputs), u: make([]float32, n*learned),
		du: make([]float32, n*learned), dx: make([]float32, n*basisInputs), y: make([]so3.Vec3, n)}
}

func (l *metaStep) draw(rows []basisRow, rng *rand.Rand) {
	for k := range l.rows {
		r := &rows[rng.IntN(len(rows))]
		copy(l.x[k*basisInputs:], r.x[:])
		l.y[k] = r.y
	}
}

// descend adds the gradient of the mean square error of the rows behind the first, under the coefficients of these.
func (l *metaStep) descend(b *Basis) {
	b.net.Forward(b.tape, 0, l.rows, l.x, l.u)
	if l.grad == nil {
		l.grad = make([]float32, len(b.net.Params))
	}
	a := l.coefficients()
	clear(l.du)
	scale := 2 / float64(l.rows-l.shot)
	for k := l.shot; k < l.rows; k++ {
		f := l.features(k)
		off := l.y[k]
		for j := range f {
			off = off.Sub(a[j].Scale(f[j]))
		}
		for j := range learned {
			l.du[k*learned+j] = float32(-scale * off.Dot(a[j]))
		}
	}
	b.net.Backward(b.tape, 0, l.du, l.dx)
	b.net.Grads(b.tape, 1, l.grad)
}

func (l *metaStep) features(k int) (f features) {
	for j := range learned {
		f[j] = float64(l.u[k*learned+j])
	}
	f[learned] = 1
	return f
}

// coefficients are those of ridge regression over the first rows.
func (l *metaStep) coefficients() (a [functions]so3.Vec3) {
	const ridge = 0.1
	normal, right := mat.NewSymDense(functions, nil), mat.NewDense(functions, 3, nil)
	for j := range functions {
		normal.SetSym(j, j, ridge)
	}
	for k := range l.shot {
		f, y := l.features(k), l.y[k]
		for i := range f {
			for j := i; j < functions; j++ {
				normal.SetSym(i, j, normal.At(i, j)+f[i]*f[j])
			}
			for axis, v := range [3]float64{y.X, y.Y, y.Z} {
				right.Set(i, axis, right.At(i, axis)+f[i]*v)
			}
		}
	}
	var factor mat.Cholesky
	var solved mat.Dense
	if !factor.Factorize(normal) || factor.SolveTo(&solved, right) != nil {
		return a
	}
	for j := range a {
		a[j] = so3.Vec3{X: solved.At(j, 0), Y: solved.At(j, 1), Z: solved.At(j, 2)}
	}
	return a
}
