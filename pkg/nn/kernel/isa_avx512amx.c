//go:build cgo && !purego && amd64

// Kernels for x86-64 processors with AVX-512 and with tiles (AMX) that multiply bfloat16.
#define VND_AMX
#include "isa.h"
