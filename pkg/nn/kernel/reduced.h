// Products in bfloat16: both operands are rounded to 8 bits, their products summed in float32, two at an instruction.
// Included by dense.h. Instruction sets without it make no such panels, nor do any for more than DEEPEST pairs of k,
// and are never asked for products with them.
//
// Weights lie in panels of NR columns whatever is left, zeros past the last; of every column two successive numbers of
// k share the 32 bits of a float, and so do those of a row.

#ifdef VND_AVX512BF16
// A product takes HIGH rows by NR columns, and DEEP pairs of k at an instruction. PAIRS of rows are rounded at a time:
// with a panel of up to 256 numbers a column they stay in the first-level cache, or near it.
#ifdef VND_AMX
enum { HIGH = 32, DEEP = 16, PAIRS = 8192 };
#else
enum { HIGH = MR, DEEP = 1, PAIRS = 4096 };
#endif
enum { DEEPEST = 512, ROUNDED = PAIRS > HIGH * DEEPEST ? PAIRS : HIGH * DEEPEST };

INLINE ptrdiff_t pairs(ptrdiff_t k) { return (k + 2 * DEEP - 1) / (2 * DEEP) * DEEP; }

static ptrdiff_t reduced_panels(ptrdiff_t k,
	ptrdiff_t n) { return pairs(k) <= DEEPEST ? pairs(k) * ((n + NR - 1) / NR * NR) : 0; }

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
		for (ptrdiff_t p = 0; p < 2 * pairs(k); p += 2)
			for (ptrdiff_t c = j; c < j + NR; c++, packed++) {
				const float *at = p < k && c < n ? b + p * down + c * right : 0;
				*packed = at ? round2(at[0], p + 1 < k ? at[down] : 0) : 0;
			}
}

// round_row writes x [k] as pairs.
INLINE void round_row(ptrdiff_t k, const float *restrict x, float *restrict to) {
	ptrdiff_t p = 0;
	for (; p + VL <= k; p += VL)
		_mm256_storeu_ps(to + p / 2, (__m256)_mm512_cvtneps_pbh(_mm512_loadu_ps(x + p)));
	for (; p < k; p += 2)
		to[p / 2] = round2(x[p], p + 1 < k ? x[p + 1] : 0);
	for (; p < 2 * pairs(k); p += 2)
		to[p / 2] = 0;
}

// pair_of returns the first two of `rows` rows of x, each of `left` numbers and n apart, as pairs; zeros past them.
INLINE __m512i pair_of(ptrdiff_t rows, ptrdiff_t n, const float *restrict x, ptrdiff_t left) {
	const __mmask16 some = left >= VL ? 0xffff : left > 0 ? (__mmask16)((1u << left) - 1) : 0;
	__m512 even = _mm512_maskz_loadu_ps(rows > 0 ? some : 0, x),
		odd = _mm512_maskz_loadu_ps(rows > 1 ? some : 0, x + n);
	__m512i low = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(even)),
		high = _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(odd));
	return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}

// pair_rows writes x [rows×n] in panels of `width` columns, zeros past the last; a panel's pairs of rows follow each
// other.
INLINE void pair_rows(ptrdiff_t rows, ptrdiff_t n, const float *restrict x, const ptrdiff_t width, float *restrict to) {
	const ptrdiff_t panel = pairs(rows) * width, padded = (n + width - 1) / width * width;
	for (ptrdiff_t p = 0; p < 2 * pairs(rows); p += 2, to += width)
		for (ptrdiff_t j = 0; j < padded; j += VL)
			_mm512_storeu_si512(to + j / width * panel + j % width, pair_of(rows - p, n, x + p * n + j, n - j));
}

// part is one of a product: rows from i and columns from j on, of which those before `done` have been finished.
typedef struct {
	ptrdiff_t rows, cols, i, j, done;
	float *sum;
} part;

// finish_some finishes up to `rows` rows of those that are left.
INLINE void finish_some(const int kind, ptrdiff_t rows, ptrdiff_t n, part *b, const operands *o) {
	const ptrdiff_t left = b->rows - b->done, some = rows < left ? rows : left;
	finish(kind, some, b->cols, n, b->i + b->done, b->j, b->sum + b->done * NR, o);
	b->done += some;
}

#ifdef VND_AMX
#include "tiles.h"
#else
#include "registers.h"
#endif

// rows_reduced is rows_by_panels for weights in pairs.
INLINE void rows_reduced(const int kind, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *a, const float *w,
	const operands *o) {
	float x[ROUNDED] __attribute__((aligned(64))), sum[2][HIGH * NR] __attribute__((aligned(64)));
	const ptrdiff_t half = pairs(k), fit = PAIRS / half / HIGH * HIGH, most = fit > HIGH ? fit : HIGH;
	part now = {.sum = sum[0]}, before = {.sum = sum[1]};
	open_tiles();
	for (ptrdiff_t from = 0; from < rows; from += most) {
		const ptrdiff_t to = rows - from < most ? rows : from + most;
		for (ptrdiff_t i = from; i < to; i++)
			round_row(k, a + i * k, x + (i - from) * half);
		for (ptrdiff_t j = 0; j < n; j += NR)
			for (ptrdiff_t i = from; i < to; i += HIGH) {
				now.rows = to - i < HIGH ? to - i : HIGH, now.cols = n - j < NR ? n - j : NR, now.i = i, now.j = j;
				if (rows >= MR)
					fetch(kind, now.rows, n, i, j, o);
				product_beside(kind, half, x + (i - from) * half, w + j * half, n, &now, &before, o);
				const part spare = before;
				before = now;
				now.sum = spare.sum;
			}
	}
	close_tiles();
	finish_some(kind, before.rows, n, &before, o);
}

// Gradients of weights sum over rows: two successive rows of a column share 32 bits. As many pairs of rows are worked
// through at a time as let both operands, the next ones and the sums stay in the second-level cache.
enum { PAIRS_GRAD = 64, BLOCK = PAIRS_GRAD * 512 };

// ask has one of `parts` equal parts of x brought into the second-level cache.
INLINE void ask(ptrdiff_t n, const float *x, ptrdiff_t part, ptrdiff_t parts) {
	for (ptrdiff_t i = n * part / parts; i < n * (part + 1) / parts; i += 16)
		_mm_prefetch(x + i, _MM_HINT_T1);
}

// gradient_reduced packs as many rows as fit, and asks for the next ones while these are multiplied.
static int gradient_reduced(ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *dy, float *dw,
	float *db) {
	float packed[BLOCK] __attribute__((aligned(64)));
	const ptrdiff_t high = (k + VL - 1) / VL * VL, wide = (n + NR - 1) / NR * NR,
		fit = BLOCK / (high + wide) / DEEP * DEEP, most = 2 * (fit < PAIRS_GRAD ? fit : PAIRS_GRAD);
	const ptrdiff_t tiles = (k + HIGH - 1) / HIGH * (wide / NR);
	if (fit < DEEP)
		return 0;
	open_tiles();
	for (ptrdiff_t some; rows > 0; rows -= some, x += some * k, dy += some * n) {
		some = rows < most ? rows : most;
		const ptrdiff_t count = pairs(some), next = rows - some < most ? rows - some : most;
		float *left = packed, *right = packed + high * count;
		pair_left(some, k, x, left);
		pair_rows(some, n, dy, NR, right);
		column_sums(some, n, dy, db);
		for (ptrdiff_t j = 0, tile = 0; j < n; j += NR)
			for (ptrdiff_t i = 0; i < k; i += HIGH, tile++) {
				ask(next * k, x + some * k, tile, tiles);
				ask(next * n, dy + some * n, tile, tiles);
				gradient_tile(count, left_of(left, count, i), right + j * count, k - i, n - j, dw + i * n + j, n);
			}
	}
	close_tiles();
	return 1;
}
#else
static ptrdiff_t reduced_panels(ptrdiff_t k, ptrdiff_t n) { return 0; }
static void pack_reduced(int trans, ptrdiff_t k, ptrdiff_t n, const float *b, ptrdiff_t ldb, float *packed) {}
INLINE void rows_reduced(const int kind, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *a, const float *w,
	const operands *o) {}
static int gradient_reduced(ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *dy, float *dw,
	float *db) { return 0; }
#endif
