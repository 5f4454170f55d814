// The matrix product for machines without oneDNN: C = op(A)·op(B) + beta·C by
// register tiles of MR rows by two vectors of VL columns.
//
// Blocks of A and B are packed into panels that a tile reads from end to end:
// op(A) by MR rows, op(B) by NR columns, zeros past the last. A block of B stays
// in the second-level cache, its panel and that of A in the first.

enum { NR = 2 * VL, KC = 256, MC = 8 * MR, NC = 8 * NR };

// tile computes C [rows×cols] = Σ_p a[p·MR + i]·b[p·NR + j] + beta·C over k.
static __attribute__((noinline)) void tile(ptrdiff_t rows, ptrdiff_t cols, ptrdiff_t k, const float *restrict a,
	const float *restrict b, float beta, float *restrict c, ptrdiff_t ldc) {
	vec lo[MR], hi[MR];
#pragma GCC unroll 16
	for (int i = 0; i < MR; i++)
		lo[i] = hi[i] = (vec){0};
	for (ptrdiff_t p = 0; p < k; p++, a += MR, b += NR) {
		vec b0 = *(const vec *)b, b1 = *(const vec *)(b + VL);
#pragma GCC unroll 16
		for (int i = 0; i < MR; i++) {
			lo[i] += a[i] * b0;
			hi[i] += a[i] * b1;
		}
	}
	if (rows == MR && cols == NR) {
#pragma GCC unroll 16
		for (int i = 0; i < MR; i++, c += ldc) {
			vec_u *c0 = (vec_u *)c, *c1 = (vec_u *)(c + VL);
			*c0 = beta == 0.0f ? lo[i] : lo[i] + beta * *c0;
			*c1 = beta == 0.0f ? hi[i] : hi[i] + beta * *c1;
		}
		return;
	}
	float edge[MR][NR];
#pragma GCC unroll 16
	for (int i = 0; i < MR; i++) {
		*(vec_u *)edge[i] = lo[i];
		*(vec_u *)(edge[i] + VL) = hi[i];
	}
	for (ptrdiff_t i = 0; i < rows; i++, c += ldc)
		for (ptrdiff_t j = 0; j < cols; j++)
			c[j] = beta == 0.0f ? edge[i][j] : edge[i][j] + beta * c[j];
}

// pack_rows copies x [k×count], rows ld apart, into a panel [k×width].
INLINE void pack_rows(ptrdiff_t width, ptrdiff_t k, ptrdiff_t count, const float *restrict x, ptrdiff_t ld,
	float *restrict panel) {
	for (ptrdiff_t p = 0; p < k; p++, x += ld, panel += width) {
		if (count == width)
			memcpy(panel, x, width * sizeof(float));
		else
			for (ptrdiff_t j = 0; j < width; j++)
				panel[j] = j < count ? x[j] : 0.0f;
	}
}

// pack_columns copies the transpose of x [count×k], rows ld apart, into a panel
// [k×width].
INLINE void pack_columns(ptrdiff_t width, ptrdiff_t k, ptrdiff_t count, const float *restrict x, ptrdiff_t ld,
	float *restrict panel) {
	ptrdiff_t j = 0;
	for (; j + 4 <= count; j += 4, x += 4 * ld) {
		ptrdiff_t p = 0;
		for (; p + 4 <= k; p += 4)
			transpose4(x + p, ld, panel + p * width + j, width);
		for (; p < k; p++)
			for (ptrdiff_t q = 0; q < 4; q++)
				panel[p * width + j + q] = x[q * ld + p];
	}
	for (; j < width; j++, x += ld)
		for (ptrdiff_t p = 0; p < k; p++)
			panel[p * width + j] = j < count ? x[p] : 0.0f;
}

// pack_a packs op(A) [m×k] into panels of MR rows, pack_b op(B) [k×n] into
// panels of NR columns.
static void pack_a(int trans, ptrdiff_t m, ptrdiff_t k, const float *a, ptrdiff_t lda, float *restrict packed) {
	for (ptrdiff_t i = 0; i < m; i += MR, packed += MR * k) {
		ptrdiff_t count = m - i < MR ? m - i : MR;
		if (trans)
			pack_rows(MR, k, count, a + i, lda, packed);
		else
			pack_columns(MR, k, count, a + i * lda, lda, packed);
	}
}

static void pack_b(int trans, ptrdiff_t n, ptrdiff_t k, const float *b, ptrdiff_t ldb, float *restrict packed) {
	for (ptrdiff_t j = 0; j < n; j += NR, packed += NR * k) {
		ptrdiff_t count = n - j < NR ? n - j : NR;
		if (trans)
			pack_columns(NR, k, count, b + j * ldb, ldb, packed);
		else
			pack_rows(NR, k, count, b + j, ldb, packed);
	}
}

// block multiplies packed A [m×k] with packed B [k×n].
static void block(ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const float *a, const float *b, float beta, float *c,
	ptrdiff_t ldc) {
	for (ptrdiff_t j = 0; j < n; j += NR)
		for (ptrdiff_t i = 0; i < m; i += MR)
			tile(m - i < MR ? m - i : MR, n - j < NR ? n - j : NR, k, a + i * k, b + j * k, beta,
				c + i * ldc + j, ldc);
}

// lanes adds to y [WIDTH·VL] the product of x [k], incx apart, with b [k×WIDTH·VL] as it lies. Narrow ones sum several
// rows at a time: an addition waits for the one before it.
INLINE void lanes(const int width, ptrdiff_t k, const float *restrict x, ptrdiff_t incx, const float *restrict b,
	ptrdiff_t ldb, float beta, float *restrict y) {
	enum { MOST = 24 };
	const int chains = width < 8 ? 8 / width : 1;
	vec sum[MOST];
#pragma GCC unroll 24
	for (int i = 0; i < MOST; i++)
		sum[i] = (vec){0};
	ptrdiff_t p = 0;
	for (; p + chains <= k; p += chains)
#pragma GCC unroll 24
		for (int c = 0; c < chains; c++)
#pragma GCC unroll 24
			for (int i = 0; i < width; i++)
				sum[c * width + i] += x[(p + c) * incx] * *(const vec_u *)(b + (p + c) * ldb + i * VL);
	for (; p < k; p++)
#pragma GCC unroll 24
		for (int i = 0; i < width; i++)
			sum[i] += x[p * incx] * *(const vec_u *)(b + p * ldb + i * VL);
#pragma GCC unroll 24
	for (int i = 0; i < width; i++) {
#pragma GCC unroll 24
		for (int c = 1; c < chains; c++)
			sum[i] += sum[c * width + i];
		vec_u *to = (vec_u *)(y + i * VL);
		*to = beta == 0.0f ? sum[i] : sum[i] + beta * *to;
	}
}

// row computes C = x·B + beta·C for one row x, without packing: each number of B is used once. Past the last whole
// vector of columns it reads on into the next row, and copies the last rows, which have none.
static void row(ptrdiff_t n, ptrdiff_t k, const float *restrict x, ptrdiff_t incx, const float *restrict b,
	ptrdiff_t ldb, float beta, float *restrict y) {
	ptrdiff_t j = 0;
	if (VL == 16) { // 32 registers; the longer the pieces of rows, the better they come from the second-level cache
		for (; j + 24 * VL <= n; j += 24 * VL)
			lanes(24, k, x, incx, b + j, ldb, beta, y + j);
		for (; j + 16 * VL <= n; j += 16 * VL)
			lanes(16, k, x, incx, b + j, ldb, beta, y + j);
	}
	for (; j + 8 * VL <= n; j += 8 * VL)
		lanes(8, k, x, incx, b + j, ldb, beta, y + j);
	if (j + 4 * VL <= n) {
		lanes(4, k, x, incx, b + j, ldb, beta, y + j);
		j += 4 * VL;
	}
	if (j + 2 * VL <= n) {
		lanes(2, k, x, incx, b + j, ldb, beta, y + j);
		j += 2 * VL;
	}
	if (j + VL <= n) {
		lanes(1, k, x, incx, b + j, ldb, beta, y + j);
		j += VL;
	}
	if (j == n)
		return;
	ptrdiff_t whole = ((k - 1) * ldb + n - j - VL) / ldb + 1; // rows of B behind which there is a vector's length of B
	whole = k == 0 || (k - 1) * ldb + n - j < VL ? 0 : whole;
	float last[VL * VL] __attribute__((aligned(64))), out[VL] __attribute__((aligned(64)));
	lanes(1, whole, x, incx, b + j, ldb, 0.0f, out);
	pack_rows(VL, k - whole, n - j, b + whole * ldb + j, ldb, last);
	lanes(1, k - whole, x + whole * incx, incx, last, VL, 1.0f, out);
	for (ptrdiff_t i = 0; j + i < n; i++)
		y[j + i] = beta == 0.0f ? out[i] : out[i] + beta * y[j + i];
}

static void gemm(int ta, int tb, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const float *a, ptrdiff_t lda,
	const float *b, ptrdiff_t ldb, float beta, float *c, ptrdiff_t ldc) {
	if (m == 1 && !tb) {
		row(n, k, a, ta ? lda : 1, b, ldb, beta, c);
		return;
	}
	float pa[MC * KC] __attribute__((aligned(64)));
	float pb[NC * KC] __attribute__((aligned(64)));
	ptrdiff_t p = 0;
	do { // once also for k = 0, where C becomes beta·C
		ptrdiff_t kc = k - p < KC ? k - p : KC;
		for (ptrdiff_t j = 0; j < n; j += NC) {
			ptrdiff_t nc = n - j < NC ? n - j : NC;
			pack_b(tb, nc, kc, tb ? b + j * ldb + p : b + p * ldb + j, ldb, pb);
			for (ptrdiff_t i = 0; i < m; i += MC) {
				ptrdiff_t mc = m - i < MC ? m - i : MC;
				pack_a(ta, mc, kc, ta ? a + p * lda + i : a + i * lda + p, lda, pa);
				block(mc, nc, kc, pa, pb, p == 0 ? beta : 1.0f, c + i * ldc + j, ldc);
			}
		}
		p += KC;
	} while (p < k);
}
