// The C side of package quadrotor. Shapes and order of arguments are those of body.go, costs.go and observe.go.
#ifndef QUADROTOR_KERNELS_H
#define QUADROTOR_KERNELS_H

#include <stddef.h>

// Commands of the delay line, MaxDelay of actuator.go.
enum { QUADROTOR_DELAY = 8 };

typedef struct {
	float gain, blend, elder;
	int tap;
} quadrotor_channel;

typedef struct {
	float dt, gravity;
	quadrotor_channel channels[4]; // of thrust and of the three body rates
	int prior;
} quadrotor_body;

// What one step of a batch was, see costs.go.
typedef struct {
	const float *s0, *s1, *a, *last, *ref, *weights;
} quadrotor_transition;

typedef struct {
	float per_dt, hover;
	ptrdiff_t state; // numbers of a state
} quadrotor_cost;

// See observe.go.
typedef struct {
	ptrdiff_t looks, place, past; // points of the reference, numbers of the place, past actions
	ptrdiff_t state, width;       // numbers of a state and of a row of the observation
} quadrotor_view;

// One instruction set's kernels.
typedef struct {
	const char *name;
	void (*step)(const quadrotor_body *m, ptrdiff_t rows, const float *s, const float *a, const float *d, float *next);
	void (*step_vjp)(const quadrotor_body *m, ptrdiff_t rows, const float *s, const float *a, const float *d,
		const float *dnext, float *ds, float *da, float *dd);
	void (*inputs)(const quadrotor_body *m, ptrdiff_t rows, const float *s, const float *a, float *x);
	void (*inputs_vjp)(const quadrotor_body *m, ptrdiff_t rows, const float *s, const float *a, const float *dx,
		float *ds, float *da);
	void (*cost)(const quadrotor_cost *k, ptrdiff_t rows, const quadrotor_transition *f, float *cost, float *off);
	void (*cost_vjp)(const quadrotor_cost *k, ptrdiff_t rows, const quadrotor_transition *f, const float *scale,
		float *ds0, float *ds1, float *da, float *dlast);
	void (*observe)(const quadrotor_view *o, ptrdiff_t rows, const float *s, const float *ref, const float *seen,
		const float *past, float *x);
	void (*observe_vjp)(const quadrotor_view *o, ptrdiff_t rows, const float *s, const float *dx, float *ds,
		float *dseen, float *dpast);
} quadrotor_kernels;

// quadrotor_find returns the kernels of the named instruction set, 0 where this binary has none.
const quadrotor_kernels *quadrotor_find(const char *instructions);

// The calls, through k. C of cgo cannot call a function pointer.
void quadrotor_step(const quadrotor_kernels *k, quadrotor_body m, ptrdiff_t rows, const float *s, const float *a,
	const float *d, float *next);
void quadrotor_step_vjp(const quadrotor_kernels *k, quadrotor_body m, ptrdiff_t rows, const float *s, const float *a,
	const float *d, const float *dnext, float *ds, float *da, float *dd);
void quadrotor_inputs(const quadrotor_kernels *k, quadrotor_body m, ptrdiff_t rows, const float *s, const float *a,
	float *x);
void quadrotor_inputs_vjp(const quadrotor_kernels *k, quadrotor_body m, ptrdiff_t rows, const float *s, const float *a,
	const float *dx, float *ds, float *da);
void quadrotor_costs(const quadrotor_kernels *k, quadrotor_cost c, ptrdiff_t rows, const float *s0, const float *s1,
	const float *a, const float *last, const float *ref, const float *weights, float *cost, float *off);
void quadrotor_costs_vjp(const quadrotor_kernels *k, quadrotor_cost c, ptrdiff_t rows, const float *s0,
	const float *s1, const float *a, const float *last, const float *ref, const float *weights, const float *scale,
	float *ds0, float *ds1, float *da, float *dlast);
void quadrotor_observe(const quadrotor_kernels *k, quadrotor_view o, ptrdiff_t rows, const float *s, const float *ref,
	const float *seen, const float *past, float *x);
void quadrotor_observe_vjp(const quadrotor_kernels *k, quadrotor_view o, ptrdiff_t rows, const float *s,
	const float *dx, float *ds, float *dseen, float *dpast);

#endif
