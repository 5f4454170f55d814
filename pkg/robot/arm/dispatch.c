//go:build cgo && !purego

#include <string.h>

#include "kernels.h"

extern const arm_kernels arm_base;
#if defined(__x86_64__)
extern const arm_kernels arm_avx2, arm_avx512;
#endif

const arm_kernels *arm_find(const char *instructions) {
#if defined(__x86_64__)
	if (!strncmp(instructions, arm_avx512.name, strlen(arm_avx512.name))) // products of bfloat16 or not
		return &arm_avx512;
	if (!strcmp(instructions, arm_avx2.name))
		return &arm_avx2;
#endif
	return strcmp(instructions, arm_base.name) ? 0 : &arm_base;
}

void arm_step(const arm_kernels *k, const arm_chain *c, ptrdiff_t rows, const float *s, const float *a, const float *d,
	float *next) {
	k->step(c, rows, s, a, d, next);
}

void arm_step_vjp(const arm_kernels *k, const arm_chain *c, ptrdiff_t rows, const float *s, const float *a,
	const float *dnext, float *ds, float *da, float *dd) {
	k->step_vjp(c, rows, s, a, dnext, ds, da, dd);
}
