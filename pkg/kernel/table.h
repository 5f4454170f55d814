// The table of one instruction set, ISA, after loops.h and gemm.h.
const vnd_kernels ISA = {
	ISA_NAME, gemm, add_bias, column_sums, bias_gelu, gelu_backward, film_gelu, film_gelu_backward,
	gru_gates, gru_gates_backward, axpy, squared_norm, rbf, adam,
	panels, pack_panels, dense, dense_tanh, dense_gelu, dense_film, dense_gelu_backward, dense_film_backward,
};
