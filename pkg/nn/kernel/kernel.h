// The C side of package kernel. Each function computes what the Go function of
// the same name in reference.go computes; shapes and order of arguments are
// those of kernel.go.
#ifndef VND_KERNEL_H
#define VND_KERNEL_H

#include <stddef.h>

typedef struct {
	float rate, beta1, beta2, correct2, epsilon, keep, grad_scale;
} vnd_adam_step;

// One instruction set's kernels.
typedef struct {
	const char *name;
	void (*gemm)(int ta, int tb, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const float *a, ptrdiff_t lda,
		const float *b, ptrdiff_t ldb, float beta, float *c, ptrdiff_t ldc);
	void (*column_sums)(ptrdiff_t rows, ptrdiff_t n, const float *x, float *sum);
	void (*gru_gates)(ptrdiff_t rows, ptrdiff_t n, float *gi, const float *bi, float *gh, const float *bh,
		const float *h, float *next);
	void (*gru_gates_backward)(ptrdiff_t rows, ptrdiff_t n, float *gi, float *gh, const float *h,
		const float *dnext, float *dh);
	void (*gru_sequence)(int reduced, ptrdiff_t steps, ptrdiff_t n, float *gi, const float *bi, const float *w,
		float *gh, const float *bh, float *h);
	void (*axpy)(ptrdiff_t n, float a, const float *x, float *y);
	double (*squared_norm)(ptrdiff_t n, const float *x);
	void (*rbf)(ptrdiff_t rows, ptrdiff_t n, float *dot, const float *x2, const float *y2, float c, float *sums);
	void (*adam)(const vnd_adam_step *s, ptrdiff_t n, float *p, const float *g, float *m, float *v);
	ptrdiff_t (*panels)(int reduced, ptrdiff_t k, ptrdiff_t n);
	void (*pack_panels)(int reduced, int trans, ptrdiff_t k, ptrdiff_t n, const float *b, ptrdiff_t ldb, float *packed);
	void (*dense)(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w,
		const float *bias,
		const float *add, float *y);
	void (*dense_tanh)(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w,
		const float *bias, float *y);
	void (*dense_gelu)(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w,
		const float *bias,
		const float *add, float *y, float *slope);
	void (*dense_film)(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w,
		const float *bias,
		const float *film, float *pre, float *y, float *slope);
	void (*dense_gelu_backward)(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *dy, const float *w,
		float *slope);
	void (*dense_film_backward)(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *dy, const float *w,
		const float *film, const float *pre, float *slope, float *dfilm);
	int (*gradient_reduced)(ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *dy, float *dw,
		float *db);
	void (*normalise)(ptrdiff_t rows, ptrdiff_t n, const float *mean, const float *scale, float *x);
	void (*scale_rows)(ptrdiff_t rows, ptrdiff_t n, const float *scale, float *x);
} vnd_kernels;

extern const vnd_kernels vnd_base;
#if defined(__x86_64__)
extern const vnd_kernels vnd_avx2;
extern const vnd_kernels vnd_avx512;
extern const vnd_kernels vnd_avx512bf16;
extern const vnd_kernels vnd_avx512amx;
#endif

// vnd_choose picks the kernels of the named instruction set, or of the best of
// this processor if the name is empty, and, if library is not 0, oneDNN's matrix
// product where that library can be opened. It returns 0 and changes nothing if
// the processor lacks the instructions. It must run before any other call, and
// never beside one.
int vnd_choose(int library, const char *instructions);

// What runs: the instruction set, and whether oneDNN was opened.
const char *vnd_instructions(void);
int vnd_has_library(void);

void vnd_gemm(int ta, int tb, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const float *a, ptrdiff_t lda,
	const float *b, ptrdiff_t ldb, float beta, float *c, ptrdiff_t ldc);
void vnd_column_sums(ptrdiff_t rows, ptrdiff_t n, const float *x, float *sum);
void vnd_gru_gates(ptrdiff_t rows, ptrdiff_t n, float *gi, const float *bi, float *gh, const float *bh,
	const float *h, float *next);
void vnd_gru_gates_backward(ptrdiff_t rows, ptrdiff_t n, float *gi, float *gh, const float *h,
	const float *dnext, float *dh);
void vnd_gru_sequence(int reduced, ptrdiff_t steps, ptrdiff_t n, float *gi, const float *bi, const float *w,
	float *gh, const float *bh, float *h);
void vnd_axpy(ptrdiff_t n, float a, const float *x, float *y);
double vnd_squared_norm(ptrdiff_t n, const float *x);
void vnd_rbf(ptrdiff_t rows, ptrdiff_t n, float *dot, const float *x2, const float *y2, float c, float *sums);
void vnd_adam(vnd_adam_step s, ptrdiff_t n, float *p, const float *g, float *m, float *v);
// vnd_panels is how many numbers the panels of W [k×n] take; 0 where it cannot be reduced, to bfloat16, if that is
// asked.
ptrdiff_t vnd_panels(int reduced, ptrdiff_t k, ptrdiff_t n);
void vnd_pack_panels(int reduced, int trans, ptrdiff_t k, ptrdiff_t n, const float *b, ptrdiff_t ldb, float *packed);
void vnd_dense(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w, const float *bias,
	const float *add, float *y);
void vnd_dense_tanh(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w,
	const float *bias, float *y);
void vnd_dense_gelu(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w,
	const float *bias,
	const float *add, float *y, float *slope);
void vnd_dense_film(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w,
	const float *bias,
	const float *film, float *pre, float *y, float *slope);
void vnd_dense_gelu_backward(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *dy, const float *w,
	float *slope);
void vnd_dense_film_backward(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *dy, const float *w,
	const float *film, const float *pre, float *slope, float *dfilm);
// vnd_gradient_reduced returns 0 and does nothing where it cannot be done.
int vnd_gradient_reduced(ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *dy, float *dw,
	float *db);
void vnd_normalise(ptrdiff_t rows, ptrdiff_t n, const float *mean, const float *scale, float *x);
void vnd_scale_rows(ptrdiff_t rows, ptrdiff_t n, const float *scale, float *x);

#endif
