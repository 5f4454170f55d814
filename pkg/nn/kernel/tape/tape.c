//go:build cgo && !purego

#include "tape.h"

#pragma GCC optimize("fp-contract=off", "no-math-errno")

#include <math.h>

enum { OP_ADD, OP_SUB, OP_MUL, OP_SCALE, OP_SHIFT, OP_SQRT, OP_INV, OP_DOT };

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__gnu_linux__)
#define CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CLONES
#endif

#define EACH for (int i = 0; i < VND_LANES; i++)

CLONES void vnd_tape_forward(const vnd_instruction *code, ptrdiff_t n, const int32_t *args, const double *theta,
                             double *x) {
	for (const vnd_instruction *c = code; c < code + n; c++) {
		double *restrict out = x + (ptrdiff_t)c->out * VND_LANES;
		const double *a = x + (ptrdiff_t)c->a * VND_LANES, *b = x + (ptrdiff_t)c->b * VND_LANES, k = c->k;
		switch (c->op) {
		case OP_ADD: EACH out[i] = a[i] + b[i]; break;
		case OP_SUB: EACH out[i] = a[i] - b[i]; break;
		case OP_MUL: EACH out[i] = a[i] * b[i]; break;
		case OP_SCALE: EACH out[i] = k * a[i]; break;
		case OP_SHIFT: EACH out[i] = k + a[i]; break;
		case OP_SQRT: EACH out[i] = sqrt(a[i]); break;
		case OP_INV: EACH out[i] = 1 / a[i]; break;
		case OP_DOT: {
			double sum[VND_LANES];
			EACH sum[i] = 0;
			for (const int32_t *p = args + c->a; p < args + c->a + 2 * c->b; p += 2) {
				const double t = theta[p[0]], *v = x + (ptrdiff_t)p[1] * VND_LANES;
				EACH sum[i] += t * v[i];
			}
			EACH out[i] = sum[i];
		}
		}
	}
}

CLONES void vnd_tape_backward(const vnd_instruction *code, ptrdiff_t n, const int32_t *args, const double *theta,
                              const double *x, double *dx, double *dtheta) {
	for (const vnd_instruction *c = code + n - 1; c >= code; c--) {
		double d[VND_LANES], *at = dx + (ptrdiff_t)c->out * VND_LANES;
		const double *a = x + (ptrdiff_t)c->a * VND_LANES, *b = x + (ptrdiff_t)c->b * VND_LANES, k = c->k;
		const double *out = x + (ptrdiff_t)c->out * VND_LANES;
		double *restrict da = dx + (ptrdiff_t)c->a * VND_LANES, *restrict db = dx + (ptrdiff_t)c->b * VND_LANES;
		EACH d[i] = at[i];
		EACH at[i] = 0;
		switch (c->op) {
		case OP_ADD: EACH da[i] += d[i]; EACH db[i] += d[i]; break;
		case OP_SUB: EACH da[i] += d[i]; EACH db[i] -= d[i]; break;
		case OP_MUL: EACH da[i] += d[i] * b[i]; EACH db[i] += d[i] * a[i]; break;
		case OP_SCALE: EACH da[i] += k * d[i]; break;
		case OP_SHIFT: EACH da[i] += d[i]; break;
		case OP_SQRT: EACH da[i] += .5 * d[i] / out[i]; break;
		case OP_INV: EACH da[i] -= d[i] * out[i] * out[i]; break;
		case OP_DOT:
			for (const int32_t *p = args + c->a; p < args + c->a + 2 * c->b; p += 2) {
				const double t = theta[p[0]], *v = x + (ptrdiff_t)p[1] * VND_LANES;
				double s[8] = {0}, *restrict dv = dx + (ptrdiff_t)p[1] * VND_LANES;
				for (int i = 0; i < VND_LANES; i += 8)
					for (int j = 0; j < 8; j++) s[j] += d[i + j] * v[i + j];
				dtheta[p[0]] += ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
				EACH dv[i] += t * d[i];
			}
		}
	}
}
