package quadrotor

import (
	"vnd/pkg/nn/kernel"
	"vnd/pkg/robot"
)

// Residual inputs x: position (off by default: it lets the residual memorise one trajectory), velocity, attitude, what
// the actuator does, the command and the last command. In the body frame, velocity is v_B = Rᵀ v_W, attitude is the
// direction of z_W in the body (the third row of R), and the other channels of attitude and the thrust vector are 0; in
// the world frame, attitude is R_WB, row-major, and the thrust is also given as the vector T z_B.
const (
	xPosition    = 0  // p_W, m
	xVelocity    = 3  // v_W, m/s
	xAttitude    = 6  // R_WB, row-major
	xActuator    = 15 // lagged thrust and rates of this step
	xThrust      = 19 // T z_B, m/s²
	xCommand     = 22 // command a_t
	xLastCommand = 26 // command a_{t−1}
)

// Context features c of window row i: position relative to the window's end, velocity, attitude, command, what the
// actuator does, one-step residual r_i; vectors in the row's own frame.
const (
	cPosition = 0
	cVelocity = 3
	cAttitude = 6
	cCommand  = 15
	cActuator = 19
	cResidual = 23
)

// InputSpans implements System. In calm hover velocities vary by 0.03 m/s and the vertical part of the attitude by
// 0.0005: a tilt of 30° is 260 deviations away, where a net says anything, and every policy improved in such a model
// crashed in it. Flights that go somewhere vary by more than the spreads here.
func (m *Quadrotor[F]) InputSpans() []robot.Span {
	return []robot.Span{
		{Name: "position", Lo: xPosition, Hi: xVelocity},
		{Name: "velocity", Lo: xVelocity, Hi: xAttitude, Spread: 0.2},
		{Name: "attitude", Lo: xAttitude, Hi: xActuator, Spread: 0.05},
		{Name: "actuator", Lo: xActuator, Hi: xThrust, Spread: 0.2},
		{Name: "thrust_vector", Lo: xThrust, Hi: xCommand, Spread: 0.2},
		{Name: "command", Lo: xCommand, Hi: xLastCommand, Spread: 0.2},
		{Name: "last_command", Lo: xLastCommand, Hi: nX, Spread: 0.2},
	}
}

// ContextSpans implements System.
func (m *Quadrotor[F]) ContextSpans() []robot.Span {
	return []robot.Span{
		span("position", cPosition, cVelocity), span("velocity", cVelocity, cAttitude),
		span("attitude", cAttitude, cCommand), span("command", cCommand, cActuator),
		span("actuator", cActuator, cResidual), span("residual", cResidual, nC),
	}
}

// Inputs implements System.
func (m *Quadrotor[F]) Inputs(B int, s, a, x []F) {
	s, a, x = kernel.Need(s, B*nS), kernel.Need(a, B*nA), kernel.Need(x, B*nX)
	if !m.world && native[F]() {
		m.inputsC(B, kernel.Float32s(s), kernel.Float32s(a), kernel.Float32s(x))
		return
	}
	for b := range B {
		m.inputs(s[b*nS:][:nS], a[b*nA:][:nA], x[b*nX:][:nX])
	}
}

func (m *Quadrotor[F]) inputs(s, a, x []F) {
	e := m.act(s, a)
	q := quatAt(s)
	copy(x[xPosition:xVelocity], s[iP:iQ])
	m.frame(q, vec(s[iV:]), x[xVelocity:xAttitude], x[xAttitude:xActuator])
	copy(x[xActuator:xThrust], e[:])
	clear(x[xThrust:xCommand])
	if m.world {
		for j, z := range q.zAxis() {
			x[xThrust+j] = e[0] * z
		}
	}
	copy(x[xCommand:xLastCommand], a)
	copy(x[xLastCommand:nX], s[iD:iD+4])
}

// InputsVJP implements System.
func (m *Quadrotor[F]) InputsVJP(B int, s, a, dx, ds, da []F) {
	s, a, dx = kernel.Need(s, B*nS), kernel.Need(a, B*nA), kernel.Need(dx, B*nX)
	ds, da = kernel.Need(ds, B*nS), kernel.Maybe(da, B*nA)
	if !m.world && native[F]() {
		m.inputsVJPC(B, kernel.Float32s(s), kernel.Float32s(a), kernel.Float32s(dx), kernel.Float32s(ds),
			kernel.Float32s(da))
		return
	}
	for b := range B {
		var dab []F
		if da != nil {
			dab = da[b*nA:][:nA]
		}
		m.inputsVJP(s[b*nS:][:nS], a[b*nA:][:nA], dx[b*nX:][:nX], ds[b*nS:][:nS], dab)
	}
}

func (m *Quadrotor[F]) inputsVJP(s, a, dx, ds, da []F) {
	e := m.act(s, a)
	q := quatAt(s)
	var dq quat[F]
	dv := m.frameVJP(q, vec(s[iV:]), vec(dx[xVelocity:]), dx[xAttitude:xActuator], &dq)
	de := [4]F{dx[xActuator], dx[xActuator+1], dx[xActuator+2], dx[xActuator+3]}
	if m.world {
		var dz [3]F
		for j, z := range q.zAxis() {
			de[0] += dx[xThrust+j] * z
			dz[j] = dx[xThrust+j] * e[0]
		}
		q.zAxisVJP(dz, &dq)
	}
	m.actVJP(ds, da, &de)
	for j := range 3 {
		ds[iP+j] += dx[xPosition+j]
		ds[iV+j] += dv[j]
	}
	dq.addTo(ds[iQ:])
	for j := range 4 {
		ds[iD+j] += dx[xLastCommand+j]
	}
	if da != nil {
		for j := range 4 {
			da[j] += dx[xCommand+j]
		}
	}
}

// frame writes velocity[3] and attitude[9] in the frame of the features.
func (m *Quadrotor[F]) frame(q quat[F], v [3]F, velocity, attitude []F) {
	r := (*matrix[F])(attitude)
	q.matrix(r[:])
	if !m.world {
		v = r.back(v)
		clear(attitude[:6])
	}
	copy(velocity, v[:])
}

// frameVJP returns the gradient at v and adds that at q.
func (m *Quadrotor[F]) frameVJP(q quat[F], v, dvelocity [3]F, dattitude []F, dq *quat[F]) [3]F {
	if m.world {
		q.matrixVJP(dattitude, dq)
		return dvelocity
	}
	var dr [9]F
	copy(dr[6:], dattitude[6:9])
	for i := range 3 { // v_B = Rᵀ v_W
		for j := range 3 {
			dr[3*i+j] += v[i] * dvelocity[j]
		}
	}
	q.matrixVJP(dr[:], dq)
	return q.rotate(dvelocity)
}

// inFrame turns a world vector into the frame of the features and of the tangent.
func (m *Quadrotor[F]) inFrame(q quat[F], v [3]F) [3]F {
	if m.world {
		return v
	}
	return q.conj().rotate(v)
}

// ToWorld implements System: Δp and Δv are turned, Δξ stays in the body.
func (m *Quadrotor[F]) ToWorld(B int, s, d, w []F) {
	for b := range B {
		m.turn(quatAt(s[b*nS:]), d[b*nU:][:nU], w[b*nU:][:nU])
	}
}

// ToBody implements System.
func (m *Quadrotor[F]) ToBody(B int, s, w, d []F) {
	for b := range B {
		m.turn(quatAt(s[b*nS:]).conj(), w[b*nU:][:nU], d[b*nU:][:nU])
	}
}

// turn adds to out the tangent in, with its vectors rotated by q.
func (m *Quadrotor[F]) turn(q quat[F], in, out []F) {
	p, v := vec(in[uP:]), vec(in[uV:])
	if !m.world {
		p, v = q.rotate(p), q.rotate(v)
	}
	for j := range 3 {
		out[uP+j] += p[j]
		out[uV+j] += v[j]
		out[uR+j] += in[uR+j]
	}
}

// ToBodyVJP implements System.
func (m *Quadrotor[F]) ToBodyVJP(B int, s, w, dd, ds []F) {
	if m.world {
		return
	}
	for b := range B {
		q, in, g := quatAt(s[b*nS:]).conj(), w[b*nU:][:nU], dd[b*nU:][:nU]
		var dq quat[F]
		q.rotateVJP(vec(in[uP:]), vec(g[uP:]), &dq)
		q.rotateVJP(vec(in[uV:]), vec(g[uV:]), &dq)
		dq.conj().addTo(ds[b*nS+iQ:])
	}
}

// Window implements System. Before the window the first command is taken to have been held for long.
func (m *Quadrotor[F]) Window(T int, measured, actions, s, ctx, states, r []F) {
	var cur, next [nS]F
	var zero, res [nU]F
	m.rest(measured, actions, cur[:])
	end := measured[T*nM:][:nM]
	for i := range T {
		a := actions[i*nA:][:nA]
		if states != nil {
			copy(states[i*nS:][:nS], cur[:])
		}
		m.step(cur[:], a, zero[:], next[:])
		measuredNext := measured[(i+1)*nM:][:nM]
		m.Minus(1, measuredNext, nM, next[:], nS, res[:])
		q := quatAt(cur[:])
		dp, dv := m.inFrame(q, vec(res[uP:])), m.inFrame(q, vec(res[uV:]))
		copy(res[uP:], dp[:])
		copy(res[uV:], dv[:])
		if r != nil {
			copy(r[i*nU:][:nU], res[:])
		}
		if ctx != nil {
			m.context(cur[:], a, next[iT:iD], end, res[:], ctx[i*nC:][:nC])
		}
		cur = next
		copy(cur[:nM], measuredNext)
	}
	copy(s, cur[:])
}

// rest writes the state whose actuator has settled on the first command.
func (m *Quadrotor[F]) rest(measured, actions, s []F) {
	copy(s[:nM], measured[:nM])
	for i := range MaxDelay {
		copy(s[iD+4*i:][:4], actions[:nA])
	}
	for j := range m.channels {
		s[iT+j] = m.channels[j].gain * actions[j]
	}
}

func (m *Quadrotor[F]) context(s, a, e, end, r, c []F) {
	q := quatAt(s)
	p := m.inFrame(q, [3]F{s[iP] - end[iP], s[iP+1] - end[iP+1], s[iP+2] - end[iP+2]})
	copy(c[cPosition:cVelocity], p[:])
	m.frame(q, vec(s[iV:]), c[cVelocity:cAttitude], c[cAttitude:cCommand])
	copy(c[cCommand:cActuator], a)
	copy(c[cActuator:cResidual], e)
	copy(c[cResidual:nC], r)
}
