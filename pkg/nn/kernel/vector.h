// One instruction set, and vectors of VL floats of it. The original is in pkg/nn/kernel; robots' packages have copies
// (go generate), because the go tool compiles C anew where a file of its own folder changes, and no other.
//
// isa_*.c define VND_AVX2, VND_AVX512, VND_AVX512BF16, VND_AMX or none, which is any processor of the architecture.
// Then comes this file, the kernels, with everything static, and their table, ISA(name).
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(VND_AMX)
#define VND_AVX512BF16
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target( \
	"avx512f,avx512dq,avx512vl,avx512bw,avx512bf16,avx2,fma,amx-tile,amx-bf16"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,avx512bf16,avx2,fma,prefer-vector-width=512,amx-tile,amx-bf16")
#endif
#include <immintrin.h>
#define ISA(name) name##_avx512amx
#define ISA_NAME "avx512amx"
enum { VL = 16, MR = 8 }; // 32 registers of 16, and 8 tiles of 16×16
#elif defined(VND_AVX512BF16)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx512bf16,avx2,fma"))), \
	apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,avx512bf16,avx2,fma,prefer-vector-width=512")
#endif
#include <immintrin.h>
#define ISA(name) name##_avx512bf16
#define ISA_NAME "avx512bf16"
enum { VL = 16, MR = 8 }; // 32 registers of 16
#elif defined(VND_AVX512)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma"))), \
	apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,prefer-vector-width=512")
#endif
#include <immintrin.h>
#define ISA(name) name##_avx512
#define ISA_NAME "avx512"
enum { VL = 16, MR = 8 }; // 32 registers of 16
#elif defined(VND_AVX2)
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#endif
#include <immintrin.h>
#define ISA(name) name##_avx2
#define ISA_NAME "avx2"
enum { VL = 8, MR = 6 }; // 16 registers of 8
#else
#define ISA_BASE
#define ISA(name) name##_base
#if defined(__x86_64__)
#define ISA_NAME "sse2"
enum { VL = 4, MR = 4 }; // 16 registers of 4
#elif defined(__aarch64__)
#define ISA_NAME "neon"
enum { VL = 4, MR = 8 }; // 32 registers of 4
#else
#define ISA_NAME "generic"
enum { VL = 4, MR = 4 };
#endif
#endif

#if !defined(__clang__)
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "no-thread-jumps")
#endif

#define INLINE static inline __attribute__((always_inline))

typedef float vec __attribute__((vector_size(4 * VL)));
typedef int ivec __attribute__((vector_size(4 * VL)));
typedef float vec_u __attribute__((vector_size(4 * VL), aligned(4)));
typedef float vec4 __attribute__((vector_size(16), aligned(4)));

// Elements i…l of a and b, those of b counted from 4.
#if defined(__clang__)
#define SHUFFLE(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#else
typedef int int4 __attribute__((vector_size(16)));
#define SHUFFLE(a, b, i, j, k, l) __builtin_shuffle(a, b, (int4){i, j, k, l})
#endif

// transpose4 copies the transpose of the 4×4 at x, rows ld apart, to y, rows
// width apart.
INLINE void transpose4(const float *x, ptrdiff_t ld, float *y, ptrdiff_t width) {
	vec4 r0 = *(const vec4 *)x, r1 = *(const vec4 *)(x + ld);
	vec4 r2 = *(const vec4 *)(x + 2 * ld), r3 = *(const vec4 *)(x + 3 * ld);
	vec4 a = SHUFFLE(r0, r1, 0, 4, 1, 5), b = SHUFFLE(r0, r1, 2, 6, 3, 7);
	vec4 c = SHUFFLE(r2, r3, 0, 4, 1, 5), d = SHUFFLE(r2, r3, 2, 6, 3, 7);
	*(vec4 *)y = SHUFFLE(a, c, 0, 1, 4, 5);
	*(vec4 *)(y + width) = SHUFFLE(a, c, 2, 3, 6, 7);
	*(vec4 *)(y + 2 * width) = SHUFFLE(b, d, 0, 1, 4, 5);
	*(vec4 *)(y + 3 * width) = SHUFFLE(b, d, 2, 3, 6, 7);
}

