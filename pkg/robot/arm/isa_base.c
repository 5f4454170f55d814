//go:build cgo && !purego

// Kernels for every processor of this architecture.
#include "isa.h"
