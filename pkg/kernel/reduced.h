// Products in bfloat16: rows and weights are rounded to 8 bits, their products summed in float32, two at an instruction.
// Included by dense.h. Instruction sets without it make no such panels, nor do any for more than PAIRS / MR pairs of k, and
// are never asked for products with them.
//
// Weights lie in panels of NR columns whatever is left, zeros past the last; of every column two successive numbers of k
// share the 32 bits of a float, and so do those of a row.

INLINE ptrdiff_t pairs(ptrdiff_t k) { return (k + 1) / 2; }

#ifdef VND_BF16
// PAIRS of rows are rounded at a time: with a panel of up to 256 numbers a column they stay in the first-level cache.
enum { PAIRS = 4096 };

static ptrdiff_t reduced_panels(ptrdiff_t k, ptrdiff_t n) { return pairs(k) <= PAIRS / MR ? pairs(k) * ((n + NR - 1) / NR * NR) : 0; }

// round2 returns two rounded numbers, low in the lower half.
INLINE float round2(float low, float high) {
	__m128bh both = _mm_cvtneps_pbh(_mm_set_ps(0, 0, high, low));
	float x;
	memcpy(&x, &both, sizeof x);
	return x;
}

static void pack_reduced(int trans, ptrdiff_t k, ptrdiff_t n, const float *restrict b, ptrdiff_t ldb, float *restrict packed) {
	const ptrdiff_t down = trans ? 1 : ldb, right = trans ? ldb : 1;
	for (ptrdiff_t j = 0; j < n; j += NR)
		for (ptrdiff_t p = 0; p < k; p += 2)
			for (ptrdiff_t c = j; c < j + NR; c++, packed++) {
				const float *at = b + p * down + (c < n ? c : j) * right;
				*packed = c < n ? round2(at[0], p + 1 < k ? at[down] : 0) : 0;
			}
}

// round_row writes x [k] as pairs.
INLINE void round_row(ptrdiff_t k, const float *restrict x, float *restrict to) {
	ptrdiff_t p = 0;
	for (; p + VL <= k; p += VL)
		_mm256_storeu_ps(to + p / 2, (__m256)_mm512_cvtneps_pbh(_mm512_loadu_ps(x + p)));
	for (; p < k; p += 2)
		to[p / 2] = round2(x[p], p + 1 < k ? x[p + 1] : 0);
}

// reduced_product is product of a [MR×k] and one panel, both in pairs.
static __attribute__((noinline)) void reduced_product(ptrdiff_t rows, ptrdiff_t k, const float *restrict a,
	const float *restrict b, float *restrict sum) {
	__m512 acc[MR][2];
	const float *row[MR];
#pragma GCC unroll 16
	for (int i = 0; i < MR; i++) {
		acc[i][0] = acc[i][1] = _mm512_setzero_ps();
		row[i] = a + (i < rows ? i : rows - 1) * k;
	}
	for (ptrdiff_t p = 0; p < k; p++, b += NR) {
		__m512bh b0 = (__m512bh)_mm512_loadu_ps(b), b1 = (__m512bh)_mm512_loadu_ps(b + VL);
#pragma GCC unroll 16
		for (int i = 0; i < MR; i++) {
			__m512bh x = (__m512bh)_mm512_set1_ps(row[i][p]);
			acc[i][0] = _mm512_dpbf16_ps(acc[i][0], x, b0);
			acc[i][1] = _mm512_dpbf16_ps(acc[i][1], x, b1);
		}
	}
#pragma GCC unroll 16
	for (int i = 0; i < MR; i++) {
		_mm512_storeu_ps(sum + i * NR, acc[i][0]);
		_mm512_storeu_ps(sum + i * NR + VL, acc[i][1]);
	}
}

// rows_reduced is rows_by_panels for weights in pairs.
INLINE void rows_reduced(const int kind, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *a, const float *w, const operands *o) {
	float x[PAIRS] __attribute__((aligned(64))), sum[MR * NR] __attribute__((aligned(64)));
	const ptrdiff_t half = pairs(k), most = PAIRS / half / MR * MR;
	for (ptrdiff_t from = 0; from < rows; from += most) {
		const ptrdiff_t to = rows - from < most ? rows : from + most;
		for (ptrdiff_t i = from; i < to; i++)
			round_row(k, a + i * k, x + (i - from) * half);
		for (ptrdiff_t j = 0; j < n; j += NR)
			for (ptrdiff_t i = from; i < to; i += MR) {
				const ptrdiff_t count = to - i < MR ? to - i : MR;
				if (rows >= MR)
					fetch(kind, count, n, i, j, o);
				reduced_product(count, half, x + (i - from) * half, w + j * half, sum);
				finish(kind, count, n - j < NR ? n - j : NR, n, i, j, sum, o);
			}
	}
}
#else
static ptrdiff_t reduced_panels(ptrdiff_t k, ptrdiff_t n) { return 0; }
static void pack_reduced(int trans, ptrdiff_t k, ptrdiff_t n, const float *b, ptrdiff_t ldb, float *packed) {}
INLINE void rows_reduced(const int kind, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *a, const float *w, const operands *o) {}
#endif
