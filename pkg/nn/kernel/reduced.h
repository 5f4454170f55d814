// Products in bfloat16: both operands are rounded to 8 bits, their products summed in float32, two at an instruction.
// Included by dense.h. Instruction sets without it make no such panels, nor do any for more than PAIRS / MR pairs of k,
// and are never asked for products with them.
//
// Weights lie in panels of NR columns whatever is left, zeros past the last; of every column two successive numbers of
// k share the 32 bits of a float, and so do those of a row.

INLINE ptrdiff_t pairs(ptrdiff_t k) { return (k + 1) / 2; }

#ifdef VND_AVX512BF16
// PAIRS of rows are rounded at a time: with a panel of up to 256 numbers a column they stay in the first-level cache.
enum { PAIRS = 4096 };

static ptrdiff_t reduced_panels(ptrdiff_t k,
	ptrdiff_t n) { return pairs(k) <= PAIRS / MR ? pairs(k) * ((n + NR - 1) / NR * NR) : 0; }

// round2 returns two rounded numbers, low in the lower half.
INLINE float round2(float low, float high) {
	__m128bh both = _mm_cvtneps_pbh(_mm_set_ps(0, 0, high, low));
	float x;
	memcpy(&x, &both, sizeof x);
	return x;
}

static void pack_reduced(int trans, ptrdiff_t k, ptrdiff_t n, const float *restrict b, ptrdiff_t ldb,
	float *restrict packed) {
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
INLINE void rows_reduced(const int kind, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *a, const float *w,
	const operands *o) {
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
// Gradients of weights sum over rows: two successive rows of a column share 32 bits. As many pairs of rows are worked
// through at a time as let both operands, the next ones and the sums stay in the second-level cache.
enum { PAIRS_GRAD = 64, BLOCK = PAIRS_GRAD * 512 };
_Static_assert(VL % MR == 0, "a tile's columns of x lie in one panel");

// pair_rows writes x [rows×n] in panels of `width` columns, zeros past the last; a panel's pairs of rows follow each
// other.
INLINE void pair_rows(ptrdiff_t rows, ptrdiff_t n, const float *restrict x, const ptrdiff_t width, float *restrict to) {
	const ptrdiff_t panel = pairs(rows) * width, padded = (n + width - 1) / width * width;
	for (ptrdiff_t p = 0; p < rows; p += 2, x += 2 * n, to += width)
		for (ptrdiff_t j = 0; j < padded; j += VL) {
			const __mmask16 some = n - j >= VL ? 0xffff : j < n ? (__mmask16)((1u << (n - j)) - 1) : 0;
			__m512 even = _mm512_maskz_loadu_ps(some, x + j), odd = p + 1 < rows ? _mm512_maskz_loadu_ps(some,
				x + n + j) : _mm512_setzero_ps();
			__m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(even)),
				high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(odd));
			_mm512_storeu_si512(to + j / width * panel + j % width, _mm512_or_si512(low, _mm512_slli_epi32(high, 16)));
		}
}

// gradient_tile adds xᵀ·dy to the first `high`, at most MR, rows and `wide`, at most NR, columns of g, for `count`
// pairs of rows in panels of VL and of NR columns.
static __attribute__((noinline)) void gradient_tile(ptrdiff_t count, const float *restrict x, const float *restrict dy,
	ptrdiff_t high, ptrdiff_t wide, float *restrict g, ptrdiff_t ldg) {
	__m512 acc[MR][2];
#pragma GCC unroll 16
	for (int i = 0; i < MR; i++)
		acc[i][0] = acc[i][1] = _mm512_setzero_ps();
	for (ptrdiff_t p = 0; p < count; p++, x += VL, dy += NR) {
		__m512bh y0 = (__m512bh)_mm512_loadu_ps(dy), y1 = (__m512bh)_mm512_loadu_ps(dy + VL);
#pragma GCC unroll 16
		for (int i = 0; i < MR; i++) {
			__m512bh a = (__m512bh)_mm512_set1_ps(x[i]);
			acc[i][0] = _mm512_dpbf16_ps(acc[i][0], a, y0);
			acc[i][1] = _mm512_dpbf16_ps(acc[i][1], a, y1);
		}
	}
	const uint32_t some = wide < NR ? (1u << wide) - 1 : 0xffffffff;
	const __mmask16 left = (__mmask16)some, right = (__mmask16)(some >> VL);
#pragma GCC unroll 16
	for (int i = 0; i < MR; i++, g += ldg)
		if (i < high) {
			_mm512_mask_storeu_ps(g, left, _mm512_add_ps(acc[i][0], _mm512_maskz_loadu_ps(left, g)));
			_mm512_mask_storeu_ps(g + VL, right, _mm512_add_ps(acc[i][1], _mm512_maskz_loadu_ps(right, g + VL)));
		}
}

// ask has one of `parts` equal parts of x brought into the second-level cache.
INLINE void ask(ptrdiff_t n, const float *x, ptrdiff_t part, ptrdiff_t parts) {
	for (ptrdiff_t i = n * part / parts; i < n * (part + 1) / parts; i += 16)
		_mm_prefetch(x + i, _MM_HINT_T1);
}

// gradient_reduced packs as many rows as fit, and asks for the next ones while these are multiplied.
static int gradient_reduced(ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *dy, float *g) {
	float packed[BLOCK] __attribute__((aligned(64)));
	const ptrdiff_t high = (k + VL - 1) / VL * VL, wide = (n + NR - 1) / NR * NR, fit = BLOCK / (high + wide),
		most = 2 * (fit < PAIRS_GRAD ? fit : PAIRS_GRAD);
	const ptrdiff_t tiles = (k + MR - 1) / MR * (wide / NR);
	if (most < 2)
		return 0;
	for (ptrdiff_t some; rows > 0; rows -= some, x += some * k, dy += some * n) {
		some = rows < most ? rows : most;
		const ptrdiff_t count = pairs(some), next = rows - some < most ? rows - some : most;
		float *left = packed, *right = packed + high * count;
		pair_rows(some, k, x, VL, left);
		pair_rows(some, n, dy, NR, right);
		for (ptrdiff_t j = 0, tile = 0; j < n; j += NR)
			for (ptrdiff_t i = 0; i < k; i += MR, tile++) {
				ask(next * k, x + some * k, tile, tiles);
				ask(next * n, dy + some * n, tile, tiles);
				gradient_tile(count, left + i / VL * VL * count + i % VL, right + j * count, k - i, n - j,
					g + i * n + j, n);
			}
	}
	return 1;
}
#else
static ptrdiff_t reduced_panels(ptrdiff_t k, ptrdiff_t n) { return 0; }
static void pack_reduced(int trans, ptrdiff_t k, ptrdiff_t n, const float *b, ptrdiff_t ldb, float *packed) {}
INLINE void rows_reduced(const int kind, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *a, const float *w,
	const operands *o) {}
static int gradient_reduced(ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *dy,
	float *g) { return 0; }
#endif
