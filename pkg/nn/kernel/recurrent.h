// A GRU over the window of one robot, as flight has it: each step waits for the one before it, and its time is that of
// W's way from the second-level cache.

enum { TOGETHER = 3 }; // panels of W at a time: with two vectors each, no addition waits, and they fit the first level

// recurrent_product computes gh [n] = h·W for one row h [k] and whole panels. Every other step goes through W backwards
// and begins with what the step before left in the first-level cache.
static void recurrent_product(int backwards, ptrdiff_t k, ptrdiff_t n, const float *h, const float *w, float *gh) {
	const ptrdiff_t wide = TOGETHER * NR, groups = n / wide;
	for (ptrdiff_t g = 0; g < groups; g++) {
		const ptrdiff_t j = (backwards ? groups - 1 - g : g) * wide;
		abreast(TOGETHER, k, h, w + j * k, gh + j);
	}
	float sum[MR * NR] __attribute__((aligned(64)));
	const operands o = {.y = gh};
	for (ptrdiff_t j = groups * wide; j < n; j += NR)
		tile_of(PLAIN, 1, k, n, h, w, &o, 0, j, sum);
}

static void gru_sequence(int reduced, ptrdiff_t steps, ptrdiff_t n, float *gi, const float *bi, const float *w,
	float *gh, const float *bh, float *h) {
	float *now = h, *next = h + n;
	memset(now, 0, n * sizeof *now);
	memset(gh, 0, 3 * n * sizeof *gh); // the product of the first h
	for (ptrdiff_t t = 0; t < steps; t++) {
		if (t > 0 && reduced)
			dense(1, 1, n, 3 * n, now, w, 0, 0, gh);
		else if (t > 0)
			recurrent_product(t % 2, n, 3 * n, now, w, gh);
		gru_gates(1, n, gi + 3 * n * t, bi, gh, bh, now, next);
		float *spare = now;
		now = next;
		next = spare;
	}
}
