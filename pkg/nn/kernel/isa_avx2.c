//go:build cgo && !purego && amd64

// Kernels for x86-64 processors with AVX2 and FMA.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC target("avx2,fma")
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "no-thread-jumps")
#endif

#define ISA vnd_avx2
#define ISA_NAME "avx2"
enum { VL = 8, MR = 6 }; // 16 registers of 8

#include "loops.h"
#include "gemm.h"
#include "dense.h"
#include "flight.h"
#include "cost.h"
#include "table.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
