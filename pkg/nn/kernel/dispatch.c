//go:build cgo && !purego

// The choice of kernels at run time, and the calls through it.
//
// Measured on one Zen 5 core with AVX-512, GFLOP/s of products 64×256×256 as
// they lie, with B transposed, and 256×256×3200 with A transposed: oneDNN 2.6
// 260, 221, 249; gemm.h 236, 219, 242; LIBXSMM 1.17 269, none, 245, on amd64
// alone; OpenBLAS 0.3.21 125. One row, as in flight, by 128×384, 256×256, 128×12
// and 256×9: oneDNN 106, 106, 11, 9; gemm.h, which then packs nothing, 120, 115,
// 58, 43, near what the second-level cache gives.
#include <dlfcn.h>
#include <string.h>
#if defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "kernel.h"

static const vnd_kernels *use = &vnd_base;

// oneDNN's row-major sgemm, and the setting of OpenMP threads per calling thread
// (3 ns): our own workers share out the work.
typedef int (*sgemm_t)(char ta, char tb, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, float alpha, const float *a,
	ptrdiff_t lda, const float *b, ptrdiff_t ldb, float beta, float *c, ptrdiff_t ldc);
static sgemm_t sgemm;
static void (*set_threads)(int);

static void open_library(void) {
	const char *names[] = {"libdnnl.so.2", "libdnnl.so.3"};
	for (unsigned i = 0; i < sizeof names / sizeof *names && !sgemm; i++) {
		void *lib = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
		if (lib) {
			sgemm = (sgemm_t)dlsym(lib, "dnnl_sgemm");
			set_threads = (void (*)(int))dlsym(lib, "omp_set_num_threads");
		}
	}
}

#if defined(__x86_64__)
// has_tiles says whether this processor multiplies tiles of bfloat16 and Linux lets this process use them. Linux has to
// be asked: a thread that uses them has 8 KiB more to be saved.
static int has_tiles(void) {
#if defined(__linux__)
	enum { AMX_BF16 = 1 << 22, AMX_TILE = 1 << 24, REQ_XCOMP_PERM = 0x1023, XTILEDATA = 18 };
	unsigned a, b, c, d = 0;
	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
		return 0;
	return (d & AMX_BF16) && (d & AMX_TILE) && syscall(SYS_arch_prctl, REQ_XCOMP_PERM, XTILEDATA) == 0;
#else
	return 0;
#endif
}
#endif

// runs says whether this processor has the instructions that k was compiled for.
static int runs(const vnd_kernels *k) {
#if defined(__x86_64__)
	__builtin_cpu_init();
	int avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
		__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
	if (k == &vnd_avx512amx)
		return avx512 && __builtin_cpu_supports("avx512bf16") && has_tiles();
	if (k == &vnd_avx512bf16)
		return avx512 && __builtin_cpu_supports("avx512bf16");
	if (k == &vnd_avx512)
		return avx512;
	if (k == &vnd_avx2)
		return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
	return k == &vnd_base;
}

int vnd_choose(int library, const char *instructions) {
	static const vnd_kernels *const sets[] = {
#if defined(__x86_64__)
		&vnd_avx512amx, &vnd_avx512bf16, &vnd_avx512, &vnd_avx2,
#endif
		&vnd_base,
	};
	const vnd_kernels *chosen = 0;
	for (unsigned i = 0; i < sizeof sets / sizeof *sets && !chosen; i++)
		if ((!*instructions || !strcmp(instructions, sets[i]->name)) && runs(sets[i]))
			chosen = sets[i];
	if (!chosen)
		return 0;
	use = chosen;
	sgemm = 0;
	if (library)
		open_library();
	return 1;
}

const char *vnd_instructions(void) { return use->name; }
int vnd_has_library(void) { return sgemm != 0; }

void vnd_gemm(int ta, int tb, ptrdiff_t m, ptrdiff_t n, ptrdiff_t k, const float *a, ptrdiff_t lda,
	const float *b, ptrdiff_t ldb, float beta, float *c, ptrdiff_t ldc) {
	if (sgemm && k > 0 && (m > 1 || tb)) {
		if (set_threads)
			set_threads(1);
		if (sgemm(ta ? 'T' : 'N', tb ? 'T' : 'N', m, n, k, 1.0f, a, lda, b, ldb, beta, c, ldc) == 0)
			return;
	}
	use->gemm(ta, tb, m, n, k, a, lda, b, ldb, beta, c, ldc);
}

void vnd_column_sums(ptrdiff_t rows, ptrdiff_t n, const float *x, float *sum) { use->column_sums(rows, n, x, sum); }

void vnd_gru_gates(ptrdiff_t rows, ptrdiff_t n, float *gi, const float *bi, float *gh, const float *bh,
	const float *h, float *next) {
	use->gru_gates(rows, n, gi, bi, gh, bh, h, next);
}

void vnd_gru_gates_backward(ptrdiff_t rows, ptrdiff_t n, float *gi, float *gh, const float *h,
	const float *dnext, float *dh) {
	use->gru_gates_backward(rows, n, gi, gh, h, dnext, dh);
}

void vnd_gru_sequence(int reduced, ptrdiff_t steps, ptrdiff_t n, float *gi, const float *bi, const float *w,
	float *gh, const float *bh, float *h) {
	use->gru_sequence(reduced, steps, n, gi, bi, w, gh, bh, h);
}

void vnd_axpy(ptrdiff_t n, float a, const float *x, float *y) { use->axpy(n, a, x, y); }

double vnd_squared_norm(ptrdiff_t n, const float *x) { return use->squared_norm(n, x); }

void vnd_rbf(ptrdiff_t rows, ptrdiff_t n, float *dot, const float *x2, const float *y2, float c, float *sums) {
	use->rbf(rows, n, dot, x2, y2, c, sums);
}

void vnd_adam(vnd_adam_step s, ptrdiff_t n, float *p, const float *g, float *m, float *v) {
	use->adam(&s, n, p, g, m, v);
}

ptrdiff_t vnd_panels(int reduced, ptrdiff_t k, ptrdiff_t n) {
	return use->panels(reduced, k, n);
}

void vnd_pack_panels(int reduced, int trans, ptrdiff_t k, ptrdiff_t n, const float *b, ptrdiff_t ldb, float *packed) {
	use->pack_panels(reduced, trans, k, n, b, ldb, packed);
}

void vnd_dense(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w, const float *bias,
	const float *add, float *y) {
	use->dense(reduced, rows, k, n, x, w, bias, add, y);
}

void vnd_dense_tanh(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w,
	const float *bias, float *y) {
	use->dense_tanh(reduced, rows, k, n, x, w, bias, y);
}

void vnd_dense_gelu(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w,
	const float *bias,
	const float *add, float *y, float *slope) {
	use->dense_gelu(reduced, rows, k, n, x, w, bias, add, y, slope);
}

void vnd_dense_film(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *w,
	const float *bias,
	const float *film, float *pre, float *y, float *slope) {
	use->dense_film(reduced, rows, k, n, x, w, bias, film, pre, y, slope);
}

void vnd_dense_gelu_backward(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *dy, const float *w,
	float *slope) {
	use->dense_gelu_backward(reduced, rows, k, n, dy, w, slope);
}

void vnd_dense_film_backward(int reduced, ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *dy, const float *w,
	const float *film, const float *pre, float *slope, float *dfilm) {
	use->dense_film_backward(reduced, rows, k, n, dy, w, film, pre, slope, dfilm);
}

int vnd_gradient_reduced(ptrdiff_t rows, ptrdiff_t k, ptrdiff_t n, const float *x, const float *dy, float *dw,
	float *db) {
	return use->gradient_reduced(rows, k, n, x, dy, dw, db);
}

void vnd_normalise(ptrdiff_t rows, ptrdiff_t n, const float *mean, const float *scale, float *x) {
	use->normalise(rows, n, mean, scale, x);
}

void vnd_scale_rows(ptrdiff_t rows, ptrdiff_t n, const float *scale, float *x) { use->scale_rows(rows, n, scale, x); }
