package rotors

// The manifold is the quadrotor's with the body rates beside it: each row is passed on with the strides of its own.

// ToWorld implements robot.System: Δp and Δv are turned, Δξ and Δω stay in the body.
func (m *System[F]) ToWorld(B int, s, d, w []F) {
	for b := range B {
		m.rigid.ToWorld(1, s[b*m.config.Size():], d[b*nU:], w[b*nU:])
		addRates(d[b*nU:], w[b*nU:])
	}
}

// ToBody implements robot.System.
func (m *System[F]) ToBody(B int, s, w, d []F) {
	for b := range B {
		m.rigid.ToBody(1, s[b*m.config.Size():], w[b*nU:], d[b*nU:])
		addRates(w[b*nU:], d[b*nU:])
	}
}

func addRates[F float32 | float64](from, to []F) {
	for j := uW; j < nU; j++ {
		to[j] += from[j]
	}
}

// ToBodyVJP implements robot.System.
func (m *System[F]) ToBodyVJP(B int, s, w, dd, ds []F) {
	for b := range B {
		m.rigid.ToBodyVJP(1, s[b*m.config.Size():], w[b*nU:], dd[b*nU:], ds[b*m.config.Size():])
	}
}

// Minus implements robot.System.
func (m *System[F]) Minus(B int, s1 []F, stride1 int, s0 []F, stride0 int, e []F) {
	for b := range B {
		x, y, o := s1[b*stride1:], s0[b*stride0:], e[b*nU:]
		m.rigid.Minus(1, x, stride1, y, stride0, o)
		for j := range 3 {
			o[uW+j] = x[atW+j] - y[atW+j]
		}
	}
}

// MinusVJP implements robot.System.
func (m *System[F]) MinusVJP(B int, s1 []F, stride1 int, s0 []F, stride0 int, de, ds1 []F) {
	for b := range B {
		g, o := de[b*nU:], ds1[b*stride1:]
		m.rigid.MinusVJP(1, s1[b*stride1:], stride1, s0[b*stride0:], stride0, g, o)
		for j := range 3 {
			o[atW+j] += g[uW+j]
		}
	}
}

// Window implements robot.System. Before the window the first motors are taken to have been held for long.
func (m *System[F]) Window(T int, measured, actions, s, ctx, states, r []F) {
	S := m.config.Size()
	cur, next, zero, world, res := make([]F, S), make([]F, S), make([]F, nU), make([]F, nU), make([]F, nU)
	m.settle(measured, actions, cur)
	copy(cur, measured[:nM])
	for i := range T {
		a, then := actions[i*nA:][:nA], measured[(i+1)*nM:][:nM]
		m.Step(1, cur, a, zero, next)
		m.Minus(1, then, nM, next, S, world)
		clear(res)
		m.ToBody(1, cur, world, res)
		if states != nil {
			copy(states[i*S:], cur)
		}
		if r != nil {
			copy(r[i*nU:], res)
		}
		if ctx != nil {
			m.Inputs(1, cur, a, ctx[i*nC:])
			copy(ctx[i*nC+nX:][:nU], res)
		}
		copy(cur, next)
		copy(cur, then)
	}
	copy(s, cur)
}
