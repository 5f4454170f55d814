//go:build cgo && !purego && amd64

// Kernels for x86-64 processors with AVX-512.
#define VND_AVX512
#include "isa.h"
