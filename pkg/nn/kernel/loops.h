// The element-wise loops, plain C for the compiler to vectorise.
//
// No loop swallows a NaN: every clamp is written so that the comparison fails
// and the NaN stays. (Without -fno-thread-jumps gcc makes a path of its own, under a
// mask, of every side of a clamp.)

// exp_clamped is e^x to 3 ulp, with x held within ±60: beyond, nothing here
// depends on it, and products with e^-60 stay clear of subnormal numbers, which
// are slow. It is 2^i·p(f) with f within ±ln2/2; i is rounded by adding 1.5·2^23,
// after which it sits in the low bits of the sum.
INLINE float exp_clamped(float x) {
	const float shift = 12582912.0f;
	x = x > 60.0f ? 60.0f : x;
	x = x < -60.0f ? -60.0f : x;
	float i = x * 1.44269504f + shift, k = i - shift;
	float f = (x - k * 0.693359375f) + k * 2.12194440e-4f; // ln2 in two parts
	float p = 1.38371571e-3f; // minimax of degree 6, relative error 2e-9
	p = p * f + 8.37481604e-3f;
	p = p * f + 4.16682253e-2f;
	p = p * f + 1.66664202e-1f;
	p = p * f + 4.99999921e-1f;
	p = p * f + 1.0f;
	p = p * f + 1.0f;
	uint32_t bits;
	memcpy(&bits, &i, 4);
	bits = (bits << 23) + 0x3f800000u;
	float scale;
	memcpy(&scale, &bits, 4);
	return p * scale;
}

INLINE float sigmoid1(float x) { return 1.0f / (1.0f + exp_clamped(-x)); }

// tanh1 is x·P(x²)/Q(x²), the minimax rational of degrees 9/8 on ±8 (relative
// error 7e-9, in float32 3e-7), beyond which tanh is 1 to 2.3e-7.
INLINE float tanh1(float x) {
	x = x > 8.0f ? 8.0f : x;
	x = x < -8.0f ? -8.0f : x;
	float s = x * x;
	float p = 1.523087826e-8f, q = 8.522634372e-7f;
	p = p * s + 2.18949932e-5f;
	p = p * s + 3.571618316e-3f;
	p = p * s + 1.344451517e-1f;
	p = p * s + 1.0f;
	q = q * s + 3.411325053e-4f;
	q = q * s + 2.616452043e-2f;
	q = q * s + 4.677784251e-1f;
	q = q * s + 1.0f;
	return x * p / q;
}

// 2√(2/π): GELU in its tanh form is x·σ(2√(2/π)(x + 0.044715x³)).
#define GELU_SCALE 1.59576912f
#define GELU_CUBIC 0.044715f

// gelu_both returns GELU(x) and writes its slope. e is 2^t as in exp_clamped, by a polynomial of degree 5 (relative
// error 8e-8, less than the rounding of t leaves), and the exponent is added to the bits of the result.
INLINE float gelu_both(float x, float *slope) {
	const float shift = 12582912.0f, log2e = 1.44269504f, x2 = x * x;
	float t = x * (-GELU_SCALE * log2e - GELU_CUBIC * GELU_SCALE * log2e * x2);
	t = t > 86.0f ? 86.0f : t;
	t = t < -86.0f ? -86.0f : t;
	float i = t + shift, f = t - (i - shift);
	float p = 1.32764725e-3f;
	p = p * f + 9.67554096e-3f;
	p = p * f + 5.55071309e-2f;
	p = p * f + 2.40221202e-1f;
	p = p * f + 6.93146944e-1f;
	p = p * f + 1.00000012f;
	uint32_t exponent, bits;
	memcpy(&exponent, &i, 4);
	memcpy(&bits, &p, 4);
	bits += exponent << 23;
	float e;
	memcpy(&e, &bits, 4);
	float s = 1.0f / (1.0f + e), y = x * s;
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
		for (ptrdiff_t j = 0; j < n; j++) {
			float r = sigmoid1(gi[j] + bi[j] + gh[j] + bh[j]);
			float u = sigmoid1(gi[n + j] + bi[n + j] + gh[n + j] + bh[n + j]);
			float ghn = gh[2 * n + j] + bh[2 * n + j];
			float c = tanh1(gi[2 * n + j] + bi[2 * n + j] + r * ghn);
			next[j] = (1.0f - u) * c + u * h[j];
			gi[j] = r;
			gi[n + j] = u;
			gi[2 * n + j] = c;
			gh[2 * n + j] = ghn;
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
		float sum = 0;
#pragma omp simd reduction(+ : sum)
		for (ptrdiff_t j = 0; j < n; j++) {
			float d = x2[i] + y2[j] - 2.0f * dot[j];
			d = d < 0.0f ? 0.0f : d;
			dot[j] = exp_clamped(-c * d);
			sum += dot[j];
		}
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
