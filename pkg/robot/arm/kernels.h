// The C side of package arm. Shapes and order of arguments are those of system.go.
#ifndef ARM_KERNELS_H
#define ARM_KERNELS_H

#include <stddef.h>

enum { JOINTS = 7 };

// See chain.go; matrices are row-major.
typedef struct {
	float mass, at[3], inertia[9];
} arm_body;

typedef struct {
	float turn[9], at[3];
	arm_body body;
	float armature, damping, friction;
} arm_link;

typedef struct {
	arm_link link[JOINTS];
	arm_body payload;
	int compensated;
	int steps; // of the integrator
	float h;   // s, of one of them
} arm_chain;

// One instruction set's kernels.
typedef struct {
	const char *name;
	void (*step)(const arm_chain *c, ptrdiff_t rows, const float *s, const float *a, const float *d, float *next);
	void (*step_vjp)(const arm_chain *c, ptrdiff_t rows, const float *s, const float *a, const float *dnext, float *ds,
		float *da, float *dd);
} arm_kernels;

// arm_find returns the kernels of the named instruction set, 0 where this binary has none.
const arm_kernels *arm_find(const char *instructions);

// The calls, through k. C of cgo cannot call a function pointer.
void arm_step(const arm_kernels *k, const arm_chain *c, ptrdiff_t rows, const float *s, const float *a, const float *d,
	float *next);
void arm_step_vjp(const arm_kernels *k, const arm_chain *c, ptrdiff_t rows, const float *s, const float *a,
	const float *dnext, float *ds, float *da, float *dd);

#endif
