// The step of the rigid body behind its actuator, VL robots at a time, one to a lane, see body.go. Where fewer robots
// than lanes remain, zeros fill the vector. A lane's numbers do not depend on the other lanes.

// Places in a row of a state, of the inputs, and of a tangent.
enum { S_P = 0, S_Q = 3, S_V = 7, S_E = 10, S_D = 14, STATE = S_D + 4 * QUADROTOR_DELAY, COMMAND = 4 };
enum { X_P = 0, X_V = 3, X_R = 6, X_E = 15, X_A = 22, X_LAST = 26, INPUTS = 30 };
enum { U_P = 0, U_V = 3, U_R = 6, TANGENT = 9 };

// delayed is number j of the command that acts now.
INLINE vec delayed(const quadrotor_channel *c, const vec *s, const vec *a, int j) {
	vec y = c->tap > 0 ? s[S_D + 4 * (c->tap - 1) + j] : a[j];
	return c->elder == 0.0f ? y : y + c->elder * (s[S_D + 4 * c->tap + j] - y);
}

INLINE void delayed_vjp(const quadrotor_channel *c, vec *ds, vec *da, int j, vec d) {
	if (c->tap > 0)
		ds[S_D + 4 * (c->tap - 1) + j] += d * (1.0f - c->elder);
	else
		da[j] += d * (1.0f - c->elder);
	ds[S_D + 4 * c->tap + j] += d * c->elder;
}

// act is what the actuator does over this step, e = (thrust, rates).
INLINE void act(const quadrotor_body *m, const vec *s, const vec *a, vec *e) {
	for (int j = 0; j < 4; j++) {
		const quadrotor_channel *c = &m->channels[j];
		e[j] = s[S_E + j] + c->blend * (c->gain * delayed(c, s, a, j) - s[S_E + j]);
	}
}

INLINE void act_vjp(const quadrotor_body *m, vec *ds, vec *da, const vec *de) {
	for (int j = 0; j < 4; j++) {
		const quadrotor_channel *c = &m->channels[j];
		ds[S_E + j] += de[j] * (1.0f - c->blend);
		delayed_vjp(c, ds, da, j, de[j] * (c->blend * c->gain));
	}
}

// rigid integrates the body by RK4 with k₂ = k₃, because v̇ does not depend on v.
INLINE void rigid(const quadrotor_body *m, const vec *e, triple *p, quaternion *q, triple *v) {
	float h = m->dt / 2, g = m->gravity * m->dt;
	quaternion half = turn((triple){e[1] * h, e[2] * h, e[3] * h}).q, q2 = times(*q, half), q4 = times(q2, half);
	triple z1 = z_axis(*q), z2 = z_axis(q2), z4 = z_axis(q4);
	vec c = e[0] * m->dt / 6.0f;
	p->x += m->dt * v->x + m->dt * (c * (z1.x + 2.0f * z2.x));
	p->y += m->dt * v->y + m->dt * (c * (z1.y + 2.0f * z2.y));
	p->z += m->dt * v->z + m->dt * (c * (z1.z + 2.0f * z2.z) - g / 2);
	v->x += c * (z1.x + 4.0f * z2.x + z4.x);
	v->y += c * (z1.y + 4.0f * z2.y + z4.y);
	v->z += c * (z1.z + 4.0f * z2.z + z4.z) - g;
	*q = q4;
}

static void body_step(const quadrotor_body *m, ptrdiff_t rows, const float *s, const float *a, const float *d,
	float *next) {
	vec at[STATE], u[COMMAND], tangent[TANGENT], to[STATE], r[9];
	for (ptrdiff_t i = 0; i < rows; i += VL, s += VL * STATE, a += VL * COMMAND, d += VL * TANGENT,
		next += VL * STATE) {
		ptrdiff_t count = rows - i < VL ? rows - i : VL;
		across(STATE, count, s, STATE, at);
		across(COMMAND, count, a, COMMAND, u);
		across(TANGENT, count, d, TANGENT, tangent);
		act(m, at, u, to + S_E);
		triple p = triple_at(at + S_P), v = triple_at(at + S_V);
		quaternion q = quaternion_at(at + S_Q);
		rotation(q, r);
		if (m->prior)
			rigid(m, to + S_E, &p, &q, &v);
		q = times(q, turn(triple_at(tangent + U_R)).q);
		triple dp = to_world(r, triple_at(tangent + U_P)), dv = to_world(r, triple_at(tangent + U_V));
		to[S_P] = p.x + dp.x, to[S_P + 1] = p.y + dp.y, to[S_P + 2] = p.z + dp.z;
		to[S_Q] = q.w, to[S_Q + 1] = q.x, to[S_Q + 2] = q.y, to[S_Q + 3] = q.z;
		to[S_V] = v.x + dv.x, to[S_V + 1] = v.y + dv.y, to[S_V + 2] = v.z + dv.z;
		for (int j = 0; j < 4; j++)
			to[S_D + j] = u[j];
		for (int j = S_D + 4; j < STATE; j++)
			to[j] = at[j - 4];
		along(STATE, count, to, next, STATE);
	}
}

// rigid_vjp turns dq, the gradient at the attitude of the step's end, into that at its beginning, and adds that at e.
INLINE void rigid_vjp(const quadrotor_body *m, const vec *e, const quaternion *at, const turning *half, triple dp,
	triple dv,
	quaternion *dq, vec *de) {
	float h = m->dt / 2;
	triple z1 = z_axis(at[0]), z2 = z_axis(at[1]), z4 = z_axis(at[2]);
	triple x = {m->dt * dp.x, m->dt * dp.y, m->dt * dp.z}, y = dv;
	vec c = e[0] * m->dt / 6.0f;
	vec dc = x.x * (z1.x + 2.0f * z2.x) + y.x * (z1.x + 4.0f * z2.x + z4.x);
	dc += x.y * (z1.y + 2.0f * z2.y) + y.y * (z1.y + 4.0f * z2.y + z4.y);
	dc += x.z * (z1.z + 2.0f * z2.z) + y.z * (z1.z + 4.0f * z2.z + z4.z);
	de[0] += dc * m->dt / 6.0f;
	z_axis_vjp(at[2], (triple){c * y.x, c * y.y, c * y.z}, dq);
	quaternion back = conjugate(half->q), dq4 = *dq, dq2 = times(dq4, back), dhalf = times(conjugate(at[1]), dq4);
	z_axis_vjp(at[1], (triple){c * (2.0f * x.x + 4.0f * y.x), c * (2.0f * x.y + 4.0f * y.y),
		c * (2.0f * x.z + 4.0f * y.z)}, &dq2);
	quaternion dq1 = times(dq2, back), other = times(conjugate(at[0]), dq2);
	z_axis_vjp(at[0], (triple){c * (x.x + y.x), c * (x.y + y.y), c * (x.z + y.z)}, &dq1);
	dhalf.w += other.w, dhalf.x += other.x, dhalf.y += other.y, dhalf.z += other.z;
	triple dw = turn_vjp(half, dhalf);
	de[1] += dw.x * h, de[2] += dw.y * h, de[3] += dw.z * h;
	*dq = dq1;
}

// step_vjp is the way back of one vector of robots: g is the gradient of the next state.
INLINE void step_vjp(const quadrotor_body *m, const vec *at, const vec *u, const vec *tangent, const vec *g, vec *ds,
	vec *da, vec *dd) {
	vec e[4], de[4], r[9], dr[9] = {{0}};
	quaternion q = quaternion_at(at + S_Q), q4[3] = {q, q, q}, dq = {{0}, {0}, {0}, {0}};
	triple gp = triple_at(g + S_P), gv = triple_at(g + S_V);
	act(m, at, u, e);
	outer(gp, triple_at(tangent + U_P), dr);
	outer(gv, triple_at(tangent + U_V), dr);
	rotation_vjp(q, dr, &dq);
	rotation(q, r);
	triple_add(dd + U_P, to_body(r, gp));
	triple_add(dd + U_V, to_body(r, gv));
	triple_add(ds + S_P, gp);
	triple_add(ds + S_V, gv);
	for (int j = 0; j < 4; j++)
		de[j] = g[S_E + j];
	turning half = {0}, residual = turn(triple_at(tangent + U_R));
	if (m->prior) {
		float h = m->dt / 2;
		half = turn((triple){e[1] * h, e[2] * h, e[3] * h});
		q4[1] = times(q, half.q);
		q4[2] = times(q4[1], half.q);
	}
	quaternion dend = quaternion_at(g + S_Q), dq4 = times(dend, conjugate(residual.q));
	triple_add(dd + U_R, turn_vjp(&residual, times(conjugate(q4[2]), dend)));
	if (m->prior) {
		rigid_vjp(m, e, q4, &half, gp, gv, &dq4, de);
		triple_add(ds + S_V, (triple){m->dt * gp.x, m->dt * gp.y, m->dt * gp.z});
	}
	quaternion_add(ds + S_Q, dq);
	quaternion_add(ds + S_Q, dq4);
	act_vjp(m, ds, da, de);
	for (int j = S_D; j < STATE - 4; j++)
		ds[j] += g[j + 4];
	for (int j = 0; j < 4; j++)
		da[j] += g[S_D + j];
}

static void body_step_vjp(const quadrotor_body *m, ptrdiff_t rows, const float *s, const float *a, const float *d,
	const float *dnext,
	float *ds, float *da, float *dd) {
	vec at[STATE], u[COMMAND], tangent[TANGENT], g[STATE], to_s[STATE], to_a[COMMAND] = {{0}}, to_d[TANGENT];
	for (ptrdiff_t i = 0; i < rows; i += VL) {
		ptrdiff_t count = rows - i < VL ? rows - i : VL;
		across(STATE, count, s + i * STATE, STATE, at);
		across(COMMAND, count, a + i * COMMAND, COMMAND, u);
		across(TANGENT, count, d + i * TANGENT, TANGENT, tangent);
		across(STATE, count, dnext + i * STATE, STATE, g);
		across(STATE, count, ds + i * STATE, STATE, to_s);
		across(TANGENT, count, dd + i * TANGENT, TANGENT, to_d);
		if (da)
			across(COMMAND, count, da + i * COMMAND, COMMAND, to_a);
		step_vjp(m, at, u, tangent, g, to_s, to_a, to_d);
		along(STATE, count, to_s, ds + i * STATE, STATE);
		along(TANGENT, count, to_d, dd + i * TANGENT, TANGENT);
		if (da)
			along(COMMAND, count, to_a, da + i * COMMAND, COMMAND);
	}
}

static void body_inputs(const quadrotor_body *m, ptrdiff_t rows, const float *s, const float *a, float *x) {
	vec at[STATE], u[COMMAND], to[INPUTS], r[9];
	for (int j = 0; j < INPUTS; j++)
		to[j] = (vec){0};
	for (ptrdiff_t i = 0; i < rows; i += VL, s += VL * STATE, a += VL * COMMAND, x += VL * INPUTS) {
		ptrdiff_t count = rows - i < VL ? rows - i : VL;
		across(STATE, count, s, STATE, at);
		across(COMMAND, count, a, COMMAND, u);
		rotation(quaternion_at(at + S_Q), r);
		triple v = to_body(r, triple_at(at + S_V));
		to[X_V] = v.x, to[X_V + 1] = v.y, to[X_V + 2] = v.z;
		for (int j = 0; j < 3; j++) {
			to[X_P + j] = at[S_P + j];
			to[X_R + 6 + j] = r[6 + j];
		}
		act(m, at, u, to + X_E);
		for (int j = 0; j < 4; j++) {
			to[X_A + j] = u[j];
			to[X_LAST + j] = at[S_D + j];
		}
		along(INPUTS, count, to, x, INPUTS);
	}
}

static void body_inputs_vjp(const quadrotor_body *m, ptrdiff_t rows, const float *s, const float *a, const float *dx,
	float *ds,
	float *da) {
	vec at[STATE], u[COMMAND], g[INPUTS], to_s[STATE], to_a[COMMAND] = {{0}}, r[9];
	for (ptrdiff_t i = 0; i < rows; i += VL) {
		ptrdiff_t count = rows - i < VL ? rows - i : VL;
		across(STATE, count, s + i * STATE, STATE, at);
		across(COMMAND, count, a + i * COMMAND, COMMAND, u);
		across(INPUTS, count, dx + i * INPUTS, INPUTS, g);
		across(STATE, count, ds + i * STATE, STATE, to_s);
		if (da)
			across(COMMAND, count, da + i * COMMAND, COMMAND, to_a);
		quaternion q = quaternion_at(at + S_Q), dq = {{0}, {0}, {0}, {0}};
		vec dr[9] = {{0}};
		for (int j = 6; j < 9; j++)
			dr[j] = g[X_R + j];
		outer(triple_at(at + S_V), triple_at(g + X_V), dr); // v_B = Rᵀ v_W
		rotation_vjp(q, dr, &dq);
		rotation(q, r);
		act_vjp(m, to_s, to_a, g + X_E);
		triple_add(to_s + S_P, triple_at(g + X_P));
		triple_add(to_s + S_V, to_world(r, triple_at(g + X_V)));
		quaternion_add(to_s + S_Q, dq);
		for (int j = 0; j < 4; j++) {
			to_s[S_D + j] += g[X_LAST + j];
			to_a[j] += g[X_A + j];
		}
		along(STATE, count, to_s, ds + i * STATE, STATE);
		if (da)
			along(COMMAND, count, to_a, da + i * COMMAND, COMMAND);
	}
}
