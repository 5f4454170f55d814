//go:build cgo && !purego && amd64

// Kernels for x86-64 processors with AVX-512 and its products of bfloat16.
#define VND_AVX512BF16
#include "isa.h"
