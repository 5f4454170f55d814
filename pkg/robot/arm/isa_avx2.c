//go:build cgo && !purego && amd64

// Kernels for x86-64 processors with AVX2 and FMA.
#define VND_AVX2
#include "isa.h"
