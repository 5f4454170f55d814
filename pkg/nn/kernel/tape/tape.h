// C form of reference.go: the same sums in the same order, so the same bytes.
#ifndef VND_TAPE_H
#define VND_TAPE_H
#include <stddef.h>
#include <stdint.h>

#define VND_LANES 32

typedef struct {
	int32_t op, out, a, b;
	double k;
} vnd_instruction;

void vnd_tape_forward(const vnd_instruction *code, ptrdiff_t n, const int32_t *args, const double *theta, double *x);
void vnd_tape_backward(const vnd_instruction *code, ptrdiff_t n, const int32_t *args, const double *theta,
                       const double *x, double *dx, double *dtheta);
#endif
