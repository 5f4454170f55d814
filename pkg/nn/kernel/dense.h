// Products of rows with weights that lie in panels, and what follows each product while its numbers are still in the
// first-level cache.
//
// A panel is NR columns of W, row after row; the last one has VL columns where no more are left, and zeros past the
// last. Every number is one sum over k in order, whatever rows and columns stand beside it. Weights that are reduced
// lie in panels of bfloat16, whose sums go by pairs, see reduced.h.

INLINE ptrdiff_t panel_width(ptrdiff_t cols) { return cols > VL ? NR : VL; }

static ptrdiff_t whole_panels(ptrdiff_t k,
	ptrdiff_t n) { return k * (n / NR * NR + (n % NR ? panel_width(n % NR) : 0)); }

static void pack_whole(int trans, ptrdiff_t k, ptrdiff_t n, const float *b, ptrdiff_t ldb, float *restrict packed) {
	for (ptrdiff_t j = 0; j < n; j += NR) {
		ptrdiff_t count = n - j < NR ? n - j : NR, width = panel_width(count);
		if (trans)
			pack_columns(width, k, count, b + j * ldb, ldb, packed);
		else
			pack_rows(width, k, count, b + j, ldb, packed);
		packed += width * k;
	}
}

// product computes sum [high×NR] = Σ_p a[i·lda + p]·b[p·nv·VL + j] for one panel.
INLINE void product(const int high, const int nv, ptrdiff_t k, const float *restrict a, ptrdiff_t lda,
	const float *restrict b, float *restrict sum) {
	vec acc[MR][2];
	const float *row[MR];
#pragma GCC unroll 16
	for (int i = 0; i < high; i++) {
		acc[i][0] = acc[i][1] = (vec){0};
		row[i] = a + i * lda;
	}
	for (ptrdiff_t p = 0; p < k; p++, b += nv * VL) {
		vec b0 = *(const vec_u *)b, b1 = nv > 1 ? *(const vec_u *)(b + VL) : b0;
#pragma GCC unroll 16
		for (int i = 0; i < high; i++) {
			acc[i][0] += row[i][p] * b0;
			if (nv > 1)
				acc[i][1] += row[i][p] * b1;
		}
	}
#pragma GCC unroll 16
	for (int i = 0; i < high; i++)
		for (int j = 0; j < nv; j++)
			*(vec_u *)(sum + i * NR + j * VL) = acc[i][j];
}

// Each height and width is a function of its own: compiled into one, gcc makes one loop of them, with branches.
#define PRODUCT(high, nv) \
	static __attribute__((noinline)) void product##high##x##nv(ptrdiff_t k, const float *a, ptrdiff_t lda, \
		const float *b, float *sum) { \
		product(high < MR ? high : MR, nv, k, a, lda, b, sum); \
	}
#define PRODUCTS(nv) \
	PRODUCT(1, nv) PRODUCT(2, nv) PRODUCT(3, nv) PRODUCT(4, nv) \
	PRODUCT(5, nv) PRODUCT(6, nv) PRODUCT(7, nv) PRODUCT(8, nv)
PRODUCTS(1)
PRODUCTS(2)

// products holds those of 1 to MR rows, by one and by two vectors.
static void (*const products[2][8])(ptrdiff_t k, const float *a, ptrdiff_t lda, const float *b, float *sum) = {
	{product1x1, product2x1, product3x1, product4x1, product5x1, product6x1, product7x1, product8x1},
	{product1x2, product2x2, product3x2, product4x2, product5x2, product6x2, product7x2, product8x2},
};

// abreast computes sum [count·NR] for one row and count whole panels at a time: an addition waits for the one before
// it.
INLINE void abreast(const int count, ptrdiff_t k, const float *restrict x, const float *restrict b,
	float *restrict sum) {
	vec acc[8][2];
#pragma GCC unroll 8
	for (int i = 0; i < count; i++)
		acc[i][0] = acc[i][1] = (vec){0};
	for (ptrdiff_t p = 0; p < k; p++, b += NR)
#pragma GCC unroll 8
		for (int i = 0; i < count; i++) {
			acc[i][0] += x[p] * *(const vec_u *)(b + i * k * NR);
			acc[i][1] += x[p] * *(const vec_u *)(b + i * k * NR + VL);
		}
#pragma GCC unroll 8
	for (int i = 0; i < count; i++) {
		*(vec_u *)(sum + i * NR) = acc[i][0];
		*(vec_u *)(sum + i * NR + VL) = acc[i][1];
	}
}

enum { ABREAST = VL == 16 || MR == 8 ? 8 : 4 }; // two vectors each, in 32 or 16 registers

// What becomes of a product, see dense.go.
enum { PLAIN, TANH, GELU, FILM, GELU_BACK, FILM_BACK };

// operands of a tail, all but bias [n] with the rows of the product.
typedef struct {
	const float *bias, *add, *film;
	float *pre, *y, *slope, *dfilm;
	int reduced; // the weights
} operands;

// tail finishes `rows` rows of `cols` columns, from column j of n on.
INLINE void tail(const int kind, ptrdiff_t rows, const ptrdiff_t cols, ptrdiff_t n, ptrdiff_t i, ptrdiff_t j,
	const float *restrict sum, const operands *o) {
	for (ptrdiff_t end = i + rows; i < end; i++, sum += NR)
#pragma GCC unroll 2
		for (ptrdiff_t c = 0; c < cols; c += VL) {
			const ptrdiff_t left = cols - c, at = i * n + j + c, wide = 2 * i * n + j + c;
			vec x = *(const vec_u *)(sum + c), slope;
			if (kind <= FILM && o->bias)
				x += load(o->bias + j + c, left);
			if ((kind == PLAIN || kind == GELU) && o->add) // which may be y
				x += load(o->add + at, left);
			if (kind == PLAIN) {
				store(o->y + at, x, left);
			} else if (kind == TANH) {
				store(o->y + at, hyperbolic_tangent(x), left);
			} else if (kind == GELU) {
				store(o->y + at, gelu(x, &slope), left);
				store(o->slope + at, slope, left);
			} else if (kind == FILM) {
				if (o->pre)
					store(o->pre + at, x, left);
				x = (1.0f + load(o->film + wide, left)) * x + load(o->film + wide + n, left);
				store(o->y + at, gelu(x, &slope), left);
				store(o->slope + at, slope, left);
			} else if (kind == GELU_BACK) {
				store(o->slope + at, load(o->slope + at, left) * x, left);
			} else {
				slope = load(o->slope + at, left);
				if (o->pre) {
					vec du = x * slope;
					float *d = o->dfilm + wide;
					store(d, load(d, left) + du * load(o->pre + at, left), left);
					store(d + n, load(d + n, left) + du, left);
				}
				store(o->slope + at, slope * (x * (1.0f + load(o->film + wide, left))), left);
			}
		}
}

INLINE void finish(const int kind, ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t n, ptrdiff_t i, ptrdiff_t j,
	const float *sum,
	const operands *o) {
	if (cols == NR)
		tail(kind, rows, NR, n, i, j, sum, o);
	else
		tail(kind, rows, cols, n, i, j, sum, o);
}

// one_row leads the whole panels of one row through abreast, and returns how many columns are done.
INLINE ptrdiff_t one_row(const int kind, ptrdiff_t k, ptrdiff_t n, const float *a, const float *w, const operands *o) {
	float sum[ABREAST * NR] __attribute__((aligned(64)));
	ptrdiff_t j = 0;
	while (n - j >= 2 * NR) {
		int count = n - j >= ABREAST * NR ? ABREAST : n - j >= 4 * NR ? 4 : 2;
		if (count == 8)
			abreast(8, k, a, w + j * k, sum);
		else if (count == 4)
			abreast(4, k, a, w + j * k, sum);
		else
			abreast(2, k, a, w + j * k, sum);
		for (int i = 0; i < count; i++, j += NR)
			tail(kind, 1, NR, n, 0, j, sum + i * NR, o);
	}
	return j;
}

// fetch asks for what the tail will read and write of a block, while the product is under way: a tape is longer than
// the caches, and its rows lie too far apart for the processor to guess the next.
INLINE void fetch(const int kind, ptrdiff_t rows, ptrdiff_t n, ptrdiff_t i, ptrdiff_t j, const operands *o) {
	for (ptrdiff_t end = i + rows; i < end; i++)
		for (ptrdiff_t c = 0; c < NR; c += 16) {
			const ptrdiff_t at = i * n + j + c, wide = 2 * i * n + j + c;
			if (kind != GELU_BACK && kind != FILM_BACK)
				__builtin_prefetch(o->y + at, 1);
			if (kind != PLAIN && kind != TANH)
				__builtin_prefetch(o->slope + at, 1);
			if (kind == FILM || kind == FILM_BACK)
				__builtin_prefetch(o->film + wide);
			if (kind == FILM)
				__builtin_prefetch(o->film + wide + n);
		}
}

// tile_of multiplies `count`, at most MR, rows from i on with the panel of column j, and finishes them.
INLINE void tile_of(const int kind, ptrdiff_t count, ptrdiff_t k, ptrdiff_t n, const float *a, const float *w,
	const operands *o,
	ptrdiff_t i, ptrdiff_t j, float *sum) {
	ptrdiff_t cols = n - j < NR ? n - j : NR;
	products[cols > VL][count - 1](k, a + i * k, k, w + j * k, sum);
	finish(kind, count, cols, n, i, j, sum, o);
}

// FEW numbers a row make a product so short that a fetch at its beginning comes too late.
enum { FEW = 16 };

#include "reduced.h"

static ptrdiff_t panels(int reduced, ptrdiff_t k, ptrdiff_t n) { return reduced ? reduced_panels(k,
	n) : whole_panels(k, n); }

static void pack_panels(int reduced, int trans, ptrdiff_t k, ptrdiff_t n, const float *b, ptrdiff_t ldb,
	float *packed) {
	if (reduced)
		pack_reduced(trans, k, n, b, ldb, packed);
	else
		pack_whole(trans, k, n, b, ldb, packed);
}

// rows_by_panels walks panel by panel, or, of products so short that all panels stay in the first-level cache, row by
// row: what the tail reads and writes then lies in a line, and is fetched MR rows ahead.
INLINE void rows_by_panels(const int kind, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *a, const float *w,
	const operands *o) {
	float sum[MR * NR] __attribute__((aligned(64)));
	if (o->reduced) {
		rows_reduced(kind, rows, k, n, a, w, o);
		return;
	}
	if (rows == 0)
		return;
	const ptrdiff_t tiles = (rows + MR - 1) / MR, high = (rows + tiles - 1) / tiles; // of nearly even height
	if (k <= FEW && rows >= MR) {
		for (ptrdiff_t i = 0; i < rows; i += high)
			for (ptrdiff_t j = 0; j < n; j += NR) {
				if (i + 2 * high <= rows)
					fetch(kind, high, n, i + high, j, o);
				tile_of(kind, rows - i < high ? rows - i : high, k, n, a, w, o, i, j, sum);
			}
		return;
	}
	for (ptrdiff_t j = rows == 1 ? one_row(kind, k, n, a, w, o) : 0; j < n; j += NR)
		for (ptrdiff_t i = 0; i < rows; i += high) {
			const ptrdiff_t count = rows - i < high ? rows - i : high;
			if (rows >= MR)
				fetch(kind, count, n, i, j, o);
			tile_of(kind, count, k, n, a, w, o, i, j, sum);
		}
}

static void dense(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w,
	const float *bias,
	const float *add, float *y) {
	operands o = {.reduced = reduced, .bias = bias, .add = add, .y = y};
	rows_by_panels(PLAIN, rows, k, n, x, w, &o);
}

static void dense_tanh(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w,
	const float *bias, float *y) {
	operands o = {.reduced = reduced, .bias = bias, .y = y};
	rows_by_panels(TANH, rows, k, n, x, w, &o);
}

static void dense_gelu(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w,
	const float *bias,
	const float *add, float *y, float *slope) {
	operands o = {.reduced = reduced, .bias = bias, .add = add, .y = y, .slope = slope};
	rows_by_panels(GELU, rows, k, n, x, w, &o);
}

static void dense_film(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w,
	const float *bias,
	const float *film, float *pre, float *y, float *slope) {
	operands o = {.reduced = reduced, .bias = bias, .film = film, .pre = pre, .y = y, .slope = slope};
	rows_by_panels(FILM, rows, k, n, x, w, &o);
}

static void dense_gelu_backward(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *dy, const float *w,
	float *slope) {
	operands o = {.reduced = reduced, .slope = slope, .y = slope};
	rows_by_panels(GELU_BACK, rows, k, n, dy, w, &o);
}

static void dense_film_backward(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *dy, const float *w,
	const float *film,
	const float *pre, float *slope, float *dfilm) {
	operands o = {.reduced = reduced, .film = film, .pre = (float *)pre, .slope = slope, .dfilm = dfilm, .y = slope};
	rows_by_panels(FILM_BACK, rows, k, n, dy, w, &o);
}
