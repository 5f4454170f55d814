//go:build cgo && !purego

// Kernels for every processor of this architecture.
#if !defined(__clang__)
#pragma GCC optimize("O3", "no-math-errno", "no-trapping-math", "no-thread-jumps")
#endif

#define ISA vnd_base
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

#include "loops.h"
#include "gemm.h"
#include "dense.h"
#include "flight.h"
#include "cost.h"
#include "table.h"
