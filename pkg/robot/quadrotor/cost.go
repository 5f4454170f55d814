package quadrotor

import (
	"fmt"
	"math"

	"vnd/pkg/core/quad"
	"vnd/pkg/core/so3"
	"vnd/pkg/nn/kernel"
)

// Cost is the task cost c of the paper's "Task Rewards", a weighted sum of Huber
// losses; the reward is −Δt·c. One δ is common to all terms, each in its own unit:
// m, m/s, m/s², rad. A command's units are hover thrusts and rad/s.
type Cost struct {
	Position      float64 `param:"position" default:"1.0" min:"0" max:"1000" doc:"c_p, position error"`
	Height        float64 `param:"height" default:"0.0" min:"0" max:"1000" doc:"c_height, height error alone"`
	Velocity      float64 `param:"velocity" default:"0.1" min:"0" max:"1000" doc:"c_v, velocity error"`
	Rates         float64 `param:"rates" default:"0.15" min:"0" max:"1000" doc:"c_ω, commanded body rates"`
	Acceleration  float64 `param:"acceleration" default:"0.1" min:"0" max:"1000" doc:"c_a, error of Δv/Δt against the reference's acceleration"`
	Attitude      float64 `param:"attitude" default:"0.1" min:"0" max:"1000" doc:"c_R, attitude error against the reference's (upright where it does not accelerate)"`
	Heading       float64 `param:"heading" default:"0.0" min:"0" max:"1000" doc:"heading error alone"`
	Action        float64 `param:"action" default:"1.0" min:"0" max:"1000" doc:"c_u, deviation of the thrust from hover"`
	CommandChange float64 `param:"command_change" was:"change" json:"Change" default:"0.0" min:"0" max:"1000" doc:"c_Δu, change of the command"`
	Collision     float64 `param:"collision" default:"1.0" min:"0" max:"1000" doc:"c_collision, for each step that an episode ended early"`
	Delta         float64 `param:"delta" default:"1.0" min:"0.001" max:"1000" doc:"δ of the Huber loss of all terms, each in its own unit"`
}

// weights lists the terms.
func (c *Cost) weights() []struct {
	name string
	w    *float64
} {
	return []struct {
		name string
		w    *float64
	}{
		{"position", &c.Position}, {"height", &c.Height}, {"velocity", &c.Velocity}, {"rates", &c.Rates},
		{"acceleration", &c.Acceleration},
		{"attitude", &c.Attitude}, {"heading", &c.Heading}, {"action", &c.Action}, {"command_change", &c.CommandChange},
		{"collision", &c.Collision},
	}
}

// Sharper returns the cost whose terms begin to count by size instead of by square at an error so many times smaller.
// Larger errors have the gradient that they had.
func (c *Cost) Sharper(by float64) Cost {
	r := *c
	for _, k := range r.weights() {
		*k.w *= by
	}
	r.Collision, r.Delta = c.Collision, c.Delta/by
	return r
}

// Check refuses weights that are not.
func (c *Cost) Check() error {
	for _, k := range c.weights() {
		if w := *k.w; !(w >= 0 && w <= 1000) {
			return fmt.Errorf("weight %g of the cost's term %s, want 0 … 1000", w, k.name)
		}
	}
	if !(c.Delta > 0) {
		return fmt.Errorf("δ of the Huber loss is %g, want more than 0", c.Delta)
	}
	return nil
}

// NonFiniteTerm names the first term whose cost for robot b is not finite, "" where all
// are.
func NonFiniteTerm[F kernel.Float](c *Cost, t *Transition[F], b int) string {
	for i, k := range c.weights() {
		alone, row := Cost{Delta: c.Delta}, [WeightsSize]F{}
		*alone.weights()[i].w = *k.w
		PutWeights(&alone, row[:])
		if x := evaluate(row[:], t, b, 0, nil); x*0 != 0 {
			return k.name
		}
	}
	return ""
}

// RowSize is R, of a cost reference row: p, v, a, q_ref, cos and sin of the yaw.
const RowSize = 3 + 3 + 3 + 4 + 2

// PutRow writes the reference of the moment that a step leads to. Its attitude is
// the one whose thrust gives the reference's acceleration, by differential
// flatness. Attitude and yaw are those of rest where the cost has no term of them.
func PutRow[F kernel.Float](c *Cost, r *quad.Reference, row []F) {
	row = row[:RowSize]
	row[0], row[1], row[2] = F(r.P.X), F(r.P.Y), F(r.P.Z)
	row[3], row[4], row[5] = F(r.V.X), F(r.V.Y), F(r.V.Z)
	row[6], row[7], row[8] = F(r.A.X), F(r.A.Y), F(r.A.Z)
	q, sin, cos := so3.Identity(), 0., 1.
	if c.Attitude > 0 {
		q = FlatAttitude(r)
	}
	if c.Heading > 0 {
		sin, cos = math.Sincos(r.Yaw)
	}
	row[9], row[10], row[11], row[12] = F(q.W), F(q.X), F(q.Y), F(q.Z)
	row[13], row[14] = F(cos), F(sin)
}

// FlatAttitude is q_WB with z_B along a + g and x_B towards the yaw.
func FlatAttitude(r *quad.Reference) so3.Quat {
	sin, cos := math.Sincos(r.Yaw)
	if r.A.X == 0 && r.A.Y == 0 && r.A.Z > -quad.Gravity { // upright, as a hover is
		if cos >= 0 {
			return so3.Quat{W: 1 + cos, Z: sin}.Normalize()
		}
		return so3.Quat{W: sin, Z: 1 - cos}.Normalize()
	}
	z := r.A.Add(so3.Vec3{Z: quad.Gravity})
	if z.Norm() < 1e-3 { // free fall has no attitude
		z = so3.Vec3{Z: 1}
	}
	z = z.Scale(1 / z.Norm())
	y := z.Cross(so3.Vec3{X: cos, Y: sin})
	if y.Norm() < 1e-6 { // thrust along the heading
		y = so3.Vec3{X: -sin, Y: cos}
	}
	y = y.Scale(1 / y.Norm())
	x := y.Cross(z)
	return so3.FromMat3(so3.Mat3{{x.X, y.X, z.X}, {x.Y, y.Y, z.Y}, {x.Z, y.Z, z.Z}})
}

// Transition is one step of a batch as the cost sees it: states s0, s1 [B][S]
// that begin with p, q, v, the command between them and the one before [B][A],
// and the reference of s1, [B][R].
type Transition[F kernel.Float] struct {
	B, S            int
	S0, S1, A, Last []F
	Ref             []F
	Dt              float64
}

// Gradient takes the gradients of a Transition's arrays.
type Gradient[F kernel.Float] struct {
	S0, S1, A, Last []F
}

// WeightsSize is W, of a row of weights: those of the terms in the order that follows, then δ.
const WeightsSize = 10

const (
	wPosition = iota
	wHeight
	wVelocity
	wAcceleration
	wRates
	wAction
	wChange
	wAttitude
	wHeading
	wDelta
)

// PutWeights writes a robot's row of weights.
func PutWeights[F kernel.Float](c *Cost, row []F) {
	row[wPosition], row[wHeight], row[wVelocity], row[wAcceleration] = F(c.Position), F(c.Height), F(c.Velocity),
		F(c.Acceleration)
	row[wRates], row[wAction], row[wChange] = F(c.Rates), F(c.Action), F(c.CommandChange)
	row[wAttitude], row[wHeading], row[wDelta] = F(c.Attitude), F(c.Heading), F(c.Delta)
}

func (t *Transition[F]) check() {
	if t.S < nM {
		panic("quadrotor: a state without p, q and v")
	}
	t.S0, t.S1 = kernel.Need(t.S0, t.B*t.S), kernel.Need(t.S1, t.B*t.S)
	t.A, t.Last, t.Ref = kernel.Need(t.A, t.B*nA), kernel.Need(t.Last, t.B*nA), kernel.Need(t.Ref, t.B*RowSize)
}

// float32s views a transition of float32.
func (t *Transition[F]) float32s() Transition[float32] {
	return Transition[float32]{B: t.B, S: t.S, S0: kernel.Float32s(t.S0), S1: kernel.Float32s(t.S1),
		A: kernel.Float32s(t.A), Last: kernel.Float32s(t.Last), Ref: kernel.Float32s(t.Ref), Dt: t.Dt}
}

// Costs writes cost[B] under weights[B][W], and off[B], the squared distance of S1 from the reference, m²: not a number
// where S1 is not finite.
func Costs[F kernel.Float](t *Transition[F], weights, cost, off []F) {
	t.check()
	weights, cost, off = kernel.Need(weights, t.B*WeightsSize), kernel.Need(cost, t.B), kernel.Need(off, t.B)
	if native[F]() {
		tr := t.float32s()
		costsC(&tr, kernel.Float32s(weights), kernel.Float32s(cost), kernel.Float32s(off))
		return
	}
	for b := range t.B {
		cost[b] = evaluate(weights[b*WeightsSize:][:WeightsSize], t, b, 0, nil)
		s, r := t.S1[b*t.S:][:t.S], t.Ref[b*RowSize:]
		off[b] = (s[0]-r[0])*(s[0]-r[0]) + (s[1]-r[1])*(s[1]-r[1]) + (s[2]-r[2])*(s[2]-r[2])
		for _, x := range s {
			off[b] += x * 0
		}
	}
}

// CostsVJP adds the gradients of Σ scale·cost. A robot whose scale[B] is 0 has none, whatever it did.
func CostsVJP[F kernel.Float](t *Transition[F], weights, scale []F, g *Gradient[F]) {
	t.check()
	weights, scale = kernel.Need(weights, t.B*WeightsSize), kernel.Need(scale, t.B)
	g.S0, g.S1 = kernel.Need(g.S0, t.B*t.S), kernel.Need(g.S1, t.B*t.S)
	g.A, g.Last = kernel.Need(g.A, t.B*nA), kernel.Need(g.Last, t.B*nA)
	if native[F]() {
		tr := t.float32s()
		to := Gradient[float32]{kernel.Float32s(g.S0), kernel.Float32s(g.S1), kernel.Float32s(g.A),
			kernel.Float32s(g.Last)}
		costsVJPC(&tr, kernel.Float32s(weights), kernel.Float32s(scale), &to)
		return
	}
	for b := range t.B {
		if scale[b] != 0 {
			evaluate(weights[b*WeightsSize:][:WeightsSize], t, b, scale[b], g)
		}
	}
}

// huber is ℓ_δ as a function of e², with its derivative by e².
func huber[F kernel.Float](e2, delta F) (l, slope F) {
	if e2 <= delta*delta {
		return e2 / 2, 0.5
	}
	e := F(math.Sqrt(float64(e2)))
	return delta * (e - delta/2), delta / (2 * e)
}

// evaluate returns the cost of robot b under weights w[W] and, with g, adds its
// gradients times scale.
func evaluate[F kernel.Float](w []F, t *Transition[F], b int, scale F, g *Gradient[F]) (sum F) {
	s0, s1, r := t.S0[b*t.S:][:10], t.S1[b*t.S:][:10], t.Ref[b*RowSize:][:RowSize]
	a, last := t.A[b*nA:][:nA], t.Last[b*nA:][:nA]
	delta, perDt := w[wDelta], F(1/t.Dt)
	var e [4]F
	// term adds w·ℓ(|e|) over the first n of e and turns e into the gradient.
	term := func(w F, n int) bool {
		if w == 0 {
			return false
		}
		var e2 F
		for _, x := range e[:n] {
			e2 += x * x
		}
		l, slope := huber(e2, delta)
		sum += w * l
		for i := range e[:n] {
			e[i] *= 2 * slope * w * scale
		}
		return g != nil
	}
	for j := range 3 {
		e[j] = s1[j] - r[j]
	}
	height := e[2]
	if term(w[wPosition], 3) {
		add(g.S1[b*t.S:], e[:3], 1)
	}
	if e[0] = height; term(w[wHeight], 1) {
		g.S1[b*t.S+2] += e[0]
	}
	for j := range 3 {
		e[j] = s1[7+j] - r[3+j]
	}
	if term(w[wVelocity], 3) {
		add(g.S1[b*t.S+7:], e[:3], 1)
	}
	for j := range 3 {
		e[j] = (s1[7+j]-s0[7+j])*perDt - r[6+j]
	}
	if term(w[wAcceleration], 3) {
		add(g.S1[b*t.S+7:], e[:3], perDt)
		add(g.S0[b*t.S+7:], e[:3], -perDt)
	}
	copy(e[:], a[1:])
	if term(w[wRates], 3) {
		add(g.A[b*nA+1:], e[:3], 1)
	}
	if e[0] = a[0]/quad.Gravity - 1; term(w[wAction], 1) {
		g.A[b*nA] += e[0] / quad.Gravity
	}
	for j, unit := range commandUnit {
		e[j] = (a[j] - last[j]) / F(unit)
	}
	if term(w[wChange], 4) {
		for j, unit := range commandUnit {
			g.A[b*nA+j] += e[j] / F(unit)
			g.Last[b*nA+j] -= e[j] / F(unit)
		}
	}
	turn := attitudeError(s1[3:7], r[9:13], &e)
	if term(w[wAttitude], 3) {
		turn.pull(e[:3], g.S1[b*t.S+3:])
	}
	headingError(s1[3:7], r[13:15], &e)
	if term(w[wHeading], 2) {
		pullHeading(s1[3:7], e[:2], g.S1[b*t.S+3:])
	}
	return sum
}

// commandUnit of a change: hover thrusts and rad/s.
var commandUnit = [nA]float64{quad.Gravity, 1, 1, 1}

func add[F kernel.Float](dst, e []F, f F) {
	for j, x := range e {
		dst[j] += f * x
	}
}

// turning is an attitude error 2·vec(q_ref* ⊗ q)·sign(w): the rotation vector
// for small angles, and without its singularity at π.
type turning[F kernel.Float] struct {
	ref  []F
	sign F
}

func attitudeError[F kernel.Float](q, ref []F, e *[4]F) turning[F] {
	w, x, y, z := ref[0], -ref[1], -ref[2], -ref[3]
	t := turning[F]{ref, 2}
	if w*q[0]-x*q[1]-y*q[2]-z*q[3] < 0 {
		t.sign = -2
	}
	e[0] = t.sign * (w*q[1] + x*q[0] + y*q[3] - z*q[2])
	e[1] = t.sign * (w*q[2] - x*q[3] + y*q[0] + z*q[1])
	e[2] = t.sign * (w*q[3] + x*q[2] - y*q[1] + z*q[0])
	return t
}

func (t turning[F]) pull(de, dq []F) {
	w, x, y, z := t.ref[0], -t.ref[1], -t.ref[2], -t.ref[3]
	a, b, c := t.sign*de[0], t.sign*de[1], t.sign*de[2]
	dq[0] += x*a + y*b + z*c
	dq[1] += w*a + z*b - y*c
	dq[2] += -z*a + w*b + x*c
	dq[3] += y*a - x*b + w*c
}

// headingError is x_B on the ground minus the reference's heading.
func headingError[F kernel.Float](q, ref []F, e *[4]F) {
	w, x, y, z := q[0], q[1], q[2], q[3]
	e[0] = 1 - 2*(y*y+z*z) - ref[0]
	e[1] = 2*(x*y+w*z) - ref[1]
}

func pullHeading[F kernel.Float](q, de, dq []F) {
	w, x, y, z := q[0], q[1], q[2], q[3]
	dq[0] += 2 * z * de[1]
	dq[1] += 2 * y * de[1]
	dq[2] += -4*y*de[0] + 2*x*de[1]
	dq[3] += -4*z*de[0] + 2*w*de[1]
}
