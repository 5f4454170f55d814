//go:build cgo && !purego && amd64

// Kernels for x86-64 processors with AVX-512 and its products of bfloat16.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx512bf16,avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx512f,avx512dq,avx512vl,avx512bw,avx512bf16,avx2,fma,prefer-vector-width=512")
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "no-thread-jumps")
#endif

#include <immintrin.h>

#define VND_BF16
#define ISA vnd_avx512bf16
#define ISA_NAME "avx512bf16"
enum { VL = 16, MR = 8 }; // 32 registers of 16

#include "loops.h"
#include "gemm.h"
#include "dense.h"
#include "flight.h"
#include "cost.h"
#include "table.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
