// Products in bfloat16 by tiles (AMX), each of HIGH rows by NR columns: four tiles of sums, two of each operand.
// Included by reduced.h.
//
// An instruction adds to a tile of 16×16 sums the products of 16 rows with 16 columns, 16 pairs of k deep.

_Static_assert((int)HIGH == 2 * VL && (int)NR == 2 * VL && (int)DEEP == VL, "what two by two tiles hold");

// open_tiles makes all eight tiles 16 rows of 64 bytes. Between close_tiles and the next open_tiles Linux has none of
// their state to save.
INLINE void open_tiles(void) {
	static const struct {
		uint8_t palette, start, zero[14];
		uint16_t bytes[16];
		uint8_t rows[16];
	} shape = {.palette = 1, .bytes = {[0 ... 7] = 64}, .rows = {[0 ... 7] = 16}};
	_tile_loadconfig(&shape);
}

INLINE void close_tiles(void) { _tile_release(); }

INLINE void no_sums(void) {
	_tile_zero(0);
	_tile_zero(1);
	_tile_zero(2);
	_tile_zero(3);
}

// add_product adds to the sums a [HIGH×DEEP] times b [DEEP×NR], pairs of k in panels; rows of a lie `apart`.
INLINE void add_product(const float *a, ptrdiff_t apart, const float *b) {
	_tile_loadd(4, a, 4 * apart);
	_tile_loadd(5, a + VL * apart, 4 * apart);
	_tile_loadd(6, b, 4 * NR);
	_tile_loadd(7, b + VL, 4 * NR);
	_tile_dpbf16ps(0, 4, 6);
	_tile_dpbf16ps(1, 4, 7);
	_tile_dpbf16ps(2, 5, 6);
	_tile_dpbf16ps(3, 5, 7);
}

// add_products adds a [HIGH×k] times b [k×NR].
INLINE void add_products(ptrdiff_t k, const float *a, ptrdiff_t apart, const float *b) {
	for (ptrdiff_t p = 0; p < k; p += DEEP)
		add_product(a + p, apart, b + p * NR);
}

INLINE void store_sums(float *to, ptrdiff_t apart) {
	_tile_stored(0, to, 4 * apart);
	_tile_stored(1, to + VL, 4 * apart);
	_tile_stored(2, to + VL * apart, 4 * apart);
	_tile_stored(3, to + VL * apart + VL, 4 * apart);
}

// product_beside is product of a [HIGH×k] and one panel, both in pairs, for part `now`. Rows past the last are whatever
// lies there. Tiles have a unit of their own: meanwhile the vector registers finish the part before.
INLINE void product_beside(const int kind, ptrdiff_t k, const float *a, const float *b, ptrdiff_t n,
	part *now, part *before, const operands *o) {
	const ptrdiff_t each = (before->rows * DEEP + k - 1) / k;
	no_sums();
	for (ptrdiff_t p = 0; p < k; p += DEEP) {
		add_product(a + p, k, b + p * NR);
		finish_some(kind, each, n, before, o);
	}
	store_sums(now->sum, NR);
	now->done = 0;
}

// transpose16 turns 16 rows of 16 numbers into columns.
INLINE void transpose16(__m512i r[16]) {
	__m512i t[16];
#pragma GCC unroll 16
	for (int i = 0; i < 16; i += 2) {
		t[i] = _mm512_unpacklo_epi32(r[i], r[i + 1]);
		t[i + 1] = _mm512_unpackhi_epi32(r[i], r[i + 1]);
	}
#pragma GCC unroll 16
	for (int i = 0; i < 16; i += 4) { // r[i + c] has columns c, 4 + c, 8 + c and 12 + c of rows i to i + 3
		r[i] = _mm512_unpacklo_epi64(t[i], t[i + 2]);
		r[i + 1] = _mm512_unpackhi_epi64(t[i], t[i + 2]);
		r[i + 2] = _mm512_unpacklo_epi64(t[i + 1], t[i + 3]);
		r[i + 3] = _mm512_unpackhi_epi64(t[i + 1], t[i + 3]);
	}
#pragma GCC unroll 16
	for (int c = 0; c < 4; c++) {
		__m512i upper = _mm512_shuffle_i32x4(r[c], r[4 + c], 0x88),
			lower = _mm512_shuffle_i32x4(r[8 + c], r[12 + c], 0x88);
		t[c] = _mm512_shuffle_i32x4(upper, lower, 0x88);
		t[8 + c] = _mm512_shuffle_i32x4(upper, lower, 0xdd);
		upper = _mm512_shuffle_i32x4(r[c], r[4 + c], 0xdd);
		lower = _mm512_shuffle_i32x4(r[8 + c], r[12 + c], 0xdd);
		t[4 + c] = _mm512_shuffle_i32x4(upper, lower, 0x88);
		t[12 + c] = _mm512_shuffle_i32x4(upper, lower, 0xdd);
	}
#pragma GCC unroll 16
	for (int i = 0; i < 16; i++)
		r[i] = t[i];
}

// pair_left writes x [rows×n] column after column, zeros past the last of VL: a column's pairs of rows follow each
// other.
static void pair_left(ptrdiff_t rows, ptrdiff_t n, const float *restrict x, float *restrict to) {
	const ptrdiff_t count = pairs(rows);
	for (ptrdiff_t p = 0; p < count; p += DEEP)
		for (ptrdiff_t j = 0; j < n; j += VL) {
			__m512i r[16];
#pragma GCC unroll 16
			for (int i = 0; i < 16; i++)
				r[i] = pair_of(rows - 2 * (p + i), n, x + 2 * (p + i) * n + j, n - j);
			transpose16(r);
#pragma GCC unroll 16
			for (int i = 0; i < 16; i++)
				_mm512_storeu_si512(to + (j + i) * count + p, r[i]);
		}
}

INLINE const float *left_of(const float *columns, ptrdiff_t count, ptrdiff_t i) { return columns + i * count; }

// gradient_tile adds xᵀ·dy to the first `high`, at most HIGH, rows and `wide`, at most NR, columns of g, for `count`
// pairs of rows.
static __attribute__((noinline)) void gradient_tile(ptrdiff_t count, const float *x, const float *dy, ptrdiff_t high,
	ptrdiff_t wide, float *g, ptrdiff_t ldg) {
	if (high >= HIGH && wide >= NR) {
		_tile_loadd(0, g, 4 * ldg);
		_tile_loadd(1, g + VL, 4 * ldg);
		_tile_loadd(2, g + VL * ldg, 4 * ldg);
		_tile_loadd(3, g + VL * ldg + VL, 4 * ldg);
		add_products(count, x, count, dy);
		store_sums(g, ldg);
		return;
	}
	float sum[HIGH * NR] __attribute__((aligned(64)));
	no_sums();
	add_products(count, x, count, dy);
	store_sums(sum, NR);
	for (ptrdiff_t i = 0; i < high && i < HIGH; i++)
		for (ptrdiff_t j = 0; j < wide && j < NR; j++)
			g[i * ldg + j] += sum[i * NR + j];
}
