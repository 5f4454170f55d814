// The table of one instruction set, ISA, after loops.h, gemm.h, dense.h, flight.h and cost.h.
const vnd_kernels ISA = {
	ISA_NAME, gemm, column_sums,
	gru_gates, gru_gates_backward, axpy, squared_norm, rbf, adam,
	panels, pack_panels, dense, dense_tanh, dense_gelu, dense_film, dense_gelu_backward, dense_film_backward, gradient_reduced,
	body_step, body_step_vjp, body_inputs, body_inputs_vjp, price, price_vjp, observe, observe_vjp, normalise, scale_rows,
};
