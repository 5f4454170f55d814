// Rows of numbers of VL robots, loaded and stored with one robot to a lane.

typedef int32_t ivec __attribute__((vector_size(4 * VL)));

// where takes a in the lanes of yes, and b in the others, whatever it holds there.
INLINE vec where(ivec yes, vec a, vec b) { return (vec)((yes & (ivec)a) | (~yes & (ivec)b)); }

INLINE int any(ivec yes) {
	int32_t lane[VL] __attribute__((aligned(64))), some = 0;
	*(ivec *)lane = yes;
	for (int i = 0; i < VL; i++)
		some |= lane[i];
	return some;
}

// across loads n ≥ 4 numbers of `rows` ≤ VL rows, ld apart: to[j] takes number j of every row. The last four numbers
// overlap those before them where n is no multiple of four.
INLINE void across(const ptrdiff_t n, ptrdiff_t rows, const float *x, ptrdiff_t ld, vec *to) {
	float *y = (float *)to;
	ptrdiff_t i = 0;
	for (; i + 4 <= rows; i += 4, x += 4 * ld)
		for (ptrdiff_t j = 0; j < n; j += 4) {
			ptrdiff_t from = j + 4 <= n ? j : n - 4;
			transpose4(x + from, ld, y + from * VL + i, VL);
		}
	for (; i < VL; i++, x += ld)
		for (ptrdiff_t j = 0; j < n; j++)
			y[j * VL + i] = i < rows ? x[j] : 0.0f;
}

// along is the inverse of across: it stores.
INLINE void along(const ptrdiff_t n, ptrdiff_t rows, const vec *from, float *x, ptrdiff_t ld) {
	const float *y = (const float *)from;
	ptrdiff_t i = 0;
	for (; i + 4 <= rows; i += 4, x += 4 * ld)
		for (ptrdiff_t j = 0; j < n; j += 4) {
			ptrdiff_t to = j + 4 <= n ? j : n - 4;
			transpose4(y + to * VL + i, VL, x + to, ld);
		}
	for (; i < rows; i++, x += ld)
		for (ptrdiff_t j = 0; j < n; j++)
			x[j] = y[j * VL + i];
}
