package kernel

// Body is a rigid body under thrust and body rates behind an actuator, as float32 flies it in C, many at a time. There is no
// reference of it here: whoever asks states it in Go, robot by robot, and flies that where a call reports false, which it
// does for float64 and without the C kernels.
//
// Rows: s [BodyState] is p, q = q_WB (w, x, y, z), v, the lagged thrust T and rates ω, and the last four commands, youngest
// first; a [4] is the command; d [9] a tangent Δp, Δv (of the body) and Δξ; x [30] is p, v_B = Rᵀv, six zeros, the third
// row of R, T and ω of this step, three zeros, a, and the last command.
type Body struct {
	Dt, Gravity  float64
	Thrust, Rate Channel
	Prior        bool // else p, q and v stay as they are but for d
}

// Channel is a chain from a command to what it does: e = y + Blend·(Gain·u − y) with y its last value and u the command of
// the delay line at Tap (0 is a), of which Elder is the weight of the one before it.
type Channel struct {
	Gain, Blend, Elder float64
	Tap                int // 0 … 3
}

// Numbers of a row of a Body's states, commands, tangents and inputs.
const (
	BodyState   = 30
	bodyInputs  = 30
	bodyCommand = 4
	bodyTangent = 9
)

func (m *Body) check() {
	for _, c := range []*Channel{&m.Thrust, &m.Rate} {
		if c.Tap < 0 || c.Tap > 3 {
			panic("kernel: a tap beside the delay line")
		}
	}
}

// BodyStep writes next = f(s, a) ⊕ d: ṗ = v, v̇ = T z_B − g e₃ by RK4 with the attitude turning at the constant rate,
// q' = q ⊗ Exp(ω Δt), then p + R Δp, v + R Δv and q ⊗ Exp(Δξ).
func BodyStep[F Float](m *Body, rows int, s, a, d, next []F) bool {
	m.check()
	s, a, d, next = need(s, rows*BodyState), need(a, rows*bodyCommand), need(d, rows*bodyTangent),
		need(next, rows*BodyState)
	if !native32[F]() {
		return false
	}
	bodyStepC(m, rows, f32(s), f32(a), f32(d), f32(next))
	return true
}

// BodyStepVJP adds the pullback of dnext through BodyStep to ds, da (may be nil) and dd.
func BodyStepVJP[F Float](m *Body, rows int, s, a, d, dnext, ds, da, dd []F) bool {
	m.check()
	s, a, d, dnext = need(s, rows*BodyState), need(a, rows*bodyCommand), need(d, rows*bodyTangent),
		need(dnext, rows*BodyState)
	ds, da, dd = need(ds, rows*BodyState), maybe(da, rows*bodyCommand), need(dd, rows*bodyTangent)
	if !native32[F]() {
		return false
	}
	bodyStepVJPC(m, rows, f32(s), f32(a), f32(d), f32(dnext), f32(ds), f32(da), f32(dd))
	return true
}

// BodyInputs writes x.
func BodyInputs[F Float](m *Body, rows int, s, a, x []F) bool {
	m.check()
	s, a, x = need(s, rows*BodyState), need(a, rows*bodyCommand), need(x, rows*bodyInputs)
	if !native32[F]() {
		return false
	}
	bodyInputsC(m, rows, f32(s), f32(a), f32(x))
	return true
}

// BodyInputsVJP adds the pullback of dx through BodyInputs to ds and da (may be nil).
func BodyInputsVJP[F Float](m *Body, rows int, s, a, dx, ds, da []F) bool {
	m.check()
	s, a, dx = need(s, rows*BodyState), need(a, rows*bodyCommand), need(dx, rows*bodyInputs)
	ds, da = need(ds, rows*BodyState), maybe(da, rows*bodyCommand)
	if !native32[F]() {
		return false
	}
	bodyInputsVJPC(m, rows, f32(s), f32(a), f32(dx), f32(ds), f32(da))
	return true
}
