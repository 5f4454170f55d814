// The table of one instruction set, ISA, after loops.h and gemm.h.
const vnd_kernels ISA = {
	ISA_NAME, gemm, column_sums,
	gru_gates, gru_gates_backward, axpy, squared_norm, rbf, adam,
	panels, pack_panels, dense, dense_tanh, dense_gelu, dense_film, dense_gelu_backward, dense_film_backward,
};
