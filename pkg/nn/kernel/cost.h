// What a step of flight costs, and what a policy sees of it; see cost.go and observe.go. Included once per instruction set by
// isa_*.c, after flight.h.

// Places in a row of weights, and in one of the reference.
enum { W_POSITION, W_HEIGHT, W_VELOCITY, W_ACCELERATION, W_RATES, W_THRUST, W_CHANGE, W_ATTITUDE, W_HEADING, W_DELTA, WEIGHTS };
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

// bill is what the terms of a cost have in common.
typedef struct {
	vec delta, scale; // of the penalty, and of the gradient
	vec sum;
} bill;

// penalty adds w·ℓ_δ(|e|) to the sum and turns e [n] into its gradient times the scale. A term without weight, or without
// scale, is none, whatever its error: it may be infinite.
INLINE void penalty(bill *b, vec w, const int n, vec *e) {
	const vec none = {0};
	const ivec on = (w != 0.0f) & (b->scale != 0.0f);
	if (!any(on)) {
		for (int i = 0; i < n; i++)
			e[i] = none;
		return;
	}
	vec e2 = e[0] * e[0];
	for (int i = 1; i < n; i++)
		e2 += e[i] * e[i];
	vec size = root(e2);
	ivec small = e2 <= b->delta * b->delta;
	vec l = where(small, 0.5f * e2, b->delta * (size - 0.5f * b->delta));
	vec slope = where(small, none + 1.0f, b->delta / size);
	b->sum += where(on, w * l, none);
	for (int i = 0; i < n; i++)
		e[i] = where(on, e[i] * (slope * w * b->scale), none);
}

// priced is one vector of robots: what they did, and the gradients of it, to be added to.
typedef struct {
	vec s0[4], s1[MEASURED], a[COMMAND], last[COMMAND], ref[REFERENCE], w[WEIGHTS]; // of s0 the last of q, and v
	vec d0[4], d1[MEASURED], da[COMMAND], dlast[COMMAND];
} priced;

INLINE void price_motion(const vnd_price *k, bill *b, priced *x) {
	vec e[4], height = x->s1[S_P + 2] - x->ref[R_P + 2];
	for (int j = 0; j < 3; j++)
		e[j] = x->s1[S_P + j] - x->ref[R_P + j];
	penalty(b, x->w[W_POSITION], 3, e);
	triple_add(x->d1 + S_P, triple_at(e));
	penalty(b, x->w[W_HEIGHT], 1, &height);
	x->d1[S_P + 2] += height;
	for (int j = 0; j < 3; j++)
		e[j] = x->s1[S_V + j] - x->ref[R_V + j];
	penalty(b, x->w[W_VELOCITY], 3, e);
	triple_add(x->d1 + S_V, triple_at(e));
	for (int j = 0; j < 3; j++)
		e[j] = (x->s1[S_V + j] - x->s0[1 + j]) * k->per_dt - x->ref[R_A + j];
	penalty(b, x->w[W_ACCELERATION], 3, e);
	for (int j = 0; j < 3; j++) {
		x->d1[S_V + j] += k->per_dt * e[j];
		x->d0[1 + j] -= k->per_dt * e[j];
	}
}

INLINE void price_command(const vnd_price *k, bill *b, priced *x) {
	const float unit[COMMAND] = {1 / k->hover, 1, 1, 1};
	vec e[4] = {x->a[1], x->a[2], x->a[3]}, thrust = x->a[0] * unit[0] - 1.0f;
	penalty(b, x->w[W_RATES], 3, e);
	triple_add(x->da + 1, triple_at(e));
	penalty(b, x->w[W_THRUST], 1, &thrust);
	x->da[0] += thrust * unit[0];
	for (int j = 0; j < COMMAND; j++)
		e[j] = (x->a[j] - x->last[j]) * unit[j];
	penalty(b, x->w[W_CHANGE], 4, e);
	for (int j = 0; j < COMMAND; j++) {
		x->da[j] += e[j] * unit[j];
		x->dlast[j] -= e[j] * unit[j];
	}
}

// price_attitude: 2·vec(q_ref* ⊗ q)·sign(w), and x_B on the ground.
INLINE void price_attitude(bill *b, priced *x) {
	quaternion q = quaternion_at(x->s1 + S_Q), back = conjugate(quaternion_at(x->ref + R_Q)), off = times(back, q);
	const vec zero = {0};
	vec sign = where(off.w < 0.0f, zero - 2.0f, zero + 2.0f);
	vec e[4] = {sign * off.x, sign * off.y, sign * off.z};
	penalty(b, x->w[W_ATTITUDE], 3, e);
	quaternion d = {zero, sign * e[0], sign * e[1], sign * e[2]};
	quaternion_add(x->d1 + S_Q, times(conjugate(back), d));
	e[0] = 1.0f - 2.0f * (q.y * q.y + q.z * q.z) - x->ref[R_YAW];
	e[1] = 2.0f * (q.x * q.y + q.w * q.z) - x->ref[R_YAW + 1];
	penalty(b, x->w[W_HEADING], 2, e);
	vec heading[4] = {2.0f * q.z * e[1], 2.0f * q.y * e[1], 2.0f * q.x * e[1] - 4.0f * q.y * e[0], 2.0f * q.w * e[1] - 4.0f * q.z * e[0]};
	for (int j = 0; j < 4; j++) // an attitude that is not finite leaves a robot without scale alone
		x->d1[S_Q + j] += where(b->scale != 0.0f, heading[j], zero);
}

INLINE void price_all(const vnd_price *k, bill *b, priced *x) {
	b->delta = x->w[W_DELTA];
	price_motion(k, b, x);
	price_command(k, b, x);
	price_attitude(b, x);
}

INLINE void price_load(const vnd_price *k, ptrdiff_t count, const vnd_flown *f, ptrdiff_t i, priced *x) {
	across(4, count, f->s0 + i * k->state + S_V - 1, k->state, x->s0);
	across(MEASURED, count, f->s1 + i * k->state, k->state, x->s1);
	across(COMMAND, count, f->a + i * COMMAND, COMMAND, x->a);
	across(COMMAND, count, f->last + i * COMMAND, COMMAND, x->last);
	across(REFERENCE, count, f->ref + i * REFERENCE, REFERENCE, x->ref);
	across(WEIGHTS, count, f->weights + i * WEIGHTS, WEIGHTS, x->w);
}

static void price(const vnd_price *k, ptrdiff_t rows, const vnd_flown *f, float *restrict cost, float *restrict off) {
	priced x;
	for (ptrdiff_t i = 0; i < rows; i += VL) {
		ptrdiff_t count = rows - i < VL ? rows - i : VL;
		price_load(k, count, f, i, &x);
		float each[2][VL] __attribute__((aligned(64)));
		vec far = {0};
		for (int j = 0; j < 3; j++) {
			vec e = x.s1[S_P + j] - x.ref[R_P + j];
			far += e * e;
		}
		bill b = {.scale = (vec){0} + 1.0f};
		price_all(k, &b, &x);
		*(vec *)each[0] = b.sum;
		*(vec *)each[1] = far;
		for (ptrdiff_t r = 0; r < count; r++) {
			const float *s = f->s1 + (i + r) * k->state;
			float wild = 0; // not a number where one of the state is not finite
#pragma omp simd reduction(+ : wild)
			for (ptrdiff_t j = 0; j < k->state; j++)
				wild += s[j] - s[j];
			cost[i + r] = each[0][r];
			off[i + r] = each[1][r] + wild;
		}
	}
}

static void price_vjp(const vnd_price *k, ptrdiff_t rows, const vnd_flown *f, const float *scale, float *ds0, float *ds1, float *da,
	float *dlast) {
	priced x;
	for (ptrdiff_t i = 0; i < rows; i += VL) {
		ptrdiff_t count = rows - i < VL ? rows - i : VL;
		float each[VL] __attribute__((aligned(64)));
		for (ptrdiff_t r = 0; r < VL; r++)
			each[r] = r < count ? scale[i + r] : 0.0f;
		price_load(k, count, f, i, &x);
		across(4, count, ds0 + i * k->state + S_V - 1, k->state, x.d0);
		across(MEASURED, count, ds1 + i * k->state, k->state, x.d1);
		across(COMMAND, count, da + i * COMMAND, COMMAND, x.da);
		across(COMMAND, count, dlast + i * COMMAND, COMMAND, x.dlast);
		bill b = {.scale = *(vec *)each};
		price_all(k, &b, &x);
		along(4, count, x.d0, ds0 + i * k->state + S_V - 1, k->state);
		along(MEASURED, count, x.d1, ds1 + i * k->state, k->state);
		along(COMMAND, count, x.da, da + i * COMMAND, COMMAND);
		along(COMMAND, count, x.dlast, dlast + i * COMMAND, COMMAND);
	}
}

// observe walks robot by robot: it mostly copies.
static void observe(const vnd_view *o, ptrdiff_t rows, const float *restrict s, const float *restrict ref, const float *restrict seen,
	const float *restrict past, float *restrict x) {
	for (ptrdiff_t i = 0; i < rows; i++, s += o->state, ref += 3 * o->looks + 5, x += o->width) {
		float *restrict y = x;
		if (seen)
			memcpy(y, seen + i * o->place, o->place * sizeof(float));
		else
			for (ptrdiff_t k = 0; k < o->place; k += 3)
				for (int j = 0; j < 3; j++)
					y[k + j] = ref[k + j] - s[S_P + j];
		y += o->place;
		const float *restrict now = ref + 3 * o->looks;
		for (int j = 0; j < 3; j++) {
			y[j] = s[S_V + j];
			y[3 + j] = now[j] - s[S_V + j];
		}
		float w = s[S_Q], a = s[S_Q + 1], b = s[S_Q + 2], c = s[S_Q + 3], *restrict r = y + 6;
		r[0] = 1 - 2 * (b * b + c * c), r[1] = 2 * (a * b - w * c), r[2] = 2 * (a * c + w * b);
		r[3] = 2 * (a * b + w * c), r[4] = 1 - 2 * (a * a + c * c), r[5] = 2 * (b * c - w * a);
		r[6] = 2 * (a * c - w * b), r[7] = 2 * (b * c + w * a), r[8] = 1 - 2 * (a * a + b * b);
		y[15] = now[3], y[16] = now[4];
		y += 17;
		for (ptrdiff_t k = o->past - 1; k >= 0; k--, y += COMMAND)
			memcpy(y, past + (k * rows + i) * COMMAND, COMMAND * sizeof(float));
	}
}

static void observe_vjp(const vnd_view *o, ptrdiff_t rows, const float *restrict s, const float *restrict dx, float *restrict ds,
	float *restrict dseen, float *restrict dpast) {
	for (ptrdiff_t i = 0; i < rows; i++, s += o->state, dx += o->width, ds += o->state) {
		const float *restrict y = dx;
		if (dseen)
			for (ptrdiff_t k = 0; k < o->place; k++)
				dseen[i * o->place + k] += y[k];
		else
			for (ptrdiff_t k = 0; k < o->place; k += 3)
				for (int j = 0; j < 3; j++)
					ds[S_P + j] -= y[k + j];
		y += o->place;
		for (int j = 0; j < 3; j++)
			ds[S_V + j] += y[j] - y[3 + j];
		float w = s[S_Q], a = s[S_Q + 1], b = s[S_Q + 2], c = s[S_Q + 3];
		const float *restrict d = y + 6;
		ds[S_Q] += 2 * (c * (d[3] - d[1]) + b * (d[2] - d[6]) + a * (d[7] - d[5]));
		ds[S_Q + 1] += 2 * (b * (d[1] + d[3]) + c * (d[2] + d[6]) + w * (d[7] - d[5]) - 2 * a * (d[4] + d[8]));
		ds[S_Q + 2] += 2 * (a * (d[1] + d[3]) + c * (d[5] + d[7]) + w * (d[2] - d[6]) - 2 * b * (d[0] + d[8]));
		ds[S_Q + 3] += 2 * (a * (d[2] + d[6]) + b * (d[5] + d[7]) + w * (d[3] - d[1]) - 2 * c * (d[0] + d[4]));
		y += 17;
		for (ptrdiff_t k = o->past - 1; k >= 0; k--, y += COMMAND)
			for (int j = 0; j < COMMAND; j++)
				dpast[(k * rows + i) * COMMAND + j] += y[j];
	}
}

static void normalise(ptrdiff_t rows, ptrdiff_t n, const float *restrict mean, const float *restrict scale, float *restrict x) {
	for (ptrdiff_t i = 0; i < rows; i++, x += n)
		for (ptrdiff_t j = 0; j < n; j++)
			x[j] = (x[j] - mean[j]) * scale[j];
}

static void scale_rows(ptrdiff_t rows, ptrdiff_t n, const float *restrict scale, float *restrict x) {
	for (ptrdiff_t i = 0; i < rows; i++, x += n)
		for (ptrdiff_t j = 0; j < n; j++)
			x[j] *= scale[j];
}
