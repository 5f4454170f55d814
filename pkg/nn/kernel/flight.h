// Flight, VL robots at a time, one to a lane: what flight.go says, in float32. Included once per instruction set by isa_*.c,
// after gemm.h. Rows that are left over fill a vector with zeros; a lane's numbers do not depend on what flies beside it.

typedef int32_t ivec __attribute__((vector_size(4 * VL)));

// where takes a in the lanes of yes, and b in the others, whatever it holds there.
INLINE vec where(ivec yes, vec a, vec b) { return (vec)((yes & (ivec)a) | (~yes & (ivec)b)); }

INLINE int any(ivec yes) {
	int32_t lane[VL] __attribute__((aligned(64))), some = 0;
	*(ivec *)lane = yes;
	for (int i = 0; i < VL; i++)
		some |= lane[i];
	return some;
}

// across loads n ≥ 4 numbers of `rows` ≤ VL rows, ld apart: to[j] takes number j of every row. The last four numbers
// overlap those before them where n is no multiple of four.
INLINE void across(const ptrdiff_t n, ptrdiff_t rows, const float *x, ptrdiff_t ld, vec *to) {
	float *y = (float *)to;
	ptrdiff_t i = 0;
	for (; i + 4 <= rows; i += 4, x += 4 * ld)
		for (ptrdiff_t j = 0; j < n; j += 4) {
			ptrdiff_t from = j + 4 <= n ? j : n - 4;
			transpose4(x + from, ld, y + from * VL + i, VL);
		}
	for (; i < VL; i++, x += ld)
		for (ptrdiff_t j = 0; j < n; j++)
			y[j * VL + i] = i < rows ? x[j] : 0.0f;
}

// along is the inverse of across: it stores.
INLINE void along(const ptrdiff_t n, ptrdiff_t rows, const vec *from, float *x, ptrdiff_t ld) {
	const float *y = (const float *)from;
	ptrdiff_t i = 0;
	for (; i + 4 <= rows; i += 4, x += 4 * ld)
		for (ptrdiff_t j = 0; j < n; j += 4) {
			ptrdiff_t to = j + 4 <= n ? j : n - 4;
			transpose4(y + to * VL + i, VL, x + to, ld);
		}
	for (; i < rows; i++, x += ld)
		for (ptrdiff_t j = 0; j < n; j++)
			x[j] = y[j * VL + i];
}

typedef struct {
	vec x, y, z;
} triple;

// quaternion: gradients with respect to one live in R⁴.
typedef struct {
	vec w, x, y, z;
} quaternion;

INLINE triple triple_at(const vec *x) { return (triple){x[0], x[1], x[2]}; }
INLINE quaternion quaternion_at(const vec *x) { return (quaternion){x[0], x[1], x[2], x[3]}; }

INLINE void triple_add(vec *x, triple d) {
	x[0] += d.x;
	x[1] += d.y;
	x[2] += d.z;
}

INLINE void quaternion_add(vec *x, quaternion d) {
	x[0] += d.w;
	x[1] += d.x;
	x[2] += d.y;
	x[3] += d.z;
}

INLINE quaternion conjugate(quaternion a) { return (quaternion){a.w, -a.x, -a.y, -a.z}; }

INLINE quaternion times(quaternion a, quaternion b) {
	return (quaternion){
		a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
		a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
		a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
		a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
	};
}

INLINE triple z_axis(quaternion a) {
	return (triple){2.0f * (a.x * a.z + a.w * a.y), 2.0f * (a.y * a.z - a.w * a.x), 1.0f - 2.0f * (a.x * a.x + a.y * a.y)};
}

INLINE void z_axis_vjp(quaternion a, triple d, quaternion *da) {
	da->w += 2.0f * (d.x * a.y - d.y * a.x);
	da->x += 2.0f * (d.x * a.z - d.y * a.w) - 4.0f * d.z * a.x;
	da->y += 2.0f * (d.x * a.w + d.y * a.z) - 4.0f * d.z * a.y;
	da->z += 2.0f * (d.x * a.x + d.y * a.y);
}

// rotation writes R(a) [9], row by row.
INLINE void rotation(quaternion a, vec *r) {
	vec w = a.w, x = a.x, y = a.y, z = a.z;
	r[0] = 1.0f - 2.0f * (y * y + z * z), r[1] = 2.0f * (x * y - w * z), r[2] = 2.0f * (x * z + w * y);
	r[3] = 2.0f * (x * y + w * z), r[4] = 1.0f - 2.0f * (x * x + z * z), r[5] = 2.0f * (y * z - w * x);
	r[6] = 2.0f * (x * z - w * y), r[7] = 2.0f * (y * z + w * x), r[8] = 1.0f - 2.0f * (x * x + y * y);
}

INLINE void rotation_vjp(quaternion a, const vec *d, quaternion *da) {
	vec w = a.w, x = a.x, y = a.y, z = a.z;
	da->w += 2.0f * (z * (d[3] - d[1]) + y * (d[2] - d[6]) + x * (d[7] - d[5]));
	da->x += 2.0f * (y * (d[1] + d[3]) + z * (d[2] + d[6]) + w * (d[7] - d[5]) - 2.0f * x * (d[4] + d[8]));
	da->y += 2.0f * (x * (d[1] + d[3]) + z * (d[5] + d[7]) + w * (d[2] - d[6]) - 2.0f * y * (d[0] + d[8]));
	da->z += 2.0f * (x * (d[2] + d[6]) + y * (d[5] + d[7]) + w * (d[3] - d[1]) - 2.0f * z * (d[0] + d[4]));
}

INLINE triple to_world(const vec *r, triple u) {
	return (triple){r[0] * u.x + r[1] * u.y + r[2] * u.z, r[3] * u.x + r[4] * u.y + r[5] * u.z, r[6] * u.x + r[7] * u.y + r[8] * u.z};
}

INLINE triple to_body(const vec *r, triple u) {
	return (triple){r[0] * u.x + r[3] * u.y + r[6] * u.z, r[1] * u.x + r[4] * u.y + r[7] * u.z, r[2] * u.x + r[5] * u.y + r[8] * u.z};
}

// outer adds the products of u and v to d [9].
INLINE void outer(triple u, triple v, vec *d) {
	d[0] += u.x * v.x, d[1] += u.x * v.y, d[2] += u.x * v.z;
	d[3] += u.y * v.x, d[4] += u.y * v.y, d[5] += u.y * v.z;
	d[6] += u.z * v.x, d[7] += u.z * v.y, d[8] += u.z * v.z;
}

// half_turn is cos(θ/2), sin(θ/2)/θ and the derivative of the latter over θ.
typedef struct {
	vec c, s, k;
} half_turn;

// wide_turns computes the lanes that the series does not reach, which no robot meets between two steps.
static __attribute__((noinline)) void wide_turns(const float *t, float *c, float *s, float *k) {
	for (int i = 0; i < VL; i++)
		if (!(t[i] < 0.25f)) {
			double th = sqrt(t[i]), sine = sin(th / 2), cosine = cos(th / 2);
			c[i] = (float)cosine;
			s[i] = (float)(sine / th);
			k[i] = (float)((cosine / 2 - sine / th) / (th * th));
		}
}

// half_turn_of takes t = θ²: by series below 0.25 rad².
INLINE half_turn half_turn_of(vec t) {
	half_turn h = {
		1.0f - t * (1.0f / 8) * (1.0f - t * (1.0f / 48) * (1.0f - t * (1.0f / 120) * (1.0f - t * (1.0f / 224)))),
		0.5f - t * (1.0f / 48) * (1.0f - t * (1.0f / 80) * (1.0f - t * (1.0f / 168))),
		-1.0f / 24 + t * (1.0f / 960) * (1.0f - t * (1.0f / 112) * (1.0f - t * (1.0f / 216))),
	};
	if (any(~(t < 0.25f))) { // a NaN too
		vec at[4] = {t, h.c, h.s, h.k};
		wide_turns((const float *)at, (float *)(at + 1), (float *)(at + 2), (float *)(at + 3));
		h = (half_turn){at[1], at[2], at[3]};
	}
	return h;
}

// turning is the quaternion of a rotation vector, with what its way back needs.
typedef struct {
	triple v;
	half_turn half;
	quaternion q;
} turning;

INLINE turning turn(triple v) {
	turning t = {.v = v, .half = half_turn_of(v.x * v.x + v.y * v.y + v.z * v.z)};
	t.q = (quaternion){t.half.c, t.half.s * v.x, t.half.s * v.y, t.half.s * v.z};
	return t;
}

// turn_vjp: dw/dv = −s/2 v, d(s v)/dv = s I + k v vᵀ.
INLINE triple turn_vjp(const turning *t, quaternion d) {
	triple v = t->v;
	vec s = t->half.s, f = -0.5f * s * d.w + t->half.k * (v.x * d.x + v.y * d.y + v.z * d.z);
	return (triple){s * d.x + f * v.x, s * d.y + f * v.y, s * d.z + f * v.z};
}

// Places in a row of a state, of the inputs, and of a tangent.
enum { S_P = 0, S_Q = 3, S_V = 7, S_E = 10, S_D = 14, STATE = S_D + 4 * 4, COMMAND = 4 };
enum { X_P = 0, X_V = 3, X_R = 6, X_E = 15, X_A = 22, X_LAST = 26, INPUTS = 30 };
enum { U_P = 0, U_V = 3, U_R = 6, TANGENT = 9 };

// delayed is number j of the command that acts now.
INLINE vec delayed(const vnd_channel *c, const vec *s, const vec *a, int j) {
	vec y = c->tap > 0 ? s[S_D + 4 * (c->tap - 1) + j] : a[j];
	return c->elder == 0.0f ? y : y + c->elder * (s[S_D + 4 * c->tap + j] - y);
}

INLINE void delayed_vjp(const vnd_channel *c, vec *ds, vec *da, int j, vec d) {
	if (c->tap > 0)
		ds[S_D + 4 * (c->tap - 1) + j] += d * (1.0f - c->elder);
	else
		da[j] += d * (1.0f - c->elder);
	ds[S_D + 4 * c->tap + j] += d * c->elder;
}

// act is what the actuator does over this step, e = (thrust, rates).
INLINE void act(const vnd_body *m, const vec *s, const vec *a, vec *e) {
	for (int j = 0; j < 4; j++) {
		const vnd_channel *c = j == 0 ? &m->thrust : &m->rate;
		e[j] = s[S_E + j] + c->blend * (c->gain * delayed(c, s, a, j) - s[S_E + j]);
	}
}

INLINE void act_vjp(const vnd_body *m, vec *ds, vec *da, const vec *de) {
	for (int j = 0; j < 4; j++) {
		const vnd_channel *c = j == 0 ? &m->thrust : &m->rate;
		ds[S_E + j] += de[j] * (1.0f - c->blend);
		delayed_vjp(c, ds, da, j, de[j] * (c->blend * c->gain));
	}
}

// rigid integrates the body by RK4 with k₂ = k₃, because v̇ does not depend on v.
INLINE void rigid(const vnd_body *m, const vec *e, triple *p, quaternion *q, triple *v) {
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

static void body_step(const vnd_body *m, ptrdiff_t rows, const float *s, const float *a, const float *d, float *next) {
	vec at[STATE], u[COMMAND], tangent[TANGENT], to[STATE], r[9];
	for (ptrdiff_t i = 0; i < rows; i += VL, s += VL * STATE, a += VL * COMMAND, d += VL * TANGENT, next += VL * STATE) {
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
INLINE void rigid_vjp(const vnd_body *m, const vec *e, const quaternion *at, const turning *half, triple dp, triple dv,
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
	z_axis_vjp(at[1], (triple){c * (2.0f * x.x + 4.0f * y.x), c * (2.0f * x.y + 4.0f * y.y), c * (2.0f * x.z + 4.0f * y.z)}, &dq2);
	quaternion dq1 = times(dq2, back), other = times(conjugate(at[0]), dq2);
	z_axis_vjp(at[0], (triple){c * (x.x + y.x), c * (x.y + y.y), c * (x.z + y.z)}, &dq1);
	dhalf.w += other.w, dhalf.x += other.x, dhalf.y += other.y, dhalf.z += other.z;
	triple dw = turn_vjp(half, dhalf);
	de[1] += dw.x * h, de[2] += dw.y * h, de[3] += dw.z * h;
	*dq = dq1;
}

// step_vjp is the way back of one vector of robots: g is the gradient of the next state.
INLINE void step_vjp(const vnd_body *m, const vec *at, const vec *u, const vec *tangent, const vec *g, vec *ds, vec *da, vec *dd) {
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

static void body_step_vjp(const vnd_body *m, ptrdiff_t rows, const float *s, const float *a, const float *d, const float *dnext,
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

static void body_inputs(const vnd_body *m, ptrdiff_t rows, const float *s, const float *a, float *x) {
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

static void body_inputs_vjp(const vnd_body *m, ptrdiff_t rows, const float *s, const float *a, const float *dx, float *ds,
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
