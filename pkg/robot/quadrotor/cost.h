// What a step costs, VL robots at a time, see costs.go.

// Places in a row of weights, and in one of the reference.
enum { W_POSITION, W_HEIGHT, W_VELOCITY, W_ACCELERATION, W_RATES, W_THRUST, W_CHANGE, W_ATTITUDE, W_HEADING, W_DELTA,
	WEIGHTS };
enum { R_P = 0, R_V = 3, R_A = 6, R_Q = 9, R_YAW = 13, REFERENCE = 15 };

// MEASURED numbers of a state are seen by a cost: p, q, v.
enum { MEASURED = S_E };

// root is sqrt1 for a vector; of what is infinite or not a number it is that.
INLINE vec root(vec x) {
	vec y = (vec)(0x5f375a86 - ((ivec)x >> 1));
	for (int i = 0; i < 3; i++)
		y = y * (1.5f - (0.5f * x * y) * y);
	return where(x < __builtin_inff(), x * y, x);
}

// total is what the terms of a cost share, and their sum.
typedef struct {
	vec delta, scale; // of the Huber loss, and of the gradient
	vec sum;
} total;

// cost_term adds w·ℓ_δ(|e|) to the sum and turns e [n] into its gradient times the scale. A term without weight, or
// without scale, is none, whatever its error: it may be infinite.
INLINE void cost_term(total *t, vec w, const int n, vec *e) {
	const vec none = {0};
	const ivec on = (w != 0.0f) & (t->scale != 0.0f);
	if (!any(on)) {
		for (int i = 0; i < n; i++)
			e[i] = none;
		return;
	}
	vec e2 = e[0] * e[0];
	for (int i = 1; i < n; i++)
		e2 += e[i] * e[i];
	vec size = root(e2);
	ivec small = e2 <= t->delta * t->delta;
	vec l = where(small, 0.5f * e2, t->delta * (size - 0.5f * t->delta));
	vec slope = where(small, none + 1.0f, t->delta / size);
	t->sum += where(on, w * l, none);
	for (int i = 0; i < n; i++)
		e[i] = where(on, e[i] * (slope * w * t->scale), none);
}

// transition is one vector of robots: what they did, and the gradients of it, to be added to.
typedef struct {
	vec s0[4], s1[MEASURED], a[COMMAND], last[COMMAND], ref[REFERENCE], w[WEIGHTS]; // of s0 the last of q, and v
	vec d0[4], d1[MEASURED], da[COMMAND], dlast[COMMAND];
} transition;

INLINE void cost_motion(const quadrotor_cost *k, total *t, transition *x) {
	vec e[4], height = x->s1[S_P + 2] - x->ref[R_P + 2];
	for (int j = 0; j < 3; j++)
		e[j] = x->s1[S_P + j] - x->ref[R_P + j];
	cost_term(t, x->w[W_POSITION], 3, e);
	triple_add(x->d1 + S_P, triple_at(e));
	cost_term(t, x->w[W_HEIGHT], 1, &height);
	x->d1[S_P + 2] += height;
	for (int j = 0; j < 3; j++)
		e[j] = x->s1[S_V + j] - x->ref[R_V + j];
	cost_term(t, x->w[W_VELOCITY], 3, e);
	triple_add(x->d1 + S_V, triple_at(e));
	for (int j = 0; j < 3; j++)
		e[j] = (x->s1[S_V + j] - x->s0[1 + j]) * k->per_dt - x->ref[R_A + j];
	cost_term(t, x->w[W_ACCELERATION], 3, e);
	for (int j = 0; j < 3; j++) {
		x->d1[S_V + j] += k->per_dt * e[j];
		x->d0[1 + j] -= k->per_dt * e[j];
	}
}

INLINE void cost_command(const quadrotor_cost *k, total *t, transition *x) {
	const float unit[COMMAND] = {1 / k->hover, 1, 1, 1};
	vec e[4] = {x->a[1], x->a[2], x->a[3]}, thrust = x->a[0] * unit[0] - 1.0f;
	cost_term(t, x->w[W_RATES], 3, e);
	triple_add(x->da + 1, triple_at(e));
	cost_term(t, x->w[W_THRUST], 1, &thrust);
	x->da[0] += thrust * unit[0];
	for (int j = 0; j < COMMAND; j++)
		e[j] = (x->a[j] - x->last[j]) * unit[j];
	cost_term(t, x->w[W_CHANGE], 4, e);
	for (int j = 0; j < COMMAND; j++) {
		x->da[j] += e[j] * unit[j];
		x->dlast[j] -= e[j] * unit[j];
	}
}

// cost_attitude: 2·vec(q_ref* ⊗ q)·sign(w), and x_B on the ground.
INLINE void cost_attitude(total *t, transition *x) {
	quaternion q = quaternion_at(x->s1 + S_Q), back = conjugate(quaternion_at(x->ref + R_Q)), off = times(back, q);
	const vec zero = {0};
	vec sign = where(off.w < 0.0f, zero - 2.0f, zero + 2.0f);
	vec e[4] = {sign * off.x, sign * off.y, sign * off.z};
	cost_term(t, x->w[W_ATTITUDE], 3, e);
	quaternion d = {zero, sign * e[0], sign * e[1], sign * e[2]};
	quaternion_add(x->d1 + S_Q, times(conjugate(back), d));
	e[0] = 1.0f - 2.0f * (q.y * q.y + q.z * q.z) - x->ref[R_YAW];
	e[1] = 2.0f * (q.x * q.y + q.w * q.z) - x->ref[R_YAW + 1];
	cost_term(t, x->w[W_HEADING], 2, e);
	vec heading[4] = {2.0f * q.z * e[1], 2.0f * q.y * e[1], 2.0f * q.x * e[1] - 4.0f * q.y * e[0],
		2.0f * q.w * e[1] - 4.0f * q.z * e[0]};
	for (int j = 0; j < 4; j++) // an attitude that is not finite leaves a robot without scale alone
		x->d1[S_Q + j] += where(t->scale != 0.0f, heading[j], zero);
}

INLINE void cost_all(const quadrotor_cost *k, total *t, transition *x) {
	t->delta = x->w[W_DELTA];
	cost_motion(k, t, x);
	cost_command(k, t, x);
	cost_attitude(t, x);
}

INLINE void cost_load(const quadrotor_cost *k, ptrdiff_t count, const quadrotor_transition *f, ptrdiff_t i,
	transition *x) {
	across(4, count, f->s0 + i * k->state + S_V - 1, k->state, x->s0);
	across(MEASURED, count, f->s1 + i * k->state, k->state, x->s1);
	across(COMMAND, count, f->a + i * COMMAND, COMMAND, x->a);
	across(COMMAND, count, f->last + i * COMMAND, COMMAND, x->last);
	across(REFERENCE, count, f->ref + i * REFERENCE, REFERENCE, x->ref);
	across(WEIGHTS, count, f->weights + i * WEIGHTS, WEIGHTS, x->w);
}

static void cost(const quadrotor_cost *k, ptrdiff_t rows, const quadrotor_transition *f, float *restrict sum,
	float *restrict off) {
	transition x;
	for (ptrdiff_t i = 0; i < rows; i += VL) {
		ptrdiff_t count = rows - i < VL ? rows - i : VL;
		cost_load(k, count, f, i, &x);
		float each[2][VL] __attribute__((aligned(64)));
		vec far = {0};
		for (int j = 0; j < 3; j++) {
			vec e = x.s1[S_P + j] - x.ref[R_P + j];
			far += e * e;
		}
		total t = {.scale = (vec){0} + 1.0f};
		cost_all(k, &t, &x);
		*(vec *)each[0] = t.sum;
		*(vec *)each[1] = far;
		for (ptrdiff_t r = 0; r < count; r++) {
			const float *s = f->s1 + (i + r) * k->state;
			float wild = 0; // not a number where one of the state is not finite
#pragma omp simd reduction(+ : wild)
			for (ptrdiff_t j = 0; j < k->state; j++)
				wild += s[j] * 0;
			sum[i + r] = each[0][r];
			off[i + r] = each[1][r] + wild;
		}
	}
}

static void cost_vjp(const quadrotor_cost *k, ptrdiff_t rows, const quadrotor_transition *f, const float *scale,
	float *ds0, float *ds1, float *da,
	float *dlast) {
	transition x;
	for (ptrdiff_t i = 0; i < rows; i += VL) {
		ptrdiff_t count = rows - i < VL ? rows - i : VL;
		float each[VL] __attribute__((aligned(64)));
		for (ptrdiff_t r = 0; r < VL; r++)
			each[r] = r < count ? scale[i + r] : 0.0f;
		cost_load(k, count, f, i, &x);
		across(4, count, ds0 + i * k->state + S_V - 1, k->state, x.d0);
		across(MEASURED, count, ds1 + i * k->state, k->state, x.d1);
		across(COMMAND, count, da + i * COMMAND, COMMAND, x.da);
		across(COMMAND, count, dlast + i * COMMAND, COMMAND, x.dlast);
		total t = {.scale = *(vec *)each};
		cost_all(k, &t, &x);
		along(4, count, x.d0, ds0 + i * k->state + S_V - 1, k->state);
		along(MEASURED, count, x.d1, ds1 + i * k->state, k->state);
		along(COMMAND, count, x.da, da + i * COMMAND, COMMAND);
		along(COMMAND, count, x.dlast, dlast + i * COMMAND, COMMAND);
	}
}
