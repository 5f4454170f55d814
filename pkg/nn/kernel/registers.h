// Products in bfloat16 by vector registers, each of HIGH rows by NR columns. Included by reduced.h.

INLINE void open_tiles(void) {}
INLINE void close_tiles(void) {}

// reduced_product is product of a [HIGH×k] and one panel, both in pairs.
static __attribute__((noinline)) void reduced_product(ptrdiff_t rows, ptrdiff_t k, const float *restrict a,
	const float *restrict b, float *restrict sum) {
	__m512 acc[HIGH][2];
	const float *row[HIGH];
#pragma GCC unroll 16
	for (int i = 0; i < HIGH; i++) {
		acc[i][0] = acc[i][1] = _mm512_setzero_ps();
		row[i] = a + (i < rows ? i : rows - 1) * k;
	}
	for (ptrdiff_t p = 0; p < k; p++, b += NR) {
		__m512bh b0 = (__m512bh)_mm512_loadu_ps(b), b1 = (__m512bh)_mm512_loadu_ps(b + VL);
#pragma GCC unroll 16
		for (int i = 0; i < HIGH; i++) {
			__m512bh x = (__m512bh)_mm512_set1_ps(row[i][p]);
			acc[i][0] = _mm512_dpbf16_ps(acc[i][0], x, b0);
			acc[i][1] = _mm512_dpbf16_ps(acc[i][1], x, b1);
		}
	}
#pragma GCC unroll 16
	for (int i = 0; i < HIGH; i++) {
		_mm512_storeu_ps(sum + i * NR, acc[i][0]);
		_mm512_storeu_ps(sum + i * NR + VL, acc[i][1]);
	}
}

// product_beside computes part `now` and finishes it: products and tails use the same registers.
INLINE void product_beside(const int kind, ptrdiff_t k, const float *a, const float *b, ptrdiff_t n,
	part *now, part *before, const operands *o) {
	reduced_product(now->rows, k, a, b, now->sum);
	now->done = 0;
	finish_some(kind, now->rows, n, now, o);
}

_Static_assert(VL % HIGH == 0, "a tile's columns of x lie in one panel");

// left_of is where column i of x lies, of panels with `count` pairs.
INLINE const float *left_of(const float *panels, ptrdiff_t count, ptrdiff_t i) {
	return panels + i / VL * VL * count + i % VL;
}

INLINE void pair_left(ptrdiff_t rows, ptrdiff_t n, const float *x, float *to) { pair_rows(rows, n, x, VL, to); }

// gradient_tile adds xᵀ·dy to the first `high`, at most HIGH, rows and `wide`, at most NR, columns of g, for `count`
// pairs of rows in panels of VL and of NR columns.
static __attribute__((noinline)) void gradient_tile(ptrdiff_t count, const float *restrict x, const float *restrict dy,
	ptrdiff_t high, ptrdiff_t wide, float *restrict g, ptrdiff_t ldg) {
	__m512 acc[HIGH][2];
#pragma GCC unroll 16
	for (int i = 0; i < HIGH; i++)
		acc[i][0] = acc[i][1] = _mm512_setzero_ps();
	for (ptrdiff_t p = 0; p < count; p++, x += VL, dy += NR) {
		__m512bh y0 = (__m512bh)_mm512_loadu_ps(dy), y1 = (__m512bh)_mm512_loadu_ps(dy + VL);
#pragma GCC unroll 16
		for (int i = 0; i < HIGH; i++) {
			__m512bh a = (__m512bh)_mm512_set1_ps(x[i]);
			acc[i][0] = _mm512_dpbf16_ps(acc[i][0], a, y0);
			acc[i][1] = _mm512_dpbf16_ps(acc[i][1], a, y1);
		}
	}
	const uint32_t some = wide < NR ? (1u << wide) - 1 : 0xffffffff;
	const __mmask16 left = (__mmask16)some, right = (__mmask16)(some >> VL);
#pragma GCC unroll 16
	for (int i = 0; i < HIGH; i++, g += ldg)
		if (i < high) {
			_mm512_mask_storeu_ps(g, left, _mm512_add_ps(acc[i][0], _mm512_maskz_loadu_ps(left, g)));
			_mm512_mask_storeu_ps(g + VL, right, _mm512_add_ps(acc[i][1], _mm512_maskz_loadu_ps(right, g + VL)));
		}
}
