//go:build cgo && !purego

#include <string.h>

#include "kernels.h"

extern const quadrotor_kernels quadrotor_base;
#if defined(__x86_64__)
extern const quadrotor_kernels quadrotor_avx2, quadrotor_avx512;
#endif

const quadrotor_kernels *quadrotor_find(const char *instructions) {
#if defined(__x86_64__)
	if (!strncmp(instructions, quadrotor_avx512.name, strlen(quadrotor_avx512.name))) // products of bfloat16 or not
		return &quadrotor_avx512;
	if (!strcmp(instructions, quadrotor_avx2.name))
		return &quadrotor_avx2;
#endif
	return strcmp(instructions, quadrotor_base.name) ? 0 : &quadrotor_base;
}

void quadrotor_step(const quadrotor_kernels *k, quadrotor_body m, ptrdiff_t rows, const float *s, const float *a,
	const float *d, float *next) {
	k->step(&m, rows, s, a, d, next);
}

void quadrotor_step_vjp(const quadrotor_kernels *k, quadrotor_body m, ptrdiff_t rows, const float *s, const float *a,
	const float *d, const float *dnext, float *ds, float *da, float *dd) {
	k->step_vjp(&m, rows, s, a, d, dnext, ds, da, dd);
}

void quadrotor_inputs(const quadrotor_kernels *k, quadrotor_body m, ptrdiff_t rows, const float *s, const float *a,
	float *x) {
	k->inputs(&m, rows, s, a, x);
}

void quadrotor_inputs_vjp(const quadrotor_kernels *k, quadrotor_body m, ptrdiff_t rows, const float *s, const float *a,
	const float *dx, float *ds, float *da) {
	k->inputs_vjp(&m, rows, s, a, dx, ds, da);
}

void quadrotor_costs(const quadrotor_kernels *k, quadrotor_cost c, ptrdiff_t rows, const float *s0, const float *s1,
	const float *a, const float *last, const float *ref, const float *weights, float *cost, float *off) {
	const quadrotor_transition t = {s0, s1, a, last, ref, weights};
	k->cost(&c, rows, &t, cost, off);
}

void quadrotor_costs_vjp(const quadrotor_kernels *k, quadrotor_cost c, ptrdiff_t rows, const float *s0,
	const float *s1, const float *a, const float *last, const float *ref, const float *weights, const float *scale,
	float *ds0, float *ds1, float *da, float *dlast) {
	const quadrotor_transition t = {s0, s1, a, last, ref, weights};
	k->cost_vjp(&c, rows, &t, scale, ds0, ds1, da, dlast);
}

void quadrotor_observe(const quadrotor_kernels *k, quadrotor_view o, ptrdiff_t rows, const float *s, const float *ref,
	const float *seen, const float *past, float *x) {
	k->observe(&o, rows, s, ref, seen, past, x);
}

void quadrotor_observe_vjp(const quadrotor_kernels *k, quadrotor_view o, ptrdiff_t rows, const float *s,
	const float *dx, float *ds, float *dseen, float *dpast) {
	k->observe_vjp(&o, rows, s, dx, ds, dseen, dpast);
}
