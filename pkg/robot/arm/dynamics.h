// The step of an arm, VL arms at a time, one to a lane: dynamics.go and system.go state what it computes. Where fewer
// arms than lanes remain, zeros fill the vector.

enum { STATE = 2 * JOINTS };

typedef struct {
	vec x, y, z;
} triple;

INLINE triple add(triple a, triple b) { return (triple){a.x + b.x, a.y + b.y, a.z + b.z}; }
INLINE triple sub(triple a, triple b) { return (triple){a.x - b.x, a.y - b.y, a.z - b.z}; }
INLINE triple scaled(triple a, vec k) { return (triple){a.x * k, a.y * k, a.z * k}; }
INLINE vec dot(triple a, triple b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
INLINE triple cross(triple a, triple b) {
	return (triple){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// by is r·x, of a matrix r[9], row-major, and a constant x.
INLINE triple by(const vec *r, const float *x) {
	return (triple){r[0] * x[0] + r[1] * x[1] + r[2] * x[2], r[3] * x[0] + r[4] * x[1] + r[5] * x[2],
		r[6] * x[0] + r[7] * x[1] + r[8] * x[2]};
}

// product replaces r by r·m.
INLINE void product(vec *r, const float *m) {
	for (int i = 0; i < 9; i += 3) {
		vec x = r[i], y = r[i + 1], z = r[i + 2];
		for (int j = 0; j < 3; j++)
			r[i + j] = x * m[j] + y * m[3 + j] + z * m[6 + j];
	}
}

typedef struct {
	triple ang, lin;
} spatial;

INLINE spatial plus(spatial a, spatial b) { return (spatial){add(a.ang, b.ang), add(a.lin, b.lin)}; }
INLINE spatial minus(spatial a, spatial b) { return (spatial){sub(a.ang, b.ang), sub(a.lin, b.lin)}; }
INLINE spatial times(spatial a, vec k) { return (spatial){scaled(a.ang, k), scaled(a.lin, k)}; }
INLINE vec power(spatial a, spatial b) { return dot(a.ang, b.ang) + dot(a.lin, b.lin); }
INLINE spatial moving(spatial a, spatial b) {
	return (spatial){cross(a.ang, b.ang), add(cross(a.ang, b.lin), cross(a.lin, b.ang))};
}
INLINE spatial moving_force(spatial a, spatial f) {
	return (spatial){add(cross(a.ang, f.ang), cross(a.lin, f.lin)), cross(a.ang, f.lin)};
}

// inertia has its second moment by xx, yy, zz, xy, xz, yz.
typedef struct {
	float mass;
	triple moment;
	vec second[6];
} inertia;

INLINE void gather(inertia *i, const inertia *j) {
	i->mass += j->mass;
	i->moment = add(i->moment, j->moment);
	for (int k = 0; k < 6; k++)
		i->second[k] += j->second[k];
}

INLINE spatial momentum(const inertia *i, spatial v) {
	const vec *s = i->second;
	triple w = {s[0] * v.ang.x + s[3] * v.ang.y + s[4] * v.ang.z, s[3] * v.ang.x + s[1] * v.ang.y + s[5] * v.ang.z,
		s[4] * v.ang.x + s[5] * v.ang.y + s[2] * v.ang.z};
	vec mass = (vec){0} + i->mass;
	return (spatial){add(w, cross(i->moment, v.lin)), sub(scaled(v.lin, mass), cross(i->moment, v.ang))};
}

// placed is a body's inertia in the world, its frame turned by r at p.
INLINE inertia placed(const arm_body *b, const vec *r, triple p) {
	triple c = add(p, by(r, b->at));
	vec m[9];
	memcpy(m, r, sizeof m);
	product(m, b->inertia);
	inertia i = {b->mass, scaled(c, (vec){0} + b->mass)};
	vec square = b->mass * dot(c, c);
	i.second[0] = m[0] * r[0] + m[1] * r[1] + m[2] * r[2] + square - c.x * i.moment.x;
	i.second[1] = m[3] * r[3] + m[4] * r[4] + m[5] * r[5] + square - c.y * i.moment.y;
	i.second[2] = m[6] * r[6] + m[7] * r[7] + m[8] * r[8] + square - c.z * i.moment.z;
	i.second[3] = m[0] * r[3] + m[1] * r[4] + m[2] * r[5] - c.x * i.moment.y;
	i.second[4] = m[0] * r[6] + m[1] * r[7] + m[2] * r[8] - c.x * i.moment.z;
	i.second[5] = m[3] * r[6] + m[4] * r[7] + m[5] * r[8] - c.y * i.moment.z;
	return i;
}

// sine_cosine is accurate to 1e-7 within ±1000 rad: quarter turns are taken off, the rest is a polynomial's.
INLINE void sine_cosine(vec x, vec *sine, vec *cosine) {
	const float shift = 12582912.0f;
	vec i = x * 0.636619772f + shift, k = i - shift;
	vec f = ((x - k * 1.5703125f) - k * 4.837512969970703e-4f) - k * 7.549789948768648e-8f, g = f * f;
	vec s = f + f * g * (-1.6666654611e-1f + g * (8.3321608736e-3f - 1.9515295891e-4f * g));
	vec c = 1.0f - 0.5f * g + g * g * (4.166664568e-2f + g * (2.443315711e-5f * g - 1.388731625e-3f));
	ivec quarter = (ivec)i, odd = (quarter & 1) != 0;
	vec a = where(odd, c, s), b = where(odd, s, c);
	*sine = where((quarter & 2) != 0, -a, a);
	*cosine = where(((quarter + 1) & 2) != 0, -b, b);
}

// coulomb is tanh of a rate over 0.1 rad/s, by the rational of loops.h in package kernel.
INLINE vec coulomb(vec v) {
	vec x = v / 0.1f;
	x = where(x > 8.0f, (vec){0} + 8.0f, x);
	x = where(x < -8.0f, (vec){0} - 8.0f, x);
	vec s = x * x;
	vec p = 1.0f + s * (1.344451517e-1f + s * (3.571618316e-3f + s * (2.18949932e-5f + s * 1.523087826e-8f)));
	vec q = 1.0f + s * (4.677784251e-1f + s * (2.616452043e-2f + s * (3.411325053e-4f + s * 8.522634372e-7f)));
	return x * p / q;
}

// dynamics is what Dynamics is, of VL arms.
typedef struct {
	spatial axis[JOINTS];
	inertia body[JOINTS], weight[JOINTS];
	vec factor[JOINTS][JOINTS]; // below the diagonal L of M = L D Lᵀ, and on it 1/D
} dynamics;

INLINE void place(const arm_chain *c, const vec *q, dynamics *d) {
	const vec one = (vec){0} + 1.0f, none = {0};
	vec r[9] = {one, none, none, none, one, none, none, none, one};
	triple at = {none, none, none};
	for (int i = 0; i < JOINTS; i++) {
		const arm_link *l = &c->link[i];
		at = add(at, by(r, l->at));
		product(r, l->turn);
		vec sine, cosine;
		sine_cosine(q[i], &sine, &cosine);
		for (int j = 0; j < 9; j += 3) {
			vec x = r[j], y = r[j + 1];
			r[j] = cosine * x + sine * y;
			r[j + 1] = cosine * y - sine * x;
		}
		triple z = {r[2], r[5], r[8]};
		d->axis[i] = (spatial){z, cross(at, z)};
		d->body[i] = placed(&l->body, r, at);
		d->weight[i] = c->compensated ? (inertia){0} : d->body[i];
	}
	if (c->payload.mass > 0) {
		inertia p = placed(&c->payload, r, at);
		gather(&d->body[JOINTS - 1], &p);
		gather(&d->weight[JOINTS - 1], &p);
	}
}

#define GRAVITY ((triple){{0}, {0}, (vec){0} - 9.81f})

INLINE spatial pull(const inertia *w) {
	return (spatial){cross(w->moment, GRAVITY), scaled(GRAVITY, (vec){0} + w->mass)};
}

// bias writes the torques of rates v without accelerations.
INLINE void bias(const arm_chain *c, const dynamics *d, const vec *v, vec *tau) {
	spatial v0 = {0}, a0 = {0}, f = {0}, force[JOINTS];
	for (int i = 0; i < JOINTS; i++) {
		spatial s = times(d->axis[i], v[i]);
		a0 = plus(a0, moving(v0, s));
		v0 = plus(v0, s);
		const inertia *b = &d->body[i];
		force[i] = minus(plus(momentum(b, a0), moving_force(v0, momentum(b, v0))), pull(&d->weight[i]));
	}
	for (int i = JOINTS - 1; i >= 0; i--) {
		const arm_link *l = &c->link[i];
		f = plus(f, force[i]);
		tau[i] = power(f, d->axis[i]) + l->damping * v[i] + l->friction * coulomb(v[i]);
	}
}

// factorise writes the factor of M.
INLINE void factorise(const arm_chain *c, dynamics *d) {
	inertia all = {0};
	for (int i = JOINTS - 1; i >= 0; i--) {
		gather(&all, &d->body[i]);
		spatial f = momentum(&all, d->axis[i]);
		for (int j = 0; j <= i; j++)
			d->factor[i][j] = power(f, d->axis[j]);
		d->factor[i][i] += c->link[i].armature;
	}
	for (int j = 0; j < JOINTS; j++) {
		vec scaled[JOINTS], pivot = d->factor[j][j];
		for (int k = 0; k < j; k++) {
			scaled[k] = d->factor[j][k] / d->factor[k][k];
			pivot -= d->factor[j][k] * scaled[k];
		}
		d->factor[j][j] = 1.0f / pivot;
		for (int i = j + 1; i < JOINTS; i++) {
			vec x = d->factor[i][j];
			for (int k = 0; k < j; k++)
				x -= d->factor[i][k] * scaled[k];
			d->factor[i][j] = x * d->factor[j][j];
		}
	}
}

// solve replaces x by M⁻¹x.
INLINE void solve(const dynamics *d, vec *x) {
	for (int i = 1; i < JOINTS; i++)
		for (int j = 0; j < i; j++)
			x[i] -= d->factor[i][j] * x[j];
	for (int i = JOINTS - 1; i >= 0; i--) {
		x[i] *= d->factor[i][i];
		for (int j = i + 1; j < JOINTS; j++)
			x[i] -= d->factor[j][i] * x[j];
	}
}

static void accelerate(const arm_chain *c, const vec *q, const vec *v, const vec *tau, dynamics *d, vec *a) {
	place(c, q, d);
	bias(c, d, v, a);
	for (int i = 0; i < JOINTS; i++)
		a[i] = tau[i] - a[i];
	factorise(c, d);
	solve(d, a);
}

// integrate takes one step of the integrator, from x to y.
INLINE void integrate(const arm_chain *c, const vec *x, const vec *tau, dynamics *d, vec *a, vec *y) {
	accelerate(c, x, x + JOINTS, tau, d, a);
	for (int j = 0; j < JOINTS; j++) {
		y[j] = x[j] + c->h * (x[JOINTS + j] + c->h / 2 * a[j]);
		y[JOINTS + j] = x[JOINTS + j] + c->h * a[j];
	}
}

// torques_vjp is TorquesVJP.
INLINE void torques_vjp(const arm_chain *c, const dynamics *d, const vec *v, const vec *a, const vec *lambda, vec *dq,
	vec *dv) {
	spatial vs[JOINTS + 1] = {0}, as[JOINTS + 1] = {0}, us[JOINTS + 1] = {0}; // those of link i at i + 1
	for (int i = 0; i < JOINTS; i++) {
		spatial s = d->axis[i];
		as[i + 1] = plus(as[i], plus(times(s, a[i]), moving(vs[i], times(s, v[i]))));
		vs[i + 1] = plus(vs[i], times(s, v[i]));
		us[i + 1] = plus(us[i], times(s, lambda[i]));
	}
	spatial gv = {0}, ga = {0}, gu = {0};
	triple gg = {0};
	for (int i = JOINTS - 1; i >= 0; i--) {
		const inertia *b = &d->body[i], *w = &d->weight[i];
		const arm_link *l = &c->link[i];
		spatial s = d->axis[i], u = us[i + 1], p = momentum(b, vs[i + 1]);
		gv = minus(plus(gv, momentum(b, moving(u, vs[i + 1]))), moving_force(u, p));
		ga = plus(ga, momentum(b, u));
		gu = minus(plus(gu, plus(momentum(b, as[i + 1]), moving_force(vs[i + 1], p))), pull(w));
		gg = sub(gg, momentum(w, u).lin);
		vec t = coulomb(v[i]);
		spatial sv = moving(s, vs[i]);
		dv[i] += power(gv, s) - power(ga, sv) + lambda[i] * (l->damping + l->friction * (1.0f - t * t) / 0.1f);
		dq[i] -= power(gv, sv) + power(ga, moving(s, as[i])) + power(ga, moving(sv, s)) * v[i] +
			power(gu, moving(s, us[i])) + dot(gg, cross(s.ang, GRAVITY));
		gv = plus(gv, moving_force(times(s, v[i]), ga));
	}
}

static void step(const arm_chain *c, ptrdiff_t rows, const float *s, const float *a, const float *d, float *next) {
	vec x[STATE], tau[JOINTS], tangent[STATE], acc[JOINTS];
	dynamics dyn;
	for (ptrdiff_t i = 0; i < rows; i += VL, s += VL * STATE, a += VL * JOINTS, d += VL * STATE, next += VL * STATE) {
		ptrdiff_t count = rows - i < VL ? rows - i : VL;
		across(STATE, count, s, STATE, x);
		across(JOINTS, count, a, JOINTS, tau);
		across(STATE, count, d, STATE, tangent);
		for (int k = 0; k < c->steps; k++)
			integrate(c, x, tau, &dyn, acc, x);
		for (int j = 0; j < STATE; j++)
			x[j] += tangent[j];
		along(STATE, count, x, next, STATE);
	}
}

// add_along adds what along would store.
INLINE void add_along(const int n, ptrdiff_t rows, const vec *from, float *x) {
	const float *y = (const float *)from;
	for (ptrdiff_t i = 0; i < rows; i++, x += n)
		for (int j = 0; j < n; j++)
			x[j] += y[j * VL + i];
}

static void step_vjp(const arm_chain *c, ptrdiff_t rows, const float *s, const float *a, const float *dnext, float *ds,
	float *da, float *dd) {
	vec x[c->steps + 1][STATE], tau[JOINTS], acc[JOINTS], g[STATE], gtau[JOINTS], lambda[JOINTS];
	dynamics dyn;
	for (ptrdiff_t i = 0; i < rows; i += VL) {
		ptrdiff_t count = rows - i < VL ? rows - i : VL;
		across(STATE, count, s + i * STATE, STATE, x[0]);
		across(JOINTS, count, a + i * JOINTS, JOINTS, tau);
		across(STATE, count, dnext + i * STATE, STATE, g);
		add_along(STATE, count, g, dd + i * STATE);
		memset(gtau, 0, sizeof gtau);
		for (int k = 0; k < c->steps; k++)
			integrate(c, x[k], tau, &dyn, acc, x[k + 1]);
		for (int k = c->steps - 1; k >= 0; k--) {
			if (c->steps > 1) // else integrate has left it there
				accelerate(c, x[k], x[k] + JOINTS, tau, &dyn, acc);
			for (int j = 0; j < JOINTS; j++) {
				lambda[j] = c->h * (g[JOINTS + j] + c->h / 2 * g[j]);
				g[JOINTS + j] += c->h * g[j];
			}
			solve(&dyn, lambda);
			for (int j = 0; j < JOINTS; j++) {
				gtau[j] += lambda[j];
				lambda[j] = -lambda[j];
			}
			torques_vjp(c, &dyn, x[k] + JOINTS, acc, lambda, g, g + JOINTS);
		}
		add_along(STATE, count, g, ds + i * STATE);
		if (da)
			add_along(JOINTS, count, gtau, da + i * JOINTS);
	}
}
