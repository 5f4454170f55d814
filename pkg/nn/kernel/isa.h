// The kernels of one instruction set and their table.
#include "kernel.h"
#include "vector.h"

#include "loops.h"

#include "gemm.h"

#include "dense.h"

#include "recurrent.h"

const vnd_kernels ISA(vnd) = {
	ISA_NAME,
	gemm,
	column_sums,
	gru_gates,
	gru_gates_backward,
	gru_sequence,
	axpy,
	squared_norm,
	rbf,
	adam,
	panels,
	pack_panels,
	dense,
	dense_tanh,
	dense_gelu,
	dense_film,
	dense_gelu_backward,
	dense_film_backward,
	gradient_reduced,
	normalise,
	scale_rows,
};

#if defined(__clang__) && !defined(ISA_BASE)
#pragma clang attribute pop
#endif
