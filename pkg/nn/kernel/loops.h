// The element-wise loops: what needs an exponential in vectors, the rest plain C for the compiler to vectorise.
//
// No loop swallows a NaN: a bound of what is not a number is that. (Without -fno-thread-jumps gcc makes a path of its
// own, under a mask, of every side of a clamp.)

// most and least bound every lane of x.
#if defined(VND_AVX512) || defined(VND_AVX512BF16)
INLINE vec most(vec x, float bound) { return (vec)_mm512_min_ps(_mm512_set1_ps(bound), (__m512)x); }
INLINE vec least(vec x, float bound) { return (vec)_mm512_max_ps(_mm512_set1_ps(bound), (__m512)x); }
#elif defined(VND_AVX2)
INLINE vec most(vec x, float bound) { return (vec)_mm256_min_ps(_mm256_set1_ps(bound), (__m256)x); }
INLINE vec least(vec x, float bound) { return (vec)_mm256_max_ps(_mm256_set1_ps(bound), (__m256)x); }
#else
INLINE vec choose(ivec which, vec a, vec b) { return (vec)((which & (ivec)a) | (~which & (ivec)b)); }
INLINE vec most(vec x, float bound) { return choose(x > bound, (vec){0} + bound, x); }
INLINE vec least(vec x, float bound) { return choose(x < bound, (vec){0} + bound, x); }
#endif

// inverse is 1/x of finite numbers, to 1 ulp. A division of 16 numbers takes as long as 16 multiplications.
INLINE vec inverse(vec x) {
#if defined(VND_AVX512) || defined(VND_AVX512BF16)
	vec y = (vec)_mm512_rcp14_ps((__m512)x);
	return y + y * (1.0f - x * y);
#else
	return 1.0f / x;
#endif
}

// load takes the first `left` of VL numbers, zeros past them; store puts them.
INLINE vec load(const float *x, ptrdiff_t left) {
	if (left >= VL)
		return *(const vec_u *)x;
	float all[VL] = {0};
	for (ptrdiff_t i = 0; i < left; i++)
		all[i] = x[i];
	return *(const vec_u *)all;
}

INLINE void store(float *to, vec x, ptrdiff_t left) {
	if (left >= VL) {
		*(vec_u *)to = x;
		return;
	}
	for (ptrdiff_t i = 0; i < left; i++)
		to[i] = x[i];
}

// exp_clamped is e^x to 3 ulp, with x held within ±60: beyond, nothing here
// depends on it, and products with e^-60 stay clear of subnormal numbers, which
// are slow. It is 2^i·p(f) with f within ±ln2/2; i is rounded by adding 1.5·2^23,
// after which it sits in the low bits of the sum.
INLINE vec exp_clamped(vec x) {
	const float shift = 12582912.0f;
	x = least(most(x, 60.0f), -60.0f);
	vec i = x * 1.44269504f + shift, k = i - shift;
	vec f = (x - k * 0.693359375f) + k * 2.12194440e-4f; // ln2 in two parts
	vec p = 1.38371571e-3f * f + 8.37481604e-3f;         // minimax of degree 6, relative error 2e-9
	p = p * f + 4.16682253e-2f;
	p = p * f + 1.66664202e-1f;
	p = p * f + 4.99999921e-1f;
	p = p * f + 1.0f;
	p = p * f + 1.0f;
	return p * (vec)(((ivec)i << 23) + 0x3f800000);
}

INLINE vec sigmoid(vec x) { return inverse(1.0f + exp_clamped(-x)); }

// hyperbolic_tangent is x·P(x²)/Q(x²), the minimax rational of degrees 9/8 on ±8 (relative
// error 7e-9, in float32 3e-7), beyond which tanh is 1 to 2.3e-7.
INLINE vec hyperbolic_tangent(vec x) {
	x = least(most(x, 8.0f), -8.0f);
	vec s = x * x, p = 1.523087826e-8f * s + 2.18949932e-5f, q = 8.522634372e-7f * s + 3.411325053e-4f;
	p = p * s + 3.571618316e-3f;
	p = p * s + 1.344451517e-1f;
	p = p * s + 1.0f;
	q = q * s + 2.616452043e-2f;
	q = q * s + 4.677784251e-1f;
	q = q * s + 1.0f;
	return x * p * inverse(q);
}

// 2√(2/π): GELU in its tanh form is x·σ(2√(2/π)(x + 0.044715x³)).
#define GELU_SCALE 1.59576912f
#define GELU_CUBIC 0.044715f

// gelu returns GELU(x) and writes its slope. e is 2^t as in exp_clamped, by a polynomial of degree 5 (relative
// error 8e-8, less than the rounding of t leaves), and the exponent is added to the bits of the result.
INLINE vec gelu(vec x, vec *slope) {
	const float shift = 12582912.0f, log2e = 1.44269504f;
	const vec x2 = x * x;
	vec t = x * (-GELU_SCALE * log2e - GELU_CUBIC * GELU_SCALE * log2e * x2);
	t = least(most(t, 86.0f), -86.0f);
	vec i = t + shift, f = t - (i - shift), p = 1.32764725e-3f * f + 9.67554096e-3f;
	p = p * f + 5.55071309e-2f;
	p = p * f + 2.40221202e-1f;
	p = p * f + 6.93146944e-1f;
	p = p * f + 1.00000012f;
	vec e = (vec)((ivec)p + ((ivec)i << 23)), s = inverse(1.0f + e), y = x * s;
	*slope = s + y * (s * e) * (GELU_SCALE + 3.0f * GELU_CUBIC * GELU_SCALE * x2);
	return y;
}

// sqrt1 is x/√x by three steps of Newton from a guess off by 3 %, good to 2 ulp.
// The compiler does not vectorise sqrtf, which may set errno.
INLINE float sqrt1(float x) {
	uint32_t bits;
	memcpy(&bits, &x, 4);
	bits = 0x5f375a86u - (bits >> 1);
	float y;
	memcpy(&y, &bits, 4);
	y = y * (1.5f - (0.5f * x * y) * y);
	y = y * (1.5f - (0.5f * x * y) * y);
	y = y * (1.5f - (0.5f * x * y) * y);
	return x * y;
}

// Four rows a pass, so that the sums are loaded and stored a quarter as often.
static void column_sums(ptrdiff_t rows, ptrdiff_t n, const float *restrict x, float *restrict sum) {
	ptrdiff_t i = 0;
	for (; i + 4 <= rows; i += 4, x += 4 * n)
		for (ptrdiff_t j = 0; j < n; j++)
			sum[j] += (x[j] + x[n + j]) + (x[2 * n + j] + x[3 * n + j]);
	for (; i < rows; i++, x += n)
		for (ptrdiff_t j = 0; j < n; j++)
			sum[j] += x[j];
}

static void gru_gates(ptrdiff_t rows, ptrdiff_t n, float *restrict gi, const float *restrict bi, float *restrict gh,
	const float *restrict bh, const float *restrict h, float *restrict next) {
	for (ptrdiff_t i = 0; i < rows; i++, gi += 3 * n, gh += 3 * n, h += n, next += n)
		for (ptrdiff_t j = 0; j < n; j += VL) {
			const ptrdiff_t left = n - j, ju = n + j, jc = 2 * n + j;
			vec r = sigmoid(load(gi + j, left) + load(bi + j, left) + load(gh + j, left) + load(bh + j, left));
			vec u = sigmoid(load(gi + ju, left) + load(bi + ju, left) + load(gh + ju, left) + load(bh + ju, left));
			vec ghn = load(gh + jc, left) + load(bh + jc, left);
			vec c = hyperbolic_tangent(load(gi + jc, left) + load(bi + jc, left) + r * ghn);
			store(next + j, (1.0f - u) * c + u * load(h + j, left), left);
			store(gi + j, r, left);
			store(gi + ju, u, left);
			store(gi + jc, c, left);
			store(gh + jc, ghn, left);
		}
}

static void gru_gates_backward(ptrdiff_t rows, ptrdiff_t n, float *restrict gi, float *restrict gh,
	const float *restrict h, const float *restrict dnext, float *restrict dh) {
	for (ptrdiff_t i = 0; i < rows; i++, gi += 3 * n, gh += 3 * n, h += n, dnext += n, dh += n)
		for (ptrdiff_t j = 0; j < n; j++) {
			float r = gi[j], u = gi[n + j], c = gi[2 * n + j], d = dnext[j];
			float dn = d * (1.0f - u) * (1.0f - c * c);
			float du = d * (h[j] - c) * u * (1.0f - u);
			float dr = dn * gh[2 * n + j] * r * (1.0f - r);
			gi[j] = gh[j] = dr;
			gi[n + j] = gh[n + j] = du;
			gi[2 * n + j] = dn;
			gh[2 * n + j] = dn * r;
			dh[j] = d * u;
		}
}

static void axpy(ptrdiff_t n, float a, const float *restrict x, float *restrict y) {
	for (ptrdiff_t i = 0; i < n; i++)
		y[i] += a * x[i];
}

static double squared_norm(ptrdiff_t n, const float *restrict x) {
	double sum = 0;
#pragma omp simd reduction(+ : sum)
	for (ptrdiff_t i = 0; i < n; i++)
		sum += (double)x[i] * x[i];
	return sum;
}

static void rbf(ptrdiff_t rows, ptrdiff_t n, float *restrict dot, const float *restrict x2, const float *restrict y2,
	float c, float *restrict sums) {
	for (ptrdiff_t i = 0; i < rows; i++, dot += n) {
		vec all = {0};
		for (ptrdiff_t j = 0; j < n; j += VL) {
			const ptrdiff_t left = n - j;
			vec k = exp_clamped(-c * least(x2[i] + load(y2 + j, left) - 2.0f * load(dot + j, left), 0.0f));
			store(dot + j, k, left);
			all += load(dot + j, left);
		}
		float sum = 0;
		for (int l = 0; l < VL; l++)
			sum += all[l];
		sums[i] = sum;
	}
}

static void adam(const vnd_adam_step *s, ptrdiff_t n, float *restrict p, const float *restrict g, float *restrict m,
	float *restrict v) {
	const vnd_adam_step k = *s;
	for (ptrdiff_t i = 0; i < n; i++) {
		float gi = k.grad_scale * g[i];
		float mi = k.beta1 * m[i] + (1.0f - k.beta1) * gi;
		float vi = k.beta2 * v[i] + (1.0f - k.beta2) * gi * gi;
		m[i] = mi;
		v[i] = vi;
		p[i] = k.keep * p[i] - k.rate * mi / (sqrt1(k.correct2 * vi) + k.epsilon);
	}
}

static void normalise(ptrdiff_t rows, ptrdiff_t n, const float *restrict mean, const float *restrict scale,
	float *restrict x) {
	for (ptrdiff_t i = 0; i < rows; i++, x += n)
		for (ptrdiff_t j = 0; j < n; j++)
			x[j] = (x[j] - mean[j]) * scale[j];
}

static void scale_rows(ptrdiff_t rows, ptrdiff_t n, const float *restrict scale, float *restrict x) {
	for (ptrdiff_t i = 0; i < rows; i++, x += n)
		for (ptrdiff_t j = 0; j < n; j++)
			x[j] *= scale[j];
}
